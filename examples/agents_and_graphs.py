"""Use one role, and one graph, with no database: plain awaitables that any program can embed."""

import asyncio
from pathlib import Path

from dokimasia import Context, GraphOptions, MemoryBlobs, MemoryLedger, MemoryStore, ModelRef, ModelSpec, as_runnable
from dokimasia.agents import ask
from dokimasia.agents.evaluation import write_chain
from dokimasia.datasets import read_jsonl
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world


async def main(folder: Path) -> None:
    """Ask the solver about one sample, then let the graph replay it whole."""
    write_world(folder / "world.jsonl", 2, 0)
    blobs = MemoryBlobs()
    sample = next(iter(read_jsonl(folder / "world.jsonl", blobs=blobs)))
    judge = ModelSpec(ref=ModelRef(name="judge", model="sim/judge", endpoint="sim"))
    gateway = ModelGateway(
        ledger=MemoryLedger(), blobs=blobs, transports={"sim": SimTransport()}, specs={"judge": judge}
    )

    asked = await ask(write_chain(sample), gateway=gateway, model=judge)
    if asked.value is not None:
        print(f"the solver answers: {asked.value.answer}")

    store = MemoryStore()
    context = Context(gateway, store, GraphOptions(judge="judge", models={"judge": judge}))
    replay = as_runnable("cognitive_replay", context)
    state = await replay.ainvoke({"sample": await store.put(sample)})
    criteria = await store.get(CriteriaSet, state["criteria"])
    for number, criterion in enumerate(criteria.criteria, start=1):
        print(f"{number}. ({criterion.weight}) {criterion.question} — {criterion.ground_truth}")
    await gateway.aclose()


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))
