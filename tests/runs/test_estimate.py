"""What a run is estimated to send, against what it sent."""

import json
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.runs.estimate import size_of
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home


def test_input_tokens_of_the_demos_data_are_within_a_quarter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts' own words and small images count; second opinions on final answers are an upper bound, and are left out."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world.jsonl", 28, 1)
    asked = ["evaluate", "world.jsonl", "--judge", "sim/judge", "--models", "sim/strong,sim/weak", "--json"]
    assert run([*asked, "--dry-run"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert run(asked) == 0
    with Home.open(tmp_path / ".dokimasia", write=False) as home:
        sql = "SELECT model_name, label, count(*), sum(input_tokens) FROM calls GROUP BY 1, 2"
        sent = {(model, label): (calls, tokens) for model, label, calls, tokens in home.all(sql)}
    for model in ("sim/strong", "sim/weak"):
        assert shown["models"][model]["input_tokens"] == pytest.approx(sent[model, "candidate"][1], rel=0.25)
    judge = shown["models"]["sim/judge"]
    asked_of_it = {label: counted for (model, label), counted in sent.items() if model == "sim/judge"}
    calls, tokens = asked_of_it["equivalence"]
    spared = judge["calls"] - sum(count for count, _ in asked_of_it.values())
    assert spared > 0
    left = judge["input_tokens"] - spared * tokens / calls
    assert left == pytest.approx(sum(count for _, count in asked_of_it.values()), rel=0.25)


def test_a_small_image_counts_as_much_as_providers_take_for_one() -> None:
    """However few its pixels, an image counts 256 tokens; a large one a token for every 1,000 pixels."""
    small, large = (
        ImageRef(sha256=sign * 64, media_type="image/png", width=side, height=side)
        for sign, side in (("a", 32), ("b", 1000))
    )
    assert size_of(Sample(id="s", prompt="What?", images=(small,))).images == 256
    assert size_of(Sample(id="s", prompt="What?", images=(small, large))).images == 1256
