"""A comparison's stored rows as figures and tables: what `compare-judging`, `show` and `export` print."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dokimasia.algorithms.orders import beaten
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.domain.judgement import CheckpointScores
from dokimasia.domain.judging.judgements import BatchRanking, HumanRankings
from dokimasia.methods.judging.comparing import Comparisons, comparisons_of
from dokimasia.methods.judging.figures import Ranked, judging_figures, order_effect, per_point
from dokimasia.methods.judging.request import JudgingPlan
from dokimasia.methods.judging.units import (
    RESTS_ON,
    JudgingUnit,
    all_units,
    bases_of,
    basis_item,
    ranked_models,
    source_of,
)
from dokimasia.runs.figures import costs, failures, heading, rows_shown
from dokimasia.runs.method import ColumnType
from dokimasia.runs.reading.rates import rounded
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, load_samples, run_samples

COLUMNS: dict[str, ColumnType] = {"judge": "text", "method": "text", "draw": "integer", "ranks": "texts"}
"""What an export says of a judgement; `ranks` are those of a batch, as `model: place`, in the order shown."""

Judged = dict[tuple[str, str], list[tuple[JudgingUnit, ResultRow]]]
"""Judgements with their rows, by judge and method."""


def judging_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a comparison, ready for JSON; the same stored rows give the same bytes."""
    plan = JudgingPlan.model_validate(run.options["plan"])
    rankings = _rankings(home, plan)
    ranked = ranked_models(rankings.rankings)
    rows = {row.item: row for row in results(home, run.id)}
    units = all_units(plan, ranked)
    judged = _judged(rows, units)
    clusters = {place.sample_id: place.cluster for place in run_samples(home, run.id)}
    categories = {sample.id: sample.category or "" for sample in load_samples(home, run.id)}
    comparisons = comparisons_of(rankings.rankings, clusters, categories, seed=run.seed)
    batches = _batches(home, judged, clusters)
    scores = {
        spec.ref.name: {method: _scores(home, judged, spec.ref.name, method, batches) for method in plan.methods}
        for spec in plan.judges
    }
    figures = judging_figures(comparisons, scores, seed=run.seed)
    every: dict[str, None] = {}
    for judge, methods in figures["results"].items():
        for method, one in methods.items():
            own = _rows_of(plan, judged, rows, judge, method)
            every |= dict.fromkeys(key for row in own for key in row.calls)
            one |= _used(home, own)
            one["per_point"] = {name: per_point(one[name], one["accuracy"]) for name in ("calls", "cost")}
            one["failures"] = failures(row for _, row in judged[judge, source_of(method)])
    items = len(units) + len(bases_of(plan)) * len(plan.judges) * len(ranked)
    used = SqliteLedger(home).calls_for(every)
    return {
        **heading(run, plan),
        "judges": [spec.ref.name for spec in plan.judges],
        "methods": list(plan.methods),
        "protocol": plan.protocol,
        "show_image": plan.show_image,
        "repeats": plan.repeats,
        "open_items": items - len(rows),
        "rankings": _ranking_counts(rankings, ranked, comparisons, run),
        **figures,
        "order": {
            judge: {"orders": plan.orders, **order_effect(several.values(), seed=run.seed)}
            for judge, several in batches.items()
        },
        "calls": len(used),
        **costs(one.cost for one in used.values()),
    }


