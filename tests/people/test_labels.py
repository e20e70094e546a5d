"""Perturbations labelled by people: what enters a probe, who settles, and what cannot be decided."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dokimasia.domain.blindspots import LABELS, Label, Perturbed
from dokimasia.domain.decision import CheckItem
from dokimasia.errors import DataError, InputError, NotFound
from dokimasia.methods.probe import probes_of
from dokimasia.people.checks import all_standings, decide, open_for_people, pending_checks
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.decisions import FiledDecision, file_decision, filed_decisions
from dokimasia.storage.home import Home
from tests.perturbed_home import perturbed_home, pictured_home
from tests.processes import PATIENCE

RUN = "perturbs0"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a home in which a run has perturbed three pictures' gold answers."""
    home, _ = perturbed_home(tmp_path / "home")
    home.close()
    return load_settings(home=tmp_path / "home", cwd=tmp_path, env={})


@pytest.fixture
def items(settings: Settings) -> list[CheckItem]:
    """What waits for people in it."""
    return [one.item for one in open_for_people(settings, RUN)]


@pytest.fixture
def home(settings: Settings, items: list[CheckItem]) -> Iterator[Home]:
    """The home, open for reading."""
    with Home.open(settings.home, write=False) as opened:
        yield opened


def _dimension(item: CheckItem) -> str:
    return item.detail


def test_only_valid_and_score_invariant_enter(settings: Settings, items: list[CheckItem], home: Home) -> None:
    """Of items with all labels two enter, one as an error and one as harmless; the rest is counted by its label."""
    errors = [item for item in items if _dimension(item) != "score_neutral"]
    for item, label in zip(errors, LABELS, strict=False):
        decide(item, label, who="anna", settings=settings)
    found = probes_of(RUN, home, task="image-to-text")
    assert [(one.id, one.neutral, one.checked) for one in found.probes] == [
        (errors[0].subject, False, True),
        (errors[1].subject, True, True),
    ]
    assert found.left_out == {
        "incorrect": 1,
        "not_relevant": 1,
        "gold_wrong": 1,
        "not_sure": 1,
        "undecided": len(items) - len(LABELS),
    }
    assert found.run == RUN
    assert set(found.samples) == {one.item.sample for one in found.probes}
    assert {one.cluster for one in found.probes} == {found.samples[one.item.sample].cluster for one in found.probes}


def test_undecided_ones_enter_unchecked_as_they_were_meant(
    settings: Settings, items: list[CheckItem], home: Home
) -> None:
    """Asked for, those nobody decided on enter by their dimension, marked; what people rejected still does not."""
    decide(items[0], "incorrect", who="anna", settings=settings)
    decide(items[1], "valid", who="anna", settings=settings)
    found = probes_of(RUN, home, task="image-to-text", unchecked=True)
    assert found.left_out == {"incorrect": 1}
    assert [one.id for one in found.probes] == [item.subject for item in items[1:]]
    assert [one.checked for one in found.probes] == [True] + [False] * (len(items) - 2)
    assert [one.neutral for one in found.probes] == [_dimension(item) == "score_neutral" for item in items[1:]]


def test_a_harmless_change_that_does_harm_is_no_error_of_a_dimension(
    settings: Settings, items: list[CheckItem], home: Home
) -> None:
    """A neutral change that people found worse enters neither as harmless nor as an error."""
    neutral = next(item for item in items if _dimension(item) == "score_neutral")
    decide(neutral, "valid", who="anna", settings=settings)
    found = probes_of(RUN, home, task="image-to-text", unchecked=True)
    assert found.left_out == {"valid_of_neutral": 1}
    assert neutral.subject not in {one.id for one in found.probes}


def test_whoever_labelled_first_settles(settings: Settings, items: list[CheckItem], home: Home) -> None:
    """A second opinion changes nothing, and who decided first may change their mind."""
    item = items[0]
    decide(item, "valid", who="anna", settings=settings)
    decide(item, "not_relevant", who="ben", settings=settings)
    assert [one.id for one in probes_of(RUN, home, task="image-to-text").probes] == [item.subject]
    assert [one.item.id for one in pending_checks(RUN, settings=settings, who="carla", second=True)] == [item.id]
    decide(item, "score_invariant", who="anna", settings=settings)
    (probe,) = probes_of(RUN, home, task="image-to-text").probes
    assert probe.neutral


def test_a_source_without_anything_to_probe_with_says_why(
    settings: Settings, items: list[CheckItem], home: Home
) -> None:
    """Nothing labelled, nothing of the task, and no such run are three mistakes with three ways out."""
    with pytest.raises(DataError, match=rf"\({len(items)} undecided\).*dokimasia decide"):
        probes_of(RUN, home, task="image-to-text")
    with pytest.raises(DataError, match="no perturbation of text-to-image in it"):
        probes_of(RUN, home, task="text-to-image", unchecked=True)
    with pytest.raises(NotFound):
        probes_of("nothing", home, task="image-to-text")


