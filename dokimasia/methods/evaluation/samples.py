"""The view of a sample in an evaluation: chain, criteria, and every answer with its scores, as JSON and as blocks."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from dokimasia.domain.call import ChatReply
from dokimasia.domain.criterion import CriteriaSet, CriterionFault, ReferenceChain
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer, Response
from dokimasia.domain.look import Look
from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation.criteria import sample_coverage
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.parsing.verdicts import verdict_reason
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Facts, Paragraph, Span, Table, Texts
from dokimasia.report.data import Cut
from dokimasia.report.overlay import look_text, region_text
from dokimasia.report.sample_view import (
    AnswerView,
    CorrectionView,
    CoverageView,
    EarlierAttempt,
    ExclusionView,
    ReplayView,
    SampleView,
)
from dokimasia.report.verdicts import (
    NO_REASON,
    NOT_STATED,
    addressed_scores,
    correction_text,
    exclusion_text,
    final_answer_text,
    reasons_of,
    verdict_tone,
)
from dokimasia.runs.figures import ordered_rows, shown_name
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.people.corrections import Correction, corrections_of
from dokimasia.storage.results import ResultRow, columns_of
from dokimasia.storage.retries import earlier_outcomes
from dokimasia.storage.runs import Run, SqliteValueStore

V = TypeVar("V", bound=Value)


async def sample_view(home: Home, run: Run, sample_id: str) -> dict[str, Any]:
    """Return a sample with its chain, criteria, answers and scores in a run, ready for JSON."""
    sample = samples_of(home, run.id, [sample_id])[sample_id]
    view = await SampleViews(home, run).view(sample, ordered_rows(home, run, sample_id))
    return view.model_dump(mode="json")


class SampleViews:
    """Builds the views of a run's samples."""

    def __init__(self, home: Home, run: Run) -> None:
        """Read people's corrections, and the failures of items before they were retried."""
        self._run = run
        self._judge = run.plan_as(EvaluationPlan).judge_name or None
        self._store = SqliteValueStore(home, run.id)
        self._ledger = SqliteLedger(home)
        self._corrected = corrections_of(home, run.id)
        self._earlier: dict[str, list[EarlierAttempt]] = {}
        for retry in earlier_outcomes(home, run.id):
            row = retry.failed
            attempt = EarlierAttempt(
                item=row.item, next_attempt=retry.attempt, outcome=row.outcome, failure=row.failure, reason=row.reason
            )
            self._earlier.setdefault(row.sample_id, []).append(attempt)

    async def view(self, sample: Sample, rows: Sequence[ResultRow]) -> SampleView:
        """Return the view of a sample from its rows."""
        replay: ReplayView | None = None
        answers: list[AnswerView] = []
        for row in rows:
            if row.kind == "replay":
                replay = await self._replay(row)
            elif row.kind == "score":
                answers.append(await self._answer(row))
        exclusion = self._corrected.left_out.get(sample.id)
        return SampleView(
            run=self._run.id,
            sample=sample,
            accepted=sample.reference_text,
            judge=self._judge,
            replay=replay,
            coverage=_coverage(sample, replay),
            answers=tuple(answers),
            left_out=None if exclusion is None else ExclusionView.model_validate(exclusion.shown()),
            earlier=tuple(self._earlier.get(sample.id, ())),
        )

    async def _replay(self, row: ResultRow) -> ReplayView:
        return ReplayView(
            outcome=row.outcome,
            failure=row.failure,
            reason=row.reason,
            chain=await self._value(ReferenceChain, row.chain_id),
            criteria=await self._value(CriteriaSet, row.criteria_id),
            looks=await self._looks(row),
            calls=row.calls,
        )

    async def _answer(self, row: ResultRow) -> AnswerView:
        correction = self._corrected.answers.get(row.item)
        final = await self._value(FinalAnswer, row.final_id)
        return AnswerView(
            model=shown_name(row.model, row.arm),
            repeat=row.repeat,
            score=row.score,
            verdict=row.verdict,
            stated=row.stated,
            stated_score=row.stated_score,
            length=row.length,
            outcome=row.outcome,
            failure=row.failure,
            reason=row.reason,
            final=final,
            verdict_reason=await self._verdict_reason(final),
            response=await self._value(Response, row.response_id),
            judgement=await self._value(CheckpointScores, row.judgement_id),
            looks=await self._looks(row),
            calls=row.calls,
            corrected=None if correction is None else _correction_view(correction, row),
        )

    async def _verdict_reason(self, final: FinalAnswer | None) -> str:
        """Return the judge's reason for its verdict on the final answer; empty if a rule or a person decided."""
        if final is None or final.rule != "judge" or not final.calls:
            return ""
        entry = await self._ledger.get(final.calls[-1])
        reply = None if entry is None else entry.reply
        if isinstance(reply, ChatReply):
            return verdict_reason(reply.text) or ""
        return ""

    async def _looks(self, row: ResultRow) -> tuple[Look, ...]:
        """Return the judge's uses of tools, in order."""
        return tuple([await self._store.get(Look, id) for id in row.value_ids])

    async def _value(self, type_: type[V], id: str | None) -> V | None:
        if id is None:
            return None
        return await self._store.get(type_, id)


