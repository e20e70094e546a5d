"""Two runs, or two models of one, held against each other sample by sample, and what differs between the runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.errors import InputError
from dokimasia.methods.evaluation.evaluation import read_plan
from dokimasia.methods.evaluation.results import shown_name, simulated_models
from dokimasia.runs.differences import Answer, Place, Side, compare
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, judgement_scores, run_samples

Models = tuple[str, str]


def compare_runs(
    home: Home, first: Run, second: Run, *, models: Models | None = None, top: int = 10, seed: int | None = None
) -> dict[str, Any]:
    """Return the paired differences of two runs, second minus first, ready for JSON; equal rows give equal bytes.

    Args:
        home: where both runs are.
        first: one run.
        second: the other, or the same.
        models: a model of the first run and one of the second, as they are shown (`NAME#blind` for the arm without the
            image); by default every model of the same name.
        top: how many of the samples that changed most are listed for each pair.
        seed: of the intervals and the tests; by default that of the first run.

    Returns:
        first and second {run, status, judge}, simulated, seed, differs [{what, first, second}], pairs [{first_model,
        second_model, and what `dokimasia.runs.differences.compare` returns}], unpaired {first, second}.

    Raises:
        InputError: there is nothing to pair.
        NotFound: a run is not an evaluation.
    """
    plans = [read_plan(run)[0] for run in (first, second)]
    sides = _sides(home, first), (_sides(home, second) if second.id != first.id else None)
    ours, theirs = sides[0], sides[0] if sides[1] is None else sides[1]
    wanted = [models] if models is not None else [(name, name) for name in ours if name in theirs]
    _check(first, second, ours, theirs, models)
    seed = first.seed if seed is None else seed
    return {
        **{
            name: {"run": run.id, "status": run.status, "judge": plan.judge_of("score").ref.name}
            for name, run, plan in zip(("first", "second"), (first, second), plans, strict=True)
        },
        "simulated": sorted({*simulated_models(first), *simulated_models(second)}),
        "seed": seed,
        "differs": list(_differences(plans[0].identity(), plans[1].identity())),
        "pairs": [
            {
                "first_model": one,
                "second_model": other,
                **compare(ours[one], theirs[other], seed=seed, top=top),
            }
            for one, other in wanted
        ],
        "unpaired": {
            "first": [name for name in ours if name not in {one for one, _ in wanted}],
            "second": [name for name in theirs if name not in {other for _, other in wanted}],
        },
    }


def _check(
    first: Run, second: Run, ours: Mapping[str, Side], theirs: Mapping[str, Side], models: Models | None
) -> None:
    if models is None:
        if first.id == second.id:
            raise InputError(
                f"run {first.id} does not differ from itself; compare two of its models with --models A,B "
                f"({', '.join(ours)})"
            )
        if not ours.keys() & theirs.keys():
            raise InputError(
                f"no model is in both runs: {first.id} has {', '.join(ours)}; {second.id} has {', '.join(theirs)}. "
                "Pair one of each with --models A,B"
            )
        return
    for name, run, known in ((models[0], first, ours), (models[1], second, theirs)):
        if name not in known:
            raise InputError(
                f"run {run.id} has no results of {name!r}; it has those of {', '.join(known) or 'no model'}"
            )
    if first.id == second.id and models[0] == models[1]:
        raise InputError(f"{models[0]} does not differ from itself in run {first.id}; name two models")


def _sides(home: Home, run: Run) -> dict[str, Side]:
    places = [Place(one.sample_id, one.sample_digest, one.cluster) for one in run_samples(home, run.id)]
    scores = judgement_scores(home, run.id)
    answers: dict[str, list[Answer]] = {}
    for row in results(home, run.id):
        if row.kind == "score":
            answers.setdefault(shown_name(row.model, row.arm), []).append(
                Answer(
                    sample_id=row.sample_id,
                    repeat=row.repeat,
                    score=row.score,
                    failure=row.failure,
                    response=row.response_id,
                    criteria=row.criteria_id,
                    criteria_scores=scores.get(row.judgement_id or "", ()),
                )
            )
    return {name: Side.of(places, listed) for name, listed in sorted(answers.items())}


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what differs between two plans' identities, each by its name, such as `judge.name` or `prompts.solver`."""
    models = [{one["name"] for one in identity["candidates"]} for identity in (first, second)]
    alone = models[0] ^ models[1]
    ours, theirs = (_flat(_without(identity, alone)) for identity in (first, second))
    for what in sorted(ours.keys() | theirs.keys()):
        one, other = _of(ours, what), _of(theirs, what)
        if what not in {"fresh", "fork.redone", "fork.taken"} and one != other:
            yield {"what": what, "first": one, "second": other}


def _of(flat: Mapping[str, Any], what: str) -> Any:
    """Return what an identity says; a step for which a fork names no judge of its own is served by the run's judge."""
    if what not in flat and what.startswith("judges."):
        return flat.get(f"judge.{what.split('.', 2)[2]}")
    return flat.get(what)


def _without(identity: Mapping[str, Any], models: set[str]) -> dict[str, Any]:
    """Return an identity without some candidates: that only one of two runs has them is said elsewhere."""
    return {**identity, "candidates": [one for one in identity["candidates"] if one["name"] not in models]}


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
