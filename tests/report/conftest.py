"""Finished runs to report on: a small demo, one with every section, and one in which every text attacks its reader."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dokimasia.domain.ports import Transport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.report.data import ReportData
from dokimasia.runs.reading.reporting import report_data
from dokimasia.settings import load_settings
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from tests.sharing import made_by_one, shared_folder

ATTACKS = (
    "<script>window.pwned = 1</script>",
    "</style></script><img src=x onerror='window.pwned = 2'>",
    '"><svg onload="window.pwned = 3"><a href="javascript:window.pwned = 4">here</a>',
    "```\n# Stolen\n<iframe src='https://example.invalid/'></iframe>\n![x](https://example.invalid/x.png)\n````",
    "| a | b |\n|---|---|\n[link](https://example.invalid) <b>bold</b> https://example.invalid &lt;b&gt; \u2028 \x00\x1b[31m",
    "1. one\n- two\n# three\n> four\n===\n***five***",
)


class Finished(NamedTuple):
    """A run and the home that holds it."""

    home: Path
    run: str

    def data(self, *, samples: int = 60) -> ReportData:
        """What a report on it says."""

        async def gather() -> ReportData:
            with Home.open(self.home, write=False) as home:
                return await report_data(home, resolve_run(home, self.run), samples=samples)

        return asyncio.run(gather())


def run_on(data: Path, home: Path, *, transport: Transport | None = None, **request: object) -> Finished:
    """Evaluate simulated models on a data file, in a home of its own."""
    settings = load_settings(home=home, cwd=home.parent, env={})
    fields = {"judge": "sim/judge-noisy", "models": ("sim/strong", "sim/weak"), **request}
    asked = EvaluationRequest.model_validate({"data": data, **fields})
    transports = {"sim": transport} if transport is not None else None
    return Finished(home, asyncio.run(evaluate(asked, settings=settings, transports=transports)).run)


def made_and_copied(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], str]) -> Finished:
    """A finished run that one worker makes, in a copy of this worker's own, which a service may hold open."""
    folder = shared_folder(factory, "reported") / name

    def begin(folder: Path) -> str:
        folder.mkdir()
        return make(folder)

    run = made_by_one(folder, begin)
    own = factory.mktemp(name)
    shutil.copytree(folder, own, dirs_exist_ok=True)
    return Finished(own / "home", run)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Twenty-one questions and two models: the demo, smaller."""
    return made_and_copied(tmp_path_factory, "small", make_small)


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Repeats, a blind arm, failures of several kinds, and a sample of the file that could not be used."""
    return made_and_copied(tmp_path_factory, "full", make_full)


def make_small(folder: Path) -> str:
    """Make the small demo's data and home in a folder; return the run."""
    write_world(folder / "world.jsonl", 21, 1)
    return run_on(folder / "world.jsonl", folder / "home", seed=1).run


def make_full(folder: Path) -> str:
    """Make the data and the home of `full` in a folder; return the run."""
    data = folder / "world.jsonl"
    write_world(data, 21, 2)
    with data.open("a") as file:
        file.write(json.dumps({"id": "no picture", "image": "images/absent.png", "prompt": "What?"}) + "\n")
    faulty = SimTransport(faults=parse_faults("refusal=0.08,malformed=0.1"))
    return run_on(data, folder / "home", transport=faulty, repeats=2, no_image=True, on_bad_sample="skip", seed=3).run


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Attacks as ids, prompts, choices, references, categories, model names and answers."""
    folder = tmp_path_factory.mktemp("hostile")
    write_world(folder / "world.jsonl", 2, 4)
    picture = json.loads((folder / "world.jsonl").read_text().splitlines()[0])["image"]
    with (folder / "data.jsonl").open("w") as data, (folder / "answers.jsonl").open("w") as answers:
        for number, attack in enumerate(ATTACKS):
            visible = attack.replace("\x00", "").replace("\x1b", "")
            id = f"{number} {' '.join(visible.split())}"
            sample = {"id": id, "image": picture, "prompt": attack, "reference_answer": f"It says {attack}. It is so."}
            data.write(json.dumps({**sample, "category": visible}) + "\n")
            for model in ("<b>one</b>", "two | three"):
                answers.write(json.dumps({"id": id, "model": model, "response": attack}) + "\n")
    return run_on(
        folder / "data.jsonl", folder / "home", models=(), responses=folder / "answers.jsonl", judge="sim/judge"
    )