def _coverage(sample: Sample, replay: ReplayView | None) -> CoverageView | None:
    if replay is None or replay.criteria is None:
        return None
    coverage = sample_coverage(sample, replay.criteria)
    if coverage is None:
        return None
    return CoverageView(
        criteria=coverage.criteria, sentences=coverage.sentences, uncovered=coverage.uncovered, share=coverage.share
    )


def _correction_view(correction: Correction, row: ResultRow) -> CorrectionView:
    in_force = correction.now == columns_of(row)
    return CorrectionView.model_validate(
        {**correction.shown(), "stands": in_force, "as_judged": correction.was._asdict()}
    )


def sample_blocks(view: SampleView, cut: Cut = str) -> Iterator[Block]:
    """Yield the blocks of one sample.

    Args:
        view: the sample.
        cut: shortens a long text and marks the cut.
    """
    sample = view.sample
    facts: list[tuple[str, Cell]] = []
    for number, image in enumerate(sample.images, start=1):
        facts.append((f"image {number}", Span(f"{image.width} × {image.height}, {image.sha256}", "muted")))
    if facts:
        yield Facts(facts)
    yield Texts([(Span("Question", "muted"), cut(sample.prompt))])
    if sample.choices:
        yield Facts([(chr(ord("A") + index), choice) for index, choice in enumerate(sample.choices)])
    if view.accepted is not None:
        yield Texts([(Span("Reference", "muted"), cut(view.accepted))])
    if view.judge:
        yield from _replay_blocks(view.replay, len(sample.images), cut)
    yield from _coverage_blocks(view.coverage)
    if view.looks:
        yield Bullets([_look_line(purpose, look, view.images) for purpose, look in view.looks])
    if left_out := exclusion_text(view):
        yield Paragraph(left_out, "warning")
    if view.answers:
        yield _scores_table(view)
    for answer in view.answers:
        yield from _answer_blocks(answer, cut)
    if view.earlier:
        yield Paragraph(Span("Asked anew", "strong"))
        lines: list[Cell] = []
        for attempt in view.earlier:
            failure = f"{attempt.failure}: {attempt.reason}"
            lines.append(f"{attempt.item}: before attempt {attempt.next_attempt}: {failure}")
        yield Bullets(lines)


def _answer_blocks(answer: AnswerView, cut: Cut) -> Iterator[Block]:
    name = Span(answer.name, "strong")
    if answer.response:
        flags = f" ({', '.join(answer.response.flags)})" if answer.response.flags else ""
        yield Texts([((name, Span(flags, "bad")), cut(answer.response.text))])
        if final := final_answer_text(answer):
            yield Paragraph((Span(f"{answer.verdict}", verdict_tone(answer.verdict)), f": {final}"))
    reasons: list[tuple[str, Cell]] = []
    for number, score, reason in reasons_of(answer):
        reasons.append((f"criterion {number}: {score or NOT_STATED}", reason or Span(NO_REASON, "muted")))
    if reasons:
        yield Facts(reasons)
    if corrected := correction_text(answer):
        yield Paragraph((name, f": {corrected}"), "warning")


