"""A refinement's stored rows, typed, and its figures: each arm's accuracy with n, coverage and interval."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dokimasia.algorithms.points import possible_answers
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Answered, CheckpointScores, FinalAnswer, Response
from dokimasia.domain.refinement import Feedback, PointSelection, RefinementRow, RefinementStep
from dokimasia.domain.sample import Sample
from dokimasia.errors import NotFound
from dokimasia.methods.refinement.feedback import hint_figures, leak_figures, steadiness
from dokimasia.methods.refinement.figures import refinement_figures
from dokimasia.methods.refinement.plan import RefinementPlan
from dokimasia.runs.figures import simulated
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, get_run, run_samples
from dokimasia.storage.trees.versions import list_trees
from dokimasia.storage.usage import usage_of


def refinement_rows(home: Home, run: Run) -> list[RefinementRow]:
    """Return a row for every round of every arm of every answer, ordered by sample, model, repeat, arm and round.

    An answer that did not fail, or that has no point to feed back, has a row of the arm `original` only, with `selected`
    false.

    Raises:
        StorageError: a value that a row names is missing.
    """
    rows = results(home, run.id)
    known = _Known(home, run, rows)
    arms: dict[str, int] = {arm: number for number, arm in enumerate(known.plan.arms)}
    rows.sort(key=lambda row: (known.places[row.sample_id].position, row.model, row.repeat, arms.get(row.arm, 0)))
    originals = {_answer(row): row.value_ids[0] for row in rows if row.arm == "original" and row.value_ids}
    return [
        known.row(row, known.steps[id], known.steps[originals[_answer(row)]], last=id == row.value_ids[-1])
        for row in rows
        if _answer(row) in originals
        for id in row.value_ids
    ]


class _Known:
    """All values that a refinement's rows and their steps name, read at once."""

    def __init__(self, home: Home, run: Run, rows: list[ResultRow]) -> None:
        self.plan = RefinementPlan.model_validate(run.options["plan"])
        self.places = {place.sample_id: place for place in run_samples(home, run.id)}
        self.steps = find_values(home, RefinementStep, (id for row in rows for id in row.value_ids))
        steps = list(self.steps.values())
        self.finals = find_values(home, FinalAnswer, (step.final for step in steps if step.final))
        self.selections = find_values(home, PointSelection, (step.selection for step in steps if step.selection))
        self.feedbacks = find_values(home, Feedback, (step.feedback for step in steps if step.feedback))
        self.judgements = find_values(home, CheckpointScores, (id for step in steps for id in step.judgements))
        self.responses = find_values(home, Response, (step.response for step in steps if step.response))
        self.criteria = find_values(home, CriteriaSet, (row.criteria_id for row in rows if row.criteria_id))
        self.samples = find_values(home, Sample, (place.sample for place in self.places.values()))
        self.calls = SqliteLedger(home).calls_for(key for step in steps for key in step.calls)

    def row(self, row: ResultRow, step: RefinementStep, original: RefinementStep, *, last: bool) -> RefinementRow:
        plan, place = self.plan, self.places[row.sample_id]
        source = self.judgements[original.judgements[0]]
        sample = self.samples[place.sample]
        selection = self.selections.get(original.selection or "", PointSelection())
        final = self.finals.get(step.final or "")
        before = self.finals.get(original.final or "")
        failed = source.score < plan.threshold if plan.threshold is not None else _verdict(before) == "wrong"
        judgements = [self.judgements[id] for id in step.judgements]
        draws = tuple(one.scores for one in judgements)
        judged = draws if step.failure is None else ()
        counted = judged[:1] if step.round == 0 else judged
        after = tuple(sum(column) / len(counted) for column in zip(*counted, strict=True)) if counted else ()
        totals = [one.score for one in judgements][: len(counted)]
        feedback = self.feedbacks.get(step.feedback or "")
        response = self.responses.get(step.response or "")
        costs = [self.calls[key].cost for key in dict.fromkeys(step.calls) if key in self.calls]
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
            failed=failed,
            selected=failed and (bool(selection.shown) or not plan.names_points),
            options=possible_answers(sample.prompt, sample.choices, sample.accepted_texts),
            answered=_verdict(final) if step.failure is None else "unknown",
            rule=final.rule if final is not None else "unreadable",
            answered_before=_verdict(before),
            weights=self.criteria[row.criteria_id or ""].weights,
            before=tuple(map(float, source.scores)),
            after=after,
            stated_before=_stated([source]),
            stated=_stated(judgements[: len(counted)]),
            draws=draws,
            score_before=source.score,
            score=sum(totals) / len(totals) if totals else None,
            **selection.model_dump(include={"shown", "withheld", "unused"}),
            told=tuple(point.atom for point in feedback.points) if feedback else (),
            points=feedback.points if feedback else (),
            flags=response.flags if response else (),
            criteria_id=row.criteria_id or "",
            response_id=step.response,
            judgement_ids=step.judgements,
            feedback_id=step.feedback,
            final_id=step.final,
            cost=None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
        )


