"""What stands before everything else: on a terminal which run it is, everywhere that a run is not finished."""

from collections.abc import Iterator

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Only, Paragraph, Span
from dokimasia.report.data import SIMULATED_NOTE, ReportData
from dokimasia.report.figures import several


def opening(data: ReportData, name: str) -> Iterator[Block]:
    """Yield a run's heading, and a warning where the figures speak of a part of it; `name` is what the kind is called."""
    yield Only("terminal", tuple(_heading(data, name)))
    status, waiting = data.facts.status, data.summary.get("open_items")
    this = "This run failed" if status == "failed" else f"This run is {status}"
    asked = data.facts.open_questions
    if asked:
        yield Paragraph(f"{several(asked, 'question')} to people {'is' if asked == 1 else 'are'} open.", "warning")
    if status != "done" and waiting:
        text = " items have no result yet, and every figure here speaks of a part of the data only."
        yield Paragraph((f"{this}: ", figures.count(waiting, "/open_items"), text), "warning")
    elif status != "done":
        yield Paragraph(f"{this}: the figures speak of a part of it.", "warning")
    yield from _passports(data)


def _passports(data: ReportData) -> Iterator[Block]:
    """Yield what the judges' passports warn of, or that they warn of nothing."""
    for one in data.summary.get("passports", ()):
        if "chosen" in one:
            yield Paragraph(f"Judge {one['judge']} was {one['chosen']}.", "note")
        passport = f"passport {one['sha256'][:12]}" if one["sha256"] else "no passport was given"
        if one["warnings"]:
            yield Bullets(one["warnings"], f"Judge {one['judge']} ({passport}):")
        else:
            yield Paragraph(f"Judge {one['judge']} ({passport}): its passport warns of nothing here.", "note")


def _heading(data: ReportData, name: str) -> Iterator[Block]:
    if data.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    facts, samples = data.facts, data.summary.get("samples", data.summary.get("n"))
    asked = {role: [one.name for one in facts.models if one.role == role] for role in ("judge", "member")}
    parts = [
        f"run {facts.run} · {name} · {facts.data_name}",
        *([several(samples, *data.drawing.counts)] if samples is not None else []),
        *([f"judge {', '.join(asked['judge'])}"] if asked["judge"] else []),
        *([f"panel {', '.join(asked['member'])}"] if asked["member"] else []),
    ]
    state = [Span(f" · {facts.status}", "bad")] if facts.status != "done" else []
    yield Paragraph((Span(" · ".join(parts), "strong"), *state))
    origin = data.summary.get("forked_from")
    if origin:
        yield Paragraph(f"forked from run {origin['run']} at {origin['node']}: what comes before was taken over")
