"""One tree grown from criteria of the made-up world, in a process that does nothing else, with what it took.

`python -m benchmarks.taxonomy.growth CRITERIA FOLDER` prints one JSON object.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from benchmarks.figures import peak_rss_mb
from dokimasia.domain.call import ModelCall, ModelReply, ModelSpec
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.methods.tree import grow_tree
from dokimasia.settings import load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.tree_world import categories_of, planted_criteria
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import mappings, tree_criteria

JUDGE = "sim/judge"


class Measured:
    """A transport, with the CPU time that its models took and the number of their replies."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.cpu = 0.0
        self.calls = 0

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Have the call answered; simulated models answer without ever waiting, so that the thread's time is theirs."""
        started = time.thread_time()
        try:
            return await self._inner.send(call, spec, api_key=api_key, blobs=blobs)
        finally:
            self.cpu += time.thread_time() - started
            self.calls += 1

    async def aclose(self) -> None:
        """Close the transport within."""
        await self._inner.aclose()


def write_criteria(path: Path, count: int, seed: int = 0) -> dict[tuple[str, str], str]:
    """Write planted criteria as a file to grow from; return each one's capability by its text and sample."""
    criteria = list(planted_criteria(count, seed, themes=True))
    categories = categories_of(criteria)
    rows = [
        {
            "criterion": one.question,
            "ground_truth": one.ground_truth,
            "sample_id": one.sample,
            "category": categories[one.sample],
        }
        for one in criteria
    ]
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    return {(one.question, one.sample): one.capability for one in criteria}


def grow_measured(count: int, folder: Path) -> dict[str, Any]:
    """Grow a tree in a new home and return what it took; writing and comparing are outside of the measured time."""
    planted = write_criteria(folder / "criteria.jsonl", count)
    settings = load_settings(home=folder / "home", env={})
    models = Measured(SimTransport())
    started, clock = time.process_time(), time.perf_counter()
    result = asyncio.run(
        grow_tree(judge=JUDGE, file=folder / "criteria.jsonl", settings=settings, transports={"sim": models})
    )
    used, wall = time.process_time() - started, time.perf_counter() - clock
    peak = peak_rss_mb()
    return {
        "criteria": count,
        "CPU s": round(used - models.cpu, 2),
        "models s": round(models.cpu, 2),
        "wall s": round(wall, 2),
        "peak MB": round(peak, 1),
        "calls": models.calls,
        "each": round(models.calls / count, 5),
        "leaves": len(result.summary["leaves"]),
        "unplaced": count - result.summary["mapped"],
        "Rand": round(_recovered(folder / "home", result.summary["version"], result.summary["tree"], planted), 5),
    }


def _recovered(home: Path, version: str, tree: str, planted: dict[tuple[str, str], str]) -> float:
    """Return how far the tree's leaves are the planted ones; what has no place is a group of its own."""
    from dokimasia.algorithms.trees.partitions import adjusted_rand

    with Home.open(home, write=False) as opened:
        true = {one.key: planted[one.text, one.sample_id] for one in tree_criteria(opened, tree)}
        grown = {one.criterion: one.leaf for one in mappings(opened, version, tree=tree)}
    return adjusted_rand(true, grown)


def main(arguments: Sequence[str] | None = None) -> int:
    """Grow, and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.taxonomy.growth", description=__doc__)
    parser.add_argument("criteria", type=int)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args(arguments)
    print(json.dumps(grow_measured(chosen.criteria, chosen.folder)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
