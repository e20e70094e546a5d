"""The sentences that begin every report: who is better, by how much, how sure, and what would decide it."""

from collections.abc import Mapping, Sequence

from dokimasia.domain.ports import Spending
from dokimasia.report import figures
from dokimasia.report.blocks import Cell, Span, plain, spans
from dokimasia.report.fields import Interval, Lead, Used

MOST_SENTENCES = 5


def as_paragraph(sentences: Sequence[Cell]) -> Cell:
    """Return sentences as one cell."""
    pieces: list[str | Span] = []
    for sentence in sentences:
        pieces += [" ", *spans(sentence)] if pieces else spans(sentence)
    return tuple(pieces)


def highest(means: Mapping[str, Interval]) -> list[str]:
    """Return the names with the highest mean; several if they tie."""
    most = max(figure.mean for figure in means.values())
    return sorted(name for name, figure in means.items() if figure.mean == most)


def joined(parts: Sequence[Cell]) -> Cell:
    """Return parts of a sentence as a list in words: `a`, `a and b`, `a, b and c`."""
    pieces: list[str | Span] = []
    for number, part in enumerate(parts, start=1):
        if number == len(parts) > 1:
            pieces.append(" and ")
        elif number > 1:
            pieces.append(", ")
        pieces += spans(part)
    return tuple(pieces)


def of_each(results: Sequence[Cell]) -> Cell:
    """Return the results of several for a sentence: `each 40 %` if all are equal, else `40 % and 41 %`."""
    if len(results) > 1 and len(set(map(plain, results))) == 1:
        return ("each ", *spans(results[0]))
    return joined(results)


def strong(names: Sequence[str]) -> Sequence[str | Span]:
    """Return names in bold, joined for a sentence."""
    return spans(joined([Span(name, "strong") for name in names]))


def inconclusive_sentence(p_text: str) -> str:
    """Return the sentence on a difference whose interval and p-value disagree; the p-value is in words."""
    return f"The interval and the p-value disagree ({p_text}): this is inconclusive."


def lead_sentences(
    lead: Lead | None, *, unit: str, measure: str, things: str = "samples", digits: int = 1, place: str = "/lead"
) -> list[Cell]:
    """Return who is better, by how much and how surely, or how many samples would decide it; empty without a lead.

    Args:
        lead: the best against the next best.
        unit: unit of the difference in words, such as `percentage points`.
        measure: the compared measure, such as `strict accuracy`.
        things: the measured things, in the plural.
        digits: decimals of the difference.
        place: JSON pointer of the lead.
    """
    if lead is None:
        return []
    where = f"on {lead.n:,} {things}"
    if lead.difference.mean == 0:
        return [f"{lead.best} and {lead.next_best} are equal in {measure} {where}."]
    sure = figures.is_clear(lead.difference, lead.p_value)
    p_text = figures.p_text(lead.p_value)
    difference = figures.measured(lead.difference, f"{place}/difference", digits=digits, ends=digits, signed=not sure)
    number, *limits = spans(difference)
    best, next_best = Span(lead.best, "strong"), Span(lead.next_best, "strong")
    size = (number, f" {unit}", *limits, f" {where}")
    if figures.disagree(lead.difference, lead.p_value):
        start = ("It is not clear whether ", best, " is better than ", next_best, ": the difference is ")
        return [(*start, *size, f". {inconclusive_sentence(p_text)}")]
    size = (*size, f" ({p_text})")
    if sure and lead.reversible:
        return [(best, " is ahead of ", next_best, " by ", *size, ", but undecided answers could reverse this.")]
    if sure:
        return [(best, " is better than ", next_best, " by ", *size, ".")]
    sentences: list[Cell] = [
        ("It is not clear whether ", best, " is better than ", next_best, ": the difference is ", *size, ".")
    ]
    if lead.samples_needed is not None and lead.samples_needed > lead.n:
        needed = Span(f"{lead.samples_needed:,}", "", f"{place}/samples_needed", lead.samples_needed)
        start = "If the true difference is this large, about "
        sentences.append((start, needed, f" {things} are needed to show it (80 % power)."))
    return sentences


def used_sentence(results: Used, paid: Spending | None = None) -> str:
    """Return the calls of a run, their cost, and what the run itself paid, as a sentence."""
    text = figures.used(results, paid)
    return f"{text[:1].upper()}{text[1:]}."
