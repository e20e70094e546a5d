"""Gold images perturbed in every dimension through HTTP endpoints: killed, gone on with, and the same figures and images."""

import shlex
from pathlib import Path

import orjson
import pytest

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.methods.perturb import METHOD, PerturbRequest, perturbed_items
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.runs.lifecycle import run_sync
from dokimasia.settings import load_settings
from dokimasia.simulation.image_edits import faults_in_image
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_gold
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.killing import Witness, committed
from tests.processes import KEY, run_program, start_program
from tests.runs.test_over_http import MODEL

pytestmark = pytest.mark.full

EDITOR, PERTURBER, CHECKER = "sim/editor", "sim/judge", "sim/judge-noisy"


@pytest.mark.parametrize("transport", ["direct", "litellm"])
def test_a_perturbing_of_images_killed_comes_to_the_same(tmp_path: Path, transport: str) -> None:
    """A run that dies between calls gives what one that never died gives, of all dimensions; no committed call is sent again."""
    data, log, config = tmp_path / "prompts.jsonl", tmp_path / "server.log", tmp_path / "dokimasia.toml"
    write_gold(data, 1, 6, of_texts=False)
    with running_server(latency=0.01, log_path=log) as url:
        tables = [MODEL.format(name=name, url=url, transport=transport) for name in (EDITOR, PERTURBER, CHECKER)]
        config.write_text("".join(tables))
        settings = load_settings(config=config, home=tmp_path / "whole", env={"SIM_API_KEY": KEY})
        request = PerturbRequest(data=data, task="text-to-image", perturber=PERTURBER, editor=EDITOR, checker=CHECKER)
        whole = run_sync(METHOD, request, settings=settings)
        calls = committed(settings.home)
        with Home.open(settings.home, write=False) as home:
            row = get_run(home, whole.run)
            asked = shlex.split(row.command)
            made = perturbed_items(home, row)
            asked_by = dict(home.all("SELECT label, COUNT(*) FROM calls GROUP BY label"))
            shown = {
                one.item.dimension: faults_in_image(home.blobs.get(one.item.perturbed_image.sha256))
                for one in made
                if one.item.perturbed_image is not None
            }
        killed = tmp_path / "killed"
        command = [*asked, "--json", "--home", killed, "--config", config]
        witness = Witness(killed, log)
        witness.kill(start_program(command, tmp_path), at=calls // 3)
        assert witness.deaths == 1, "the run was over before it could die"
        resumed = run_program(command, tmp_path)
        assert resumed.returncode == 0, resumed.stderr
        witness.check()
    names = error_dimensions("text-to-image")
    assert shown == {name: () if name == NEUTRAL else (name,) for name in names}
    assert whole.complete
    assert whole.summary["made"] == len(names)
    figures, printed = orjson.loads(orjson.dumps(whole.summary)), orjson.loads(resumed.stdout)
    assert {name: printed[name] for name in figures} == figures
    assert asked_by["edit_instruction"] == asked_by["image_edit"] == len(names)
    assert len(names) <= asked_by["edit_check"] <= len(names) + 1, "a reply of the noisy checker may need its repair"
    assert asked_by["gold_image_check"] == 1
    assert committed(killed) == calls == sum(asked_by.values())
