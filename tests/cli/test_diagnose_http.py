"""Reports in words through a real HTTP endpoint: by both transports the same, and killed and resumed the same to the byte."""

import json
import shutil
from pathlib import Path

from dokimasia.simulation.serving.server import running_server
from tests.cli.conftest import CONFIG, Program, write_config
from tests.killing import Witness, committed
from tests.processes import start_program


def configure(folder: Path, url: str, transport: str) -> None:
    """Configure a careless writer W beside the others."""
    write_config(folder, url, transport=transport)
    with (folder / "dokimasia.toml").open("a") as file:
        file.write(CONFIG.format(name="W", model="judge-fabulist", url=url, transport=transport))


def test_both_transports_and_three_kills_give_the_same_reports(program: Program, tmp_path: Path, world: Path) -> None:
    """Through LiteLLM, directly, and directly with three deaths on the way: one text, and no finished call is sent again."""
    direct, lite, killed = (tmp_path / name for name in ("direct", "lite", "killed"))
    log = tmp_path / "server.log"
    write = ("diagnose", "last", "--write", "--judge", "W")
    with running_server(latency=0.05, log_path=log) as url:
        configure(tmp_path, url, "direct")
        evaluated = program("evaluate", world, "--judge", "J", "--models", "A,B", "--home", direct)
        assert evaluated.returncode == 0, evaluated.stderr
        run = json.loads(program("runs", "--json", "--home", direct).stdout)
        run = (run if isinstance(run, list) else run["runs"])[0]
        write = ("diagnose", run.get("run") or run["id"], *write[2:])
        for other in (lite, killed):
            shutil.copytree(direct, other)
        before = committed(direct)
        expected = program(*write, "--json", "--home", direct)
        assert expected.returncode == 0, expected.stderr
        total = committed(direct) - before
        assert total >= 6
        witness = Witness(killed, log)
        for number in (1, 2, 3):
            witness.kill(start_program((*write, "--home", killed), tmp_path), at=before + total * number // 4)
        result = program(*write, "--json", "--home", killed)
        assert result.returncode == 0, result.stderr
        witness.check()
        configure(tmp_path, url, "litellm")
        through = program(*write, "--json", "--home", lite)
        assert through.returncode == 0, through.stderr
    assert witness.deaths
    assert result.stdout == expected.stdout
    assert through.stdout == expected.stdout
    words = json.loads(expected.stdout)
    assert words["totals"]["unverified_at_first"] > 0
    assert words["totals"]["failed"] == 0
