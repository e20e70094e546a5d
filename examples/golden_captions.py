"""Have a panel agree on descriptions, make gated rubrics from them, publish those, and audit models by the file alone.

Run it with a folder of its own: python examples/golden_captions.py FOLDER
"""

import asyncio
import sys
from pathlib import Path

from dokimasia import AuditRequest, RubricRequest, audit, load_settings, make_rubrics
from dokimasia.methods.review import ReviewRequest, review
from dokimasia.methods.rubrics import write_sets
from dokimasia.simulation.world import write_described
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

PANEL = ("sim/panel-a", "sim/panel-b", "sim/panel-c")


async def main(folder: Path) -> None:
    """Review fourteen simulated scenes, make their rubrics, write them to a file, and audit two models in another home."""
    data, file = (folder / "scenes.jsonl").absolute(), folder / "rubrics.jsonl"
    write_described(data, 14, 0)
    authors = load_settings(home=folder / "authors")
    reviewed = await review(ReviewRequest(data=data, panel=PANEL), settings=authors)
    made = await make_rubrics(
        RubricRequest(data=Path(reviewed.run), judge="sim/judge", pool=("sim/hasty", "sim/nearsighted")),
        settings=authors,
    )
    with Home.open(authors.home, write=False) as home:
        write_sets(home, get_run(home, made.run), file)
    print(f"{made.summary['sets']} of 14 descriptions agreed on, {made.summary['rubrics']} rubrics written to {file}")

    readers = load_settings(home=folder / "readers")
    request = AuditRequest(data=data, rubrics=file, models=("sim/strong", "sim/weak"), judge="sim/judge")
    audited = await audit(request, settings=readers)
    for name, model in audited.summary["models"].items():
        gated, item, passed = model["overall"], model["must_right_item"]["mean"], model["gate_pass"]["mean"]
        interval = "no interval" if gated["low"] is None else f"[{gated['low']:.1f}, {gated['high']:.1f}]"
        print(f"{name}: gated score {gated['mean']:.1f}, {interval}, on {model['n_scored']} images;")
        print(f"  {item:.1f} % of the must-right rubrics hold, but only {passed:.1f} % of the gates open")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".dokimasia/golden")))
