"""Replacement of references in a sentence by figures, tested comparisons and quoted texts; and the faults found."""

import re
from collections.abc import Iterator

from dokimasia.algorithms.diagnosis.tables import COUNTING, SPELT, EvidenceTables, Missing
from dokimasia.domain.diagnosis.report import FaultKind, FigureReference, Sentence, SentenceFault, WrittenSentence

REASON_LIMIT = 500
NAMED_DIGITS = 5
"""Maximum number of numbers in a sentence that its fault lists."""

_PLACE = re.compile(r"\{([^{}\n]{1,600})\}")
_KEYWORD = re.compile(r"(compare|quote)\s+", re.IGNORECASE)
_WORD = re.compile(r"\S+")
_LEVEL = re.compile(r"(?<![\w.,])95\s?% intervals?\b", re.IGNORECASE)
"""The level of all intervals, as printed."""

_FIRST_OF_ALL = re.compile(
    r"\b(?:best|worst|highest|lowest|strongest|weakest|top) (?:(?:score|mean|result|model)s? )?(?:of|among) "
    r"(?:all|the|these|them)\b(?: (?:\w+ )?models?\b| \w+\b)?",
    re.IGNORECASE,
)
RANKED = ("ranks", "top-ties")
"""Tables whose figures state which model is first."""

_BETWEEN = re.compile(r"(?:,|\s)\s*(?:and\s+)?(?=[a-z0-9-]+(?:/[^\s:]+)?:)")
"""The separator between the two cells of a comparison."""


class Unprintable(Exception):
    """A reference cannot be printed; `kind` is the kind of fault."""

    def __init__(self, kind: FaultKind, reason: str) -> None:
        super().__init__(reason)
        self.kind: FaultKind = kind


def expand(sentence: WrittenSentence, tables: EvidenceTables) -> Sentence:
    """Return a sentence with its references replaced from the tables, and the sentence's faults.

    `{ASSET:ROW.COLUMN}` prints a cell: a figure with its unit and its 95 % interval, or a text such as a verdict.
    `{compare CELL CELL}` prints *higher than*, *lower than* or *not distinguishable from* by the paired test of the two
    cells. `{quote CELL}` prints a cell's text in quotation marks, and `{quote ASSET}` a table's own description.

    Parameters
    ----------
    sentence : WrittenSentence
        The sentence as written.
    tables : EvidenceTables
        The tables that may be cited.

    Returns
    -------
    Sentence
        A reference that cannot be printed is unchanged and counts as a fault, as does every digit outside references
        and names from the tables; "95 % interval" counts as such a name. A number in words from three on is a fault,
        too, except for the number of the models and of the others, and so is a model that is called the best or lowest
        of several if the sentence prints neither a rank nor a comparison. Other words are not checked.

    References
    ----------
    ATOM, section 3.4; references and tested comparisons are this project's.
    """
    faults: list[SentenceFault] = []
    places: list[FigureReference] = []
    text, at = "", 0
    for match in _PLACE.finditer(sentence.written):
        text += sentence.written[at : match.start()]
        at = match.end()
        try:
            printed, row = _print_reference(match[1].strip(), tables)
        except Unprintable as problem:
            faults.append(_fault(problem.kind, f"{match[0][:200]}: {problem}"))
            text += match[0]
            continue
        places.append(FigureReference(written=match[0], start=len(text), end=len(text) + len(printed), row=row))
        text += printed
    faults += _outside_faults(_PLACE.sub(" ", sentence.written), tables)
    if not any(position.written.startswith("{compare") or position.row.startswith(RANKED) for position in places):
        faults += _first_of_all(_PLACE.sub(" ", sentence.written), tables)
    return Sentence(
        **dict(sentence), text=text + sentence.written[at:], places=tuple(places), faults=tuple(dict.fromkeys(faults))
    )


def _print_reference(place: str, tables: EvidenceTables) -> tuple[str, str]:
    """Return the text that a reference prints, and the row it refers to."""
    keyword = _KEYWORD.match(place)
    reference = place[keyword.end() :] if keyword else place
    try:
        match keyword and keyword[1].casefold():
            case "compare":
                return _compare_cells(reference, tables)
            case "quote":
                return _quoted(reference, tables)
            case _:
                cell = tables.cell(reference)
                return cell.text, cell.place
    except Missing as missing:
        raise Unprintable("no_such_place", str(missing)) from None


def _compare_cells(references: str, tables: EvidenceTables) -> tuple[str, str]:
    """Return how two cells compare; references may contain spaces, so the text is split where both parts are cells."""
    problem: Missing | None = None
    for gap in _BETWEEN.finditer(references):
        try:
            first, second = tables.cell(references[: gap.start()]), tables.cell(references[gap.end() :])
        except Missing as missing:
            problem = missing
            continue
        tested = tables.tested(first, second)
        if tested is None:
            raise Unprintable(
                "no_test", "no paired test compares these two cells; print each figure, or a row's verdict"
            )
        return tested
    raise problem or Missing("a comparison names two cells, such as {compare models:1.score models:2.score}")


def _quoted(reference: str, tables: EvidenceTables) -> tuple[str, str]:
    if ":" not in reference:
        return f"\u201c{tables.asset(reference.strip()).sentence}\u201d", ""
    cell = tables.cell(reference)
    if not isinstance(cell.figure.value, str):
        raise Missing(f"{cell.place} holds a number there; print it without the word quote")
    return f"\u201c{cell.text}\u201d", cell.place


def _outside_faults(text: str, tables: EvidenceTables) -> Iterator[SentenceFault]:
    """Yield the faults of the text outside references: stray braces, and digits that are not part of a name."""
    if "{" in text or "}" in text:
        yield _fault("no_such_place", "a brace has no partner, so that nothing is printed there")
    text = _LEVEL.sub(" ", text)
    folded = text.casefold()
    for name in tables.numbered_names:
        if name.casefold() in folded:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text, flags=re.IGNORECASE)
            folded = text.casefold()
    numbers = [word.strip(".,;:()[]\"'") for word in _WORD.findall(text) if any(map(_is_digit, word))]
    numbers += _number_words(text, tables)
    if numbers:
        number_list = ", ".join(numbers[:NAMED_DIGITS]) + (", ..." if len(numbers) > NAMED_DIGITS else "")
        yield _fault(
            "literal_digit",
            f"digits outside of a place: {number_list}; print figures as {{TABLE:ROW.COLUMN}}, or leave them out",
        )


def _number_words(text: str, tables: EvidenceTables) -> Iterator[str]:
    """Yield the numbers written in words, except for the number of models and the number of others."""
    counts = {len(tables.models), len(tables.models) - 1}
    return (match[0] for match in SPELT.finditer(text) if COUNTING.get(match[0].casefold()) not in counts)


def _first_of_all(text: str, tables: EvidenceTables) -> Iterator[SentenceFault]:
    """Yield superlatives about one of several models that no figure of the sentence supports."""
    if len(tables.models) < 2:
        return
    for match in _FIRST_OF_ALL.finditer(text):
        last = match[0].split()[-1].casefold()
        if last.startswith("model") or last in COUNTING:
            yield _fault(
                "no_test", f"'{match[0]}': print the rank that shows it ({{ranks:ROW.mean rank}}), or leave it out"
            )


def _is_digit(sign: str) -> bool:
    """Return whether a character is a number in any script; letters that stand for a number count as words."""
    return sign.isnumeric() and not sign.isalpha()


def _fault(kind: FaultKind, reason: str) -> SentenceFault:
    return SentenceFault(kind=kind, reason=reason[:REASON_LIMIT])