def refinement_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a refinement, ready for JSON; the same stored rows give the same bytes."""
    plan = RefinementPlan.model_validate(run.options["plan"])
    rows = refinement_rows(home, run)
    originals = [row for row in rows if row.arm == "original"]
    tree, place_of = _tree_of(home, plan.source)
    figures = refinement_figures(
        rows,
        models=[spec.ref.name for spec in plan.candidates],
        arms=plan.arms,
        seed=run.seed,
        threshold=plan.threshold,
        usage={(model, arm): used for (_, model, arm), used in usage_of(home, run.id).items()},
        place_of=place_of,
    )
    models: dict[str, Any] = {}
    for name, measured in figures["models"].items():
        mine = [row for row in originals if row.model == name]
        models[name] = {
            "answers": len(mine),
            "answered": dict(sorted(Counter(row.answered for row in mine).items())),
            "rules": dict(sorted(Counter(row.rule for row in mine).items())),
            **measured,
        }
    return {
        "run": run.id,
        "source": plan.source,
        "status": run.status,
        "arms": list(plan.arms),
        "rounds": plan.rounds,
        "selected_by": "wrong answer" if plan.threshold is None else "score",
        "protocol": plan.protocol,
        "hide_answer": plan.hide_answer or plan.protocol == "published",
        "threshold": plan.threshold,
        "withhold": plan.withhold,
        "judge": plan.judge.ref.name,
        "seed": run.seed,
        "simulated": simulated(plan.models.values()),
        "failed": sum(row.selected for row in originals),
        "models": models,
        "table": figures["table"],
        "tree": tree,
        "hints": hint_figures(rows),
        "leaks": leak_figures(rows, judged=plan.leak_judge),
        "judge_steadiness": steadiness(rows),
        "calls": len({key for row in rows for key in row.calls}),
    }


async def refined_sample(home: Home, run: Run, sample_id: str) -> dict[str, Any]:
    """Return one sample of a refinement whole: question, criteria, and every round of every arm with its texts.

    Raises:
        NotFound: the run has no such sample, or no result of it yet.
    """
    found = refined_samples(home, run, [sample_id])
    if not found:
        raise NotFound(f"run {run.id} has no finished item of a sample {sample_id!r}")
    return {"run": run.id, **found[0]}


def refined_samples(
    home: Home, run: Run, sample_ids: Sequence[str], *, only_failed: bool = False
) -> list[dict[str, Any]]:
    """Return samples of a refinement whole, in the order of their ids; those without a finished item are left out.

    With `only_failed` an answer that was not taken up is left out, too.
    """
    by_sample: dict[str, list[RefinementRow]] = {id: [] for id in sample_ids}
    for row in refinement_rows(home, run):
        if row.sample_id in by_sample and (row.selected or not only_failed):
            by_sample[row.sample_id].append(row)
    rows = [row for each in by_sample.values() for row in each]
    places = {place.sample_id: place.sample for place in run_samples(home, run.id) if place.sample_id in by_sample}
    samples = find_values(home, Sample, places.values())
    criteria = find_values(home, CriteriaSet, (row.criteria_id for row in rows))
    texts = find_values(home, Response, (row.response_id for row in rows if row.response_id))
    finals = find_values(home, FinalAnswer, (row.final_id for row in rows if row.final_id))
    return [
        {
            "sample": samples[places[id]].model_dump(mode="json"),
            "criteria": criteria[each[0].criteria_id].model_dump(mode="json"),
            "rounds": [
                {
                    **row.model_dump(mode="json", exclude={"run", "source", "sample_id", "cluster", "category"}),
                    "text": texts[row.response_id].text if row.response_id else None,
                    "final_answer": finals[row.final_id].answer if row.final_id else None,
                }
                for row in each
            ],
        }
        for id, each in by_sample.items()
        if each
    ]


def _tree_of(home: Home, source: str) -> tuple[str | None, dict[str, str] | None]:
    """Return the tree that the source run's criteria are mapped to, `NAME@POSITION`, and criterion to node; None without."""
    if not list_trees(home):
        return None, None
    from dokimasia.methods.tree import find_tree_of_run, load_stored, mapping_of

    stored = find_tree_of_run(home, get_run(home, source))
    if stored is None:
        return None, None
    loaded = load_stored(home, stored)
    return loaded.name, mapping_of(loaded.tree)


def _answer(row: ResultRow) -> tuple[str, str, int]:
    return row.sample_id, row.model, row.repeat


def _stated(judgements: Sequence[CheckpointScores]) -> tuple[bool, ...]:
    """Whether an answer speaks of each atom by all judgements of it."""
    return tuple(all(column) for column in zip(*(one.spoken_to for one in judgements), strict=True))


def _verdict(final: FinalAnswer | None) -> Answered:
    return "unknown" if final is None else final.verdict
