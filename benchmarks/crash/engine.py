"""An engine of the service at work on evaluations and a review with a person in its panel, until it is killed or all is done."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from dokimasia.runs.catalogue import method_named
from dokimasia.runs.outcome import why_ended
from dokimasia.service import queue
from dokimasia.service.engine import RunEngine
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run, list_runs

PERSON = "ann"
REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("evaluate", {"judge": "J", "models": ("A", "B")}),
    ("evaluate", {"judge": "J", "models": ("A", "C")}),
    ("review", {"panel": ("P", "Q", f"human/{PERSON}"), "limit": 10}),
    ("filter", {"judge": "J"}),
)


def settings_of(folder: Path, home: Path) -> Settings:
    """Return the settings of a home under the folder's configuration."""
    return load_settings(config=folder / "dokimasia.toml", home=home, env={})


async def work(folder: Path, home: Path) -> None:
    """Ask for all runs, and end when all are done: those that wait for a person go on as soon as they are answered."""
    queue.DEATHS = sys.maxsize  # it is killed more often than a service may die before a run is set aside
    queue.ANSWER_INTERVAL, queue.QUIET = 0.1, {False: 0.2, True: 0.5}
    with Home.open(home, write=True) as opened:
        async with RunEngine(settings_of(folder, home), opened, width=3) as engine:
            for name, fields in REQUESTS:
                request = method_named(name).request.model_validate({"data": folder / "world.jsonl", **fields})
                await engine.submit(name, request)
            for run in list_runs(opened):
                while (now := get_run(opened, run.id)).status != "done":
                    if now.status == "failed":
                        raise SystemExit(f"{run.method} {run.id} failed: {why_ended(opened, now)}")
                    await engine.ended(run)
                    await asyncio.sleep(0.1)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), Path(sys.argv[2])))
