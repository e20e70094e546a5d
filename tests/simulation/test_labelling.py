"""Simulated people who label: the true label follows from what is planted, and noise is as planted."""

from collections import Counter
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from dokimasia.cli.sim import command
from dokimasia.domain.blindspots import LABELS, NEUTRAL
from dokimasia.people.checks import label_figures, labelled, open_for_people
from dokimasia.people.checks.files import write_checks
from dokimasia.people.checks.filled import import_checks
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.people import (
    CAREFUL_PERSON,
    PEOPLE,
    SimulatedPerson,
    fill_label_form,
    label_chances,
    true_label,
)
from dokimasia.simulation.people import label_of_person as said_of
from dokimasia.storage.home import Home
from tests.perturbed_home import perturbed_home

ALL = tuple(error_dimensions("image-to-text"))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a home in which a run perturbed two gold answers in every dimension that they allow."""
    perturbed_home(tmp_path / "home", scenes=2, dimensions=ALL)[0].close()
    return load_settings(home=tmp_path / "home", cwd=tmp_path, env={})


def test_the_true_label_follows_from_the_faults() -> None:
    """One new fault of the dimension is valid, no new one harmless, and another or a second one incorrect."""
    assert true_label("tone_mismatch", [], ["tone_mismatch"]) == "valid"
    assert true_label("tone_mismatch", ["phantom_details"], ["tone_mismatch", "phantom_details"]) == "valid"
    assert true_label("tone_mismatch", ["phantom_details"], ["phantom_details"]) == "score_invariant"
    assert true_label("tone_mismatch", [], ["phantom_details"]) == "incorrect"
    assert true_label("tone_mismatch", [], ["tone_mismatch", "phantom_details"]) == "incorrect"
    assert true_label(NEUTRAL, [], []) == "score_invariant"
    assert true_label(NEUTRAL, [], ["tone_mismatch"]) == "incorrect"


def test_people_err_as_often_as_planted() -> None:
    """Of 4,000 things each label comes as often as its chance says, which add up to one."""
    person = SimulatedPerson("x", noise=0.2, careless=0.1)
    chances = label_chances(person, "valid")
    assert sum(chances.values()) == pytest.approx(1)
    counted = Counter(said_of(person, "valid", number) for number in range(4000))
    for label in LABELS:
        assert counted[label] / 4000 == pytest.approx(chances[label], abs=0.025)


def test_a_person_without_noise_finds_every_planted_perturbation_fit(settings: Settings, tmp_path: Path) -> None:
    """Through files, with images as they are stored, all dimensions are labelled as they were planted."""
    form = write_checks(settings, open_for_people(settings, "last"), tmp_path / "form.jsonl", who="anna")[0]
    filled = tmp_path / "filled.jsonl"
    filled.write_text("\n".join(fill_label_form(form, SimulatedPerson("anna"))))
    taken = import_checks(settings, "last", filled, who="nobody")
    standings = open_for_people(settings, "last")
    assert taken.decided == len(standings)
    with Home.open(settings.home, write=False) as home:
        figures = label_figures(labelled(home, standings[0].item.run))
    assert figures.people == {"anna": len(standings)}
    assert figures.fit.share == 1.0
    assert {row.dimension for row in figures.by_dimension} == set(ALL)


def test_the_verb_fills_a_form_in(settings: Settings, tmp_path: Path) -> None:
    """`sim label` names who it is; an unknown person, another file, and one without images are the user's mistakes."""
    form = write_checks(settings, open_for_people(settings, "last"), tmp_path / "form.jsonl", who="ben")[0]
    out = tmp_path / "ben.jsonl"
    result = CliRunner().invoke(
        command, ["label", str(form), "--person", "ben", "-o", str(out)], catch_exceptions=False
    )
    assert result.exit_code == 0
    rows = [orjson.loads(line) for line in out.read_bytes().splitlines()]
    assert {row["who"] for row in rows} == {"ben"}
    assert {row["label"] for row in rows} <= set(LABELS)
    assert CliRunner().invoke(command, ["label", str(form), "--person", "eve", "-o", str(out)]).exit_code == 2
    alone = tmp_path / "elsewhere" / "form.jsonl"
    alone.parent.mkdir()
    alone.write_bytes(form.read_bytes())
    refused = CliRunner().invoke(command, ["label", str(alone), "-o", str(out)])
    assert "images are not beside it" in str(refused.exception)


def test_a_careful_person_hardly_errs() -> None:
    """Of 2,000 harmless changes eva calls at most one in twenty-five anything else, and others call many so."""
    wrong = sum(said_of(CAREFUL_PERSON, "score_invariant", number) != "score_invariant" for number in range(2000))
    assert 0 < wrong < 80
    assert all(label_chances(one, "score_invariant")["score_invariant"] < 0.85 for one in PEOPLE)
