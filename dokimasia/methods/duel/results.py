"""Stored rows of duels as figures, items, export cells, and verdicts for comparison with people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from dokimasia.domain.annotation import VERDICT, AnnotationUnit, ResponsePair
from dokimasia.domain.call import ChatReply, model_name
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.duel import (
    TEXT,
    Described,
    DuelJudgement,
    Place,
    criteria_of,
    factuality_by,
    factuality_not_applicable,
    ground_truth_of,
    task_of,
)
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind, Response
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.methods.duel.elsewhere import Elsewhere, elsewhere
from dokimasia.methods.duel.figures import (
    Cases,
    DuelFigures,
    DuelledModel,
    DuelRow,
    duel_tables,
    lead_in_reward,
)
from dokimasia.methods.duel.request import DuelPlan
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import calls_and_costs, heading, ordered_rows, shown_name
from dokimasia.runs.method import ColumnType
from dokimasia.runs.reading.exporting import ANSWERED, answer_cells, exported_rows
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, clusters_by_sample, load_samples, samples_by_id

COLUMNS: dict[str, ColumnType] = {
    "task": "text",
    "baseline": "text",
    "baseline_response": "text",
    "verdict_first": "integer",
    "verdict_second": "integer",
    "factuality_first": "number",
    "factuality_second": "number",
    "baseline_factuality_first": "number",
    "baseline_factuality_second": "number",
    "factuality_not_applicable": "text",
    **ANSWERED,
}
"""Columns of an answer in an export: verdicts (+2 to -2) and visual factuality by the answer's position, and the reason
if visual factuality does not apply."""

ONE_ORDER = "one order"


class JudgementItem(Value):
    """The judge's judgement in one order, with its reply (`said`) if a single case is read."""

    asked: Literal["verdict", "factuality"]
    place: Place
    verdict: int | None
    score: float | None
    baseline_score: float | None
    failure: FailureKind | None
    reason: str
    said: str | None = None


class DuelItem(Value):
    """A finished duel whole: the case, both answers, and what the judge said in each order."""

    sample: str
    model: str
    repeat: int
    prompt: str
    images: tuple[ImageRef, ...]
    category: str | None
    task: str | None
    criteria: str
    general_criteria: bool
    factuality_criteria: str | None
    ground_truth: str | None
    baseline: str
    score: float | None
    failure: FailureKind | None
    reason: str | None
    response: str | None
    factuality_not_applicable: str | None
    descriptions: str | None
    baseline_response: str | None
    judgements: tuple[JudgementItem, ...]


def figures_of_run(home: Home, run: Run) -> DuelFigures:
    """Return the figures of duels; the same stored rows give the same bytes."""
    plan = run.plan_as(DuelPlan)
    result_rows = results(home, run.id)
    samples = samples_by_id(home, run.id)
    rows = duel_rows(home, run)
    tables = duel_tables(rows, seed=run.seed)
    models: dict[str, DuelledModel] = {}
    for name, scores in tables.models.items():
        model_rows = [row for row in result_rows if shown_name(row.model, row.arm) == name]
        models[name] = DuelledModel(**dict(scores), **calls_and_costs(home, model_rows))
    return DuelFigures(
        **heading(run, plan),
        **calls_and_costs(home, result_rows),
        samples=len(samples),
        open_items=len(samples) * plan.per_sample - len(result_rows),
        baseline=plan.baseline_name,
        repeats=plan.repeats,
        orders=2 if len(plan.places) > 1 else 1,
        judge_sees=plan.judge_sees,
        protocol=plan.protocol,
        factuality=plan.factuality,
        describer=model_name(plan.describer),
        descriptions=None if plan.describer is None else plan.descriptions,
        cases=_cases(samples, rows, plan),
        lead=lead_in_reward(rows, seed=run.seed),
        **{**dict(tables), "models": models},
        direction=DIRECTION,
        elsewhere=_elsewhere(plan, models),
    )


