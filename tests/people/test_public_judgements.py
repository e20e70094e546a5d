"""Public judgements of people and judges, read where they are present: published figures come out of them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run

SHARED = Path(os.environ.get("DOKIMASIA_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
DATA = SHARED / "people"

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"people's judgements are not at {DATA}"),
]

JUDGES = ("gpt4o", "gemini-1.5-pro", "llava", "idefics1", "kosmos2")


def _figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["annotate", "judgements", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("task", "published"),
    [
        ("image_generation", {"gpt4o": 45.59, "gemini-1.5-pro": 44.67, "llava": 37.00}),
        ("image_edition", {"gpt4o": 53.54, "gemini-1.5-pro": 55.93, "llava": 26.12}),
    ],
)
def test_published_accuracies_of_genai_bench(
    task: str, published: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    """The published accuracies count failures as wrong; a judge of which nothing could be read has none."""
    files = [f"{judge}={DATA}/genai-bench/{task}.{judge}.jsonl.gz" for judge in JUDGES]
    judges = _figures(capsys, *files, "--map", "item=idx,value=model_vote,gold=human_vote")["judges"]
    for judge, accuracy in published.items():
        assert 100 * judges[judge]["gold"]["same"]["bounds"]["low"] == pytest.approx(accuracy, abs=0.005)
    kosmos = judges["kosmos2"]
    assert kosmos["failed"] == kosmos["judged"]
    assert kosmos["gold"]["same"]["share"] is None
    assert judges["idefics1"]["failures"]["no value"] >= 690


SETS = {
    "Natural": (100, {"GPT-4": (95, 96, 93), "ChatGPT": (80, 83, 67)}),
    "Adversarial-Neighbor": (134, {"GPT-4": (104, 107, 101), "ChatGPT": (30, 22, 7)}),
    "Adversarial-GPTInst": (92, {"GPT-4": (78, 81, 77), "ChatGPT": (25, 24, 7)}),
    "Adversarial-GPTOut": (47, {"GPT-4": (35, 38, 35), "ChatGPT": (17, 22, 10)}),
    "Adversarial-Manual": (46, {"GPT-4": (35, 39, 33), "ChatGPT": (18, 14, 5)}),
}


@pytest.mark.parametrize("name", SETS)
def test_accuracy_of_both_orders_on_llmbar(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each set GPT-4 and ChatGPT have an accuracy in either order, and of both orders together."""
    size, judges = SETS[name]
    files = [f"{judge}={DATA}/llmbar/{name}.{judge}.Vanilla.json.gz" for judge in judges]
    winner = "/results/-1/swap = {}/winner"
    columns = f"item=#,value={winner.format(False)},swapped={winner.format(True)},gold=label"
    figures = _figures(capsys, *files, "--map", columns, "--kind", "pairs")["judges"]
    for judge, expected in judges.items():
        orders = figures[judge]["orders"]
        shares = [orders[part] for part in ("straight", "swapped", "consistent_and_right")]
        assert {share["n"] for share in shares} == {size}
        assert tuple(share["k"] for share in shares) == expected


def test_pandalm_has_a_ceiling_that_no_judge_reaches(capsys: pytest.CaptureFixture[str]) -> None:
    """Three people agree with most of the others on 95 %, two judges on 70 %: neither can take a person's place."""
    figures = _figures(
        capsys,
        *(f"{DATA}/pandalm/{name}-v1.json.gz" for name in ("testset", "gpt-3.5-turbo-testset", "pandalm-7b-testset")),
        *("--map", "item=idx", "--people", "annotator1,annotator2,annotator3"),
        *("--judges", "gpt_result,pandalm_result", "--kind", "pairs"),
    )
    gpt, pandalm = (figures["judges"][name] for name in ("gpt_result", "pandalm_result"))
    assert gpt["failures"] == {"'garbage' is no verdict": 25}
    assert (gpt["people"]["n"], gpt["people"]["same"]["k"]) == (974, 697)
    assert (pandalm["people"]["n"], pandalm["people"]["same"]["k"]) == (999, 667)
    for judge in (gpt, pandalm):
        assert judge["ceiling"]["people"]["mean"] == pytest.approx(0.92, abs=0.003)
        assert judge["ceiling"]["difference"]["high"] < -0.18
        assert judge["replacement"]["winning_rate"] == 0
        assert judge["replacement"]["passed"] is False
    assert figures["together"]["fleiss"]["value"] == pytest.approx(0.864, abs=0.001)


def test_alpha_of_dsg_ratings(capsys: pytest.CaptureFixture[str]) -> None:
    """Five people's ratings of 800 images have the ordinal alpha that is published."""
    figures = _figures(
        capsys,
        f"{DATA}/dsg-tifa160/dsg_tifa160_anns.csv",
        "--map",
        "item=item_id+model_type,judge=worker_id,value=answer,cluster=item_id",
    )
    assert (figures["items"], figures["clusters"], figures["together"]["n"]) == (800, 160, 800)
    assert figures["together"]["alpha_ordinal"]["value"] == pytest.approx(0.685, abs=0.0005)
