"""Evaluate two models from Python, offline on simulated ones; change the names and it runs on real ones.

Run it with a folder of its own: python examples/evaluate_models.py FOLDER
"""

import asyncio
import sys
from pathlib import Path

from dokimasia import EvaluationRequest, evaluate, load_settings
from dokimasia.simulation.world import write_world


async def main(folder: Path) -> None:
    """Make a small data file, evaluate two candidates on it, and print what came out."""
    data = folder / "world.jsonl"
    write_world(data, 12, 0)
    request = EvaluationRequest(data=data.absolute(), judge="sim/judge", models=("sim/strong", "sim/weak"))
    result = await evaluate(request, settings=load_settings(home=folder / "home"))
    for name, model in result.summary["models"].items():
        score = model["score"]
        print(
            f"{name}: {score['mean']:.2f} [{score['low']:.2f}, {score['high']:.2f}], "
            f"{model['n_scored']} of {model['n']} samples scored, {model['calls']} calls"
        )


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".dokimasia/example")))
