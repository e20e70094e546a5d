"""A run's stored rows as figures: what `show`, `evaluate` and the report all print."""

from typing import Any

from dokimasia.analysis.evaluation import CallFigures, Row, summarise
from dokimasia.runner.plan import EvaluationPlan
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, load_samples


def summary_of(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of an evaluation, ready for JSON; the same stored rows give the same bytes."""
    samples = {sample.id: (sample.cluster, sample.category) for sample in load_samples(home, run.id)}
    rows = results(home, run.id)
    preparation = [key for row in rows if row.kind == "replay" for key in row.calls]
    scored = [_row(row, *samples[row.sample_id]) for row in rows if row.kind == "score"]
    keys = [*preparation, *(key for row in scored for key in row.calls)]
    figures = {
        key: CallFigures(used.input_tokens, used.output_tokens, used.cost)
        for key, used in SqliteLedger(home).calls_for(keys).items()
    }
    return {
        "run": run.id,
        "status": run.status,
        "samples": len(samples),
        "open_items": _open_items(run, len(samples), done=len(rows)),
        "skipped": run.options.get("skipped", []),
        "judge": _judge(run),
        "forked_from": forked_from(run),
        "seed": run.seed,
        "simulated": simulated_models(run),
        **summarise(scored, preparation=preparation, figures=figures, seed=run.seed),
    }


def shown_name(model: str, arm: str) -> str:
    """Return a model's name with its arm: `NAME#blind` for the arm without images."""
    return f"{model}#{arm}" if arm else model


def _open_items(run: Run, samples: int, *, done: int) -> int:
    """How many chains and answers of a run have no result yet; 0 for a finished run."""
    if run.status == "done":
        return 0
    plan = EvaluationPlan.model_validate(run.options["plan"])
    return max(0, samples * (1 + sum(1 for _ in plan.items(""))) - done)


def forked_from(run: Run) -> dict[str, str] | None:
    """Return the run that a run branched off, and the step; None where it is no fork."""
    plan: Any = run.options.get("plan")
    fork = plan.get("fork") if isinstance(plan, dict) else None
    return None if fork is None else {"run": fork["parent"], "node": fork["node"]}


def _row(row: ResultRow, cluster: str, category: str | None) -> Row:
    return Row(
        sample_id=row.sample_id,
        cluster=cluster,
        category=category,
        model=shown_name(row.model, row.arm),
        repeat=row.repeat,
        score=row.score,
        failure=row.failure,
        calls=row.calls,
    )


def _specs(run: Run) -> list[dict[str, Any]]:
    plan: Any = run.options["plan"]
    return [plan["judge"], *plan["candidates"], *plan.get("judges", {}).values()]


def _judge(run: Run) -> str:
    return _specs(run)[0]["ref"]["name"]


def simulated_models(run: Run) -> list[str]:
    """Names of the run's models that are simulated, so that every report can say so."""
    named = (spec["ref"] for spec in _specs(run))
    return sorted({ref["name"] for ref in named if "sim" in ref["model"].split("/")[:-1]})
