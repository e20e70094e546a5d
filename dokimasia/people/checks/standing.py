"""How all stands that people decide on in a run, in figures: what `dokimasia check RUN --json` prints."""

from collections.abc import Sequence

from pydantic import JsonValue

from dokimasia.domain.decision import Standing
from dokimasia.people.checks.figures import check_figures
from dokimasia.people.checks.labels import label_figures, labelled
from dokimasia.people.checks.questions import answered_since
from dokimasia.report.fields import as_json
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run


def standing_figures(home: Home, run_id: str, standings: Sequence[Standing]) -> dict[str, JsonValue]:
    """Return the figures of a run's items, with its status, and with labels where perturbations are among them."""
    checks = check_figures(standings)
    figures = {
        "run": run_id,
        **as_json(checks),
        "status": get_run(home, run_id).status,
        "answered": answered_since(home, run_id),
    }
    if "perturbation" in checks.kinds:
        figures["labels"] = as_json(label_figures(labelled(home, run_id, standings)))
    return figures
