"""Find out what a near-sighted judge misses, and what it finds once it is offered tools to look closer with.

Run it with a folder of its own: python examples/look_closer.py FOLDER

The simulated judge `sim/judge-nearsighted` cannot make out what takes up less than a fiftieth of an image. It solves the
questions of a planted world without tools and with them, in this process and behind `dokimasia sim serve`'s server.
"""

import asyncio
import sys
from pathlib import Path

from dokimasia import EvaluationRequest, Settings, evaluate, load_settings
from dokimasia.algorithms.statistics import rate_interval
from dokimasia.methods.evaluation.samples import sample_view
from dokimasia.simulation.profiles import as_judge, find_profile
from dokimasia.simulation.scene import Scene, SceneQuestion
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.truths.evaluation import is_small
from dokimasia.simulation.world import make_world, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

SAMPLES = 42
JUDGE = "sim/judge-nearsighted"
CONFIG = """
[models.J]
model = "openai/{judge}"
api_base = "{url}"
transport = "direct"

[models."sim/strong"]
model = "openai/sim/strong"
api_base = "{url}"
transport = "direct"
"""


async def look(data: Path, settings: Settings, *, judge: str, tools: tuple[str, ...], where: str) -> None:
    """Evaluate one candidate, then say which steps of the judge's model solutions are right, small things and others."""
    request = EvaluationRequest(data=data, judge=judge, models=("sim/strong",), tools=tools)
    result = await evaluate(request, settings=settings)
    profile = as_judge(find_profile(JUDGE))
    right: dict[bool, list[bool]] = {True: [], False: []}
    scenes: dict[bool, list[str]] = {True: [], False: []}
    looks = 0
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
        pairs: list[tuple[Scene, SceneQuestion]] = list(make_world(SAMPLES, 0))
        for scene, question in pairs:
            view = await sample_view(home, run, question.id)
            solution = view["replay"]["chain"]["reasoning"]
            looks += len(view["replay"]["looks"]) + sum(len(answer["looks"]) for answer in view["answers"])
            for step in question.steps:
                small = is_small(profile, step)
                right[small].append(step.statement in solution)
                scenes[small].append(scene.id)
    print(f"{where}, {'with' if tools else 'without'} tools: {looks} looks")
    for small, name in ((True, "small things"), (False, "other things")):
        share = sum(right[small]) / len(right[small])
        low, high = rate_interval(right[small], clusters=scenes[small])
        print(f"  {name}: {share:.0%} of {len(right[small])} steps right [{low:.0%}, {high:.0%}]")
    score = result.summary["models"]["sim/strong"]["score"]
    print(f"  sim/strong scores {score['mean']:.2f} [{score['low']:.2f}, {score['high']:.2f}] by these solutions")


async def main(folder: Path, data: Path) -> None:
    """Judge without tools and with them, here and over HTTP."""
    here = load_settings(home=folder / "home")
    for tools in ((), ("zoom",)):
        await look(data, here, judge=JUDGE, tools=tools, where="in process")
    with running_server() as url:
        config = write_config(folder, url)
        served = load_settings(home=folder / "served", config=config)
        await look(data, served, judge="J", tools=("zoom",), where="over HTTP")


def write_config(folder: Path, url: str) -> Path:
    """Name the judge and the candidate at the server in a configuration file."""
    path = folder / "dokimasia.toml"
    path.write_text(CONFIG.format(judge=JUDGE, url=url))
    return path


if __name__ == "__main__":
    chosen = Path(sys.argv[1] if len(sys.argv) > 1 else ".dokimasia/look-closer").absolute()
    chosen.mkdir(parents=True, exist_ok=True)
    write_world(chosen / "world.jsonl", SAMPLES, 0)
    asyncio.run(main(chosen, chosen / "world.jsonl"))