def _elsewhere(plan: DuelPlan, models: Mapping[str, DuelledModel]) -> Elsewhere | None:
    """Return the models' figures with their scores in other benchmarks; the baseline's reward is 0."""
    if plan.elsewhere is None:
        return None
    rewards = {plan.baseline_name: 0.0}
    factuality: dict[str, float] = {}
    for name, model in sorted(models.items(), key=lambda entry: not entry[0].endswith(f"#{TEXT}")):
        base, _, arm = name.partition("#")
        if arm not in ("", TEXT):
            continue
        if model.reward is not None:
            rewards[base] = model.reward.mean
        if model.factuality is not None and model.factuality.model is not None:
            factuality[base] = model.factuality.model.mean
    return elsewhere(rewards, factuality, plan.elsewhere)


def _cases(samples: Mapping[str, Sample], rows: Sequence[DuelRow], plan: DuelPlan) -> Cases:
    """Return how many cases have criteria, categories, tasks and ground truths."""
    criteria = {id: criteria_of(sample) for id, sample in samples.items()}
    unscored: set[str] = set()
    if plan.factuality != "none":
        unscored = {row.sample_id for row in rows if not row.factuality}
    by_image = unknown = 0
    for id, sample in samples.items():
        if criteria[id].factuality and not ground_truth_of(sample):
            if id in unscored or factuality_not_applicable(sample, published=plan.published):
                unknown += 1
            elif not plan.published:
                by_image += 1
    return Cases(
        general_criteria=sum(case.general for case in criteria.values()),
        factuality_criteria=sum(bool(case.factuality) for case in criteria.values()),
        factuality_by_image=by_image,
        factuality_unknown=unknown,
        ground_truth=sum(bool(ground_truth_of(sample)) for sample in samples.values()),
        several_images=sum(len(sample.images) > 1 for sample in samples.values()),
        without_category=sum(not sample.category for sample in samples.values()),
        without_task=sum(not task_of(sample) for sample in samples.values()),
    )


def duel_rows(home: Home, run: Run) -> list[DuelRow]:
    """Return the answers of a run that have a result, in the run's order."""
    plan = plan_of(run)
    samples = samples_by_id(home, run.id)
    clusters = clusters_by_sample(home, run.id)
    result_rows = exported_rows(method_of(run), results(home, run.id))
    judgements_by_item = judgements(home, result_rows)
    responses = _responses(home, result_rows, judgements_by_item)
    tokens = _output_tokens(home, responses)
    rows: list[DuelRow] = []
    for row in result_rows:
        sample, answer_judgements = samples[row.sample_id], judgements_by_item[row.item]
        response = responses.get(row.response_id or "")
        opponent = responses.get(answer_judgements[0].baseline) if answer_judgements else None
        words = longer = None
        is_same_text = False
        if response is not None:
            words = len(response.text.split())
            if opponent is not None:
                longer = words - len(opponent.text.split())
                is_same_text = response.text == opponent.text
        rows.append(
            DuelRow(
                sample_id=row.sample_id,
                cluster=clusters[row.sample_id],
                model=shown_name(row.model, row.arm),
                repeat=row.repeat,
                category=sample.category or "",
                task=task_of(sample) or "",
                verdicts=_verdicts(plan, answer_judgements),
                factuality=_factuality_scores(plan, sample, answer_judgements),
                failure=row.failure,
                words=words,
                tokens=tokens.get(row.response_id or ""),
                longer=longer,
                same=is_same_text,
            )
        )
    return rows


def judgements(home: Home, rows: Sequence[ResultRow]) -> dict[str, list[DuelJudgement]]:
    """Return the judgements of each answer, by item, in the order of the calls; empty if it was not judged."""
    ids = {row.item: row.value_ids[row.arm == TEXT :] for row in rows}
    values = find_values(home, DuelJudgement, [id for item_ids in ids.values() for id in item_ids])
    return {item: [values[id] for id in item_ids] for item, item_ids in ids.items()}


def descriptions(home: Home, rows: Sequence[ResultRow]) -> dict[str, Described]:
    """Return the descriptions that answers were based on, by item; a row lists them before the judgements."""
    ids = {row.item: row.value_ids[0] for row in rows if row.arm == TEXT and row.value_ids}
    values = find_values(home, Described, ids.values())
    return {item: values[id] for item, id in ids.items()}


