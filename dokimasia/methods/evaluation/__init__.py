"""Evaluation by atomic criteria: cognitive replay, answers, checkpoint scores (ATOM, 3.2 and 3.3)."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation.accepting import accept, resumable
from dokimasia.methods.evaluation.expected import ANSWER_TOKENS, VERDICT_TOKENS, scoring
from dokimasia.methods.evaluation.figures import summary_of
from dokimasia.methods.evaluation.plan import EvaluationPlan, graphs_of
from dokimasia.methods.evaluation.request import EvaluationRequest
from dokimasia.methods.evaluation.rows import COLUMNS, cells
from dokimasia.methods.evaluation.taken_over import reached
from dokimasia.prompts import PromptLibrary, Rendered
from dokimasia.runs.differences import ATOMS
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Accepted, Method
from dokimasia.runs.sync import run_sync
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

if TYPE_CHECKING:
    from dokimasia.runs.work import Job, Stage


def _stages(job: "Job[EvaluationPlan]") -> "AsyncIterator[Stage[Any]]":
    from dokimasia.methods.evaluation.work import stages

    return stages(job)


def _previews(plan: EvaluationPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    from dokimasia.methods.evaluation.previews import previews

    return previews(plan, sample, library)


async def _sample(home: Home, run: Run, sample_id: str) -> dict[str, Any]:
    from dokimasia.methods.evaluation.sample_view import sample_view

    return await sample_view(home, run, sample_id)


async def _fork(
    session: Any, parent: Any, request: Any
) -> tuple[EvaluationRequest, Accepted[EvaluationPlan], dict[str, Any]]:
    from dokimasia.methods.evaluation.forking import fork

    return await fork(session, parent, request)


METHOD: Method[EvaluationRequest, EvaluationPlan] = Method(
    name="evaluate",
    title="an evaluation",
    request=EvaluationRequest,
    plan=EvaluationPlan,
    accept=accept,
    stages=_stages,
    figures=summary_of,
    graphs_of=graphs_of,
    reaches=reached,
    previews=_previews,
    sample=_sample,
    resumable=resumable,
    row_kind="score",
    row_name="answers",
    columns=COLUMNS,
    cells=cells,
    scale=ATOMS,
    fork=_fork,
)

evaluate = partial(run_method, METHOD)
"""Evaluate models on a data set: `await evaluate(EvaluationRequest(...), settings=..., observer=..., stop=...)`."""

evaluate_sync = partial(run_sync, METHOD)
"""The same for scripts and notebooks without an event loop."""

__all__ = [
    "ANSWER_TOKENS",
    "METHOD",
    "VERDICT_TOKENS",
    "EvaluationPlan",
    "EvaluationRequest",
    "RunResult",
    "evaluate",
    "evaluate_sync",
    "scoring",
]
