"""The places of a sentence printed from the tables: figures, tested comparisons, quoted texts; and what is wrong with them."""

import re
from collections.abc import Iterator

from dokimasia.algorithms.diagnosis.tables import COUNTING, SPELT, EvidenceTables, Missing
from dokimasia.domain.diagnosis.report import FaultKind, FigureReference, Sentence, SentenceFault, WrittenSentence

REASON_LIMIT = 500
NAMED_DIGITS = 5
"""Numbers of a sentence that its fault names."""

_PLACE = re.compile(r"\{([^{}\n]{1,600})\}")
_KEYWORD = re.compile(r"(compare|quote)\s+", re.IGNORECASE)
_WORD = re.compile(r"\S+")
_LEVEL = re.compile(r"(?<![\w.,])95\s?% intervals?\b", re.IGNORECASE)
"""What all intervals of the tables are, as they are printed."""

_FIRST_OF_ALL = re.compile(
    r"\b(?:best|worst|highest|lowest|strongest|weakest|top) (?:(?:score|mean|result|model)s? )?(?:of|among) "
    r"(?:all|the|these|them)\b(?: (?:\w+ )?models?\b| \w+\b)?",
    re.IGNORECASE,
)
RANKED = ("ranks", "top-ties")
"""Tables whose figures say who is first."""

_BETWEEN = re.compile(r"(?:,|\s)\s*(?:and\s+)?(?=[a-z0-9-]+(?:/[^\s:]+)?:)")
"""What parts the two cells of a comparison."""


class Unprintable(Exception):
    """A place cannot be printed: which kind of fault that is, and why."""

    def __init__(self, kind: FaultKind, reason: str) -> None:
        super().__init__(reason)
        self.kind: FaultKind = kind


def expand(sentence: WrittenSentence, tables: EvidenceTables) -> Sentence:
    """Return a sentence with its places printed from the tables, and all that leaves it unverified.

    `{ASSET:ROW.COLUMN}` prints a cell: a figure with its unit and its 95 % interval, or a text such as a verdict.
    `{compare CELL CELL}` prints *higher than*, *lower than* or *not distinguishable from* by the paired test of the two
    cells. `{quote CELL}` prints a cell's text in quotation marks, and `{quote ASSET}` what a table says it shows.

    Parameters
    ----------
    sentence : WrittenSentence
        As its writer wrote it.
    tables : Tables
        What may be printed.

    Returns
    -------
    Sentence
        A place that cannot be printed stays as it was written and is a fault, and so is every digit outside of a place
        and of a name that the tables hold; "95 % interval" is such a name. So is a number in words from three on, but for
        the number of the models and of the others, and a model that is called the best or lowest of several where the
        sentence prints neither a rank nor a comparison. Other words are not looked at.

    References
    ----------
    ATOM, section 3.4; places and tested comparisons are ours.
    """
    faults: list[SentenceFault] = []
    places: list[FigureReference] = []
    text, at = "", 0
    for match in _PLACE.finditer(sentence.written):
        text += sentence.written[at : match.start()]
        at = match.end()
        try:
            printed, row = _printed(match[1].strip(), tables)
        except Unprintable as problem:
            faults.append(_fault(problem.kind, f"{match[0][:200]}: {problem}"))
            text += match[0]
            continue
        places.append(FigureReference(written=match[0], start=len(text), end=len(text) + len(printed), row=row))
        text += printed
    faults += _outside(_PLACE.sub(" ", sentence.written), tables)
    if not any(position.written.startswith("{compare") or position.row.startswith(RANKED) for position in places):
        faults += _first_of_all(_PLACE.sub(" ", sentence.written), tables)
    return Sentence(
        **dict(sentence), text=text + sentence.written[at:], places=tuple(places), faults=tuple(dict.fromkeys(faults))
    )


def _printed(place: str, tables: EvidenceTables) -> tuple[str, str]:
    """Return what a place prints, and the row that it leads to."""
    keyword = _KEYWORD.match(place)
    reference = place[keyword.end() :] if keyword else place
    try:
        match keyword and keyword[1].casefold():
            case "compare":
                return _compared(reference, tables)
            case "quote":
                return _quoted(reference, tables)
            case _:
                cell = tables.cell(reference)
                return cell.text, cell.place
    except Missing as missing:
        raise Unprintable("no_such_place", str(missing)) from None


def _compared(references: str, tables: EvidenceTables) -> tuple[str, str]:
    """Return how two cells compare; both references may hold spaces, so that they are parted where both lead to a cell."""
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


def _outside(text: str, tables: EvidenceTables) -> Iterator[SentenceFault]:
    """Yield what is wrong with the text outside of places: stray braces, and digits that are in no name."""
    if "{" in text or "}" in text:
        yield _fault("no_such_place", "a brace has no partner, so that nothing is printed there")
    text = _LEVEL.sub(" ", text)
    folded = text.casefold()
    for name in tables.numbered_names:
        if name.casefold() in folded:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text, flags=re.IGNORECASE)
            folded = text.casefold()
    numbers = [word.strip(".,;:()[]\"'") for word in _WORD.findall(text) if any(map(_is_digit, word))]
    numbers += _spelt(text, tables)
    if numbers:
        listed = ", ".join(numbers[:NAMED_DIGITS]) + (", ..." if len(numbers) > NAMED_DIGITS else "")
        yield _fault(
            "literal_digit",
            f"digits outside of a place: {listed}; print figures as {{TABLE:ROW.COLUMN}}, or leave them out",
        )


def _spelt(text: str, tables: EvidenceTables) -> Iterator[str]:
    """Yield the numbers in words, but for how many models there are, and how many others beside one."""
    counts = {len(tables.models), len(tables.models) - 1}
    return (match[0] for match in SPELT.finditer(text) if COUNTING.get(match[0].casefold()) not in counts)


def _first_of_all(text: str, tables: EvidenceTables) -> Iterator[SentenceFault]:
    """Yield what is said of one of several models that no figure of the sentence shows."""
    if len(tables.models) < 2:
        return
    for match in _FIRST_OF_ALL.finditer(text):
        last = match[0].split()[-1].casefold()
        if last.startswith("model") or last in COUNTING:
            yield _fault(
                "no_test", f"'{match[0]}': print the rank that shows it ({{ranks:ROW.mean rank}}), or leave it out"
            )


def _is_digit(sign: str) -> bool:
    """Whether a sign is a number by itself in any script; letters that mean a number are words."""
    return sign.isnumeric() and not sign.isalpha()


def _fault(kind: FaultKind, reason: str) -> SentenceFault:
    return SentenceFault(kind=kind, reason=reason[:REASON_LIMIT])
