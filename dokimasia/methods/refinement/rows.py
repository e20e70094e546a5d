"""A refinement's stored rows as models (one per round of an arm), views of samples, and columns of an export."""

from collections.abc import Iterable, Sequence

from dokimasia.algorithms.points import possible_answers
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Answered, CheckpointScores, FinalAnswer, Response
from dokimasia.domain.refinement import Feedback, PointSelection, RefinementRow, RefinementStep
from dokimasia.domain.sample import Sample
from dokimasia.errors import NotFound
from dokimasia.methods.refinement.request import RefinementPlan
from dokimasia.runs.reading.exporting import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, run_samples

COLUMNS: dict[str, ColumnType] = {
    "failed": "truth",
    "selected": "truth",
    "rounds": "integer",
    "draw": "integer",
    "stopped": "text",
    "answered": "text",
    "rule": "text",
    "final_answer": "text",
    "score_before": "number",
    "shown": "integers",
    "withheld": "integers",
    "told": "integers",
    "response": "text",
    "flags": "texts",
    "judge": "text",
}
"""Columns of an answer's arm in an export: the feedback and its outcome."""


def refinement_rows(home: Home, run: Run) -> list[RefinementRow]:
    """Return a row for every round of every arm of every answer, ordered by sample, model, repeat, arm and round.

    An answer that did not fail or has no point to feed back has only a row of the arm `original`, with `selected`
    false.

    Raises:
        StorageError: a referenced value is missing.
    """
    result_rows = results(home, run.id)
    values = _StepValues(home, run, result_rows)
    arms: dict[str, int] = {arm: number for number, arm in enumerate(values.plan.arms)}
    result_rows.sort(
        key=lambda row: (values.places[row.sample_id].position, row.model, row.repeat, arms.get(row.arm, 0))
    )
    originals = {_answer(row): row.value_ids[0] for row in result_rows if row.arm == "original" and row.value_ids}
    rows: list[RefinementRow] = []
    for row in result_rows:
        if _answer(row) in originals:
            original = values.steps[originals[_answer(row)]]
            for id in row.value_ids:
                rows.append(values.row(row, values.steps[id], original, last=id == row.value_ids[-1]))
    return rows


class _StepValues:
    """All values that the rows and steps of a refinement refer to, read together."""

    def __init__(self, home: Home, run: Run, rows: list[ResultRow]) -> None:
        self.plan = run.plan_as(RefinementPlan)
        self.places = {place.sample_id: place for place in run_samples(home, run.id)}
        self.steps = find_values(home, RefinementStep, (id for row in rows for id in row.value_ids))
        steps = list(self.steps.values())
        self.finals = find_values(home, FinalAnswer, (step.final for step in steps))
        self.selections = find_values(home, PointSelection, (step.selection for step in steps))
        self.feedbacks = find_values(home, Feedback, (step.feedback for step in steps))
        self.judgements = find_values(home, CheckpointScores, (id for step in steps for id in step.judgements))
        self.responses = find_values(home, Response, (step.response for step in steps))
        self.criteria = find_values(home, CriteriaSet, (row.criteria_id for row in rows))
        self.samples = find_values(home, Sample, (place.value_id for place in self.places.values()))
        self.calls = SqliteLedger(home).calls_for(key for step in steps for key in step.calls)

    def row(self, row: ResultRow, step: RefinementStep, original: RefinementStep, *, last: bool) -> RefinementRow:
        """Return the row of a round; `original` is the step that checked the original answer."""
        plan, place = self.plan, self.places[row.sample_id]
        source = self.judgements[original.judgements[0]]
        sample = self.samples[place.value_id]
        selection = self.selections.get(original.selection or "", PointSelection())
        final = self.finals.get(step.final or "")
        before = self.finals.get(original.final or "")
        has_failed = _verdict(before) == "wrong"
        if plan.threshold is not None:
            has_failed = source.score < plan.threshold
        judgements = [self.judgements[id] for id in step.judgements]
        # A failed round has no scores; the original answer was selected by its first judgement alone.
        counting_judgements = judgements if step.failure is None else []
        if step.round == 0:
            counting_judgements = counting_judgements[:1]
        feedback = self.feedbacks.get(step.feedback or "")
        points = feedback.points if feedback else ()
        response = self.responses.get(step.response or "")
        return RefinementRow(
            run=row.run_id,
            source=plan.source,
            sample_id=row.sample_id,
            cluster=place.cluster,
            category=sample.category,
            model=row.model,
            repeat=row.repeat,
            **step.model_dump(include={"arm", "round", "draw", "stopped", "failure", "reason", "calls"}),
            last=last,
            failed=has_failed,
            selected=has_failed and (bool(selection.shown) or not plan.names_points),
            options=possible_answers(sample.prompt, sample.choices, sample.accepted_texts),
            answered=_verdict(final) if step.failure is None else "unknown",
            rule=final.rule if final is not None else "unreadable",
            answered_before=_verdict(before),
            weights=self.criteria[row.criteria_id or ""].weights,
            before=tuple(map(float, source.scores)),
            after=tuple(
                _mean(scores) for scores in zip(*(judgement.scores for judgement in counting_judgements), strict=True)
            ),
            stated_before=_stated([source]),
            stated=_stated(counting_judgements),
            draws=tuple(judgement.scores for judgement in judgements),
            score_before=source.score,
            score=_mean([judgement.score for judgement in counting_judgements]) if counting_judgements else None,
            **selection.model_dump(include={"shown", "withheld", "unused"}),
            told=tuple(point.atom for point in points),
            points=points,
            flags=response.flags if response else (),
            criteria_id=row.criteria_id or "",
            response_id=step.response,
            judgement_ids=step.judgements,
            feedback_id=step.feedback,
            final_id=step.final,
            cost=self._cost(step.calls),
        )

    def _cost(self, keys: Iterable[str]) -> float | None:
        """Return the total cost of calls; None if a price is unknown."""
        total: float = 0
        for key in dict.fromkeys(keys):
            if key in self.calls:
                cost = self.calls[key].cost
                if cost is None:
                    return None
                total += cost
        return total


