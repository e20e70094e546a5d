"""Atomic criteria are read from the JSON that a judge wrote, whatever stands around it, and no value is mended."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.domain.criterion import Anchor, Box
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.json_finder import find_json

ROWS: list[dict[str, Any]] = [
    {"question": "What is seen?", "ground_truth": "A heron, \"grey\" [sic],}", "weight": 6,
     "anchor": {"image": 0, "box": [0.1, 0.2, 0.5, 0.6]}},
    {"question": "Where?", "ground_truth": "Left", "weight": 4, "anchor": "whole image"},
]  # fmt: skip
PLAIN = json.dumps(ROWS)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"Here are the criteria [as asked] for {{you}}:\n\n{PLAIN}\n\nI hope [1] they help.",
        json.dumps({"criteria": ROWS, "note": [{}]}),
        PLAIN[:-2] + ",},]",
        f"<think>[{{}}]</think>{PLAIN}",
        f"{PLAIN}\n\nAgain:\n{PLAIN}",
    ],
)
def test_criteria_are_found(text: str) -> None:
    """Fences, prose, a wrapping object, trailing commas, thought and repetition do not hide the array."""
    first, second = parse_criteria(text, image_count=1)
    assert (first.question, first.ground_truth, first.weight) == ("What is seen?", 'A heron, "grey" [sic],}', 6)
    assert first.anchor == Anchor(image=0, box=Box(x0=0.1, y0=0.2, x1=0.5, y1=0.6))
    assert second.anchor == Anchor()


def test_a_criterion_may_be_the_final_answer() -> None:
    """The flag is read where it is given, and is false where it is not."""
    rows = [{**ROWS[0], "final": False}, {**ROWS[1], "final": True}]
    assert [one.final for one in parse_criteria(json.dumps(rows), image_count=1)] == [False, True]
    assert [one.final for one in parse_criteria(PLAIN, image_count=1)] == [False, False]


def test_all_faults_are_named_at_once() -> None:
    """Every faulty field of every criterion stands in the reason."""
    rows = [{**ROWS[0], "weight": 0, "final": "yes"}, {**ROWS[1], "question": " ", "ground_truth": None}]
    with pytest.raises(UnparsableReply) as refused:
        parse_criteria(json.dumps(rows), image_count=1)
    for said in ("1: the weight 0", "1: 'final' is 'yes'", "2: the field 'question'", "2: the field 'ground_truth'"):
        assert said in refused.value.reason


def with_field(field: str, value: Any) -> str:
    """Return criteria of which the first has another value in one field."""
    return json.dumps([{**ROWS[0], field: value}, ROWS[1]])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no complete JSON"),
        (PLAIN[:-1], "no complete JSON"),
        ("[]", "no complete JSON"),
        ("[1, 2]", "no complete JSON"),
        (PLAIN.replace("6,", "NaN,"), "no complete JSON"),
        ('[{"question": "a", "question": "b", "ground_truth": "c", "weight": 1}]', "no complete JSON"),
        (f"{PLAIN}\n{with_field('weight', 5)}", "they differ"),
        (json.dumps([ROWS[0]] * 11), "far more"),
        (with_field("weight", 0), "criterion 1: the weight 0"),
        (with_field("weight", 11), "criterion 1: the weight 11"),
        (with_field("weight", 2.5), "criterion 1: the weight 2.5"),
        (with_field("weight", "6"), "criterion 1: the weight '6'"),
        (with_field("weight", True), "criterion 1: the weight True"),
        (with_field("question", " "), "criterion 1: the field 'question'"),
        (with_field("ground_truth", None), "criterion 1: the field 'ground_truth'"),
        (with_field("ground_truth", "\ud800"), "surrogate"),
    ],
)
def test_criteria_are_refused(text: str, reason: str) -> None:
    """What is missing, cut off, doubtful or of the wrong kind is unparsable; the reason names criterion and field."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_criteria(text, image_count=1)