def _replay_blocks(replay: ReplayView | None, images: int, cut: Cut) -> Iterator[Block]:
    """Return the reference chain and the criteria, or the reason why they are missing."""
    if replay is None:
        yield Paragraph("No criteria yet.", "warning")
        return
    if replay.failure:
        yield Paragraph(f"No criteria: {replay.failure}: {replay.reason or ''}", "warning")
    if replay.chain:
        chain = f"{replay.chain.reasoning}\n\nAnswer: {replay.chain.answer}"
        yield Texts([(Span("Reference chain", "muted"), cut(chain))])
    criteria = replay.criteria
    if criteria is None:
        return
    rows: list[list[Cell]] = []
    for number, criterion in enumerate(criteria.criteria, start=1):
        question: Cell = criterion.question
        if criterion.final:
            question = (criterion.question, Span(" (the final answer)", "muted"))
        truth = Span(criterion.ground_truth, "good")
        rows.append([str(number), question, truth, f"{criterion.weight}", region_text(criterion, images)])
    columns = (
        Column(""),
        Column("criterion", numeric=False),
        Column("ground truth", numeric=False),
        Column("weight"),
        Column("region", numeric=False),
    )
    yield Table(columns, rows, "The criteria" + (", weights rescaled" if criteria.repaired else ""))
    if criteria.faults:
        yield Bullets([_fault_line(fault) for fault in criteria.faults])


def _fault_line(fault: CriterionFault) -> Cell:
    """Return a line with a fault of the criteria and how it was resolved."""
    question = f" “{fault.question}”" if fault.question else ""
    reason = f" ({fault.reason})" if fault.reason else ""
    return Span(f"{fault.became}: {fault.defect}{question}{reason}", "muted")


def _coverage_blocks(coverage: CoverageView | None) -> Iterator[Block]:
    if coverage and coverage.uncovered:
        yield Paragraph(
            f"No criterion touches (by its words) {len(coverage.uncovered)} of the reference's {coverage.sentences} sentences:",
            "warning",
        )
        yield Bullets(coverage.uncovered)
    elif coverage:
        yield Paragraph("The criteria touch every sentence of the reference (by its words).", "note")


def _look_line(purpose: str, look: Look, images: Sequence[str]) -> Cell:
    image = f" → image {look.made.sha256[:12]}" if look.made else ""
    text = f"looked closer for {purpose}: {look_text(look, images)}{image}: {look.text}"
    return Span(text, "bad" if look.failed else "muted")


def _scores_table(view: SampleView) -> Table:
    """Return the table of answers: verdict, scores by criterion, and the answer's score or failure."""
    count = len(view.criteria)
    failing = any(answer.failure for answer in view.answers)
    columns = [Column("model", numeric=False), Column("answer", numeric=False)]
    columns += [Column(str(number)) for number in range(1, count + 1)]
    title = "Right and wrong answers"
    has_ending = view.judge or failing
    if has_ending:
        columns.append(Column("score" if view.judge else "failure", numeric=not failing))
        title = "Scores by criterion"
    rows: list[list[Cell]] = []
    for answer in view.answers:
        scores: list[Cell] = []
        for score in addressed_scores(answer):
            scores.append(Span(NOT_STATED, "muted") if score is None else str(score))
        ending: Cell = figures.NOTHING
        if answer.score is not None:
            ending = figures.score(answer.score)
        elif answer.failure:
            ending = Span(f"{answer.failure}: {answer.reason or ''}", "bad")
        verdict = Span(answer.verdict, verdict_tone(answer.verdict)) if answer.verdict else figures.NOTHING
        row = [answer.name, verdict, *(scores or [figures.NOTHING] * count)]
        rows.append([*row, ending] if has_ending else row)
    return Table(columns, rows, title)