def judging_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each judgement that has a result, with whose response it is of; with `sample`, only that sample's."""
    plan = JudgingPlan.model_validate(run.options["plan"])
    units = all_units(plan, ranked_models(_rankings(home, plan).rankings))
    rows = [row for row in rows_shown(home, run, sample) if row.item in units]
    for row, told in zip(rows, _told(home, rows, units), strict=True):
        yield {
            "sample": row.sample_id,
            **told,
            "model": row.model,
            "score": row.score,
            "failure": row.failure,
            "reason": row.reason,
        }


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each judgement beside what it says of every row."""
    plan = JudgingPlan.model_validate(run.options["plan"])
    return _told(home, rows, all_units(plan, ranked_models(_rankings(home, plan).rankings)))


def _told(home: Home, rows: Sequence[ResultRow], units: Mapping[str, JudgingUnit]) -> list[dict[str, Any]]:
    shown = _rankings_of(home, [row for row in rows if units[row.item].method == "batch"])
    models = _models_of(home, shown.values())
    found: list[dict[str, Any]] = []
    for row in rows:
        unit, ranking = units[row.item], shown.get(row.item)
        ranks = None
        if ranking is not None:
            ranks = [f"{models[id]}: {rank}" for id, rank in zip(ranking.responses, ranking.ranks, strict=True)]
        found.append({"judge": unit.judge, "method": unit.method, "draw": unit.draw, "ranks": ranks})
    return found


def _rankings(home: Home, plan: JudgingPlan) -> HumanRankings:
    return find_values(home, HumanRankings, [plan.rankings])[plan.rankings]


def _judged(rows: Mapping[str, ResultRow], units: Mapping[str, JudgingUnit]) -> Judged:
    found: Judged = {}
    for name, unit in units.items():
        several = found.setdefault((unit.judge, unit.method), [])
        if name in rows:
            several.append((unit, rows[name]))
    return found


def _scores(
    home: Home, judged: Judged, judge: str, method: str, batches: Mapping[str, Mapping[str, Sequence[Ranked]]]
) -> dict[tuple[str, str], float]:
    """Return a score for each response that was judged: the mean over its repeats, or over the orders of a batch."""
    values: dict[tuple[str, str], list[float]] = {}
    if method == "batch":
        for sample, several in batches[judge].items():
            for _, models, ranks in several:
                for model, score in zip(models, beaten(ranks), strict=True):
                    values.setdefault((sample, model), []).append(score)
    else:
        scored = [(unit, row) for unit, row in judged[judge, source_of(method)] if row.score is not None]
        equal: dict[str, float] = {}
        if method == "atom-no-weights":
            found = find_values(home, CheckpointScores, [row.value_ids[0] for _, row in scored])
            equal = {id: weighted_score(one.scores, [1] * len(one.scores)) for id, one in found.items()}
        for unit, row in scored:
            score = equal[row.value_ids[0]] if equal else row.score or 0.0
            values.setdefault((unit.sample, unit.model), []).append(score)
    return {place: sum(several) / len(several) for place, several in values.items()}


def _batches(home: Home, judged: Judged, clusters: Mapping[str, str]) -> dict[str, dict[str, list[Ranked]]]:
    """Return the batch rankings by judge and sample, in the order of their draws."""
    found: dict[str, dict[str, list[Ranked]]] = {}
    for (judge, method), several in judged.items():
        if method != "batch":
            continue
        shown = _rankings_of(home, [row for _, row in several])
        models = _models_of(home, shown.values())
        samples = found.setdefault(judge, {})
        for unit, row in several:
            if (ranking := shown.get(row.item)) is not None:
                names = [models[id] for id in ranking.responses]
                samples.setdefault(unit.sample, []).append((clusters[unit.sample], names, ranking.ranks))
    return found


def _rankings_of(home: Home, rows: Iterable[ResultRow]) -> dict[str, BatchRanking]:
    ids = {row.item: row.value_ids[0] for row in rows if row.value_ids}
    found = find_values(home, BatchRanking, ids.values())
    return {item: found[id] for item, id in ids.items()}


def _models_of(home: Home, rankings: Iterable[BatchRanking]) -> dict[str, str]:
    """Return whose each ranked response is, by its id."""
    ids = list(dict.fromkeys(id for one in rankings for id in one.responses))
    rows = home.rows_among("SELECT id, model FROM responses WHERE id IN ({marks})", ids)
    return {row["id"]: row["model"] for row in rows}


def _rows_of(
    plan: JudgingPlan, judged: Judged, rows: Mapping[str, ResultRow], judge: str, method: str
) -> list[ResultRow]:
    """Return all rows that a judge's verdicts by a method rest on."""
    own = [row for _, row in judged[judge, source_of(method)]]
    samples = dict.fromkeys(unit.sample for unit, _ in judged[judge, source_of(method)])
    names = [basis_item(basis, judge, sample) for basis in RESTS_ON[method] for sample in samples]
    return [*own, *(rows[name] for name in names if name in rows)]


def _used(home: Home, rows: Sequence[ResultRow]) -> dict[str, Any]:
    """Return calls, tokens and US dollars of rows, each call once; None where any is unknown."""
    used = SqliteLedger(home).calls_for(dict.fromkeys(key for row in rows for key in row.calls)).values()
    tokens = {name: [getattr(one, name) for one in used] for name in ("input_tokens", "output_tokens")}
    return {
        "calls": len(used),
        **{name: None if None in values else sum(values) for name, values in tokens.items()},
        **costs(one.cost for one in used),
    }


def _ranking_counts(
    rankings: HumanRankings, ranked: Mapping[str, Sequence[str]], comparisons: Comparisons, run: Run
) -> dict[str, Any]:
    ties = int((comparisons.human == 0).sum())
    return {
        "annotators": len({one.annotator for one in rankings.rankings}),
        "samples": len(ranked),
        "without": run.options["without_rankings"],
        "models": sorted({model for models in ranked.values() for model in models}),
        "comparisons": len(comparisons),
        "pairs": len(set(comparisons.pairs)),
        "ties": rounded(ties / len(comparisons)),
        "folds": int(comparisons.folds.max()) + 1,
    }