def test_a_file_is_a_source_like_a_run(tmp_path: Path) -> None:
    """Labels of a file decide as those of a run do; without a home a file is all there is."""
    uri = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    row = {
        "task": "image-to-text",
        "image": uri,
        "gold": "A red square.",
        "perturbed": "A blue square.",
        "dimension": "attribute_distortion",
    }
    labels: tuple[Label | None, ...] = (*LABELS, None)
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(json.dumps(row | {"id": f"i{n}", "label": label}) for n, label in enumerate(labels)))
    found = probes_of(path, None, task="image-to-text")
    assert [(one.id, one.neutral) for one in found.probes] == [("i0", False), ("i1", True)]
    assert found.left_out == {"incorrect": 1, "not_relevant": 1, "gold_wrong": 1, "not_sure": 1, "undecided": 1}
    assert found.run == ""


def test_a_perturbation_is_labelled_and_not_edited(settings: Settings, items: list[CheckItem]) -> None:
    """Accept, edit, delete and reject make no sense of a perturbation, and the message says what does."""
    for action in ("accept", "edit", "reject"):
        with pytest.raises(InputError, match=r"a perturbation is labelled.*valid, score_invariant"):
            decide(items[0], action, who="anna", text="Other words.", delete=[1], settings=settings)
    assert not [one for one in open_for_people(settings, RUN) if one.decisions]
    caption = CheckItem(run=RUN, kind="caption", sample_id="s0", subject="x", text="A cat.")
    with pytest.raises(InputError, match=r"a caption is not labelled.*accept, edit, reject"):
        decide(caption, "valid", who="anna", settings=settings)


def test_a_label_for_an_item_that_is_not_there_is_refused(settings: Settings, items: list[CheckItem]) -> None:
    """An unknown item is a mistake of who names it."""
    with pytest.raises(NotFound, match="no item 0000"):
        decide("0000", "valid", who="anna", settings=settings)


def test_beside_another_process_labels_are_left_as_files_and_count(settings: Settings, items: list[CheckItem]) -> None:
    """A label given while somebody writes counts at once, also for a probe, and is a row after the next command that writes."""
    with Home.open(settings.home, write=True) as busy:
        assert decide(items[0], "valid", who="anna", settings=settings) is None
        assert [one.id for one in probes_of(RUN, busy, task="image-to-text").probes] == [items[0].subject]
    assert len(list(filed_decisions(settings.home))) == 1
    assert decide(items[1], "not_sure", who="ben", settings=settings) is not None
    assert not list(filed_decisions(settings.home))
    with Home.open(settings.home, write=False) as home:
        assert [one.state for one in all_standings(home, RUN)][:2] == ["valid", "not_sure"]


def test_a_left_file_that_edits_a_perturbation_is_set_aside(settings: Settings, items: list[CheckItem]) -> None:
    """A file that decides what cannot be decided changes nothing."""
    file_decision(
        settings.home, FiledDecision(item=items[0], who="anna", at="2026-01-01T00:00:00+00:00", action="accept")
    )
    assert open_for_people(settings, RUN)[0].state == "waiting"
    assert [path.suffix for path in (settings.home / "decisions").iterdir()] == [".refused"]


def test_a_label_survives_the_death_of_its_process(settings: Settings, items: list[CheckItem]) -> None:
    """A process that labels and dies by SIGKILL at once leaves the label."""
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from dokimasia.people.checks import decide\n"
        "from dokimasia.settings import load_settings\n"
        "decide(sys.argv[2], 'valid', who='anna', settings=load_settings(home=Path(sys.argv[1]), env={}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = subprocess.run(
        [sys.executable, "-c", code, str(settings.home), items[0].id], capture_output=True, text=True, timeout=PATIENCE
    )
    assert died.returncode == -9, died.stderr
    assert open_for_people(settings, RUN)[0].state == "valid"


def test_pictures_enter_as_texts_do(tmp_path: Path) -> None:
    """Images made by a prompt are labelled and enter with their instruction; their sample has the prompt."""
    home, made = pictured_home(tmp_path / "home")
    home.close()
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    for one in open_for_people(settings, "last"):
        decide(one.item, "valid", who="anna", settings=settings)
    with Home.open(settings.home, write=False) as opened:
        found = probes_of("last", opened, task="text-to-image")
    assert [one.item for one in found.probes] == made
    assert all(isinstance(one.item, Perturbed) and one.cluster == one.item.gold_image.sha256 for one in found.probes)  # pyright: ignore[reportOptionalMemberAccess]
