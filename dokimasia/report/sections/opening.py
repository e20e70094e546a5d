"""The beginning of a report: on a terminal the run's heading, and everywhere warnings on open items and judges."""

from collections.abc import Iterator

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Only, Paragraph, Span
from dokimasia.report.data import SIMULATED_NOTE, ReportData
from dokimasia.report.figures import several


def opening(data: ReportData, name: str) -> Iterator[Block]:
    """Yield a run's heading, and a warning if the figures cover only part of it; `name` is the kind of run."""
    yield Only("terminal", tuple(_heading(data, name)))
    status, waiting = data.facts.status, data.summary.get("open_items")
    this = "This run failed" if status == "failed" else f"This run is {status}"
    questions = data.facts.open_questions
    if questions:
        yield Paragraph(
            f"{several(questions, 'question')} to people {'is' if questions == 1 else 'are'} open.", "warning"
        )
    if status != "done" and waiting:
        text = " items have no result yet, and every figure here speaks of a part of the data only."
        yield Paragraph((f"{this}: ", figures.count(waiting, "/open_items"), text), "warning")
    elif status != "done":
        yield Paragraph(f"{this}: the figures speak of a part of it.", "warning")
    yield from _passports(data)


def _passports(data: ReportData) -> Iterator[Block]:
    """Yield the warnings from the judges' passports, or a note that there are none."""
    for passport in data.summary.get("passports", ()):
        if "chosen" in passport:
            yield Paragraph(f"Judge {passport['judge']} was {passport['chosen']}.", "note")
        source = f"passport {passport['sha256'][:12]}" if passport["sha256"] else "no passport was given"
        if passport["warnings"]:
            yield Bullets(passport["warnings"], f"Judge {passport['judge']} ({source}):")
        else:
            yield Paragraph(f"Judge {passport['judge']} ({source}): its passport warns of nothing here.", "note")


def _heading(data: ReportData, name: str) -> Iterator[Block]:
    if data.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    facts, samples = data.facts, data.summary.get("samples", data.summary.get("n"))
    by_role = {role: [model.name for model in facts.models if model.role == role] for role in ("judge", "member")}
    parts = [
        f"run {facts.run} · {name} · {facts.data_name}",
        *([several(samples, *data.drawing.counts)] if samples is not None else []),
        *([f"judge {', '.join(by_role['judge'])}"] if by_role["judge"] else []),
        *([f"panel {', '.join(by_role['member'])}"] if by_role["member"] else []),
    ]
    state = [Span(f" · {facts.status}", "bad")] if facts.status != "done" else []
    yield Paragraph((Span(" · ".join(parts), "strong"), *state))
    origin = data.summary.get("forked_from")
    if origin:
        yield Paragraph(f"forked from run {origin['run']} at {origin['node']}: what comes before was taken over")
