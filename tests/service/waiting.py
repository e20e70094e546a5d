"""A home in which all kinds of things wait for people, with a tree and probes; made once a session, copied for each test."""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

from dokimasia.people.annotation import hand_out_here
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.lifecycle import run
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.runs.kinds import JUDGE, KINDS, made


class Waits(NamedTuple):
    """Where it is, and the runs by what waits in them."""

    home: Path
    runs: dict[str, str]

    def path(self, name: str) -> str:
        """The path of the page of a run's review."""
        return f"/review/{self.runs[name]}"


def make(folder: Path) -> Waits:
    """Make the home: captions, rubrics, perturbations of texts and images, pairs for ana and bob, a question to ana."""
    world, home = folder / "world.jsonl", folder / "home"
    write_world(world, 14, 1)
    settings = load_settings(home=home, cwd=folder, env={})
    runs = {
        name: made(settings, world, KINDS[kind]).run
        for name, kind in {
            "captions": "review",
            "rubrics": "rubrics",
            "perturbations": "perturb",
            "images": "perturb of images",
            "pairs": "duel",
            "tree": "tree",
        }.items()
    }
    asked: dict[str, Any] = {"data": Path(runs["perturbations"]), "judges": (JUDGE,), "unchecked": True}
    probe = method_named("probe")
    request = probe.request.model_validate({**asked, "evaluators": ("single-axes", "pairwise-vanilla")})
    runs["probe"] = asyncio.run(run(probe, request, settings=settings)).run
    evaluate = method_named("evaluate")
    question = evaluate.request.model_validate({"data": world, "models": ("human/ana",), "limit": 2})
    runs["questions"] = asyncio.run(run(evaluate, question, settings=settings)).run
    with Home.open(home, write=True) as opened:
        asyncio.run(
            hand_out_here(opened, get_run(opened, runs["pairs"]), "pair", annotators=("ana", "bob"), cases=5, seed=3)
        )
    return Waits(home, runs)
