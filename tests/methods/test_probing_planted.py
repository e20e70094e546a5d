"""Whole runs of a probe find what is planted in simulated judges, and nothing in a judge without a fault."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from benchmarks.planted_perturbations import write_perturbations
from dokimasia.methods.probe import ProbeRequest, probe
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.settings import load_settings
from dokimasia.simulation.profiles import profiles
from dokimasia.simulation.truths.judges import expected_harmless, expected_probe

pytestmark = pytest.mark.full  # benchmarks.calibration repeats these worlds over many more seeds

JUDGES = ("sim/judge-sharp", "sim/judge-blind", "sim/judge-nitpicking", "sim/judge-contrary", "sim/judge-first-place")
EVALUATORS = ("single-axes", "pairwise-axes", "reference")
SEEDS = (1, 2)


Judged = Mapping[str, Any]
"""The figures of a run's judges by name."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    """The judges of one probe a seed, each with its own scenes and errors."""
    found: list[Judged] = []
    for seed in SEEDS:
        folder = tmp_path_factory.mktemp("probed")
        write_perturbations(folder / "items.jsonl", 10, seed=seed, label="meant")
        request = ProbeRequest(data=folder / "items.jsonl", judges=JUDGES, evaluators=EVALUATORS, seed=seed)
        settings = load_settings(home=folder / "home", cwd=folder, env={})
        found.append(asyncio.run(probe(request, settings=settings)).summary["tasks"]["image-to-text"]["judges"])
    return found


def test_planted_rates_lie_in_their_intervals(runs: list[Judged]) -> None:
    """Of all dimensions, evaluators and judges of two runs at least 93 % of intervals cover, and of whole judges nearly all."""
    parts = [inside for run in runs for inside in _dimensions(run)]
    whole = [inside for run in runs for inside in _wholes(run)]
    assert len(parts) > 1500
    assert sum(parts) / len(parts) >= 0.93
    assert sum(whole) / len(whole) >= 0.9


def test_planted_blind_spots_are_named_and_a_sharp_judge_has_none(runs: list[Judged]) -> None:
    """A judge that misses nine in ten numerical errors is blind to these; no kind of error is a blind spot of one without."""
    called = {judge: [spot for run in runs for spot in _called(run[judge])] for judge in JUDGES}
    assert called["sim/judge-sharp"] == []
    assert called["sim/judge-blind"].count("numerical_errors") >= 2 * len(SEEDS)
    assert len(called["sim/judge-contrary"]) + len(called["sim/judge-first-place"]) <= 1


def test_a_favoured_place_is_measured_on_pairs(runs: list[Judged]) -> None:
    """The bias is about the planted one, which no chance would bring; a sharp judge prefers no place."""
    favours = _profile("sim/judge-first-place").favours_first
    for run in runs:
        biased = run["sim/judge-first-place"]["evaluators"]["pairwise-axes"]["places"]
        assert biased["bias"]["mean"] == pytest.approx(favours / 2, abs=0.1)
        assert biased["adjusted"] <= 0.05
        assert run["sim/judge-sharp"]["evaluators"]["pairwise-axes"]["places"]["bias"]["mean"] == 0
        assert run["sim/judge-sharp"]["evaluators"]["single-axes"]["places"] is None


def test_every_published_form_is_consistent(runs: list[Judged]) -> None:
    """What is undetected as published is so in the strict form, and in one order at least where it is in both."""
    for run in runs:
        for judge in run.values():
            for one in judge["evaluators"].values():
                assert one["undetected"]["share"] <= one["strict"]["share"]
                if one["both"] is not None:
                    assert one["both"]["share"] <= one["undetected"]["share"] <= one["either"]["share"]


def _dimensions(run: Mapping[str, Any]) -> Iterator[bool]:
    known = error_dimensions("image-to-text")
    for judge, asked in run.items():
        for evaluator, one in asked["evaluators"].items():
            for name, measured in one["dimensions"].items():
                planted = expected_probe(_profile(judge), name, known[name].group, evaluator)
                yield _inside(measured["undetected"], planted.undetected)
                yield _inside(measured["strict"], planted.strict)
                yield _inside(measured["worse"], planted.worse)


def _wholes(run: Mapping[str, Any]) -> Iterator[bool]:
    known = error_dimensions("image-to-text")
    for judge, asked in run.items():
        for evaluator, one in asked["evaluators"].items():
            several = [
                (kind["undetected"]["n_scored"], expected_probe(_profile(judge), name, known[name].group, evaluator))
                for name, kind in one["dimensions"].items()
            ]
            total = sum(n for n, _ in several)
            yield _inside(one["undetected"], sum(n * each.undetected for n, each in several) / total)
            kept = expected_harmless(_profile(judge), evaluator)
            yield _inside(one["equal"], kept.equal)
            if kept.flickers is not None:
                yield _inside(one["flickers"], kept.flickers)


def _inside(measured: Mapping[str, Any], planted: float) -> bool:
    return measured["low"] - 1e-9 <= planted <= measured["high"] + 1e-9


def _called(judge: Mapping[str, Any]) -> Iterator[str]:
    for one in judge["evaluators"].values():
        yield from (name for name, kind in one["dimensions"].items() if kind["spot"]["blind"])


def _profile(name: str) -> Any:
    return profiles()[name]
