"""The page on which a person labels perturbations, in a real browser: alone, narrow and wide, and saved for `check --import`."""

import json
from pathlib import Path

import pytest

from dokimasia.people.checks import open_for_people
from dokimasia.people.checks.files import write_checks
from dokimasia.people.checks.filled import import_checks
from dokimasia.settings import load_settings
from tests.perturbed_home import perturbed_home, pictured_home
from tests.report.chromium import opened


@pytest.mark.parametrize("width", [400, 1280])
def test_a_person_labels_and_saves(tmp_path: Path, width: int) -> None:
    """The change is marked in the text, each label says what it means, and what is saved stands under the person's name."""
    perturbed_home(tmp_path / "home", scenes=2)[0].close()
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    write_checks(settings, open_for_people(settings, "last"), tmp_path / "form.jsonl", who="anna")
    with opened(tmp_path / "form.html") as seen:
        page = seen.page
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#item del").all_text_contents() == ["white "]
        assert page.locator("#item ins").all_text_contents() == ["purple"]
        assert "Meant as: Attribute Distortion" in page.locator("#item h2").all_text_contents()
        assert page.get_by_label("Remark").count() == 0, "a label is all that is taken in"
        page.get_by_label("valid: the change makes the answer worse").check()
        page.get_by_role("button", name="Next").click()
        page.get_by_label("not sure: it cannot be told").check()
        with page.expect_download() as saving:
            page.locator("#save").click()
        saving.value.save_as(tmp_path / "anna.jsonl")
        assert (seen.errors, seen.requests) == ([], [])
    rows = [json.loads(line) for line in (tmp_path / "anna.jsonl").read_text().splitlines()]
    assert [(row["who"], row["label"]) for row in rows] == [("anna", "valid"), ("anna", "not_sure")]
    assert import_checks(settings, "last", tmp_path / "anna.jsonl", who="somebody").decided == 2
    assert [one.state for one in open_for_people(settings, "last")][:2] == ["valid", "not_sure"]


def test_made_images_stand_side_by_side(tmp_path: Path) -> None:
    """The gold and the changed image are on one height, with the edit that was asked for below."""
    pictured_home(tmp_path / "home")[0].close()
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    write_checks(settings, open_for_people(settings, "last"), tmp_path / "form.jsonl", who="anna")
    with opened(tmp_path / "form.html") as seen:
        page = seen.page
        page.set_viewport_size({"width": 1280, "height": 800})
        gold, changed = (page.get_by_alt_text(name).bounding_box() for name in ("Gold image", "Changed image"))
        assert gold is not None
        assert changed is not None
        assert gold["y"] == changed["y"]
        assert gold["x"] < changed["x"]
        assert "Make the square blue." in (page.locator("#item").text_content() or "")
        assert (seen.errors, seen.requests) == ([], [])