def duel_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each finished duel (`DuelItem`) as JSON; with `sample`, only those of the sample, with the judge's replies."""
    without_replies = {"judgements": {"__all__": {"said"}}}
    for item in read_items(home, run, sample):
        yield item.model_dump(mode="json", exclude=without_replies if sample is None else None)


def read_items(home: Home, run: Run, sample: str | None = None) -> Iterator[DuelItem]:
    """Yield each finished duel; with `sample`, only those of the sample, with the judge's replies."""
    ledger = SqliteLedger(home)
    rows = exported_rows(method_of(run), ordered_rows(home, run, sample))
    plan = plan_of(run)
    judgements_by_item = judgements(home, rows)
    responses = _responses(home, rows, judgements_by_item)
    described = descriptions(home, rows)
    ids = {row.sample_id for row in rows}
    cases = {case.id: case for case in load_samples(home, run.id) if case.id in ids}
    for row in rows:
        case, answer_judgements = cases[row.sample_id], judgements_by_item[row.item]
        opponent = plan.opponent_of(row)
        if answer_judgements:
            opponent_response: str | None = answer_judgements[0].baseline
        else:
            opponent_response = plan.existing_response(opponent, row.sample_id, row.repeat)
        criteria = criteria_of(case)
        judgement_items: list[JudgementItem] = []
        for judgement in answer_judgements:
            fields = judgement.model_dump(include=set(JudgementItem.model_fields))
            reply = None if sample is None else _reply(ledger, judgement)
            judgement_items.append(JudgementItem(**fields, said=reply))
        yield DuelItem(
            sample=row.sample_id,
            model=shown_name(row.model, row.arm),
            repeat=row.repeat,
            prompt=case.prompt,
            images=case.images,
            category=case.category,
            task=task_of(case),
            criteria=criteria.subjective,
            general_criteria=criteria.general,
            factuality_criteria=criteria.factuality or None,
            ground_truth=ground_truth_of(case) or None,
            baseline=opponent,
            score=row.score,
            failure=row.failure,
            reason=row.reason,
            response=_text(responses, row.response_id),
            factuality_not_applicable=_not_applicable(case, answer_judgements, published=plan.published) or None,
            descriptions=described[row.item].shown if row.item in described else None,
            baseline_response=_text(responses, opponent_response),
            judgements=tuple(judgement_items),
        )


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of `COLUMNS` for each row; missing ones are null."""
    plan = plan_of(run)
    judgements_by_item = judgements(home, rows)
    responses = _responses(home, rows, judgements_by_item)
    samples = samples_by_id(home, run.id)
    exports: list[dict[str, object]] = []
    for row in rows:
        answer_judgements = judgements_by_item[row.item]
        sample = samples[row.sample_id]
        not_applicable = ""
        if plan.factuality != "none":
            not_applicable = _not_applicable(sample, answer_judgements, published=plan.published)
        export: dict[str, Any] = dict.fromkeys(COLUMNS)
        export |= {
            "task": task_of(sample),
            "baseline": plan.opponent_of(row),
            "factuality_not_applicable": not_applicable or None,
        }
        if answer_judgements:
            export |= {"baseline_response": _text(responses, answer_judgements[0].baseline)}
        for judgement in answer_judgements:
            place = judgement.place
            if judgement.asked == "verdict":
                export |= {f"verdict_{place}": judgement.verdict}
            elif not not_applicable:
                scores = {f"factuality_{place}": judgement.score}
                export |= scores | {f"baseline_factuality_{place}": judgement.baseline_score}
        provenance = next(
            (judgement.provenance for judgement in answer_judgements if judgement.provenance is not None), None
        )
        exports.append(export | answer_cells(plan.judge_name, responses.get(row.response_id or ""), provenance))
    return exports


def judged(home: Home, run: Run) -> dict[str, dict[AnnotationUnit, float]]:
    """Return the judge's verdicts on each model's first answer, +2 to -2: the mean over orders, and the first alone.

    An answer with a failed order has no mean.
    """
    plan = run.plan_as(DuelPlan)
    rows = [row for row in results(home, run.id) if not row.arm and not row.repeat]
    by_item = judgements(home, rows)
    all_orders: dict[AnnotationUnit, float] = {}
    first_order: dict[AnnotationUnit, float] = {}
    for row in rows:
        verdicts = {
            judgement.place: judgement.verdict for judgement in by_item[row.item] if judgement.verdict is not None
        }
        unit = AnnotationUnit(row.sample_id, VERDICT, row.model, plan.baseline_name)
        if set(plan.places) <= verdicts.keys():
            all_orders[unit] = sum(verdicts[place] for place in plan.places) / len(plan.places)
        if plan.places[0] in verdicts:
            first_order[unit] = float(verdicts[plan.places[0]])
    if plan.single:
        return {"": all_orders}
    return {"": all_orders, ONE_ORDER: first_order}


def pairs(home: Home, run: Run) -> Iterator[ResponsePair]:
    """Yield the pairs of a run's first answers with the baseline's, each with the judge's criteria."""
    for item in read_items(home, run):
        if item.response is None or item.baseline_response is None or item.repeat or "#" in item.model:
            continue
        unit = AnnotationUnit(item.sample, "", item.model, item.baseline)
        yield ResponsePair(unit, item.response, item.baseline_response, item.criteria)


