"""Errors of calls to workers, from Ray's exceptions: the worker is gone, or it cannot work."""

import re
from types import ModuleType
from typing import Any

from dokimasia.errors import ConfigError, DokimasiaError

LESS = "fewer workers there, fewer requests at once (max_concurrency) or smaller images (max_image_side) need less"
_USED = re.compile(r"\S+ used / \S+(?= limit)")


class WorkerDied(DokimasiaError):
    """A worker's process or node is gone, or has been silent for too long; `away`: it may be reachable again soon."""

    def __init__(self, why: str, *, away: bool = False) -> None:
        super().__init__(why)
        self.away = away


def failure_of(error: Any, ray: ModuleType) -> DokimasiaError:
    """Return the error for a Ray exception raised by a call to a worker.

    When the kernel kills a process for lack of memory, Ray sees only that the process is gone.
    """
    kinds = ray.exceptions
    if isinstance(error, kinds.RayTaskError):
        cause = error.cause
        if isinstance(cause, DokimasiaError):
            return cause
        message = " ".join(str(cause).split())[:300]
        if isinstance(cause, MemoryError):
            return WorkerDied(f"a worker ran out of memory: {LESS}")
        return ConfigError(f"a worker cannot work: {type(cause).__name__}: {message}")
    if isinstance(error, kinds.OutOfMemoryError):
        used = _USED.search(str(error))
        where = f" ({used[0]})" if used else ""
        return WorkerDied(f"a worker's node ran out of memory{where}, so that Ray ended the worker: {LESS}")
    if isinstance(error, kinds.ActorUnavailableError):
        return WorkerDied("a worker could not be reached", away=True)
    if "worker process has died" in str(error):
        return WorkerDied(
            f"a worker's process was ended from outside, as the kernel does where memory runs out (dmesg says so); then {LESS}"
        )
    return WorkerDied(f"a worker was lost: {type(error).__name__}: {_last_line(error)}")


def _last_line(error: Exception) -> str:
    return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), "")[:300]
