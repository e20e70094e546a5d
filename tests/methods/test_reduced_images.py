"""Runs whose models take smaller images only: asked alike, told apart, shown with what was sent, and estimated so."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.cli.drawing import print_sample
from dokimasia.methods.evaluation import METHOD, EvaluationRequest, evaluate
from dokimasia.runs.plans import as_configured_now, run_id
from dokimasia.runs.preview import prepare, preview
from dokimasia.runs.reading.inspection import sample_of_run
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import get_run

Requests = Callable[..., EvaluationRequest]
CONFIG = """
[models.sharp]
model = "sim/judge"
[models.thrifty]
model = "sim/judge"
max_image_side = 256
"""


@pytest.fixture
def thrifty(tmp_path: Path) -> Settings:
    """Settings with a judge who is sent images as they are, and one who is sent small ones."""
    (tmp_path / "dokimasia.toml").write_text(CONFIG)
    return load_settings(home=tmp_path / "home", cwd=tmp_path, env={})


async def test_a_judge_of_small_images_scores_and_what_was_sent_is_shown(
    thrifty: Settings, request_of: Requests, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scenes survive, every sample is scored, each image is made smaller once, and `show` names both."""
    asked = request_of(judge="thrifty", models=("sim/strong",), limit=4)
    result = await evaluate(asked, settings=thrifty)
    assert result.complete
    with Home.open(thrifty.home, write=False) as home:
        run = get_run(home, result.run)
        rows = [row for row in results(home, result.run) if row.kind == "replay"]
        assert [bool(row.criteria_id) for row in rows] == [True] * 4
        view = await sample_of_run(home, run, rows[0].sample_id, raw=True)
        made = home.all("SELECT original, side, width, height FROM reduced_images")
    assert {side for _, side, _, _ in made} == {256}
    assert {max(width, height) for *_, width, height in made} == {256}
    (sent,) = view["reduced_images"]
    solver, *others = view["calls"]
    assert solver["originals"] == {sent["sha256"]: sent["original"]}
    (candidate,) = [call for call in others if call["label"] == "candidate"]
    assert candidate["originals"] == {}
    print_sample(METHOD.report.drawing(), rows[0].sample_id, view, raw=True)
    shown = capsys.readouterr().out
    assert f"sent as {sent['sha256'][:12]}" in shown
    assert f"made from {sent['original'][:12]}" in shown.replace("\n", " ")


async def test_the_largest_image_is_part_of_what_a_run_is(thrifty: Settings, request_of: Requests) -> None:
    """Another `max_image_side` makes another run, and one that is taken up again keeps to the one that it began with."""
    request = request_of(judge="thrifty", models=("sim/strong",), limit=2)
    plan = (await prepare(METHOD, request, settings=thrifty)).plan
    config = thrifty.home.parent / "dokimasia.toml"
    config.write_text(CONFIG.replace("256", "128"))
    changed = load_settings(home=thrifty.home, cwd=thrifty.home.parent, env={})
    later = (await prepare(METHOD, request, settings=changed)).plan
    assert (plan.judge.max_image_side, later.judge.max_image_side) == (256, 128)
    assert run_id(METHOD, plan) != run_id(METHOD, later)
    assert as_configured_now(plan, changed) == plan


def test_an_estimate_counts_what_is_sent(thrifty: Settings, request_of: Requests) -> None:
    """A dry run says which models are sent smaller images, and counts fewer tokens for them."""
    sharp, small = (
        preview(METHOD, request_of(judge=judge, models=("sim/strong",)), settings=thrifty)
        for judge in ("sharp", "thrifty")
    )
    assert small["max_image_side"] == {"thrifty": 256}
    assert "max_image_side" not in sharp
    assert small["models"]["thrifty"]["input_tokens"] < sharp["models"]["sharp"]["input_tokens"]
    assert small["models"]["sim/strong"] == sharp["models"]["sim/strong"]