def plan_of(run: Run) -> DuelPlan:
    """Return the plan of a duel or an arena."""
    plan: DuelPlan = method_of(run).read(run)[0]
    return plan


def _verdicts(plan: DuelPlan, answer_judgements: Sequence[DuelJudgement]) -> dict[Place, int | None]:
    verdicts = {judgement.place: judgement.verdict for judgement in answer_judgements if judgement.asked == "verdict"}
    return {place: verdicts.get(place) for place in plan.places}


def _factuality_scores(
    plan: DuelPlan, sample: Sample, answer_judgements: Sequence[DuelJudgement]
) -> dict[Place, tuple[float, float] | None]:
    published = plan.published
    if factuality_by(sample, plan.factuality, published=published) == "none":
        return {}
    if _not_applicable(sample, answer_judgements, published=published):
        return {}
    scores: dict[Place, tuple[float, float]] = {}
    for judgement in answer_judgements:
        if judgement.score is not None and judgement.baseline_score is not None:
            scores[judgement.place] = (judgement.score, judgement.baseline_score)
    return {place: scores.get(place) for place in plan.places}


def _not_applicable(sample: Sample, answer_judgements: Sequence[DuelJudgement], *, published: bool) -> str:
    """Return why visual factuality does not apply to an answer; empty if it does.

    Runs of earlier versions have scores from a judge that saw no evidence, which only the paper's protocol allows.
    """
    if published:
        return factuality_not_applicable(sample, published=True)
    for judgement in answer_judgements:
        if judgement.asked != "factuality" or judgement.provenance is None:
            continue
        if not {"ground_truth", "image"} & {*judgement.provenance.shown}:
            return "its judge was shown neither a ground truth nor an image"
    return factuality_not_applicable(sample)


def _responses(
    home: Home, rows: Sequence[ResultRow], judgements_by_item: Mapping[str, Sequence[DuelJudgement]]
) -> dict[str, Response]:
    """Return the answers of both sides, by id."""
    ids = [row.response_id for row in rows if row.response_id is not None]
    ids += [of_answer[0].baseline for of_answer in judgements_by_item.values() if of_answer]
    return find_values(home, Response, ids)


def _text(responses: Mapping[str, Response], id: str | None) -> str | None:
    response = responses.get(id or "")
    if response is None:
        return None
    return response.text


def _output_tokens(home: Home, responses: Mapping[str, Response]) -> dict[str, int]:
    """Return the reported number of tokens of answers, by id, without unknown ones."""
    keys = {id: response.provenance.call for id, response in responses.items() if response.provenance is not None}
    calls = SqliteLedger(home).calls_for(keys.values())
    tokens: dict[str, int] = {}
    for id, key in keys.items():
        output_tokens = calls[key].output_tokens if key in calls else None
        if output_tokens is not None:
            tokens[id] = output_tokens
    return tokens


def _reply(ledger: SqliteLedger, judgement: DuelJudgement) -> str | None:
    """Return the reply that a judgement was read from; None for a failed judgement."""
    if judgement.provenance is None:
        return None
    reply = ledger.rebuild(judgement.provenance.call)[1]
    if isinstance(reply, ChatReply):
        return reply.text
    return None
