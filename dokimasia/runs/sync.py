"""The sync shell around the evaluation, for scripts and notebooks without an event loop."""

import asyncio
from collections.abc import Mapping

from dokimasia.agents import PromptLibrary
from dokimasia.domain.ports import Transport
from dokimasia.methods.evaluation.evaluation import EvaluationRequest, EvaluationResult, evaluate
from dokimasia.runs.observer import Observer
from dokimasia.settings import Settings


def evaluate_sync(
    request: EvaluationRequest,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    transports: Mapping[str, Transport] | None = None,
    prompts: PromptLibrary | None = None,
) -> EvaluationResult:
    """Do what `evaluate` does, and return when it is done.

    Raises:
        RuntimeError: called from inside a running event loop, where `await evaluate(...)` belongs.
    """
    return asyncio.run(evaluate(request, settings=settings, observer=observer, transports=transports, prompts=prompts))
