"""What people check: golden captions and rubrics, accepted, edited or rejected, and perturbations, which are labelled."""

from typing import TYPE_CHECKING, Any

from dokimasia.methods.checks.blocks import label_blocks
from dokimasia.methods.checks.checking import decide, open_for_people, pending_checks
from dokimasia.methods.checks.labels import label_figures, labelled
from dokimasia.methods.checks.perturbation_files import perturbation_files
from dokimasia.methods.checks.probes import Probes, probes_of
from dokimasia.methods.checks.shape import LabelFigures
from dokimasia.methods.checks.standings import all_standings, checked_texts

if TYPE_CHECKING:
    from dokimasia.runs.work import Job


async def open_checks(job: "Job[Any]") -> None:
    """Hold all that a run made for a person to check: `Method.ended` of methods whose results wait for people."""
    from dokimasia.methods.checks.threads import open_threads

    await open_threads(job.home, job.services.saver, job.run.id)


__all__ = [
    "LabelFigures",
    "Probes",
    "all_standings",
    "checked_texts",
    "decide",
    "label_blocks",
    "label_figures",
    "labelled",
    "open_checks",
    "open_for_people",
    "pending_checks",
    "perturbation_files",
    "probes_of",
]
