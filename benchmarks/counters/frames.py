"""Count the frames of this package between the command line and the socket of a model call."""

import asyncio
import contextlib
import io
import sys
from asyncio.base_events import BaseEventLoop
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

import aiohttp

from benchmarks.command import BenchmarkFailed
from benchmarks.counters.source import PACKAGE
from benchmarks.crash.__main__ import server_of
from benchmarks.kinds import JUDGE, MODELS, write_data
from dokimasia.cli.main import run as command
from dokimasia.log import configure

MODEL = '[models."{name}"]\nmodel = "openai/{name}"\nendpoint = "planted"\napi_base = "{url}"\ntransport = "direct"\n'


def frames_to_socket(folder: Path) -> list[str]:
    """Return the package's frames from `dokimasia evaluate` to aiohttp's request, outermost first, as `path:function`.

    The frames of a task continue those on the stack when it was created. The first request of the run is traced.
    """
    configure(level="error")
    data, config = folder / "world.jsonl", folder / "dokimasia.toml"
    write_data(data)
    words = [
        "evaluate",
        data,
        "--judge",
        JUDGE,
        "--models",
        ",".join(MODELS),
        "--home",
        folder / "home",
        "--config",
        config,
    ]
    with server_of(folder, 0.0) as url:
        config.write_text("".join(MODEL.format(name=name, url=url) for name in (JUDGE, *MODELS)))
        with _tracing() as frames, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            command([str(word) for word in words])
    if not frames:
        raise BenchmarkFailed("the evaluation sent no request")
    return frames


@contextlib.contextmanager
def _tracing() -> Iterator[list[str]]:
    """Trace the first request that aiohttp sends; yields the list that its frames are added to."""
    frames: list[str] = []
    creation: WeakKeyDictionary[asyncio.Task[Any], list[str]] = WeakKeyDictionary()
    request, create_task = aiohttp.ClientSession._request, BaseEventLoop.create_task

    def stack() -> list[str]:
        """The package's frames now: those of the current task after those of its creation."""
        current, inside_loop = _frames(sys._getframe(2))
        if not inside_loop:
            return current
        task = asyncio.current_task()
        return [*(creation.get(task, []) if task is not None else []), *current]

    def recording_create_task(loop: BaseEventLoop, *arguments: Any, **options: Any) -> asyncio.Task[Any]:
        task = create_task(loop, *arguments, **options)
        creation[task] = stack()
        return task

    async def recording_request(session: aiohttp.ClientSession, *arguments: Any, **options: Any) -> Any:
        if not frames:
            frames.extend(stack())
        return await request(session, *arguments, **options)

    with (
        patch.object(BaseEventLoop, "create_task", recording_create_task),
        patch.object(aiohttp.ClientSession, "_request", recording_request),
    ):
        yield frames


def _frames(frame: FrameType | None) -> tuple[list[str], bool]:
    """Return the package's frames up to the event loop, outermost first, and whether a loop was met."""
    frames: list[str] = []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if frame.f_code.co_name == "_run_once" and path.parent.name == "asyncio":
            return frames[::-1], True
        if path.is_relative_to(PACKAGE):
            frames.append(f"{path.relative_to(PACKAGE)}:{frame.f_code.co_name}")
        frame = frame.f_back
    return frames[::-1], False
