"""How all stands that people decide on in a run, in figures: what `dokimasia check RUN --json` prints."""

from collections.abc import Sequence
from typing import Any

from dokimasia.domain.decision import Standing
from dokimasia.people.checks.figures import check_figures
from dokimasia.people.checks.labels import label_figures, labelled
from dokimasia.people.checks.questions import answered_since
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run


def standing_figures(home: Home, run_id: str, standings: Sequence[Standing]) -> dict[str, Any]:
    """Return the figures of a run's items, with its status, and with labels where perturbations are among them."""
    figures: dict[str, Any] = {"run": run_id, **check_figures(standings)}
    figures |= {"status": get_run(home, run_id).status, "answered": answered_since(home, run_id)}
    if "perturbation" in figures["kinds"]:
        figures["labels"] = label_figures(labelled(home, run_id, standings))
    return figures
