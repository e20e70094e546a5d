"""Lists of failure modes: notes sorted under modes, new modes with name and definition, merged or reworded modes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.failure_modes import ModeKind
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.failure_modes.notes import NONE, UNSEEN, WORD, said_lines
from dokimasia.parsing.grammar import form
from dokimasia.parsing.reply import listed, refuse, short

NAME_WORDS, DEFINITION_WORDS = (2, 12), (6, 90)
"""Accepted numbers of words, somewhat wider than the prompt's, so that a word too many does not cost a re-ask."""

FEWEST_SAMPLES = 2
"""The minimum number of samples behind the notes of a new mode, since an error in only one may lie in its question."""

SORTING_EXAMPLE = FormExample(
    """mode 2 | 3, 8
new commission | Counts reflections as objects | The answer counts the mirror image of an object in water or glass as one \
more object. Partly hidden objects that are counted twice do not belong to this mode. | 2, 5
new omission | Overlooks lettering at the edge | The answer does not mention words near the border of the image that settle \
the point. Words that it misreads do not belong to this mode. | 4, 6, 9
loose | 1, 7"""
)
MERGING_EXAMPLE = FormExample(
    """merge | 22, 25 | Counts reflections as objects | The answer counts the mirror image of an object in water or glass as \
one more object. Partly hidden objects that are counted twice do not belong to this mode.
reword | 28 | Gives a value to its neighbour | The answer gives the value of one row, bar or line to the one beside it. \
Values that occur nowhere in the image do not belong to this mode."""
)

_UNDER = form(r"mode~([0-9]{1,6})\b[^|\n]{0,200}\|~(.*)", re.UNICODE)
_NEW = form(r"new~[|:]?~(commission|omission)~\|(.+)", re.UNICODE)
_LOOSE = form(r"loose~[|:]~(.*)", re.UNICODE)
_CHANGE = form(r"(merge|reword)~[|:]~(.+)", re.UNICODE)
_NUMBERS = re.compile(
    r"(?:notes?|modes?|numbers?)?[:\s]{0,4}[0-9]{1,6}(?:(?:\s|,|;|&|and){1,9}[0-9]{1,6}){0,999}[\s.]{0,4}"
)
_NUMBER = re.compile(r"[0-9]{1,6}")
_VERDICT_WORDS = """
response responses reply gives giving given makes making provides states says has is of the a an in on
and or to wrong incorrect incorrectly inaccurate inaccuracy incomplete poor bad false error errors mistake mistakes failure
failures fails quality general generic other miscellaneous issue issues problem problems missing lacks lacking omission
commission detail details information accuracy correctness
"""
_VERDICTS = frozenset(_VERDICT_WORDS.split())
"""Words that state that something is wrong, but not what."""


class NewMode(NamedTuple):
    """A mode in a judge's words, and the notes (or modes) that it is made of, by number from 1."""

    kind: ModeKind
    name: str
    definition: str
    of: tuple[int, ...]


class Sorting(NamedTuple):
    """Notes under existing modes (by number from 1), and new modes; a note in neither is loose."""

    under: Mapping[int, tuple[int, ...]]
    new: tuple[NewMode, ...]
    problems: tuple[str, ...] = ()


def parse_sorting(
    text: str,
    modes: Sequence[tuple[ModeKind, str]],
    notes: Sequence[ModeKind],
    samples: Sequence[int] = (),
    *,
    strict: bool = True,
) -> Sorting:
    """Return how a judge sorts notes under modes: existing ones (`modes`, kind and name of each) and new ones.

    `samples` says which sample each note is of; without it every note is of another.

    Raises:
        UnparsableReply: no line can be used, or (strict) a note is missing, repeated, or under a mode of another kind, or a
            new mode breaks a rule; the reason names all faults.
    """
    faults = _Faults("note", len(notes))
    under: dict[int, tuple[int, ...]] = {}
    new: list[NewMode] = []
    names = {name.casefold() for _, name in modes}
    has_lines = False
    for line in said_lines(text):
        if match := _UNDER.fullmatch(line):
            has_lines = True
            mode, numbers = int(match[1]), faults.taken(match[2], line)
            if not 1 <= mode <= len(modes):
                faults.add(f"there is no mode {mode}" + (f": they are numbered 1 to {len(modes)}" if modes else " yet"))
                continue
            kept = faults.of_kind(numbers, notes, modes[mode - 1][0], f"mode {mode}")
            under[mode] = (*under.get(mode, ()), *kept)
        elif match := _NEW.fullmatch(line):
            has_lines = True
            kind: ModeKind = "commission" if match[1].casefold() == "commission" else "omission"
            name, definition, last = _worded(match[2])
            SORTING_EXAMPLE.refuse(name, "the name of a new mode")
            SORTING_EXAMPLE.refuse(definition, "the definition of a new mode")
            numbers = faults.of_kind(faults.taken(last, line), notes, kind, f"'{short(name)}'")
            mode_faults = [
                *_wording(name, definition),
                *([f"there is a mode '{name}' already"] if name.casefold() in names else []),
            ]
            if len({samples[number - 1] if samples else number for number in numbers}) < FEWEST_SAMPLES:
                mode_faults.append("a new mode is made of notes of two samples or more; notes of one alone are loose")
            faults.add(*(f"'{short(name)}': {fault}" for fault in mode_faults))
            if not mode_faults:
                names.add(name.casefold())
                new.append(NewMode(kind, name, definition, numbers))
        elif match := _LOOSE.fullmatch(line):
            has_lines = True
            faults.taken(match[1], line)
    if not has_lines:
        raise UnparsableReply(
            "there is no line of the form 'mode N | notes', 'new KIND | name | definition | notes' or 'loose | notes'"
        )
    faults.missing()
    faults.raise_if(strict)
    return Sorting(under, tuple(new), faults.all)