def _answer(row: ResultRow) -> tuple[str, str, int]:
    return row.sample_id, row.model, row.repeat


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _stated(judgements: Sequence[CheckpointScores]) -> tuple[bool, ...]:
    """Return, for each atom, whether the answer addresses it according to all judgements."""
    return tuple(all(column) for column in zip(*(judgement.addressed for judgement in judgements), strict=True))


def _verdict(final: FinalAnswer | None) -> Answered:
    if final is None:
        return "unknown"
    return final.verdict


async def refined_sample(home: Home, run: Run, sample_id: str) -> dict[str, object]:
    """Return the view of a sample: question, criteria, and every round of every arm with its texts.

    Raises:
        NotFound: the run has no such sample, or no result for it yet.
    """
    views = refined_samples(home, run, [sample_id])
    if not views:
        raise NotFound(f"run {run.id} has no finished item of a sample {sample_id!r}")
    return {"run": run.id, **views[0]}


def refined_samples(
    home: Home, run: Run, sample_ids: Sequence[str], *, only_failed: bool = False
) -> list[dict[str, object]]:
    """Return the views of samples in the given order, without samples that have no finished item.

    With `only_failed`, answers that were not selected are left out, too.
    """
    by_sample: dict[str, list[RefinementRow]] = {id: [] for id in sample_ids}
    for row in refinement_rows(home, run):
        if row.sample_id in by_sample and (row.selected or not only_failed):
            by_sample[row.sample_id].append(row)
    rows = [row for rows_of_sample in by_sample.values() for row in rows_of_sample]
    places = {place.sample_id: place.value_id for place in run_samples(home, run.id) if place.sample_id in by_sample}
    samples = find_values(home, Sample, places.values())
    criteria = find_values(home, CriteriaSet, (row.criteria_id for row in rows))
    texts, finals = _answers_of(home, rows)
    views: list[dict[str, object]] = []
    for id, rows_of_sample in by_sample.items():
        if not rows_of_sample:
            continue
        rounds: list[dict[str, object]] = []
        for row in rows_of_sample:
            fields = row.model_dump(mode="json", exclude={"run", "source", "sample_id", "cluster", "category"})
            text, final = texts.get(row.response_id or ""), finals.get(row.final_id or "")
            rounds.append({**fields, "text": text and text.text, "final_answer": final and final.answer})
        views.append(
            {
                "sample": samples[places[id]].model_dump(mode="json"),
                "criteria": criteria[rows_of_sample[0].criteria_id].model_dump(mode="json"),
                "rounds": rounds,
            }
        )
    return views


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of `COLUMNS` for each row, taken from the arm's last round.

    Raises:
        StorageError: a stored value is missing or damaged.
    """
    judge = run.plan_as(RefinementPlan).judge_name
    last = {(row.sample_id, row.model, row.repeat, row.arm): row for row in refinement_rows(home, run) if row.last}
    texts, finals = _answers_of(home, last.values())
    exported: list[dict[str, object]] = []
    for result in rows:
        row = last[result.sample_id, result.model, result.repeat, result.arm]
        text, final = texts.get(row.response_id or ""), finals.get(row.final_id or "")
        exported.append(
            {
                **row.model_dump(mode="json", include=set(COLUMNS)),
                "rounds": row.round,
                "final_answer": final and final.answer,
                "response": text and text.text,
                "judge": judge,
            }
        )
    return exported


def _answers_of(home: Home, rows: Iterable[RefinementRow]) -> tuple[dict[str, Response], dict[str, FinalAnswer]]:
    """Return the responses and the final answers of rows, by id."""
    all_rows = list(rows)
    responses = find_values(home, Response, (row.response_id for row in all_rows))
    finals = find_values(home, FinalAnswer, (row.final_id for row in all_rows))
    return responses, finals
