"""The view of a sample of an evaluation: chain, criteria, and every answer with its scores, as JSON and as blocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer, Response
from dokimasia.domain.look import Look
from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation.criteria import sample_coverage
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Facts, Paragraph, Span, Table, Texts
from dokimasia.report.browser import looks_of
from dokimasia.report.data import Cut
from dokimasia.report.overlay import look_text, region_text
from dokimasia.report.verdicts import (
    NOT_STATED,
    addressed_scores,
    correction_text,
    exclusion_text,
    final_answer_text,
    verdict_tone,
)
from dokimasia.runs.figures import ordered_rows, shown_name
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import Corrections, corrections_of
from dokimasia.storage.results import ResultRow
from dokimasia.storage.retries import Retry, earlier_outcomes
from dokimasia.storage.runs import Run, SqliteValueStore


async def sample_view(home: Home, run: Run, sample_id: str) -> dict[str, Any]:
    """Return everything that a run has on a sample, ready for JSON."""
    sample = samples_of(home, run.id, [sample_id])[sample_id]
    rows, corrected = ordered_rows(home, run, sample_id), corrections_of(home, run.id)
    earlier = [retry for retry in earlier_outcomes(home, run.id) if retry.failed.sample_id == sample_id]
    return await view_of(SqliteValueStore(home, run.id), run, sample, rows=rows, earlier=earlier, corrected=corrected)


async def view_of(
    store: SqliteValueStore,
    run: Run,
    sample: Sample,
    *,
    rows: Sequence[ResultRow],
    earlier: Sequence[Retry],
    corrected: Corrections,
) -> dict[str, Any]:
    """Return the view of a sample from its rows, earlier failed attempts and corrections, ready for JSON."""
    plan = run.plan_as(EvaluationPlan)
    replay = next((row for row in rows if row.kind == "replay"), None)
    view: dict[str, Any] = {
        "run": run.id,
        "sample": sample.model_dump(mode="json"),
        "accepted": sample.reference_text,
        "judge": plan.judge_name or None,
        "replay": None if replay is None else await _replay_view(store, replay),
        "coverage": None if replay is None else await _coverage_view(store, sample, replay),
        "answers": [await _answer_view(store, row, corrected) for row in rows if row.kind == "score"],
    }
    if sample.id in corrected.left_out:
        view["left_out"] = corrected.left_out[sample.id].shown()
    if earlier:
        view["earlier"] = [
            {"item": retry.failed.item, "next_attempt": retry.attempt, **_ending(retry.failed)} for retry in earlier
        ]
    return view


async def _replay_view(store: SqliteValueStore, row: ResultRow) -> dict[str, Any]:
    return {
        **_ending(row),
        "chain": await _value(store, ReferenceChain, row.chain_id),
        "criteria": await _value(store, CriteriaSet, row.criteria_id),
        "looks": await _looks(store, row),
        "calls": list(row.calls),
    }


async def _coverage_view(store: SqliteValueStore, sample: Sample, row: ResultRow) -> dict[str, Any] | None:
    if row.criteria_id is None:
        return None
    coverage = sample_coverage(sample, await store.get(CriteriaSet, row.criteria_id))
    if coverage is None:
        return None
    return coverage.model_dump(mode="json", exclude={"sample"}) | {"share": coverage.share}


async def _answer_view(store: SqliteValueStore, row: ResultRow, corrected: Corrections) -> dict[str, Any]:
    view = {
        "model": shown_name(row.model, row.arm),
        "repeat": row.repeat,
        **row.model_dump(mode="json", include={"score", "verdict", "stated", "stated_score", "length"}),
        **_ending(row),
        "final": await _value(store, FinalAnswer, row.final_id),
        "response": await _value(store, Response, row.response_id),
        "judgement": await _value(store, CheckpointScores, row.judgement_id),
        "looks": await _looks(store, row),
        "calls": list(row.calls),
    }
    correction = corrected.answers.get(row.item)
    if correction is not None:
        in_force = correction.now == row.model_dump(mode="json", include=set(correction.now))
        view["corrected"] = {**correction.shown(), "stands": in_force, "as_judged": dict(correction.was)}
    return view


async def _looks(store: SqliteValueStore, row: ResultRow) -> list[dict[str, Any]]:
    """Return the judge's looks with tools, in order."""
    return [(await store.get(Look, id)).model_dump(mode="json") for id in row.value_ids]


async def _value(store: SqliteValueStore, type_: type[Value], id: str | None) -> dict[str, Any] | None:
    return None if id is None else (await store.get(type_, id)).model_dump(mode="json")


def _ending(row: ResultRow) -> dict[str, Any]:
    return {"outcome": row.outcome, "failure": row.failure, "reason": row.reason}


def sample_blocks(view: Mapping[str, Any], cut: Cut = str) -> Iterator[Block]:
    """Yield the blocks of one sample.

    Args:
        view: the output of `show RUN --sample ID --json`.
        cut: shortens a long text and marks the cut.
    """
    sample = view["sample"]
    images = [image["sha256"] for image in sample["images"]]
    if images:
        facts: list[tuple[str, Cell]] = []
        for number, image in enumerate(sample["images"], start=1):
            size = f"{image['width']} × {image['height']}, {image['sha256']}"
            facts.append((f"image {number}", Span(size, "muted")))
        yield Facts(facts)
    yield Texts([(Span("Question", "muted"), cut(sample["prompt"]))])
    if sample["choices"]:
        yield Facts([(chr(ord("A") + index), choice) for index, choice in enumerate(sample["choices"])])
    if view["accepted"] is not None:
        yield Texts([(Span("Reference", "muted"), cut(view["accepted"]))])
    if view["judge"]:
        yield from _replay_blocks(view["replay"], len(images), cut)
    yield from _coverage_blocks(view["coverage"])
    looks = looks_of(view)
    if looks:
        yield Bullets([_look_line(purpose, look, images) for purpose, look in looks])
    if left_out := exclusion_text(view):
        yield Paragraph(left_out, "warning")
    if view["answers"]:
        yield _scores_table(view)
    for answer in view["answers"]:
        yield from _answer_blocks(answer, cut)
    earlier = view.get("earlier", ())
    if earlier:
        yield Paragraph(Span("Asked anew", "strong"))
        lines: list[Cell] = []
        for retry in earlier:
            failure = f"{retry['failure']}: {retry['reason']}"
            lines.append(f"{retry['item']}: before attempt {retry['next_attempt']}: {failure}")
        yield Bullets(lines)


