"""The browser of samples, and one sample of an evaluation whole: question, chain, criteria, every answer with its scores."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Browser, Bullets, Cell, Column, Facts, Paragraph, Section, Span, Table, Texts
from dokimasia.report.browser import looks_of
from dokimasia.report.data import Cut, ReportData
from dokimasia.report.overlay import look_text, region_text
from dokimasia.report.verdicts import NOT_STATED, corrected_of, final_of, left_out_of, spoken_scores, verdict_tone


def section(data: ReportData) -> Section | None:
    """Return the browser; None where no sample is to be shown."""
    return Section("samples", "Samples", (Browser(data.selection.text),)) if data.selection.total else None


def sample(view: Mapping[str, Any], cut: Cut = str) -> Iterator[Block]:
    """Yield what a run knows of a sample.

    Args:
        view: what `show RUN --sample ID --json` has.
        cut: shortens a long text, and says so.
    """
    asked, images = view["sample"], [one["sha256"] for one in view["sample"]["images"]]
    if images:
        yield Facts(
            [
                (f"image {number}", Span(f"{one['width']} × {one['height']}, {one['sha256']}", "muted"))
                for number, one in enumerate(asked["images"], start=1)
            ]
        )
    yield Texts([(Span("Question", "muted"), cut(asked["prompt"]))])
    if asked["choices"]:
        yield Facts([(chr(ord("A") + place), choice) for place, choice in enumerate(asked["choices"])])
    if view["accepted"] is not None:
        yield Texts([(Span("Reference", "muted"), cut(view["accepted"]))])
    if view["judge"]:
        yield from _replay(view["replay"], len(images), cut)
    yield from _coverage(view["coverage"])
    looks = looks_of(view)
    if looks:
        yield Bullets([_look(purpose, look, images) for purpose, look in looks])
    if left_out := left_out_of(view):
        yield Paragraph(left_out, "warning")
    if view["answers"]:
        yield _matrix(view)
    for answer in view["answers"]:
        if answer["response"]:
            yield Texts([(_named(answer), cut(answer["response"]["text"]))])
            final = final_of(answer)
            if final:
                yield Paragraph((Span(f"{answer['verdict']}", verdict_tone(answer)), f": {final}"))
        if corrected := corrected_of(answer):
            yield Paragraph((Span(_name(answer), "strong"), f": {corrected}"), "warning")
    earlier = view.get("earlier", ())
    if earlier:
        yield Paragraph(Span("Asked anew", "strong"))
        said = (
            f"{one['item']}: before attempt {one['next_attempt']}: {one['failure']}: {one['reason']}" for one in earlier
        )
        yield Bullets(list(said))


def _replay(replay: Mapping[str, Any] | None, images: int, cut: Cut) -> Iterator[Block]:
    """Yield the reference chain and the criteria, or why there are none."""
    if replay is None:
        yield Paragraph("No criteria yet.", "warning")
        return
    if replay["failure"]:
        yield Paragraph(f"No criteria: {replay['failure']}: {replay['reason'] or ''}", "warning")
    if replay["chain"]:
        chain = f"{replay['chain']['reasoning']}\n\nAnswer: {replay['chain']['answer']}"
        yield Texts([(Span("Reference chain", "muted"), cut(chain))])
    found = replay["criteria"]
    if not found or not found["criteria"]:
        return
    rows: list[list[Cell]] = [
        [str(number), _asked(one), Span(one["ground_truth"], "good"), f"{one['weight']}", region_text(one, images)]
        for number, one in enumerate(found["criteria"], start=1)
    ]
    titles = ("", "criterion", "ground truth", "weight", "region")
    columns = [Column(title, numeric=title in ("", "weight")) for title in titles]
    yield Table(columns, rows, "The criteria" + (", weights rescaled" if found["repaired"] else ""))
    if found["faults"]:
        yield Bullets([_fault(one) for one in found["faults"]])


def _asked(one: Mapping[str, Any]) -> Cell:
    return (one["question"], Span(" (the final answer)", "muted")) if one["final"] else one["question"]


def _fault(one: Mapping[str, Any]) -> Cell:
    """A fault that was found in the criteria, and what became of it."""
    asked = f" “{one['question']}”" if one["question"] else ""
    reason = f" ({one['reason']})" if one["reason"] else ""
    return Span(f"{one['became']}: {one['defect']}{asked}{reason}", "muted")


def _coverage(coverage: Mapping[str, Any] | None) -> Iterator[Block]:
    if coverage and coverage["uncovered"]:
        missed, sentences = len(coverage["uncovered"]), coverage["sentences"]
        yield Paragraph(
            f"No criterion touches (by its words) {missed} of the reference's {sentences} sentences:", "warning"
        )
        yield Bullets(coverage["uncovered"])
    elif coverage:
        yield Paragraph("The criteria touch every sentence of the reference (by its words).", "note")


def _look(purpose: str, look: Mapping[str, Any], images: Sequence[str]) -> Cell:
    made = f" → image {look['made']['sha256'][:12]}" if look["made"] else ""
    text = f"looked closer for {purpose}: {look_text(look, images)}{made}: {look['text']}"
    return Span(text, "bad" if look["failed"] else "muted")


def _matrix(view: Mapping[str, Any]) -> Table:
    """Return of every answer whether it is right, its scores by criterion, and its own, or why there is none."""
    criteria = ((view["replay"] or {}).get("criteria") or {"criteria": []})["criteria"]
    rows: list[list[Cell]] = []
    for answer in view["answers"]:
        told: list[Cell] = [Span(NOT_STATED, "muted") if one is None else str(one) for one in spoken_scores(answer)]
        cells = told or [figures.NOTHING] * len(criteria)
        verdict = Span(answer["verdict"], verdict_tone(answer)) if answer["verdict"] else figures.NOTHING
        failed = Span(f"{answer['failure']}: {answer['reason'] or ''}", "bad") if answer["failure"] else figures.NOTHING
        score = failed if answer["score"] is None else figures.score(answer["score"])
        rows.append([_name(answer), verdict, *cells, score])
    numbers = (Column(str(number)) for number in range(1, len(criteria) + 1))
    failing = any(one["failure"] for one in view["answers"])
    columns = [Column("model", numeric=False), Column("answer", numeric=False), *numbers]
    if view["judge"] or failing:
        last = Column("score" if view["judge"] else "failure", numeric=not failing)
        return Table([*columns, last], rows, "Scores by criterion")
    return Table(columns, [row[:-1] for row in rows], "Right and wrong answers")


def _name(answer: Mapping[str, Any]) -> str:
    return f"{answer['model']} · repeat {answer['repeat'] + 1}" if answer["repeat"] else answer["model"]


def _named(answer: Mapping[str, Any]) -> Cell:
    flags = answer["response"]["flags"]
    return (Span(_name(answer), "strong"), Span(f" ({', '.join(flags)})" if flags else "", "bad"))
