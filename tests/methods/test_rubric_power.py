"""The power of rubric sets: what is caught, of how many, and what failures and people's edits leave open."""

from typing import Any

import pytest

from dokimasia.domain.perturbation import TextChange
from dokimasia.domain.rubric import Rubric, RubricSet, Tried
from dokimasia.methods.rubrics.figures import power_figures, set_power
from dokimasia.report.fields import as_json

CHANGES = (TextChange(original="five", new="four"),)


def rubric_set(*tried: Tried, name: str = "s") -> RubricSet:
    """A set of two must-right rubrics and an easy-wrong one."""
    streams = ("must_right", "must_right", "easy_wrong")
    rubrics = tuple(
        Rubric(stream=stream, statement=f"The response must say {n}.", polarity="positive")
        for n, stream in enumerate(streams)
    )
    return RubricSet(sample_id=name, rubrics=rubrics, tried=tried)


def golden(*passes: bool | None) -> Tried:
    return Tried(what="golden", passes=passes)


def planted(*passes: bool | None, name: str = "count", **more: Any) -> Tried:
    return Tried(what="planted", name=name, changes=CHANGES, passes=passes, **more)


def response(*passes: bool | None, **more: Any) -> Tried:
    return Tried(what="response", name="a", passes=passes, **more)


def figures(*sets: RubricSet) -> dict[str, Any]:
    return as_json(power_figures(sets, {one.sample_id: one.sample_id for one in sets}))


def test_an_error_is_caught_by_a_rubric_that_the_golden_caption_passes() -> None:
    """Failing the caption with the error and passing the one without it catches it; the gate is told apart."""
    found = figures(
        rubric_set(golden(True, True, True), planted(True, False, True), planted(True, True, False, name="text")),
        rubric_set(golden(True, False, True), planted(True, False, True), name="t"),
    )
    assert (found["caught"]["k"], found["caught"]["n"]) == (2, 3)
    assert (found["caught_by_gate"]["k"], found["caught_by_gate"]["n"]) == (1, 3)
    assert {name: (one["k"], one["n"]) for name, one in found["dimensions"].items()} == {
        "count": (1, 2),
        "text": (1, 1),
    }
    assert (found["golden"]["k"], found["golden"]["n"]) == (5, 6)
    assert found["caught"]["low"] < 2 / 3 < found["caught"]["high"]


def test_an_error_that_several_rubrics_fail_is_told() -> None:
    """Of the caught errors those count that two rubrics fail; an unknown one that could be the second leaves it open."""
    found = figures(
        rubric_set(golden(True, True, True), planted(False, True, False), planted(True, False, True)),
        rubric_set(golden(True, True, True), planted(True, False, None), planted(True, True, True), name="t"),
    )["caught_by_several"]
    assert (found["k"], found["n"]) == (1, 2), "of four errors one was not caught, and of one it is not known"
    assert (found["bounds"]["low"], found["bounds"]["high"]) == (0.333333, 0.666667)


def test_rubrics_that_some_text_fails() -> None:
    """A rubric counts as failed if one text of those that did not choose it fails it; what was not tried counts nowhere."""
    found = figures(
        rubric_set(golden(True, True, True), response(False, True, None), response(True, True, None)),
        rubric_set(golden(True, True, True), planted(True, True, False), response(True, True, None), name="t"),
    )
    assert (found["must_right"]["k"], found["must_right"]["n"]) == (1, 4)
    assert (found["easy_wrong"]["k"], found["easy_wrong"]["n"]) == (1, 1)
    assert found["responses"] == 3


def test_what_was_not_judged_is_no_miss() -> None:
    """A failed judgement leaves the share and stands in its bounds; without the golden caption nothing is known."""
    failed = planted(failure="unparsable")
    found = figures(rubric_set(golden(True, True, True), planted(False, True, True), failed))
    assert (found["caught"]["k"], found["caught"]["n"]) == (1, 1)
    assert found["caught"]["bounds"] == {"low": 0.5, "high": 1.0}
    assert found["failures"] == {"unparsable": 1}
    found = figures(rubric_set(Tried(what="golden", failure="refused"), planted(False, True, True)))
    assert (found["caught"]["n"], found["caught"]["share"], found["golden"]["n"]) == (0, None, 0)
    assert figures(rubric_set())["caught"]["bounds"] is None


@pytest.mark.parametrize(("passes", "caught"), [((None, False, True), 1), ((None, True, True), 0)])
def test_an_edited_rubric_is_not_known(passes: tuple[bool | None, ...], caught: int) -> None:
    """What a person edited was not tried: an error that no other rubric catches is then unknown, not missed."""
    power = as_json(set_power(rubric_set(golden(None, True, True), planted(*passes))))
    assert (power["caught"]["k"], power["caught"]["n"]) == (caught, caught)
    assert power["rubrics"]["n"] == 2