def _answer_blocks(answer: Mapping[str, Any], cut: Cut) -> Iterator[Block]:
    name = Span(_answer_name(answer), "strong")
    if answer["response"]:
        flags = ", ".join(answer["response"]["flags"])
        yield Texts([((name, Span(f" ({flags})" if flags else "", "bad")), cut(answer["response"]["text"]))])
        if final := final_answer_text(answer):
            yield Paragraph((Span(f"{answer['verdict']}", verdict_tone(answer)), f": {final}"))
    if corrected := correction_text(answer):
        yield Paragraph((name, f": {corrected}"), "warning")


def _replay_blocks(replay: Mapping[str, Any] | None, images: int, cut: Cut) -> Iterator[Block]:
    """Yield the reference chain and the criteria, or the reason why there are none."""
    if replay is None:
        yield Paragraph("No criteria yet.", "warning")
        return
    if replay["failure"]:
        yield Paragraph(f"No criteria: {replay['failure']}: {replay['reason'] or ''}", "warning")
    if replay["chain"]:
        chain = f"{replay['chain']['reasoning']}\n\nAnswer: {replay['chain']['answer']}"
        yield Texts([(Span("Reference chain", "muted"), cut(chain))])
    criteria = replay["criteria"]
    if not criteria or not criteria["criteria"]:
        return
    rows: list[list[Cell]] = []
    for number, criterion in enumerate(criteria["criteria"], start=1):
        question: Cell = criterion["question"]
        if criterion["final"]:
            question = (criterion["question"], Span(" (the final answer)", "muted"))
        truth = Span(criterion["ground_truth"], "good")
        rows.append([str(number), question, truth, f"{criterion['weight']}", region_text(criterion, images)])
    columns = (
        Column(""),
        Column("criterion", numeric=False),
        Column("ground truth", numeric=False),
        Column("weight"),
        Column("region", numeric=False),
    )
    yield Table(columns, rows, "The criteria" + (", weights rescaled" if criteria["repaired"] else ""))
    if criteria["faults"]:
        yield Bullets([_fault_line(fault) for fault in criteria["faults"]])


def _fault_line(fault: Mapping[str, Any]) -> Cell:
    """Return a line with a fault of the criteria and how it was resolved."""
    question = f" “{fault['question']}”" if fault["question"] else ""
    reason = f" ({fault['reason']})" if fault["reason"] else ""
    return Span(f"{fault['became']}: {fault['defect']}{question}{reason}", "muted")


def _coverage_blocks(coverage: Mapping[str, Any] | None) -> Iterator[Block]:
    if coverage and coverage["uncovered"]:
        missed, sentences = len(coverage["uncovered"]), coverage["sentences"]
        yield Paragraph(
            f"No criterion touches (by its words) {missed} of the reference's {sentences} sentences:", "warning"
        )
        yield Bullets(coverage["uncovered"])
    elif coverage:
        yield Paragraph("The criteria touch every sentence of the reference (by its words).", "note")


def _look_line(purpose: str, look: Mapping[str, Any], images: Sequence[str]) -> Cell:
    image = f" → image {look['made']['sha256'][:12]}" if look["made"] else ""
    text = f"looked closer for {purpose}: {look_text(look, images)}{image}: {look['text']}"
    return Span(text, "bad" if look["failed"] else "muted")


def _scores_table(view: Mapping[str, Any]) -> Table:
    """Return the table of answers: verdict, scores by criterion, and the answer's score or failure."""
    replay = view["replay"] or {}
    count = len((replay.get("criteria") or {"criteria": ()})["criteria"])
    failing = any(answer["failure"] for answer in view["answers"])
    columns = [Column("model", numeric=False), Column("answer", numeric=False)]
    columns += [Column(str(number)) for number in range(1, count + 1)]
    title = "Right and wrong answers"
    ended = view["judge"] or failing
    if ended:
        columns.append(Column("score" if view["judge"] else "failure", numeric=not failing))
        title = "Scores by criterion"
    rows: list[list[Cell]] = []
    for answer in view["answers"]:
        scores: list[Cell] = []
        for score in addressed_scores(answer):
            scores.append(Span(NOT_STATED, "muted") if score is None else str(score))
        ending: Cell = figures.NOTHING
        if answer["score"] is not None:
            ending = figures.score(answer["score"])
        elif answer["failure"]:
            ending = Span(f"{answer['failure']}: {answer['reason'] or ''}", "bad")
        verdict = Span(answer["verdict"], verdict_tone(answer)) if answer["verdict"] else figures.NOTHING
        row = [_answer_name(answer), verdict, *(scores or [figures.NOTHING] * count)]
        rows.append([*row, ending] if ended else row)
    return Table(columns, rows, title)


def _answer_name(answer: Mapping[str, Any]) -> str:
    return f"{answer['model']} · repeat {answer['repeat'] + 1}" if answer["repeat"] else answer["model"]
