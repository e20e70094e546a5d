"""The density filter: domains given and asked for, thresholds, failures, and the data file that it writes."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.domain.density import DOMAINS, Threshold, domain_of
from dokimasia.errors import InputError
from dokimasia.methods.density import METHOD, FilterRequest
from dokimasia.methods.density.figures import items, write_kept
from dokimasia.methods.density.request import read_thresholds
from dokimasia.runs.lifecycle import RunResult, run
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run, load_samples
from tests.methods.test_reviewing import Panel, agreeable, each_for, review, write_images


def rating(complexity: int, informativeness: int) -> str:
    """A judge's reply in the form that is asked for."""
    return (
        f"<visual_complexity><score>{complexity}</score></visual_complexity>"
        f"<informativeness><score>{informativeness}</score></informativeness>"
    )


def judge(member: str, prompt: str, inputs: Any, before: int) -> str:
    """A judge that finds every image a chart, the second and later ones dull."""
    return "<domain>data</domain>" if prompt == "domain" else rating(7, 6 if before == 0 else 4)


def filtered(settings: Settings, data: Path, transport: Panel, **changes: Any) -> RunResult:
    request = FilterRequest.model_validate({"data": data, "judge": "sim/judge", **changes})
    return asyncio.run(run(METHOD, request, settings=settings, transports={"sim": transport}))


def test_keeps_what_reaches_the_threshold(tmp_path: Path, settings: Settings) -> None:
    """Both ratings have to reach the threshold of the sample's domain; a domain without one keeps all."""
    data, asked = write_images(tmp_path, 2), Panel(judge)
    result = filtered(settings, data, asked, thresholds=read_thresholds(["data=7,5"]))
    assert (result.summary["kept"]["k"], result.summary["n_rated"]) == (1, 2)
    assert result.summary["domains"]["data"]["given"] == 0
    silent = Panel(judge)
    other = filtered(settings, data, silent, thresholds=read_thresholds(["natural=9,9"]))
    assert other.summary["kept"]["k"] == 2
    assert silent.asked == [], "other thresholds ask nothing anew"


def test_a_domain_that_is_given_is_not_asked_for(tmp_path: Path, settings: Settings) -> None:
    """A domain in the data, by its short name or its title, is taken."""
    data = write_images(tmp_path, 2)
    rows = [orjson.loads(line) for line in data.read_text().splitlines()]
    rows[0]["domain"], rows[1]["category"] = "Natural", "Document and OCR"
    data.write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n")
    asked = Panel(judge)
    result = filtered(settings, data, asked)
    assert sorted(result.summary["domains"]) == ["document", "natural"]
    assert {prompt for _, prompt, _ in asked.asked} == {"density"}


def test_a_rating_that_is_none(tmp_path: Path, settings: Settings) -> None:
    """A rating of 11 is sent back once; repeated, the sample is failed, counted, and in the bounds."""

    def wild(member: str, prompt: str, inputs: Any, before: int) -> str:
        return "<domain>data</domain>" if prompt == "domain" else rating(11, 5)

    asked = Panel(wild)
    result = filtered(settings, write_images(tmp_path), asked)
    assert result.summary["failures"] == {"unparsable": 1}
    assert result.summary["kept"]["bounds"] == {"low": 0.0, "high": 1.0}
    assert [inputs["problem"] for _, _, inputs in asked.asked if inputs["problem"]] == [
        "the score in <visual_complexity> is '11', not a whole number from 1 to 10"
    ]
    with Home.open(settings.home, write=False) as home:
        (item,) = items(home, get_run(home, result.run))
    assert (item["failure"], item["rating"]) == ("unparsable", None)


def test_what_is_kept_is_a_data_file(tmp_path: Path, settings: Settings) -> None:
    """The file that is written holds what was kept with domain, ratings and images, and can be filtered again."""
    data = write_images(tmp_path, 2)
    result = filtered(settings, data, Panel(judge), thresholds={"data": Threshold(informativeness=5)})
    output = tmp_path / "elsewhere" / "kept.jsonl"
    output.parent.mkdir()
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
        assert write_kept(home, run, output) == 1
        with pytest.raises(InputError, match="is the data file"):
            write_kept(home, run, data)
    (row,) = map(orjson.loads, output.read_text().splitlines())
    assert row["meta"] == {"domain": "data", "density": {"visual_complexity": 7, "informativeness": 6}}
    silent = Panel(judge)
    again = filtered(settings, output, silent)
    assert (again.summary["n"], silent.asked) == (1, [])
    assert again.summary["domains"]["data"]["given"] == 1


def test_thresholds(tmp_path: Path) -> None:
    """Thresholds come from words or files; `all` is for the domains that are not named, wherever it stands."""
    file = tmp_path / "thresholds.json"
    file.write_text('{"natural": [6, 5.5]}')
    found = read_thresholds(["all=4,3", str(file), "stem=8,1"])
    assert sorted(found) == sorted(DOMAINS)
    assert found["natural"] == Threshold(visual_complexity=6, informativeness=5.5)
    assert found["stem"].visual_complexity == 8
    assert found["logic"] == Threshold(visual_complexity=4, informativeness=3)
    for wrong in (
        "natural=6",
        "natural=a,b",
        "natural=6,5,4",
        "natural=-1,5",
        "natural=nan,5",
        "beach=5,5",
        "none.json",
    ):
        with pytest.raises(InputError):
            read_thresholds([wrong])
    file.write_text("[1]")
    with pytest.raises(InputError, match="not an object"):
        read_thresholds([str(file)])


def test_nothing_is_paid_for_captions_of_what_is_left_out(tmp_path: Path, settings: Settings) -> None:
    """Filtered first, an image that is left out is never described, and a domain that was asked for is asked for once."""
    data, asked = write_images(tmp_path, 3), Panel(judge)
    output = tmp_path / "kept" / "kept.jsonl"
    first = filtered(settings, data, asked, thresholds=read_thresholds(["data=7,5"]))
    with Home.open(settings.home, write=False) as home:
        write_kept(home, get_run(home, first.run), output)
    panel = Panel(each_for(agreeable))
    result = review(settings, output, panel)
    assert (result.summary["n"], result.summary["verdicts"]["accepted"]) == (1, 1)
    assert sum(prompt == "describe" for _, prompt, _ in panel.asked) == 3
    with Home.open(settings.home, write=False) as home:
        (sample,) = load_samples(home, result.run)
    assert domain_of(sample) == "data"
