"""What a list says of a run's figures: its best models, and what it cost."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from dokimasia.report.figures import MINUS, cost_text
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import costs
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run
from dokimasia.storage.usage import Reached, usage_of

MOST_RESULTS = 20_000
"""Figures of runs with more results are not worked out for a list."""


class Headline(NamedTuple):
    """A run's best model by what its method measures, empty where it measures nothing of models; and its cost."""

    text: str
    cost: str


def headline(home: Home, run: Run, far: Reached) -> Headline:
    """Return a run's headline."""
    if far.results > MOST_RESULTS:
        return Headline("", "")
    used = usage_of(home, run.id).values()
    spent = costs((one.cost for one in used), (one.known for one in used))
    cost = cost_text(spent["cost"], spent.get("cost_known") or 0.0) if far.results or far.waiting else ""
    return Headline(_best(home, run), cost)


def _best(home: Home, run: Run) -> str:
    """Return the best model by each measure of a finished run's method, a model named once.

    Of a share it is said up to what it comes if all undecided answers are right.
    """
    method = method_of(run)
    if run.status != "done" or not method.measures:
        return ""
    models: Mapping[str, Any] = method.json_figures(home, run).get("models") or {}
    parts: dict[str, list[str]] = {}
    for name, path in method.measures.items():
        values = {model: value for model, one in models.items() if (value := _figure(one, path)) is not None}
        if values:
            best = max(sorted(values), key=lambda model: values[model])
            called, scale = method.measure_called(name)
            of = f" ({scale})" if scale else ""
            if (upper := _at(models[best], (path[0], "upper")) or 0.0) > values[best]:
                of = f", up to {upper:.2f}"
            parts.setdefault(best, []).append(f"{called} {f'{values[best]:.2f}'.replace('-', MINUS)}{of}")
    return "; ".join(f"{model}: {', '.join(said)}" for model, said in parts.items())


def _figure(model: Mapping[str, Any], path: tuple[str, ...]) -> float | None:
    """Return a model's figure: a share itself, and not the end of its bounds that a threshold goes by."""
    share = _at(model, (path[0], "share"))
    return _at(model, path) if share is None else share


def _at(value: Any, path: tuple[str, ...]) -> float | None:
    for name in path:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None