def parse_changes(text: str, modes: Sequence[tuple[ModeKind, str]], *, strict: bool = True) -> tuple[NewMode, ...]:
    """Return the modes that a judge merges or rewords, each as the new mode that replaces them.

    Raises:
        UnparsableReply: there is neither a change nor the word `none`, or (strict) a change cannot be made; the reason names
            all faults.
    """
    faults = _Faults("mode", len(modes))
    changes: list[NewMode] = []
    has_lines = False
    for line in said_lines(text, "none"):
        if NONE.fullmatch(line):
            has_lines = True
            continue
        match = _CHANGE.fullmatch(line)
        if match is None:
            continue
        has_lines = True
        how, described = match.groups()
        first, _, rest = described.partition("|")
        name, _, definition = (part.strip() for part in rest.partition("|"))
        MERGING_EXAMPLE.refuse(name, "the name of a mode")
        MERGING_EXAMPLE.refuse(definition, "the definition of a mode")
        numbers = faults.taken(first, line)
        mode_faults = list(_wording(name, definition))
        kinds: list[ModeKind] = list(dict.fromkeys(modes[number - 1][0] for number in numbers))
        others = {other.casefold() for at, (_, other) in enumerate(modes, start=1) if at not in numbers}
        if name.casefold() in others | {mode.name.casefold() for mode in changes}:
            mode_faults.append("another mode bears that name")
        if len(kinds) > 1:
            mode_faults.append("a commission and an omission cannot become one")
        if how.casefold() == "merge" and len(numbers) < 2:
            mode_faults.append("merging takes two modes or more")
        if how.casefold() == "reword" and len(numbers) != 1:
            mode_faults.append("one mode is reworded at a time")
        faults.add(*(f"'{short(line)}': {fault}" for fault in mode_faults))
        if not mode_faults:
            changes.append(NewMode(kinds[0], name, definition, numbers))
    if not has_lines:
        raise UnparsableReply("there is no line of the form 'merge | N, N | name | definition', and not the word none")
    faults.raise_if(strict)
    return tuple(changes)


class _Faults:
    """The faults of a reply that must name each of some numbered things in one place."""

    def __init__(self, thing: str, count: int) -> None:
        self._thing, self._count = thing, count
        self._found: dict[str, None] = {}
        self._seen: set[int] = set()

    @property
    def all(self) -> tuple[str, ...]:
        """All faults, each once."""
        return tuple(self._found)

    def add(self, *faults: str) -> None:
        """Add faults."""
        self._found |= dict.fromkeys(faults)

    def taken(self, text: str, line: str) -> tuple[int, ...]:
        """Return the valid numbers of a list that no earlier list named, and record its faults."""
        stripped = text.strip().strip("<>[]()")
        if not stripped or NONE.fullmatch(stripped):
            return ()
        if not _NUMBERS.fullmatch(stripped):
            self.add(
                f"'{short(line)}' does not end in a list of numbers"
                if self._thing == "note"
                else f"'{short(line)}' begins with no list of numbers"
            )
            return ()
        numbers = list(dict.fromkeys(map(int, _NUMBER.findall(stripped))))
        self.add(
            *(
                f"there is no {self._thing} {number}: they are numbered 1 to {self._count}"
                for number in numbers
                if not 1 <= number <= self._count
            ),
            *(f"{self._thing} {number} stands in more than one place" for number in numbers if number in self._seen),
        )
        kept = tuple(number for number in numbers if 1 <= number <= self._count and number not in self._seen)
        self._seen.update(kept)
        return kept

    def of_kind(self, numbers: Iterable[int], kinds: Sequence[ModeKind], kind: ModeKind, whose: str) -> tuple[int, ...]:
        """Return the notes that are of a mode's kind, and record a fault for the others."""
        notes = tuple(numbers)
        other = [number for number in notes if kinds[number - 1] != kind]
        if other:
            self.add(f"{whose} is a mode of {kind}, and note {listed(other)} is of the other kind")
        return tuple(number for number in notes if number not in other)

    def missing(self) -> None:
        """Add a fault for the things that no list named."""
        absent = [number for number in range(1, self._count + 1) if number not in self._seen]
        if absent:
            self.add(f"there is no place for {self._thing} {listed(absent)}")

    def raise_if(self, strict: bool) -> None:
        """Refuse the reply for its faults, if it is read strictly."""
        if strict:
            refuse(self._found)


def _worded(rest: str) -> tuple[str, str, str]:
    """Return the name, the definition, and the text after the last bar."""
    name, _, more = rest.partition("|")
    definition, _, last = more.rpartition("|")
    return name.strip().strip("<>\"'").strip(), " ".join(definition.strip().strip("<>").split()), last


def _wording(name: str, definition: str) -> Iterator[str]:
    """Yield the faults of a mode's name and definition."""
    words = [word.casefold() for word in WORD.findall(name)]
    telling = [word for word in words if word not in _VERDICTS]
    if not NAME_WORDS[0] <= len(words) <= NAME_WORDS[1] or len(name) > 120:
        yield f"a name has two to eight words, not {len(words)}"
    elif len(telling) < 2:
        yield "the name is a verdict or a subject only; say what is done and to what"
    unseen = UNSEEN.search(name) or UNSEEN.search(definition)
    if unseen:
        yield f"'{unseen[0]}' is nothing that two readers can see in image and answer"
    count = len(WORD.findall(definition))
    if not DEFINITION_WORDS[0] <= count <= DEFINITION_WORDS[1] or len(definition) > 800:
        yield f"a definition has 10 to 60 words, not {count}"
