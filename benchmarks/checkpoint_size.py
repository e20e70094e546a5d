"""What a checkpointed step weighs: our channel values and the whole step, whatever the size of images and replies."""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks import workload
from benchmarks.command import BenchmarkFailed, Options, run_benchmark, scratch
from benchmarks.figures import Figure, Report
from dokimasia.domain.call import ModelCall, ModelRef, ModelSpec
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import Sample
from dokimasia.gateway.doubles import FunctionGateway
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GRAPHS
from dokimasia.graphs.executor import GraphRun, LocalExecutor
from dokimasia.prompts import recognise
from dokimasia.storage.checkpoints import Saver, open_saver
from dokimasia.storage.home import Home
from dokimasia.storage.runs import SqliteValueStore

BYTES = 512
HUNDREDFOLD = 100
SMALL_IMAGE, SMALL_REPLY = 1600, 300
SLACK = 0.02
"""What a whole step may differ by: the saver's version numbers have a varying number of digits."""

_FILLER = "What is seen by the window is told at length. "


Way = Literal["good", "mended", "failed"]

WAYS: dict[Way, str] = {
    "good": "good",
    "mended": "all that may be mended is",
    "failed": "the criteria cannot be read twice",
}


class Steps(NamedTuple):
    """The bytes of each step of one thread: our channel values, and the whole step with LangGraph's own."""

    values: list[int]
    whole: list[int]


