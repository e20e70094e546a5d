"""Every kind of run that has a verb, over real HTTP endpoints: dead in the middle, and gone on with by the other transport."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest

from dokimasia.settings import load_settings
from dokimasia.simulation.serving.server import running_server
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.killing import Witness, committed
from tests.processes import KEY, run_program, start_program
from tests.runs.kinds import KINDS, Kind, made, models_of

MODEL = """
[models."{name}"]
model = "openai/{name}"
endpoint = "planted"
api_base = "{url}"
api_key_env = "SIM_API_KEY"
transport = "{transport}"
input_price = 1.0
output_price = 4.0
"""
VERBS = [kind for kind in KINDS.values() if kind.given is None]
"""A graph is given in Python here; as a plug-in's its life over HTTP is in `python -m benchmarks.lifecycle`."""

USUAL = {"evaluate", "duel", "refine", "tree"}
"""Kinds that begin anew, that compare answers, that rest on another run, and that grow; the others wait for the full tier."""
DIES = [pytest.param(kind, id=kind.id, marks=() if kind.id in USUAL else pytest.mark.full) for kind in VERBS]


class Served(NamedTuple):
    """A server of the simulated models with its log, and a folder with their configuration and a home of whole runs."""

    url: str
    log: Path
    folder: Path

    def configure(self, transport: str) -> Path:
        """Reach every model by a transport; return the configuration."""
        path = self.folder / "dokimasia.toml"
        tables = [MODEL.format(name=name, url=self.url, transport=transport) for name in models_of(VERBS)]
        path.write_text("".join(tables))
        return path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server, as long as the module runs."""
    folder = tmp_path_factory.mktemp("served")
    with running_server(latency=0.03, log_path=folder / "server.log") as url:
        yield Served(url, folder / "server.log", folder)


@pytest.mark.parametrize("kind", DIES)
def test_killed_and_gone_on_with_by_the_other_transport(
    kind: Kind, served: Served, world: Path, tmp_path: Path
) -> None:
    """A run that dies and is gone on with through LiteLLM has the figures of one that never died, sent directly.

    No call that was committed at its death is sent again.
    """
    settings = load_settings(config=served.configure("direct"), home=served.folder / "home", env={"SIM_API_KEY": KEY})
    if kind.on:
        made(settings, world, KINDS[kind.on])
    elif not settings.home.exists():
        Home.open(settings.home, write=True).close()
    killed = tmp_path / "killed"
    shutil.copytree(settings.home, killed)
    before = committed(killed)
    whole = made(settings, world, kind)
    calls = committed(settings.home) - before
    with Home.open(settings.home, write=False) as home:
        asked = shlex.split(get_run(home, whole.run).command)
    command = [*asked, "--json", "--home", killed, "--config", served.folder / "dokimasia.toml"]
    witness = Witness(killed, served.log)
    witness.kill(start_program(command, world.parent), at=before + calls // 2)
    assert witness.deaths or calls < 20, "the run was over before it could die"
    served.configure("litellm")
    resumed = run_program(command, world.parent)
    assert resumed.returncode == 0, resumed.stderr
    witness.check()
    figures, printed = orjson.loads(orjson.dumps(whole.summary)), orjson.loads(resumed.stdout)
    assert {name: printed[name] for name in figures} == figures
    assert committed(killed) == before + calls
