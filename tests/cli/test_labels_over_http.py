"""Perturbed over HTTP, labelled by people, and read for a probe: whole, and killed on the way."""

import json
from pathlib import Path

import orjson

from dokimasia.methods.probe import probes_of
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_gold
from dokimasia.storage.home import Home
from tests.cli.conftest import Program, write_config
from tests.killing import Witness, committed
from tests.processes import start_program

PEOPLE = ("anna", "ben")


def test_from_perturbing_to_what_enters_a_probe(program: Program, tmp_path: Path) -> None:
    """A perturbing that was killed twice is labelled by two people and exported; run and file give the same probes."""
    write_gold(tmp_path / "texts.jsonl", 3, 0)
    home, log = tmp_path / "killed", tmp_path / "server.log"
    arguments = ("perturb", tmp_path / "texts.jsonl", "--perturber", "J", "--dimensions", "VG,score_neutral")
    with running_server(latency=0.05, log_path=log) as url:
        write_config(tmp_path, url)
        whole = program(*arguments, "--json", "--home", tmp_path / "whole")
        assert whole.returncode == 0, whole.stderr
        witness = Witness(home, log)
        for share in (0.3, 0.7):
            process = start_program((*arguments, "--home", home), tmp_path)
            witness.kill(process, at=round(share * committed(tmp_path / "whole")))
        ended = program(*arguments, "--json", "--home", home)
        assert ended.returncode == 0, ended.stderr
        witness.check()
    assert json.loads(ended.stdout) == json.loads(whole.stdout)
    form = tmp_path / "form.jsonl"
    assert program("decide", "last", "--home", home, "--export", form).returncode == 0
    for who in PEOPLE:
        filled = tmp_path / f"{who}.jsonl"
        assert program("sim", "label", form, "--person", who, "-o", filled).returncode == 0
        assert program("decide", "last", "--home", home, "--import", filled).returncode == 0
    shown = json.loads(program("show", "last", "--home", home, "--json").stdout)["labels"]
    assert shown["labelled"] == shown["made"] == len(form.read_bytes().splitlines())
    assert shown["people"] == dict.fromkeys(PEOPLE, shown["made"])
    out = tmp_path / "out"
    assert program("export", "last", "--home", home, "--as", "perturbations", "-o", out).returncode == 0
    with Home.open(home, write=False) as opened:
        from_run = probes_of("last", opened, task="image-to-text")
    from_file = probes_of(out / "items.jsonl", None, task="image-to-text")
    assert from_file.probes == from_run.probes
    assert (len(from_run.probes), sum(from_run.left_out.values())) == (
        shown["enter"],
        shown["made"] - shown["enter"],
    )
    lines = [orjson.loads(line) for line in (out / "items.jsonl").read_bytes().splitlines()]
    assert all([said["annotator"] for said in line["labels"]] == list(PEOPLE) for line in lines)
