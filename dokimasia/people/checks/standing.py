"""The figures of a run's items for people: the output of `dokimasia decide RUN --json`."""

from collections.abc import Sequence

from pydantic import Field

from dokimasia.domain.decision import Standing
from dokimasia.domain.identity import Value
from dokimasia.people.checks.figures import check_figures, reason_figures
from dokimasia.people.checks.labels import label_figures, labelled
from dokimasia.people.checks.questions import answered_since
from dokimasia.people.checks.shape import CheckFigures, LabelFigures
from dokimasia.storage.home import Home
from dokimasia.storage.runs import RunStatus, get_run


class CheckedRun(Value):
    """A run that people decide on."""

    run: str


class StandingFigures(CheckFigures, CheckedRun):
    """Figures of a run's items, with its status."""

    status: RunStatus
    answered: bool = Field(description="whether the run goes on with answers that it has not taken up")
    labels: LabelFigures | None = Field(default=None, description="left out where no item is a perturbation")


def standing_figures(home: Home, run_id: str, standings: Sequence[Standing]) -> StandingFigures:
    """Return the figures of a run's items with its status, and with label figures if there are perturbations."""
    figures = check_figures(standings, reason_figures(home, run_id, standings))
    labels = None
    if "perturbation" in figures.kinds:
        labels = label_figures(labelled(home, run_id, standings))
    return StandingFigures(
        **dict(figures),
        run=run_id,
        status=get_run(home, run_id).status,
        answered=answered_since(home, run_id),
        labels=labels,
    )
