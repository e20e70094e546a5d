"""The empty form of a reply as places to be filled in one by one, and the reply that is composed of them; and back."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import orjson

from dokimasia.agents.readers import faults_of
from dokimasia.domain.question import Aid

Given = Mapping[str, Sequence[str]]
"""What was filled in, by the name of its place."""

MOST_OPTIONS = 12

Kind = Literal["text", "words", "choice", "several", "order", "first", "string", "list", "truth"]
"""What a place takes: text, one line of it, one of its options, several of them, all of them in an order, the first of that
order, and text, a list and a truth of a JSON object."""


class FormField(NamedTuple):
    """A place of a form.

    Attributes:
        name: its name among the places.
        label: the form's words before it, or the names of its tags.
        hint: what the form says is to stand there.
        kind: what it takes.
        options: what can be chosen, with what it means where the instructions say so.
        otherwise: whether it is filled in only where the place before it is not.
    """

    name: str
    label: str
    hint: str
    kind: Kind = "words"
    options: tuple[tuple[str, str], ...] = ()
    otherwise: bool = False


class FormPiece(NamedTuple):
    """Words of a form around the places of one line or element; it is left out where its places are all empty."""

    words: tuple[str, ...]
    places: tuple[str, ...] = ()


class ReplyForm(NamedTuple):
    """A form that can be filled in place by place."""

    pieces: tuple[FormPiece, ...]
    places: tuple[FormField, ...]

    def compose(self, given: Given) -> str:
        """Return the reply with what was given in its places; a line or an element without any is left out."""
        filled = {field.name: _filled(field, given, self.places) for field in self.places}
        kept: list[str] = []
        for piece in self.pieces:
            if piece.places and not any(filled[name] for name in piece.places):
                continue
            values = [filled[name] for name in piece.places]
            kept.append("".join(word + value for word, value in zip(piece.words, [*values, ""], strict=True)))
        return "\n".join(kept)

    def read(self, text: str) -> dict[str, list[str]] | None:
        """Return what was given for a reply that `compose` made; None for every other text."""
        pattern = ""
        for piece in self.pieces:
            inner = "".join(
                re.escape(word) + (f"(?P<p{name}>.*?)" if name else "")
                for word, name in zip(piece.words, [*piece.places, ""], strict=True)
            )
            kept = (
                "" if not piece.places else "?" if any(piece.words) else "??"
            )  # words alone take what no other line does
            pattern += f"(?:{inner}(?:\\n|\\Z)){kept}"
        found = re.fullmatch(pattern, text, re.DOTALL)
        if found is None:
            return None
        given = {field.name: _unfilled(field, found[f"p{field.name}"] or "") for field in self.places}
        return given if self.compose(given) == text else None


_LEAF = re.compile(r"<(\w+)>\s*([^<>\s][^<>]*?)\s*</\1>|<(\w+)>|</(\w+)>")
_PLACE = re.compile(r"\[\[([^\[\]]+)\]\]|\[([^\[\]]+)\]|<([^<>]+)>|\(([^()]+)\)|\b([A-Z]{4,}|[A-Z]{2,}(?:_[A-Z]+)+)\b")
_FIELD = re.compile(r'"(\w+)": (?:"<([^"]*)>"|\[<([^\]]*)>\]|<([^"<>]*)>)(?=[,}])')
_RANGE = re.compile(r"numbers? from (\d+) to (\d+)")
_MEANING = re.compile(r"^(?:- )?([^:\n]{1,24}): (.+)$", re.MULTILINE)
_WORDS = re.compile(r"((?:[\w>=]+, )*[\w>=]+ or [\w>=]+) takes the place")
_ROUTINE = {"reasoning", "score", "analysis"}


def form_of(aid: Aid, instructions: str, count: int = 0) -> ReplyForm | None:
    """Return the form of a question's reply in places; None where its shape is not known.

    Args:
        aid: the empty form and what reads the reply.
        instructions: what a model is told, where options and their meanings stand.
        count: how many things were shown that are ranked or chosen from.

    Examples:
        >>> form = form_of(Aid(form="Rating: [[NUMBER]]"), "One whole number from 1 to 3.")
        >>> [value for value, _ in form.places[0].options], form.compose({"0": ["2"]}), form.read("Rating: [[2]]")
        (['1', '2', '3'], 'Rating: [[2]]', {'0': ['2']})
    """
    lines = aid.form.strip().splitlines()
    if not lines:
        return None
    if lines[0].startswith(("{", "[")):
        made = _of_object(lines)
    elif re.match(r"<\w+>", lines[0]) and lines[-1].rstrip().endswith(">"):
        made = _of_elements(aid.form)
    else:
        made = _of_lines(lines, _introduction(instructions, lines[0]))
    if made is None:
        return None
    pieces, places = made
    counted = [int(number) for field in places for number in re.findall(r"^\w+ (\d+)", field.label)]
    places = [_known(field, max([count, *counted])) for field in places]
    open_places = [field for field in places if field.kind == "words" and not field.options]
    for hint in dict.fromkeys(field.hint for field in open_places):
        options = _options(hint, instructions, aid, ReplyForm(tuple(pieces), tuple(places)))
        places = [
            field._replace(kind="choice", options=options)
            if options and field.hint == hint and field in open_places
            else field
            for field in places
        ]
    return ReplyForm(tuple(pieces), tuple(places))


def _of_elements(form: str) -> tuple[list[FormPiece], list[FormField]] | None:
    """Read a form of tags: every innermost element is a place, named by its tag or parent."""
    pieces, places, inside, at = list[FormPiece](), list[FormField](), list[str](), 0
    for found in _LEAF.finditer(form):
        if form[at : found.start()].strip():
            return None
        at = found.end()
        tag, hint, opened, _closed = found.groups()
        if tag:
            label = f"{inside[-1]}: {tag}" if tag in _ROUTINE and len(inside) > 1 else tag
            hint = hint.strip("[]() \n")
            name = str(len(places))
            long = "\n" in found[0]
            gap = "\n" if long else ""
            after = bool(places) and hint.startswith("else ")
            if (label == tag and any(field.label == spoken_name(tag) for field in places)) or ", on " in hint:
                label = hint.rpartition(", on ")[2]
            places.append(FormField(name, spoken_name(label), hint, _written(tag, hint, long=long), otherwise=after))
            pieces.append(FormPiece((f"<{tag}>{gap}", f"{gap}</{tag}>"), (name,)))
        else:
            inside.append(opened) if opened else inside.pop() if inside else None
            pieces.append(FormPiece((found[0],)))
    return None if form[at:].strip() or inside or not places else (pieces, places)


def _of_lines(lines: Sequence[str], introduction: str) -> tuple[list[FormPiece], list[FormField]] | None:
    """Read a form of lines that begin differently; lines that differ only in what is in brackets are one choice."""
    pieces, places = list[FormPiece](), list[FormField]()
    reasons = ""
    if re.search(r"sentence|few words|[Jj]ustify|Go through", introduction):
        reasons = "in a few sentences; may stay empty"
    elif found := re.fullmatch(r"<([^<>]+)>", lines[0]):
        reasons, lines = found[1], lines[1:]
    if reasons:
        places.append(FormField("0", "Reasons", reasons, "text"))
        pieces.append(FormPiece(("", ""), ("0",)))
    options_of: dict[str, list[str]] = {}
    for line in lines:
        if found := re.fullmatch(r"(.*)\[\[([^\[\]]+)\]\]", line):
            options_of.setdefault(found[1], []).append(found[2])
    begun: list[str] = []
    for line in lines:
        before = line.partition("[[")[0]
        options = options_of.get(before, [])
        is_choice = len(options) > 1
        if is_choice and before in begun:
            continue
        begun.append(before if is_choice else re.split(r"[|:]", line)[0].strip())
        read = _places_of_line(line, options if is_choice else (), number=begun[-1], first=len(places))
        if read is None:
            return None
        pieces.append(read[0])
        places += read[1]
    odd = len(set(begun)) < len(begun) or any(line.startswith(("- ", "mode ", "new ")) for line in lines)
    only_reasons = all(field.name == "0" and field.hint.endswith("empty") for field in places)
    return None if odd or only_reasons else (pieces, places)


def _places_of_line(
    line: str, options: Sequence[str], *, number: str, first: int
) -> tuple[FormPiece, list[FormField]] | None:
    """Read the places of a line; None if the first of them has no label.

    Args:
        line: the line.
        options: what a place of a choice can be filled with; empty for words.
        number: how the line begins; a number stands before the labels of further places.
        first: the number of the line's first place among those of the form.
    """
    words, fields, at = list[str](), list[FormField](), 0
    for found in _PLACE.finditer(line):
        hint = next(group for group in found.groups() if group)
        start, end = next(found.span(n) for n in range(1, 6) if found[n])
        if found[3] or found[4]:
            start, end = found.span()
        label = re.sub(r"[\"\[\]]", "", line[at:start]).strip(" |:/,").replace(" | ", ": ")
        if not label and not fields:
            return None
        label = label or hint.replace("_", " ").lower()
        if fields and number.isdigit():
            label = f"{number}: {label}"
        field = FormField(str(first + len(fields)), spoken_name(label), hint, "choice" if options else "words")
        fields.append(field._replace(options=tuple((option, "") for option in options)))
        words.append(line[at:start])
        at = end
    return FormPiece((*words, line[at:]), tuple(field.name for field in fields)), fields


def _of_object(lines: Sequence[str]) -> tuple[list[FormPiece], list[FormField]] | None:
    """Read the form of one JSON object on a line whose fields are all places."""
    line = lines[0]
    found = list(_FIELD.finditer(line))
    gaps = [line[: found[0].start()], *(line[a.end() : b.start()] for a, b in pairwise(found))] if found else []
    if len(lines) > 1 or not found or gaps != ["{", *[", "] * (len(found) - 1)] or line[found[-1].end() :] != "}":
        return None
    if len(found) == 1 or any(one[4] and not one[4].startswith("true or false") for one in found):
        return None
    truths = (("true", ""), ("false", ""))
    places = [
        FormField(str(n), spoken_name(one[1]), one[4], "truth", truths)
        if one[4]
        else FormField(str(n), spoken_name(one[1]), one[2] or one[3], "string" if one[2] else "list")
        for n, one in enumerate(found)
    ]
    words = [f'{gap}"{one[1]}": ' for gap, one in zip(gaps, found, strict=True)]
    return [FormPiece((*words, "}"), tuple(field.name for field in places))], places


def _written(tag: str, hint: str, *, long: bool) -> Kind:
    if re.search(r"(whole|the) numbers?\b|true or false", hint) or tag == "score":
        return "words"
    return "text" if long or re.search(r"sentence|what |strengths|why |steps|decides", hint) else "words"


def _known(place: FormField, count: int) -> FormField:
    """Return a place with what its hint alone says that can be chosen."""
    numbers = tuple((str(number), "") for number in range(1, count + 1))
    hint = place.hint.lower().replace("_", " ")
    if place.options or place.kind in {"list", "string"}:
        return place
    if count and re.search(r"numbers of all .*each once", hint):
        return place._replace(kind="order", options=numbers)
    if "number of the" in hint and "ranked first" in hint:
        return place._replace(kind="first")
    if count and re.search(r"numbers? of (the best|others)", hint):
        several = "numbers of others" in hint
        return place._replace(kind="several" if several else "choice", options=numbers)
    if re.match(r"(yes or no|true or false)\b", hint):
        return place._replace(kind="choice", options=tuple((one, "") for one in hint.split(",")[0].split(" or ")))
    found = _RANGE.search(hint)
    if found and int(found[2]) - int(found[1]) < MOST_OPTIONS:
        return place._replace(kind="choice", options=_range(found))
    return place


def _range(found: re.Match[str]) -> tuple[tuple[str, str], ...]:
    return tuple((str(number), "") for number in range(int(found[1]), int(found[2]) + 1))


def _options(hint: str, instructions: str, aid: Aid, form: ReplyForm) -> tuple[tuple[str, str], ...]:
    """Return what can be chosen in the places of a hint, by the instructions: those that the reader takes, where there is one."""
    meant = {value.strip(): meaning for value, meaning in _MEANING.findall(instructions)}
    offered: dict[str, str] = {}
    if re.search(r"score|number|rating|point", hint, re.IGNORECASE) and "decimal" not in instructions:
        for found in _RANGE.finditer(instructions.replace("a score from", "a whole number from")):
            if int(found[2]) - int(found[1]) < MOST_OPTIONS:
                offered |= dict(_range(found))
    if found := _WORDS.search(instructions):
        offered |= dict.fromkeys(re.split(r", | or ", found[1]), "")
    if not aid.reader:
        return tuple((value, meant.get(value, "")) for value in offered)
    rest = {field.name: [_ordinary(field)] for field in form.places if field.hint != hint}
    same = [field.name for field in form.places if field.hint == hint]

    def taken(value: str) -> bool:
        return not faults_of(aid, form.compose({**rest, **{name: [value] for name in same}}))

    if taken("no such thing"):
        return ()
    offered = {value: meant.get(value, "") for value in [*offered, *meant] if taken(value)}
    found = sorted(offered.items(), key=lambda one: int(one[0]) if one[0].isdigit() else MOST_OPTIONS)
    return tuple(found) if 1 < len(found) <= MOST_OPTIONS else ()


def _ordinary(place: FormField) -> str:
    """Return something that a place takes, to try the others with."""
    return place.options[0][0] if place.options else "1" if "number" in place.hint.lower() else "words of one's own"


def _filled(place: FormField, given: Given, places: Sequence[FormField]) -> str:
    values = [one.strip() for one in given.get(place.name, ()) if one.strip()]
    if place.kind == "first":
        first = next((field for field in places if field.kind == "order"), None)
        order = [one.strip() for one in given.get(first.name, ()) if one.strip()] if first and values else []
        return order[0] if order else values[0] if values and values[0].isdigit() else ""
    if place.kind == "order":
        return _between(place).join(values)
    if place.kind == "several":
        return ", ".join(values) or "none"
    value = values[0] if values else ""
    if place.kind == "list":
        return orjson.dumps([one.strip() for one in value.split(",") if one.strip()]).decode()
    if place.kind == "string":
        return orjson.dumps(value).decode()
    return value if place.kind == "text" else " ".join(value.split())


def _unfilled(place: FormField, value: str) -> list[str]:
    if place.kind in {"order", "several"}:
        return [] if value == "none" else [one.strip() for one in value.split(_between(place).strip()) if one.strip()]
    if place.kind in {"list", "string"}:
        try:
            read = orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
        return [", ".join(map(str, read)) if isinstance(read, list) else str(read)]
    return [value] if value else []


def _between(place: FormField) -> str:
    """Return what stands between the members of an order."""
    return " > " if "sign >" in place.hint else ", "


def _introduction(instructions: str, first: str) -> str:
    """Return the paragraph of the instructions that introduces the form."""
    return instructions.rpartition(f"\n\n{first}")[0].rpartition("\n\n")[2]


def spoken_name(tag: str) -> str:
    """Return a tag's or field's name as words."""
    said = tag.replace("_", " ").strip()
    return said[:1].upper() + said[1:]
