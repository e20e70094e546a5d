"""The beginning of a report: on a terminal the run's heading, and everywhere warnings on open items and judges."""

from collections.abc import Iterator

from dokimasia.domain.wording import is_or_are
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Only, Paragraph, Span
from dokimasia.report.conclusions import as_paragraph
from dokimasia.report.data import SIMULATED_NOTE, ReportData
from dokimasia.report.figures import in_words, several

ENDS = {"failed": "This run failed", "interrupted": "This run stopped before its end"}
"""The beginning of the warning on a run without all of its results, by status; a limit also leads to `interrupted`."""


def opening(data: ReportData, name: str) -> Iterator[Block]:
    """Yield a run's heading, its method's opening, its conclusion, and a warning if the figures cover only part of it.

    `name` is the kind of run.
    """
    yield Only("terminal", tuple(_heading(data, name)))
    if data.facts.unseen:
        yield Paragraph(f"{data.facts.unseen}.", "warning")
    yield from (Paragraph(sentences, "lead") for sentences in data.opening)
    conclusion = () if data.drawing.conclusion is None else data.drawing.conclusion(data)
    if conclusion:
        yield Paragraph(as_paragraph(conclusion), "lead")
    if data.stored:
        yield Paragraph(
            f"Stored answers: {in_words(sorted(data.stored))}. The other models answered in this run.", "note"
        )
    status, waiting = data.facts.status, data.common.open_items
    this = ENDS.get(status, f"This run is {status}")
    questions = data.facts.open_questions
    if questions:
        yield Paragraph(f"{several(questions, 'question')} to people {is_or_are(questions)} open.", "warning")
    if status != "done" and waiting:
        text = " results are missing. The figures cover only the finished part."
        yield Paragraph((f"{this}: ", figures.count(waiting, "/open_items"), text), "warning")
    elif status != "done":
        yield Paragraph(f"{this}. The figures cover only the finished part.", "warning")
    yield from _passports(data)


def _passports(data: ReportData) -> Iterator[Block]:
    """Yield the warnings from the judges' passports, or a note that there are none."""
    for passport in data.common.passports:
        if passport.chosen is not None:
            yield Paragraph(f"Judge {passport.judge} was {passport.chosen}.", "note")
        source = f"passport {passport.sha256[:12]}" if passport.sha256 else "no passport was given"
        if passport.warnings:
            yield Bullets(passport.warnings, f"Judge {passport.judge} ({source}):")
        else:
            yield Paragraph(f"Judge {passport.judge} ({source}): its passport warns of nothing here.", "note")


def _heading(data: ReportData, name: str) -> Iterator[Block]:
    if data.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    facts, common = data.facts, data.common
    samples = common.n if common.samples is None else common.samples
    judges = [model.name for model in facts.models if model.role == "judge"]
    members = [model.name for model in facts.models if model.role == "member"]
    parts = [
        f"run {facts.run} · {name} · {facts.data_name}",
        *([several(samples, *data.drawing.counts)] if samples is not None else []),
        *([f"judge {', '.join(judges)}"] if judges else []),
        *([f"panel {', '.join(members)}"] if members else []),
    ]
    state = [Span(f" · {facts.status}", "bad")] if facts.status != "done" else []
    yield Paragraph((Span(" · ".join(parts), "strong"), *state))
    origin = common.forked_from
    if origin is not None:
        yield Paragraph(f"forked from run {origin.run} at {origin.node}: what comes before was taken over")
