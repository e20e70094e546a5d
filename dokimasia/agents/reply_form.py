"""The empty form of a reply as separate places to fill in, the reply composed from them, and the reverse."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import orjson

from dokimasia.agents.readers import faults_of
from dokimasia.domain.question import Aid

Given = Mapping[str, Sequence[str]]
"""The filled-in content, by the name of its place."""

MOST_OPTIONS = 12

Kind = Literal["text", "words", "choice", "several", "order", "first", "string", "list", "truth"]
"""The content of a place: text, one line of it, one of its options, several of them, all of them in an order, the first
of that order, and text, a list and a truth value of a JSON object."""


class FormField(NamedTuple):
    """A place of a form.

    Attributes:
        name: its name among the places.
        label: the text of the form before it, or the names of its tags.
        hint: the form's instruction for its content.
        kind: the kind of its content.
        options: the choices, with their meanings if the instructions state them.
        otherwise: whether it is filled in only if the previous place is not.
    """

    name: str
    label: str
    hint: str
    kind: Kind = "words"
    options: tuple[tuple[str, str], ...] = ()
    otherwise: bool = False


class FormPiece(NamedTuple):
    """The text of a form around the places of one line or element; it is omitted if all its places are empty."""

    words: tuple[str, ...]
    places: tuple[str, ...] = ()


class ReplyForm(NamedTuple):
    """A form that can be filled in place by place."""

    pieces: tuple[FormPiece, ...]
    places: tuple[FormField, ...]

    def compose(self, given: Given) -> str:
        """Return the reply with the given contents in its places; a line or an element without any is omitted."""
        filled = {field.name: _content_text(field, given, self.places) for field in self.places}
        texts: list[str] = []
        for piece in self.pieces:
            if piece.places and not any(filled[name] for name in piece.places):
                continue
            values = [filled[name] for name in piece.places]
            texts.append("".join(word + value for word, value in zip(piece.words, [*values, ""], strict=True)))
        return "\n".join(texts)

    def read(self, text: str) -> dict[str, list[str]] | None:
        """Return the contents of a reply that `compose` made; None for any other text."""
        pattern = ""
        for piece in self.pieces:
            inner = "".join(
                re.escape(word) + (f"(?P<p{name}>.*?)" if name else "")
                for word, name in zip(piece.words, [*piece.places, ""], strict=True)
            )
            quantifier = ""  # plain words match only what no other line matches
            if piece.places:
                quantifier = "?" if any(piece.words) else "??"
            pattern += f"(?:{inner}(?:\\n|\\Z)){quantifier}"
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is None:
            return None
        contents = {field.name: _unfilled(field, match[f"p{field.name}"] or "") for field in self.places}
        if self.compose(contents) == text:
            return contents
        return None


_LEAF = re.compile(r"<(\w+)>\s*([^<>\s][^<>]*?)\s*</\1>|<(\w+)>|</(\w+)>")
_PLACE = re.compile(r"\[\[([^\[\]]+)\]\]|\[([^\[\]]+)\]|<([^<>]+)>|\(([^()]+)\)|\b([A-Z]{4,}|[A-Z]{2,}(?:_[A-Z]+)+)\b")
_FIELD = re.compile(r'"(\w+)": (?:"<([^"]*)>"|\[<([^\]]*)>\]|<([^"<>]*)>)(?=[,}])')
_RANGE = re.compile(r"numbers? from (\d+) to (\d+)")
_MEANING = re.compile(r"^(?:- )?([^:\n]{1,24}): (.+)$", re.MULTILINE)
_WORDS = re.compile(r"((?:[\w>=]+, )*[\w>=]+ or [\w>=]+) takes the place")
_ROUTINE = {"reasoning", "score", "analysis"}


def form_of(aid: Aid, instructions: str, count: int = 0) -> ReplyForm | None:
    """Return the form of a question's reply in places; None if its shape is unknown.

    Args:
        aid: the empty form and the reader of the reply.
        instructions: the instructions for models, which contain options and their meanings.
        count: the number of shown items to rank or choose from.

    Examples:
        >>> form = form_of(Aid(form="Rating: [[NUMBER]]"), "One whole number from 1 to 3.")
        >>> [value for value, _ in form.places[0].options], form.compose({"0": ["2"]}), form.read("Rating: [[2]]")
        (['1', '2', '3'], 'Rating: [[2]]', {'0': ['2']})
    """
    lines = aid.form.strip().splitlines()
    if not lines:
        return None
    if lines[0].startswith(("{", "[")):
        made = _read_object(lines)
    elif re.match(r"<\w+>", lines[0]) and lines[-1].rstrip().endswith(">"):
        made = _read_elements(aid.form)
    else:
        made = _read_lines(lines, _introduction(instructions, lines[0]))
    if made is None:
        return None
    pieces, places = made
    counted = [int(number) for field in places for number in re.findall(r"^\w+ (\d+)", field.label)]
    places = [_with_hint_choices(field, max([count, *counted])) for field in places]
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


def _read_elements(form: str) -> tuple[list[FormPiece], list[FormField]] | None:
    """Read a form of tags: every innermost element is a place, named by its tag or parent."""
    pieces, places, inside, at = list[FormPiece](), list[FormField](), list[str](), 0
    for match in _LEAF.finditer(form):
        if form[at : match.start()].strip():
            return None
        at = match.end()
        tag, hint, opened, _closed = match.groups()
        if tag:
            label = f"{inside[-1]}: {tag}" if tag in _ROUTINE and len(inside) > 1 else tag
            hint = hint.strip("[]() \n")
            name = str(len(places))
            long = "\n" in match[0]
            gap = "\n" if long else ""
            after = bool(places) and hint.startswith("else ")
            if (label == tag and any(field.label == spoken_name(tag) for field in places)) or ", on " in hint:
                label = hint.rpartition(", on ")[2]
            places.append(FormField(name, spoken_name(label), hint, _text_kind(tag, hint, long=long), otherwise=after))
            pieces.append(FormPiece((f"<{tag}>{gap}", f"{gap}</{tag}>"), (name,)))
        else:
            if opened:
                inside.append(opened)
            elif inside:
                inside.pop()
            pieces.append(FormPiece((match[0],)))
    if form[at:].strip() or inside or not places:
        return None
    return (pieces, places)


def _read_lines(lines: Sequence[str], introduction: str) -> tuple[list[FormPiece], list[FormField]] | None:
    """Read a form of lines that begin differently; lines that differ only in the bracketed text are one choice."""
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
    if odd or only_reasons:
        return None
    return (pieces, places)


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


def _json_field(name: str, field: re.Match[str]) -> FormField:
    """Return a field of a JSON object: true or false, a text, or a list of texts."""
    called = spoken_name(field[1])
    if field[4]:
        return FormField(name, called, field[4], "truth", (("true", ""), ("false", "")))
    return FormField(name, called, field[2] or field[3], "string" if field[2] else "list")


def _read_object(lines: Sequence[str]) -> tuple[list[FormPiece], list[FormField]] | None:
    """Return the form of a single-line JSON object whose fields are all places."""
    line = lines[0]
    matches = list(_FIELD.finditer(line))
    gaps = [line[: matches[0].start()], *(line[a.end() : b.start()] for a, b in pairwise(matches))] if matches else []
    if len(lines) > 1 or not matches or gaps != ["{", *[", "] * (len(matches) - 1)] or line[matches[-1].end() :] != "}":
        return None
    if len(matches) == 1 or any(match[4] and not match[4].startswith("true or false") for match in matches):
        return None
    places = [_json_field(str(n), field) for n, field in enumerate(matches)]
    words = [f'{gap}"{match[1]}": ' for gap, match in zip(gaps, matches, strict=True)]
    return [FormPiece((*words, "}"), tuple(field.name for field in places))], places


def _text_kind(tag: str, hint: str, *, long: bool) -> Kind:
    if re.search(r"(whole|the) numbers?\b|true or false", hint) or tag == "score":
        return "words"
    if long or re.search(r"sentence|what |strengths|why |steps|decides", hint):
        return "text"
    return "words"


def _with_hint_choices(place: FormField, count: int) -> FormField:
    """Return a place with the choices that follow from its hint alone."""
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
        return place._replace(kind="choice", options=tuple((option, "") for option in hint.split(",")[0].split(" or ")))
    match = _RANGE.search(hint)
    if match and int(match[2]) - int(match[1]) < MOST_OPTIONS:
        return place._replace(kind="choice", options=_range(match))
    return place


def _range(match: re.Match[str]) -> tuple[tuple[str, str], ...]:
    return tuple((str(number), "") for number in range(int(match[1]), int(match[2]) + 1))


def _options(hint: str, instructions: str, aid: Aid, form: ReplyForm) -> tuple[tuple[str, str], ...]:
    """Return the choices for the places of a hint, by the instructions; if there is a reader, those that it accepts."""
    meanings = {value.strip(): meaning for value, meaning in _MEANING.findall(instructions)}
    offered: dict[str, str] = {}
    if re.search(r"score|number|rating|point", hint, re.IGNORECASE) and "decimal" not in instructions:
        for match in _RANGE.finditer(instructions.replace("a score from", "a whole number from")):
            if int(match[2]) - int(match[1]) < MOST_OPTIONS:
                offered |= dict(_range(match))
    if match := _WORDS.search(instructions):
        offered |= dict.fromkeys(re.split(r", | or ", match[1]), "")
    if not aid.reader:
        return tuple((value, meanings.get(value, "")) for value in offered)
    rest = {field.name: [_sample_value(field)] for field in form.places if field.hint != hint}
    same = [field.name for field in form.places if field.hint == hint]

    def taken(value: str) -> bool:
        return not faults_of(aid, form.compose({**rest, **{name: [value] for name in same}}))

    if taken("no such thing"):
        return ()
    offered = {value: meanings.get(value, "") for value in [*offered, *meanings] if taken(value)}
    options = sorted(offered.items(), key=lambda item: int(item[0]) if item[0].isdigit() else MOST_OPTIONS)
    if 1 < len(options) <= MOST_OPTIONS:
        return tuple(options)
    return ()


def _sample_value(place: FormField) -> str:
    """Return an acceptable content of a place, for testing the others."""
    if place.options:
        return place.options[0][0]
    if "number" in place.hint.lower():
        return "1"
    return "words of one's own"


def _content_text(place: FormField, given: Given, places: Sequence[FormField]) -> str:
    values = [entry.strip() for entry in given.get(place.name, ()) if entry.strip()]
    if place.kind == "first":
        first = next((field for field in places if field.kind == "order"), None)
        order = [entry.strip() for entry in given.get(first.name, ()) if entry.strip()] if first and values else []
        if order:
            return order[0]
        if values and values[0].isdigit():
            return values[0]
        return ""
    if place.kind == "order":
        return _between(place).join(values)
    if place.kind == "several":
        return ", ".join(values) or "none"
    value = values[0] if values else ""
    if place.kind == "list":
        return orjson.dumps([entry.strip() for entry in value.split(",") if entry.strip()]).decode()
    if place.kind == "string":
        return orjson.dumps(value).decode()
    if place.kind == "text":
        return value
    return " ".join(value.split())


def _unfilled(place: FormField, value: str) -> list[str]:
    if place.kind in {"order", "several"}:
        if value == "none":
            return []
        return [part.strip() for part in value.split(_between(place).strip()) if part.strip()]
    if place.kind in {"list", "string"}:
        try:
            read = orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
        return [", ".join(map(str, read)) if isinstance(read, list) else str(read)]
    return [value] if value else []


def _between(place: FormField) -> str:
    """Return the separator between the members of an order."""
    if "sign >" in place.hint:
        return " > "
    return ", "


def _introduction(instructions: str, first: str) -> str:
    """Return the paragraph of the instructions that introduces the form."""
    return instructions.rpartition(f"\n\n{first}")[0].rpartition("\n\n")[2]


def spoken_name(tag: str) -> str:
    """Return the name of a tag or field as words."""
    words = tag.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
