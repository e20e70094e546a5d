"""The annotators' page in a real browser: alone, quiet, narrow and wide, with answers that stay and are saved."""

import json
from pathlib import Path

import pytest

from dokimasia.domain.sample import Sample
from dokimasia.people.annotation import hand_out, read_forms, read_key, responses_of
from dokimasia.storage.memory import MemoryBlobs
from tests.report.chromium import opened

HOSTILE = "</script><img src=x onerror=alert(1)> [[A>>B]] \u2028 " + "word" * 60


@pytest.mark.parametrize("width", [400, 1280])
def test_people_answer_and_save(tmp_path: Path, width: int) -> None:
    """Nothing is loaded or runs but the page's own script, nothing is cut off, and what is saved is read back."""
    samples = [Sample(id=f"s{number}", prompt=HOSTILE, choices=("yes", "no")) for number in range(3)]
    answers = {(sample.id, model): f"{HOSTILE} {sample.id}" for sample in samples for model in ("m", "b")}
    drawn = hand_out(
        responses_of(samples, answers, baseline="b"),
        source="x", annotators=("anna",), folder=tmp_path / "forms", key=None, blobs=MemoryBlobs(), per=None, seed=0,
    )  # fmt: skip
    with opened(tmp_path / "forms" / "anna" / "annotate.html") as seen:
        page = seen.page
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert HOSTILE.partition(" ")[0] in (page.locator("#item").text_content() or "")
        titles = page.locator("#item h2").all_text_contents()
        assert titles[0] == "The request"
        page.get_by_label("Left much better").check()
        page.get_by_role("button", name="Next").click()
        page.get_by_label("Equal").check()
        page.get_by_label("Remark").fill("both alike")
        assert "2 answered" in (page.locator("#standing").text_content() or "")
        page.get_by_role("button", name="Back").click()
        assert page.get_by_label("Left much better").is_checked()
        with page.expect_download() as saving:
            page.locator("#save").click()
        form = tmp_path / "anna.jsonl"
        saving.value.save_as(form)
        assert (seen.errors, seen.requests) == ([], [])
    head, items = read_key(drawn.key)
    found = read_forms(head, items, [form])
    assert (len(found.annotations), found.waiting) == (2, 1)
    assert sorted(abs(one.value) for one in found.annotations) == [0, 2]
    assert {one.comment for one in found.annotations} == {"", "both alike"}
    assert [json.loads(line)["verdict"] for line in form.read_text().splitlines()] == ["left much better", "equal"]
