"""Replies of a probed judge: a justification, then a score or choice on each axis; and a reader's verdict on it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from dokimasia.domain.blindspots import Choice
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import form
from dokimasia.parsing.json_finder import read_json_and_rest
from dokimasia.parsing.own import beside, is_empty_talk, own
from dokimasia.parsing.phrases import passage, unquoted
from dokimasia.parsing.reply import DECORATION, MAX_LINE, matches, refuse, short, tried
from dokimasia.parsing.verdicts import either

T = TypeVar("T", int, Choice)

LOWEST, HIGHEST = 1, 10
MAX_JUSTIFICATION = 20_000
"""The maximum number of characters of a justification; a longer one is refused."""

_BULLETS = " \t\r>|#\u2022\u00b7\u2013\u2014-+_"
_WHOLE = re.compile(r"[0-9]{1,6}", re.ASCII)
_AXIS = r"[A-Za-z][A-Za-z _\-]{0,40}?"
_CHOICES: dict[str, Choice] = {"a": "first", "b": "second", "tie": "tie"}
_TAIL = " \t\r|.;,"
_OUT_OF = form(r"\s{0,3}(?:/|out of)\s{0,3}10\Z")
_WORDS = re.compile(
    r"^[ \t*_>-]{0,9}words[ \t*_]{0,9}:[ \t*_]{0,9}(?P<words>[^\n]{0,2000})$", re.IGNORECASE | re.MULTILINE
)
_NO_WORDS = ("", "-", "none", "(none)", "nothing", "n/a")
_LEAD = form(r"\A[\s*_#]{0,9}justification[\s*_]{0,9}:[\s*_]{0,9}")
_ANOTHER = form(r"score|better|verdict|rating|choice|winner")


class ReadByAxis(NamedTuple, Generic[T]):
    """Scores or choices by axis, in the requested order, and the justification."""

    values: dict[str, T]
    justification: str


class ReadNotice(NamedTuple):
    """Whether a justification names an error, and the words in which it does."""

    named: bool
    words: str


class _Scale(NamedTuple, Generic[T]):
    """A kind of value: the word before its bracket, its JSON field, its reader, and its description for reasons."""

    word: str
    field: str
    read: Callable[[str], T | None]
    wanted: str

    @property
    def lines(self) -> re.Pattern[str]:
        """The pattern of a line that states a value, or was meant to."""
        return form(
            rf"(?:[0-9]{{1,2}}[.)]\s{{1,4}})?(?P<axis>{_AXIS})\s{{0,9}}[|:]\s{{0,9}}{self.word}~[:=]?~"
            rf"(?:\[(?P<double>\[)?~(?P<value>[^\[\]\n]{{0,60}}?)~\](?(double)\]))?(?P<rest>.*)"
        )


def _points(stated: str) -> int | None:
    plain = _OUT_OF.sub("", stated)
    if _WHOLE.fullmatch(plain) and LOWEST <= int(plain) <= HIGHEST:
        return int(plain)
    return None


def _choice(stated: str) -> Choice | None:
    plain = re.sub(r"\A(?:response|image|answer)\s", "", stated.casefold())
    return _CHOICES.get(plain)


_SCORES = _Scale("score", "scores", _points, f"a whole number from {LOWEST} to {HIGHEST}")
_BETTER = _Scale("better", "better", _choice, "A, B or tie")


def parse_axis_scores(text: str, axes: Sequence[str]) -> ReadByAxis[int]:
    """Return a judge's scores of one answer on each axis, whole numbers from 1 to 10, and its justification.

    The reply is a justification, then a line `AXIS | score: [N]` for each axis and nothing more. Bullets, emphasis, case,
    hyphens instead of underscores, a scale (`[7/10]`), and missing brackets around a value at the end of its line are
    accepted.

    Args:
        text: the judge's reply.
        axes: the requested axes.

    Raises:
        UnparsableReply: the justification is missing or too long; an axis has no line, several lines, or a value that is
            not allowed; there is a value for another axis; or other words among or after the lines could change them.
            The reason names all faults.
        ValueError: no axis is expected.
    """
    return _read_lines(text, axes, _SCORES)


def parse_axis_choices(text: str, axes: Sequence[str]) -> ReadByAxis[Choice]:
    """Return which of two answers a judge finds better on each axis, `first` or `second`, and its justification.

    As `parse_axis_scores`, with lines `AXIS | better: [A]`, `[B]` or `[tie]`.

    Raises:
        UnparsableReply, ValueError: as `parse_axis_scores`.
    """
    return _read_lines(text, axes, _BETTER)


def parse_structured_axis_scores(text: str, axes: Sequence[str]) -> ReadByAxis[int]:
    """Return scores from the object `{"justification": "...", "scores": {AXIS: N, ...}}`, or else from lines.

    Raises:
        UnparsableReply, ValueError: as `parse_axis_scores`; or there are several objects that differ, or words outside
            the object.
    """
    return _read_object(text, axes, _SCORES)


def parse_structured_axis_choices(text: str, axes: Sequence[str]) -> ReadByAxis[Choice]:
    """Return choices from the object `{"justification": "...", "better": {AXIS: "A", ...}}`, or else from lines.

    Raises:
        UnparsableReply, ValueError: as `parse_structured_axis_scores`.
    """
    return _read_object(text, axes, _BETTER)


def parse_notice(text: str, justification: str) -> ReadNotice:
    """Return whether a reader finds an error named in a justification.

    The form is `Words: "..."`, then `Verdict: [[yes]]` or `[[no]]`.

    Raises:
        UnparsableReply: there is no verdict or both; the words that name the error are missing or not in the justification;
            or words are quoted with the verdict no. The reason names all faults.
    """
    faults: list[str] = []
    named = tried(faults, either, _WORDS.sub("", text), "yes", "no")
    reply = tried(faults, own, text) or ""
    lines = matches(_WORDS, reply)
    quoted = "" if not lines else unquoted(lines[0][1])[0].strip(" \t*_.\"'")
    words = "" if quoted.casefold() in _NO_WORDS else passage(quoted, justification)
    if len(lines) != 1:
        faults.append("there has to be one line of the form 'Words: \"...\"'")
    elif words is None:
        faults.append(f"the words '{short(quoted)}' do not stand in the justification: copy them exactly")
    elif named and not words:
        faults.append("it says yes and quotes no words: copy those that name the error")
    elif named is False and words:
        faults.append("it says no and quotes words: write none in their place")
    if named is None or words is None or faults:
        raise UnparsableReply("; ".join(faults))
    return ReadNotice(named, words)


def _read_lines(text: str, axes: Sequence[str], scale: _Scale[T]) -> ReadByAxis[T]:
    known = _axis_names(axes)
    reply = own(text)
    values: dict[str, T] = {}
    faults: dict[str, None] = {}
    before: list[str] = []
    rest: list[str] = []
    seen: set[str] = set()
    for line in reply.split("\n"):
        plain = line[:MAX_LINE].translate(DECORATION).strip(_BULLETS)
        match = scale.lines.fullmatch(plain) if scale.word in plain.casefold() else None
        if match is None:
            (rest if seen else before).append(line)
            continue
        named, stated, behind = match.group("axis", "value", "rest")
        axis = _key(named)
        bare = stated is None and scale.read(behind.strip(_TAIL)) is not None
        if stated is None and not bare and axis not in known:
            (rest if seen else before).append(line)
        elif axis not in known:
            faults[f"there is a line for '{short(named)}', which was not asked"] = None
        elif axis in seen:
            faults[f"{known[axis]} has more than one line"] = None
        else:
            seen.add(axis)
            value = scale.read(behind.strip(_TAIL) if bare else stated or "")
            if bare and value is not None:
                values[known[axis]] = value
            elif stated is None:
                faults[f"{known[axis]} has nothing in brackets: write '{known[axis]} | {scale.word}: [...]'"] = None
            elif value is None:
                faults[f"{known[axis]} has '{short(stated)}', not {scale.wanted}"] = None
            elif _OUT_OF.sub("", behind.rstrip(_TAIL)).strip(_TAIL):
                faults[f"{known[axis]} has '{short(behind.strip())}' behind its bracket: end the line there"] = None
            else:
                values[known[axis]] = value
    if missing := [name for key, name in known.items() if key not in seen]:
        faults[f"there is no line of the form 'AXIS | {scale.word}: [...]' for {', '.join(missing)}"] = None
    faults |= dict.fromkeys(beside(rest))
    return _result(values, "\n".join(before), known, faults)


def _read_object(text: str, axes: Sequence[str], scale: _Scale[T]) -> ReadByAxis[T]:
    known = _axis_names(axes)
    reply = own(text)
    objects, rest = read_json_and_rest(
        reply, lambda value: value if isinstance(value, dict) and scale.field in value else None
    )
    if not objects:
        return _read_lines(text, axes, scale)
    faults: dict[str, None] = {}
    if any(other_fields != objects[0] for other_fields in objects[1:]):
        faults["there is more than one JSON object, and they differ"] = None
    if not is_empty_talk(rest):
        faults[f"beside the object stands '{short(rest)}': reply with the object and nothing else"] = None
    fields = objects[0]
    other_fields = [key for key in fields if key not in ("justification", scale.field) and _ANOTHER.search(key)]
    if other_fields:
        faults[f"the field '{short(other_fields[0])}' beside those that were asked for states something else"] = None
    values: dict[str, T] = {}
    rows = fields[scale.field]
    seen: set[str] = set()
    for field, stated in (rows if isinstance(rows, dict) else {}).items():
        axis = _key(field)
        if axis not in known:
            faults[f"there is a value for '{short(field)}', which was not asked"] = None
        elif axis in seen:
            faults[f"{known[axis]} stands there more than once"] = None
        else:
            seen.add(axis)
            value = scale.read(str(stated).strip()) if type(stated) in (int, str) else None
            if value is None:
                faults[f"{known[axis]} has {short(repr(stated))}, not {scale.wanted}"] = None
            else:
                values[known[axis]] = value
    if missing := [name for key, name in known.items() if key not in seen]:
        faults[f"'{scale.field}' has nothing for {', '.join(missing)}"] = None
    justification = fields.get("justification")
    return _result(values, justification if isinstance(justification, str) else "", known, faults)


def _result(values: dict[str, T], text: str, known: dict[str, str], faults: dict[str, None]) -> ReadByAxis[T]:
    """Return the values in the requested order, with the justification.

    Raises:
        UnparsableReply: there are faults, or the justification is missing or too long.
    """
    justification = _LEAD.sub("", text).strip()
    if not any(map(str.isalpha, justification)) or is_empty_talk(justification):
        faults["there is no justification before the lines: say in a few sentences why you judge so"] = None
    elif len(justification) > MAX_JUSTIFICATION:
        faults[f"the justification has {len(justification):,} characters; a few sentences were asked for"] = None
    faults |= dict.fromkeys(_otherwise(justification, values))
    refuse(faults)
    return ReadByAxis({name: values[name] for name in known.values()}, justification)


def _otherwise(justification: str, values: Mapping[str, object]) -> Iterator[str]:
    """Yield a fault for each axis to which the justification gives a score out of ten that differs from its line."""
    for name, value in values.items():
        words = r"[ _\-]".join(map(re.escape, name.split("_")))
        points = re.compile(
            rf"\b{words}\b[^\n.!?;0-9]{{0,30}}\b([0-9]{{1,2}})\s{{0,3}}(?:/|out of)\s{{0,3}}10\b", re.IGNORECASE
        )
        for match in matches(points, justification.translate(DECORATION)):
            if isinstance(value, int) and int(match[1]) != value:
                yield f"the justification gives {name} {match[1]} of 10, and its line {value}"


def _axis_names(axes: Sequence[str]) -> dict[str, str]:
    if not axes:
        raise ValueError("at least one axis is expected")
    return {_key(axis): axis for axis in axes}


def _key(axis: str) -> str:
    return re.sub(r"[\s_\-]+", "_", axis.strip().casefold())
