"""Two runs, or two models of one, compared sample by sample, and what differs between what the runs are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dokimasia.domain.identity import digest
from dokimasia.domain.judgement import correctness_of
from dokimasia.errors import InputError
from dokimasia.runs.figures import shown_name, simulated
from dokimasia.runs.plans import identity
from dokimasia.runs.reading.differences import compare
from dokimasia.runs.reading.exporting import row_kind_of
from dokimasia.runs.reading.sides import ComparedAnswer, ComparisonSide, SampleRef, match_places
from dokimasia.runs.registry import method_of
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of, standing_answers
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import (
    Run,
    criteria_weights,
    judgement_scores,
    judgement_stated,
    response_texts,
    run_samples,
)

Models = tuple[str, str]

LISTED = 20
"""Items of other content that are named, at most."""


def compare_runs(
    home: Home,
    first: Run,
    second: Run,
    *,
    models: Models | None = None,
    top: int = 10,
    seed: int | None = None,
    read: Callable[[Home, Run], Mapping[str, ComparisonSide]] | None = None,
) -> dict[str, Any]:
    """Return the paired differences of two runs, second minus first, ready for JSON; equal rows give equal bytes.

    Scores are on the scale that the method's figures are shown in.

    Args:
        home: where both runs are.
        first: one run.
        second: the other of the same method, or the same.
        models: a model of the first run and one of the second, as they are shown (`NAME#blind` for the arm without the
            image); by default every model of the same name.
        top: how many of the samples that changed most are listed for each pair.
        seed: of the intervals and the tests; by default that of the first run.
        read: gives each model's answers of a run, by default `sides_of`.

    Returns:
        first and second {run, status, judge}, corrected (where people corrected anything: of first and second, answers and
        left_out), simulated, seed, scored_by (`criteria` or `rubrics`), scale (of its scores), differs [{what, first,
        second}], pairs [{first_model, second_model, and what `dokimasia.runs.reading.differences.compare` returns, or, for a
        method without scores, n_shared, same, different, failed {first, second} and items of other content}], unpaired
        {first, second}.

    Raises:
        InputError: there is nothing to pair, or the runs are of two methods or of one that is not compared.
    """
    method = method_of(first)
    if isinstance(method.diff, str):
        raise InputError(f"{method.title} is not compared so: {method.diff}")
    if first.method != second.method:
        raise InputError(
            f"run {first.id} is {method.title} and run {second.id} is {method_of(second).title}: compare two of one kind"
        )
    plans = [method.read(run)[0] for run in (first, second)]
    scale = method.scale and (method.scale[0] * method.shown, method.scale[1] * method.shown)
    both = {first.id: first, second.id: second}.values()
    sides: dict[str, Mapping[str, ComparisonSide]] = {}
    rows: dict[str, list[ResultRow]] = {}
    if scale:
        sides = {run.id: (read or sides_of)(home, run) for run in both}
    else:
        rows = {run.id: results(home, run.id, kind=row_kind_of(method)) for run in both}
    names = [sorted(sides[run.id]) if scale else _models(rows[run.id]) for run in (first, second)]
    _check(first, second, names, models)
    wanted = [models] if models is not None else [(name, name) for name in names[0] if name in names[1]]
    seed = first.seed if seed is None else seed
    versions = [{"versions": run.options["versions"]} for run in (first, second)]
    identities = [identity(plan) | version for plan, version in zip(plans, versions, strict=True)]
    return {
        **{
            name: {"run": run.id, "status": run.status, "judge": plan.judge_name}
            for name, run, plan in zip(("first", "second"), (first, second), plans, strict=True)
        },
        **_corrected(home, first, second),
        "simulated": simulated(spec for plan in plans for spec in plan.models.values()),
        "seed": seed,
        "scored_by": None if scale is None else "criteria" if method.rubrics is None else "rubrics",
        "scale": scale,
        "differs": list(_differences(*identities)),
        "pairs": [
            {
                "first_model": one,
                "second_model": other,
                **(
                    compare(sides[first.id][one], sides[second.id][other], seed=seed, top=top, scale=scale)
                    | ({"agreement": None} if first.id == second.id else {})
                    if scale
                    else _contents(home, (first, second), (rows[first.id], rows[second.id]), (one, other))
                ),
            }
            for one, other in wanted
        ],
        "unpaired": {
            "first": [name for name in names[0] if name not in {one for one, _ in wanted}],
            "second": [name for name in names[1] if name not in {other for _, other in wanted}],
        },
    }


def _corrected(home: Home, first: Run, second: Run) -> dict[str, Any]:
    """Return how many answers of each run people corrected, and how many samples they left out; nothing without any."""
    found: dict[str, dict[str, int]] = {}
    for name, run in (("first", first), ("second", second)):
        stands = corrections_of(home, run.id)
        answers = len(standing_answers(home, run.id, stands))
        found[name] = {"answers": answers, "left_out": len(stands.left_out)}
    return {"corrected": found} if any(sum(one.values()) for one in found.values()) else {}


def _models(rows: Sequence[ResultRow]) -> list[str]:
    return sorted({shown_name(row.model, row.arm) for row in rows})


def _check(first: Run, second: Run, names: Sequence[Sequence[str]], models: Models | None) -> None:
    ours, theirs = names
    for run, known in ((first, ours), (second, theirs)):
        if not known:
            way = (
                "it is empty"
                if run.status == "done"
                else f"it is {run.status}: dokimasia resume {run.id} goes on with it"
            )
            raise InputError(f"run {run.id} has no result to compare yet; {way}")
    if models is None:
        if first.id == second.id:
            raise InputError(
                f"run {first.id} does not differ from itself; compare two of its models with --models A,B "
                f"({', '.join(ours)})"
            )
        if not set(ours) & set(theirs):
            raise InputError(
                f"no model is in both runs: {first.id} has {', '.join(ours)}; {second.id} has {', '.join(theirs)}. "
                "Pair one of each with --models A,B"
            )
        return
    for name, run, known in ((models[0], first, ours), (models[1], second, theirs)):
        if name not in known:
            raise InputError(f"run {run.id} has no results of {name!r}; it has those of {', '.join(known)}")
    if first.id == second.id and models[0] == models[1]:
        raise InputError(f"{models[0]} does not differ from itself in run {first.id}; name two models")


def sides_of(home: Home, run: Run) -> dict[str, ComparisonSide]:
    """Return each model's answers with their scores, on the scale that the method's figures are shown in, by its shown name."""
    places, scores = _places(home, run), judgement_scores(home, run.id)
    stated, weights = judgement_stated(home, run.id), criteria_weights(home, run.id)
    texts = {id: digest("text", text) for id, text in response_texts(home, run.id)}
    method = method_of(run)
    rows, judged = results(home, run.id, kind=row_kind_of(method)), bool(method.read(run)[0].judge_name)
    rubrics = None if method.rubrics is None else method.rubrics(home, run)
    answers: dict[str, list[ComparedAnswer]] = {}
    for row in rows:
        answer = answer_of(row, scores, stated, weights, texts)
        if rubrics is not None:
            answer = replace(answer, criteria=rubrics[row.sample_id])
        if answer.score is not None:
            answer = replace(answer, score=answer.score * method.shown)
        answers.setdefault(shown_name(row.model, row.arm), []).append(answer)
    scored = judged or any(row.score is not None for row in rows)
    return {
        name: ComparisonSide.of(_taken_up(run, places, listed), listed, scored=scored)
        for name, listed in sorted(answers.items())
    }


def answer_of(
    row: ResultRow,
    scores: Mapping[str, tuple[int, ...]],
    stated: Mapping[str, tuple[bool, ...]],
    weights: Mapping[str, tuple[int, ...]],
    texts: Mapping[str, str] = {},
) -> ComparedAnswer:
    """Return a row as an answer that is compared, with the scores of its judgement and the weights of its criteria.

    `texts` are what tells the texts of responses apart, by the response's id; without them no two answers are the same.
    """
    return ComparedAnswer(
        sample_id=row.sample_id or row.item,
        repeat=row.repeat,
        score=row.score,
        failure=row.failure,
        response=texts.get(row.response_id or ""),
        criteria=row.criteria_id,
        criteria_scores=scores.get(row.judgement_id or "", ()),
        correctness=correctness_of(row.verdict, row.failure),
        stated=row.stated,
        criteria_stated=stated.get(row.judgement_id or "", ()),
        weights=weights.get(row.criteria_id or "", ()),
    )


def _taken_up(run: Run, places: Sequence[SampleRef], answers: Sequence[ComparedAnswer]) -> Sequence[SampleRef]:
    """Return the samples that have items of a model: in a run that is done all others were not asked about.

    The items of a run that has no samples are paired by their names.
    """
    if not places:
        return [SampleRef(answer.sample_id, answer.sample_id, answer.sample_id) for answer in answers]
    if run.status != "done":
        return places
    named = {answer.sample_id for answer in answers}
    return [position for position in places if position.sample_id in named]


def _places(home: Home, run: Run) -> list[SampleRef]:
    return [SampleRef(sample.sample_id, sample.sample_digest, sample.cluster) for sample in run_samples(home, run.id)]


def _contents(
    home: Home, runs: tuple[Run, Run], rows: tuple[Sequence[ResultRow], Sequence[ResultRow]], models: Models
) -> dict[str, Any]:
    """Return how many items came to the same in two runs without scores, and which did not."""
    ours, theirs = (
        {(row.sample_id, row.repeat): row for row in listed if shown_name(row.model, row.arm) == name}
        for listed, name in zip(rows, models, strict=True)
    )
    shared, _ = match_places(*(_places(home, run) for run in runs))
    partner = {one.sample_id: other.sample_id for one, other in shared}
    same = 0
    different: list[dict[str, Any]] = []
    for (sample, repeat), row in ours.items():
        other = theirs.get((partner.get(sample, sample), repeat))
        if other is None:
            continue
        alike = (row.outcome, row.failure, row.value_ids) == (other.outcome, other.failure, other.value_ids)
        same += alike
        if not alike:
            ends = [one.failure or one.outcome for one in (row, other)]
            different.append({"sample": sample or row.item, "first": ends[0], "second": ends[1]})
    return {
        "n_shared": same + len(different),
        "same": same,
        "different": len(different),
        "failed": {
            name: sum(row.failure is not None for row in listed.values())
            for name, listed in (("first", ours), ("second", theirs))
        },
        "items": different[:LISTED],
    }


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what differs between two plans' identities, each by its name, such as `judge.name` or `prompts.solver`."""
    names = [{one["name"] for one in plan.get("candidates", ())} for plan in (first, second)]
    alone = names[0] ^ names[1]
    ours, theirs = (_flat(_without(plan, alone)) for plan in (first, second))
    for what in sorted(ours.keys() | theirs.keys()):
        one, other = _of(ours, what), _of(theirs, what)
        if what not in {"fresh", "fork", "fork.redone", "fork.taken"} and one != other:
            yield {"what": what, "first": one, "second": other}


def _of(flat: Mapping[str, Any], what: str) -> Any:
    """Return what an identity says; a step for which a fork names no judge of its own is served by the run's judge."""
    if what not in flat and what.startswith("judges."):
        return flat.get(f"judge.{what.split('.', 2)[2]}")
    return flat.get(what)


def _without(plan: Mapping[str, Any], models: set[str]) -> dict[str, Any]:
    """Return an identity without some candidates: that only one of two runs has them is said elsewhere."""
    if "candidates" not in plan:
        return dict(plan)
    return {**plan, "candidates": [one for one in plan["candidates"] if one["name"] not in models]}


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested mapping as one level; a list of named things is taken apart by name."""
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, Sequence) and inner and all(isinstance(one, Mapping) and "name" in one for one in inner):
            inner = {one["name"]: one for one in inner}
        if isinstance(inner, Mapping):
            flat |= _flat(inner, f"{name}.")
        else:
            flat[name] = inner
    return flat