def replies(size: int, way: Way) -> dict[str, list[str]]:
    """Return what each prompt is answered in turn, in about `size` characters."""
    filler = (_FILLER * (size // len(_FILLER) + 1))[:size]
    chain = f"<reasoning>\n{filler}\n</reasoning>\n<answer>\nsome {{}} tableware\n</answer>"
    criteria = [one.model_dump(mode="json", exclude={"anchor"}) for one in workload.CRITERIA.criteria]
    criteria[0]["ground_truth"] += f" {filler}"
    bad = f"I cannot say it in the form that was asked for. {filler}"
    asked = {
        "solver": [bad, chain.format("white"), chain.format("blue")],
        "equivalence": [bad, f"{filler}\n\n[[different]]", bad, f"{filler}\n\n[[same]]"],
        "criteria": [bad, bad if way == "failed" else json.dumps(criteria)],
        "criteria_check": [bad, _look("NO"), bad, _look("YES")],
        "checkpoints": [bad, f"<think>{filler}</think>\n1 | score: [4]\n2 | score: [5]\n3 | score: [3]"],
    }
    return {name: every[-1:] for name, every in asked.items()} if way == "good" else asked


def _look(open: str) -> str:
    lines = (f"{number} | needed: YES | single: YES | open: {open} | -" for number in (1, 2, 3))
    return "\n".join([*lines, "missing: nothing"])


def gateway(size: int, way: Way) -> FunctionGateway:
    """Return a gateway that gives the replies in their turn."""
    ready, asked = replies(size, way), Counter[str]()

    def reply(call: ModelCall) -> str:
        found = recognise(call.messages) if call.kind == "chat" else None
        if found is None:
            raise BenchmarkFailed(f"asked by a prompt that is not known: {call.kind}")
        if found.name not in ready:
            return f"An answer. {_FILLER * (size // len(_FILLER) + 1)}"
        turn = min(asked[found.name], len(ready[found.name]) - 1)
        asked[found.name] += 1
        return ready[found.name][turn]

    return FunctionGateway(reply)


async def threads_steps(
    folder: Path, way: Way, *, image: int, reply: int, models: int = workload.CANDIDATES
) -> tuple[Steps, Steps | None]:
    """Replay one sample with that much in its image and in each reply, score answers to it, and weigh both threads.

    Where the replay fails there is nothing to score with, and no second thread.
    """
    ref = workload.write_image(folder, 0, image)
    sample = Sample(
        id="s000000", prompt=workload.Prompts()[0], images=(ref,), reference_answer="three blue cups by the window"
    )
    spec = ModelSpec(ref=ModelRef(name="judge", model="stub/judge"))
    options = GraphOptions(judge="judge", models={"judge": spec, **dict.fromkeys(workload.candidates(models), spec)})
    with Home.open(folder / "home", write=True) as home:
        home.blobs.put_image((folder / workload.image_name(0)).read_bytes(), ref)
        async with open_saver(home) as saver:
            store = SqliteValueStore(home)
            context = Context(gateway(reply, way), store, options)
            executor = LocalExecutor(saver)
            inputs = {"sample": await store.put(sample)}
            state = await executor.execute(GraphRun(GRAPHS["cognitive_replay"], inputs, "replay", context, "replay"))
            if bool(state.get("failed")) != (way == "failed"):
                raise BenchmarkFailed(f"the replay should have gone the way called {way}: {state}")
            if way == "failed":
                return weigh(saver, "replay"), None
            items = [{"model": name, "arm": "", "repeat": 0} for name in workload.candidates(models)]
            scored = {"sample": inputs["sample"], "criteria": state["criteria"], "items": items}
            await executor.execute(GraphRun(GRAPHS["checkpoint_scoring"], scored, "scoring", context, "scoring"))
            return weigh(saver, "replay"), weigh(saver, "scoring")


def weigh(saver: Saver, thread: str) -> Steps:
    """Return the bytes of a thread's steps as they lie in the database."""
    steps = Steps([], [])
    rows = saver.conn.execute(
        "SELECT checkpoint_id, type, checkpoint, length(checkpoint) + length(metadata) FROM checkpoints "
        "WHERE thread_id = ? ORDER BY checkpoint_id",
        (thread,),
    )
    for checkpoint_id, kind, blob, size in rows.fetchall():
        (written,) = saver.conn.execute(
            "SELECT coalesce(sum(length(value) + length(channel)), 0) FROM writes "
            "WHERE thread_id = ? AND checkpoint_id = ?",
            (thread, checkpoint_id),
        ).fetchone()
        checkpoint: dict[str, Any] = saver.serde.loads_typed((kind, blob))
        steps.values.append(len(saver.serde.dumps_typed(checkpoint["channel_values"])[1]))
        steps.whole.append(size + written)
    if not steps.whole:
        raise BenchmarkFailed(f"thread {thread} has no checkpoint")
    return steps


def measure(options: Options) -> Report:
    """Replay a sample by the straight and by the longest way, with images, replies and models in different numbers."""
    rows: list[dict[str, Any]] = []
    seen: dict[tuple[Way, str], Steps] = {}
    ways = {
        "small": {"image": SMALL_IMAGE, "reply": SMALL_REPLY},
        "images × 100": {"image": HUNDREDFOLD * SMALL_IMAGE, "reply": SMALL_REPLY},
        "replies × 100": {"image": SMALL_IMAGE, "reply": HUNDREDFOLD * SMALL_REPLY},
        "models × 40": {"image": SMALL_IMAGE, "reply": SMALL_REPLY, "models": 40},
    }
    for way in WAYS:
        for name, sizes in ways.items():
            with scratch() as folder:
                steps, scoring = asyncio.run(threads_steps(folder, way, **sizes))
            seen[way, name] = steps
            rows.append(_row("replay", name, steps, way))
            if name == "small" and scoring is not None:
                rows.append(_row(f"scoring, {workload.CANDIDATES} answers", name, scoring, way))
    values_differ = sum(seen[way, name].values != seen[way, "small"].values for way, name in seen)
    whole = max(abs(sum(steps.whole) / sum(seen[way, "small"].whole) - 1) for (way, _), steps in seen.items())
    figures = (
        Figure("our channel values, the largest step", max(max(steps.values) for steps in seen.values()), "bytes",
               BYTES, "at most"),
        Figure("the whole step, the largest", max(max(steps.whole) for steps in seen.values()), "bytes"),
        Figure("sizes under which our values differ", values_differ, target=0, rule="exactly", must=True),
        Figure("largest change of the whole steps", 100 * whole, "%", 100 * SLACK, "at most", must=True),
    )  # fmt: skip
    note = (
        "Scoring runs without checkpoints; its steps are written only with --keep-checkpoints, and are not judged here."
    )
    return Report("checkpoint_size", figures, tuple(rows), (note,))


def _row(graph: str, sizes: str, steps: Steps, way: Way) -> dict[str, Any]:
    return {
        "thread": graph,
        "replies": WAYS[way],
        "sizes": sizes,
        "steps": len(steps.whole),
        "our values, most": max(steps.values),
        "whole step, mean": round(sum(steps.whole) / len(steps.whole)),
        "whole step, most": max(steps.whole),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """There is nothing more to be told."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("checkpoint_size", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
