"""Evaluate models, let them mend what they got wrong, and see what the feedback did beside asking again.

Run it with a folder of its own: python examples/refine_failures.py FOLDER
"""

import asyncio
import sys
from pathlib import Path

from dokimasia import EvaluationRequest, RefinementRequest, evaluate, load_settings, refine
from dokimasia.simulation.world import write_world


async def main(folder: Path) -> None:
    """Evaluate two simulated models on a small world, refine their failures in every arm, and print the accuracies."""
    data = folder / "world.jsonl"
    write_world(data, 12, 0)
    settings = load_settings(home=folder / "home")
    run = await evaluate(
        EvaluationRequest(data=data.absolute(), judge="sim/judge", models=("sim/strong", "sim/weak")), settings=settings
    )
    refined = await refine(RefinementRequest(run=run.run, strategy="all"), settings=settings)
    for name, model in refined.summary["models"].items():
        print(f"{name}: {model['failed']} of {model['answers']} answers taken up")
        for arm, figures in model["arms"].items():
            accuracy = figures["accuracy"]
            if accuracy is not None:
                low, high = accuracy["low"], accuracy["high"]
                print(f"  {arm}: {figures['right']} of {figures['n_known']} right [{low:.0%}, {high:.0%}]")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".dokimasia/example")))
