"""Rubrics that are tried, end to end in the planted world: what the trial mends, what it costs, and where its figures stand."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run as command
from dokimasia.methods.review import ReviewRequest, review
from dokimasia.methods.rubrics import METHOD, RubricRequest, encode_sets, make_rubrics, read_sets, sets_of_run
from dokimasia.people.checks import decide, pending_checks
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.preview import prepare
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_described
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

PANEL = ("sim/panel-a", "sim/panel-b", "sim/panel-c")
POOL = ("sim/hasty", "sim/nearsighted", "sim/weak", "sim/steady")


class Tried:
    """A planted world with a review, and rubrics that a vague writer made by both protocols."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data.jsonl"
        self.settings = load_settings(home=folder / "home", cwd=folder, env={})
        write_described(self.data, 21, 1)
        request = ReviewRequest(data=self.data, panel=PANEL)
        self.review = asyncio.run(review(request, settings=self.settings)).run
        self.ours, self.published = self.made(), self.made(protocol="published")

    def request(self, **changes: Any) -> RubricRequest:
        fields = {"data": self.review, "judge": "sim/judge-vague", "pool": POOL, **changes}
        return RubricRequest.model_validate(fields)

    def made(self, **changes: Any) -> RunResult:
        return asyncio.run(make_rubrics(self.request(**changes), settings=self.settings))


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Sets by both protocols; the published ones are what a person decides on."""
    return Tried(tmp_path_factory.mktemp("tried"))


def test_the_trial_mends_what_a_vague_writer_writes(world: Tried) -> None:
    """Rubrics that ask for mere mention are replaced, and sets and gates catch more of the errors that are planted."""
    ours, published = world.ours.summary, world.published.summary
    assert (ours["protocol"], published["protocol"]) == ("default", "published")
    assert ours["replaced"] > ours["must_right"] / 2
    assert (published["replaced"], published["dropped"]["trial"]) == (0, 0)
    for figure, more in (("caught", 0.1), ("must_right", 0.1), ("caught_by_gate", 0.0)):
        before, after = published["power"][figure], ours["power"][figure]
        assert before["n"] > 40
        assert after["share"] > before["share"] + more
        assert after["low"] <= after["share"] <= after["high"]
    assert ours["power"]["golden"]["share"] > 0.9
    assert world.ours.run != world.published.run


def test_the_estimate_counts_the_trial(world: Tried) -> None:
    """What is said before a run is an upper bound, with the trial and without it."""
    for protocol, made in (("default", world.ours), ("published", world.published)):
        prepared = asyncio.run(prepare(METHOD, world.request(protocol=protocol), settings=world.settings))
        calls = prepared.estimate.calls
        assert made.summary["calls"] <= calls <= 2.5 * made.summary["calls"]


def test_power_stands_in_files_exports_and_items(world: Tried, tmp_path: Path) -> None:
    """A file carries what a set was tried on, exports count it with its interval, and the item says it of one set."""
    with Home.open(world.settings.home, write=False) as home:
        run = get_run(home, world.ours.run)
        sets = sets_of_run(home, run)
        rows = asyncio.run(export_rows(home, run)).rows
        items = list(METHOD.results.items(home, run, None)) if METHOD.results.items else []
    (tmp_path / "r.jsonl").write_bytes(encode_sets(sets))
    assert [one.tried for one in read_sets(tmp_path / "r.jsonl")] == [one.tried for one in sets]
    for row, one, item in zip(rows, sets, items, strict=True):
        planted = [tried for tried in one.tried if tried.what == "planted"]
        assert row["planted"] == len(planted) == item["power"]["caught"]["n"]
        assert row["caught"] == item["power"]["caught"]["k"]
        assert row["caught_low"] <= row["caught"] / row["planted"] <= row["caught_high"]
        assert row["rubrics_tried"] == len(one.rubrics)
    total = world.ours.summary["power"]["caught"]
    assert (sum(row["caught"] for row in rows), sum(row["planted"] for row in rows)) == (total["k"], total["n"])


def test_a_persons_decisions_bind_the_power(world: Tried) -> None:
    """A rejected rubric leaves what texts pass, an edited one is not known; the rest stays in its place."""
    with Home.open(world.settings.home, write=False) as home:
        before = sets_of_run(home, get_run(home, world.published.run))[0]
    items = [one.item for one in pending_checks(world.published.run, settings=world.settings)]
    mine = [item for item in items if item.sample_id == before.sample_id]
    decide(mine[0], "reject", who="ann", settings=world.settings)
    text = "The response must say that it rains."
    decide(mine[1], "edit", who="ann", text=text, settings=world.settings)
    with Home.open(world.settings.home, write=False) as home:
        after = sets_of_run(home, get_run(home, world.published.run))[0]
    for old, new in zip(before.tried, after.tried, strict=True):
        assert new.passes == (None, *old.passes[2:])


def test_what_a_user_is_told(world: Tried, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal shows the power and warns of a small pool; an audit marks the models whose answers chose rubrics."""
    home = ["--home", str(world.settings.home)]
    assert command(["show", world.ours.run, "--full", *home]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "What the rubrics catch" in shown
    assert "planted errors that the set catches" in shown
    assert "are weak" not in shown
    assert world.ours.summary["weak"] == 0
    small = ["rubrics", world.review, "--judge", "sim/judge-vague", "--pool", "sim/hasty,sim/weak"]
    assert command([*small, *home]) == 0
    assert "are weak: they were mined from fewer than 4 responses" in " ".join(capsys.readouterr().out.split())
    assert command(["show", "last", "--json", *home]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["weak"] == figures["sets"]
    sample = figures["items"][0]["sample"]
    assert command(["show", "last", "--sample", sample, *home]) == 0
    assert "planted errors caught:" in " ".join(capsys.readouterr().out.split())
    models = ["--models", "sim/weak,sim/strong", "--judge", "sim/judge"]
    assert command(["audit", str(world.data), "--rubrics", "last", *models, *home]) == 0
    table = " ".join(capsys.readouterr().out.split())
    assert "† sim/weak: other answers of this very model had a hand in choosing these rubrics" in table
    assert "sim/weak †" in table
    assert "sim/strong †" not in table
    config = world.data.with_name("renamed.toml")
    config.write_text('[models.pupil]\nmodel = "sim/weak"\n[models."sim/hasty"]\nmodel = "sim/strong"\n')
    models = ["--models", "pupil,sim/hasty", "--judge", "sim/judge", "--config", str(config)]
    assert command(["audit", str(world.data), "--rubrics", "last", *models, *home]) == 0
    table = " ".join(capsys.readouterr().out.split())
    assert "pupil †" in table
    assert "sim/hasty †" not in table