@pytest.mark.parametrize(
    ("anchor", "box"),
    [
        ({"image": 0, "box": [0.1, 0.2, 0.5, 0.6]}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 0, "box": [100, 200, 500, 600]}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 0, "box": [100, 200, 500, 600], "unit": "0-1000"}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 0, "bbox_2d": [64, 96, 320, 288], "unit": "pixels"}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 1, "box": [200, 400, 1000, 1200]}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 0, "box_2d": [200, 100, 600, 500]}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 1, "box": [0, 0, 2100, 2000]}, (0, 0, 1, 1)),
        ({"image": 0, "box": [0.1, 0.2, 1.04, 0.6]}, (0.1, 0.2, 1, 0.6)),
        ({"image": 0, "box": [0.1, 0.2, 0.5, 0.6], "unit": "pixels"}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 0, "box": [0.1, 0.2, 0.5, 0.6], "unit": "percent"}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 0, "box_2d": [0.2, 0.1, 0.6, 0.5]}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 0, "box": [100, 200, 500, 600], "unit": 1000}, (0.1, 0.2, 0.5, 0.6)),
        ({"image": 0, "box": [10, 20, 50, 60], "unit": "percent"}, None),
        ({"image": 0, "box": [0, 0, 10**400, 1]}, None),
        ({"image": 0, "box": [0, 0, 1e300, 1], "unit": "pixels"}, None),
        ({"box": [0, 0, 1]}, None),
        ({"box": [0.5, 0, 0.5, 1]}, None),
        ({"box": [0, 0, True, 1]}, None),
        ({"box": [-1, 0, 1, 1]}, None),
        ({"image": 7, "box": [0, 0, 1, 1]}, None),
        ({"image": 0}, None),
        ([0, 0, 1, 1], None),
        ("left", None),
        (7, None),
    ],
)
def test_an_anchor_never_costs_a_set(anchor: Any, box: tuple[float, ...] | None) -> None:
    """A box is converted from its unit, named or not; what cannot be read as one is the whole image."""
    sizes = [(640, 480), (2000, 2000)]
    (criterion, _) = parse_criteria(with_field("anchor", anchor), image_count=2, sizes=sizes)
    read = criterion.anchor.box
    assert (None if read is None else pytest.approx((read.x0, read.y0, read.x1, read.y1))) == box


def test_pixels_of_an_image_of_unknown_size_are_the_whole_image() -> None:
    """Without the size nobody can tell which part they are."""
    anchor = {"image": 0, "box": [0, 0, 1920, 1080]}
    assert parse_criteria(with_field("anchor", anchor), image_count=1)[0].anchor == Anchor()


def test_forms_without_another_value() -> None:
    """A whole number as ground truth is its digits, a weight of 6.0 is 6, an absent anchor is the whole image."""
    text = json.dumps([{"question": "How many?", "ground_truth": 3, "weight": 6.0, "n": 1}])
    (criterion,) = parse_criteria(text, image_count=1)
    assert (criterion.ground_truth, criterion.weight, criterion.anchor) == ("3", 6, Anchor())


def test_without_images_no_anchor_is_kept() -> None:
    """A sample without images has nothing to anchor to."""
    assert parse_criteria(PLAIN, image_count=0)[0].anchor == Anchor()


def test_finder_prefers_the_outermost_value() -> None:
    """An inner array is not found inside one that was read."""
    assert find_json('x {"a": [{"b": 1,}]} y [{"c": 2}]', lambda value: True) == [{"a": [{"b": 1}]}, [{"c": 2}]]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='",[]{}\\\n aé', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='",]}\\ a', max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON.map(lambda value: [{"value": value}]), st.booleans())
@settings(max_examples=400, deadline=None)
def test_finder_returns_what_was_written(value: list[Any], fenced: bool) -> None:
    """Any JSON array of objects is found in prose and comes back equal."""
    text = json.dumps(value, indent=1 if fenced else None)
    prose = f"```json\n{text}\n```" if fenced else f"Sure: {text} (done)"
    assert find_json(prose, lambda found: True) == [value]


@given(st.text(alphabet='[]{}",:\\ 1aquestion\n', max_size=120))
@settings(max_examples=400, deadline=None)
def test_criteria_never_surprise(text: str) -> None:
    """Any text gives criteria or raises UnparsableReply and nothing else."""
    try:
        found = parse_criteria(text, image_count=1)
    except UnparsableReply:
        return
    assert len(found) >= 1
