"""What a run is estimated to send, against what it sent."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from dokimasia.cli.main import run
from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.ports import Spending
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.gateway.litellm.prices import list_price
from dokimasia.runs.estimate import (
    NO_CALL,
    UPPER_BOUND,
    Estimate,
    ExpectedCalls,
    ModelEstimate,
    StepEstimate,
    limit_notes,
    size_of,
    total_estimate,
)
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home

pytestmark = pytest.mark.quick


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
    opinions, _ = asked_of_it.pop("equivalence")
    assert shown["undecided"]["calls"] >= opinions
    assert judge["calls"] == sum(count for count, _ in asked_of_it.values())
    assert judge["input_tokens"] == pytest.approx(sum(tokens for _, tokens in asked_of_it.values()), rel=0.25)


def test_an_estimate_leaves_out_what_the_ledger_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left to ask is what is then sent, step by step, where a run shares calls with an earlier run."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world.jsonl", 14, 1)
    asked = ["evaluate", "world.jsonl", "--judge", "sim/judge", "--json"]
    assert run([*asked, "--models", "sim/strong"]) == 0
    more = [*asked, "--models", "sim/strong,sim/weak", "--repeats", "2"]
    capsys.readouterr()
    assert run([*more, "--dry-run"]) == 0
    shown = json.loads(capsys.readouterr().out)
    sql = "SELECT count(*) FROM calls"
    with Home.open(tmp_path / ".dokimasia", write=False) as home:
        [(before,)] = home.all(sql)
    assert run(more) == 0
    with Home.open(tmp_path / ".dokimasia", write=False) as home:
        [(after,)] = home.all(sql)
    left = {(step["step"], step["model"]): step["left"] for step in shown["by_step"]}
    assert left["answer", "sim/strong"] == 14
    assert left["answer", "sim/weak"] == 28
    assert left["write_chain", "sim/judge"] == left["extract_criteria", "sim/judge"] == 0
    assert left["score", "sim/judge"] == 42
    assert shown["calls"] == 14 + 28 + 42
    assert shown["calls"] - 3 <= after - before <= shown["calls"] + shown["undecided"]["calls"] + 3
    capsys.readouterr()
    assert run([*more, "--dry-run"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["calls"], again["undecided"]["calls"]) == (0, 0)


def test_what_is_left_of_some_samples_is_scaled_to_all() -> None:
    """The ledger is looked through over some samples of many, and what is left of them stands for the others."""
    spec = ModelSpec(ref=ModelRef(name="m", model="m"), input_price=1.0, output_price=1.0)
    whole = total_estimate([ExpectedCalls(spec, 1000, 100, 10, "answer")], 1000)
    assert (whole.asked["m"].calls, whole.in_ledger) == (1000, 0)
    part = whole.following({("answer", "m"): 25}, samples=100)
    assert (part.asked["m"].calls, part.in_ledger, part.followed, part.calls) == (250, 750, 100, 1000)
    assert part.asked["m"].cost == pytest.approx((whole.cost or 0) / 4)


def test_a_small_image_counts_as_much_as_providers_take_for_one() -> None:
    """However few its pixels, an image counts 256 tokens; a large one a token for every 1,000 pixels."""
    small, large = (
        ImageRef(sha256=sign * 64, media_type="image/png", width=side, height=side)
        for sign, side in (("a", 32), ("b", 1000))
    )
    assert size_of(Sample(id="s", prompt="What?", images=(small,))).images == 256
    assert size_of(Sample(id="s", prompt="What?", images=(small, large))).images == 1256


@pytest.mark.parametrize("model", ["gemini/gemini-2.5-pro", "openai/gpt-5.4", "xai/grok-4.5", "openai/gpt-5-mini"])
def test_tiers_of_a_price_go_by_one_call_and_not_by_the_sum(model: str) -> None:
    """Many short calls cost so many times a short one; the tier of long calls is paid by those that are long."""
    spec = ModelSpec(ref=ModelRef(name=model, model=model))
    price = list_price(model)
    assert price is not None
    estimate = total_estimate([ExpectedCalls(spec, 700, 800, 200), ExpectedCalls(spec, 20, 1000, 10)], 120)
    by_hand = (700 * 800 + 20 * 1000) * price.input + (700 * 200 + 20 * 10) * price.output
    assert estimate.models[model].cost == pytest.approx(by_hand / 1e6)
    long = price.tiers[0] if price.tiers else price
    mixed = total_estimate([ExpectedCalls(spec, 700, 800, 200), ExpectedCalls(spec, 2, 300_000, 10)], 120)
    by_hand = 700 * (800 * price.input + 200 * price.output) + 2 * (300_000 * long.input + 10 * long.output)
    assert mixed.cost == pytest.approx(by_hand / 1e6)


def test_calls_of_one_kind_that_are_not_made_cost_nothing_at_an_unknown_price() -> None:
    """A kind of call that is made no time leaves a known cost known; one that is made once does not."""
    spec = ModelSpec(ref=ModelRef(name="m", model="openai/nix"))
    assert total_estimate([ExpectedCalls(spec, 0, 100, 10)], 1).cost == 0.0
    assert total_estimate([ExpectedCalls(spec, 0, 100, 10), ExpectedCalls(spec, 1, 100, 10)], 1).cost is None


@pytest.mark.parametrize(
    ("limits", "spent", "notes"),
    [
        (
            {"max_cost": 0.02},
            Spending(),
            ("the limit of $0.02 is likely to stop this run before its end, which needs about $0.08 in all",),
        ),
        (
            {"max_calls": 12},
            Spending(calls=5),
            ("the limit of 12 calls is likely to stop this run before its end, which needs about 13 calls in all",),
        ),
        (
            {"max_calls": 10},
            Spending(),
            ("the limit of 10 calls may stop this run before its end, which needs about 11 calls in all",),
        ),
        ({"max_cost": 0.2, "max_calls": 30, "max_tokens": None}, Spending(), ()),
    ],
)
def test_a_limit_that_will_stop_a_run_is_noted(
    limits: dict[str, JsonValue], spent: Spending, notes: tuple[str, ...]
) -> None:
    """Every limit is held against what was spent and what is left, with and without what is asked where no rule decides."""
    steps = (
        StepEstimate(step="a", model="J", calls=8, left=8, input_tokens=80, output_tokens=8, left_cost=0.08),
        StepEstimate(
            step="b", model="J", calls=3, left=3, input_tokens=30, output_tokens=3, left_cost=0.03, if_undecided=True
        ),
    )
    assert limit_notes(limits, spent, Estimate(samples=2, models={}, by_step=steps)) == notes


def test_an_estimate_without_a_call_says_so_and_has_no_upper_bound() -> None:
    """A run whose steps come to no call has none in its estimate; one that rests on calls of the ledger loses the bound alone."""
    step = StepEstimate(step="a", model="J", calls=8, left=0, input_tokens=80, output_tokens=8, left_cost=0.0)
    models = {"J": ModelEstimate(calls=8)}
    bound = Estimate(samples=2, models=models, by_step=(step,), notes=(f"{UPPER_BOUND}: all fail", "read it"))
    assert bound.exact(asks=True).notes == ("read it",)
    nothing = bound.exact(asks=False)
    assert (nothing.calls, nothing.in_ledger, nothing.notes) == (0, 0, ("read it", NO_CALL))
