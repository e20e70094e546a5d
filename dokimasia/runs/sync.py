"""The life-cycle for scripts and notebooks without an event loop."""

import asyncio
from typing import Any

from dokimasia.runs.lifecycle import RunResult, run
from dokimasia.runs.method import Method
from dokimasia.runs.requests import RunRequest


def run_sync(method: Method[Any, Any], request: RunRequest, **services: Any) -> RunResult:
    """Do what `dokimasia.runs.lifecycle.run` does, and return when it is done.

    Raises:
        RuntimeError: called from inside a running event loop, where `await run(method, request)` belongs.
    """
    return asyncio.run(run(method, request, **services))
