"""Put self-correction into a pipeline of your own: plain asyncio, values in and values out, no database.

Run it with a folder of its own: python examples/embed_in_pipeline.py FOLDER
"""

import asyncio
import sys
from pathlib import Path

from dokimasia import CriteriaSet, Criterion, MemoryBlobs, Response, Sample, memory_context, refine_one
from dokimasia.agents.candidate import answer_question
from dokimasia.datasets import read_jsonl
from dokimasia.simulation.world import make_world, write_world

MODEL, PEER, JUDGE = "sim/weak", "sim/strong", "sim/judge"


async def main(folder: Path) -> None:
    """Have a model answer, and where the judge's criteria say that it failed, answer again with feedback."""
    write_world(folder / "world.jsonl", 6, 0)
    blobs = MemoryBlobs()
    samples = list(read_jsonl(folder / "world.jsonl", blobs=blobs))
    async with memory_context(judge=JUDGE, models=(MODEL, PEER), blobs=blobs) as context:

        async def answer(name: str, sample: Sample) -> Response | None:
            return (await context.ask(answer_question(sample), model=name)).value

        for sample, criteria in zip(samples, own_criteria(), strict=True):
            first, other = await asyncio.gather(answer(MODEL, sample), answer(PEER, sample))
            if first is None or other is None:
                print(f"{sample.id}: no answer")
                continue
            done = await refine_one(
                sample, first, criteria, model=MODEL, context=context, arm="peer", peers={PEER: other.text}, rounds=2
            )
            right = "unknown" if done.final is None else done.final.verdict
            print(f"{sample.id}: {mean(done.before):.1f} -> {mean(done.after):.1f}, now {right} ({done.stopped})")


def own_criteria() -> list[CriteriaSet]:
    """Criteria that you have already; here those that the planted world was made from."""
    return [
        CriteriaSet(
            criteria=tuple(
                Criterion(question=step.question, ground_truth=step.statement, weight=step.weight)
                for step in question.steps
            )
        )
        for _, question in make_world(6, 0)
    ]


def mean(scores: tuple[float, ...]) -> float:
    """The mean of the atoms' scores; 0 where there is none."""
    return sum(scores) / len(scores) if scores else 0.0


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".dokimasia/example")
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
