"""Sentences of conclusions, with which every report begins: who is better, by how much, how sure, and what would decide it."""

from collections.abc import Sequence

from dokimasia.report import figures
from dokimasia.report.blocks import Cell, Span, spans
from dokimasia.report.fields import Lead, Used

MOST_SENTENCES = 5


def as_paragraph(sentences: Sequence[Cell]) -> Cell:
    """Return sentences as one cell."""
    pieces: list[str | Span] = []
    for sentence in sentences:
        pieces += [" ", *spans(sentence)] if pieces else spans(sentence)
    return tuple(pieces)


def lead_sentences(
    lead: Lead | None, *, unit: str, things: str = "samples", digits: int = 1, place: str = "/lead"
) -> list[Cell]:
    """Return who is better, by how much and how sure that is, or how many samples would decide it; empty without a lead.

    Args:
        lead: the best against the next best.
        unit: unit of the difference in words, such as `percentage points`.
        things: what was compared, in the plural.
        digits: decimals of the difference.
        place: JSON pointer of the lead.
    """
    if lead is None:
        return []
    if lead.difference.mean == 0:
        return [f"{lead.best} and {lead.next_best} do not differ on the {lead.n:,} {things} that both have."]
    sure = lead.p_value <= figures.SURE
    difference = figures.measured(lead.difference, f"{place}/difference", digits=digits, ends=digits, signed=not sure)
    p_text = figures.p_value(lead.p_value).text
    p_text = f"p {p_text}" if p_text.startswith("<") else f"p = {p_text}"
    number, *limits = spans(difference)
    first, second = Span(lead.best, "strong"), Span(lead.next_best, "strong")
    opening = (first, " is better than ", second, " by ")
    if not sure:
        opening = ("Whether ", first, " is better than ", second, " is undecided: the difference is ")
    sentences: list[Cell] = [(*opening, number, f" {unit}", *limits, f" on {lead.n:,} {things} ({p_text}).")]
    if not sure and lead.samples_needed is not None and lead.samples_needed > lead.n:
        needed = Span(f"{lead.samples_needed:,}", "", f"{place}/samples_needed", lead.samples_needed)
        sentences.append(("About ", needed, f" {things} would show a difference of this size (80 % power)."))
    return sentences


def used_sentence(results: Used) -> str:
    """Return the calls of a run and their cost as a sentence."""
    text = figures.used(results)
    return f"{text[:1].upper()}{text[1:]}."
