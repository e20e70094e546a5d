"""Whole examples stand in the prompts in place of placeholders; copied they are no reply, and beside a reply they say nothing."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from dokimasia.agents.diagnosis import pick_salient
from dokimasia.domain.density import DOMAINS
from dokimasia.domain.failure_modes import ModeKind
from dokimasia.errors import UnparsableReply
from dokimasia.parsing import criteria, perturbation, rubrics
from dokimasia.parsing.blindspots import edits, perturbed
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.failure_modes import lists, notes
from dokimasia.parsing.hints import LEAK_EXAMPLE, parse_leaks
from dokimasia.parsing.trees import merges, proposals
from dokimasia.parsing.votes import parse_peer_review
from dokimasia.prompts import default_library

GOLD = "Two cats sit on a wall, and the left one is black. A sign beside them says 'Keep off', in 12 red letters."
COMMISSIONS: list[ModeKind] = ["commission"] * 9
KINDS = ["entity_substitution", "detail_omission"]

SHOWN: dict[str, tuple[FormExample, Callable[[str], Any]]] = {
    **{f"must_right_{domain}": (rubrics.EXAMPLE, rubrics.parse_must_right) for domain in DOMAINS},
    "easy_wrong": (rubrics.MINED_EXAMPLE, partial(rubrics.parse_easy_wrong, n_responses=9)),
    "easy_wrong_published": (
        rubrics.PUBLISHED_EXAMPLE,
        partial(rubrics.parse_easy_wrong, n_responses=9, published=True),
    ),
    "rubric_repair": (
        rubrics.REPAIR_EXAMPLE,
        partial(rubrics.parse_repaired, named={91, 93, 96}, mined={93}, n_responses=9),
    ),
    "rubric_cross_check": (rubrics.CHECK_EXAMPLE, partial(rubrics.parse_cross_check, expected=1)),
    "perturbation": (
        perturbation.PlantedReply.example,
        partial(perturbation.parse_perturbations, text=GOLD, expected=2, lenient=True),
    ),
    "edit_instruction": (edits.InstructionReply.example, edits.parse_edit_instruction),
    "gold_image_check": (edits.GoldImageReply.example, edits.parse_gold_image_check),
    "edit_check": (edits.EditCheckReply.example, edits.parse_edit_check),
    "error_in_passages": (perturbed.PassagesReply.example, partial(perturbed.parse_passages, gold=GOLD)),
    "error_throughout": (
        perturbed.RewriteReply.example,
        partial(perturbed.parse_rewrite, gold="Three boats lie there."),
    ),
    "harmless_rewrite": (
        perturbed.HarmlessReply.example,
        partial(perturbed.parse_rewrite, gold="Three boats lie there."),
    ),
    "gold_check": (perturbed.GoldCheckReply.example, partial(perturbed.parse_gold_check, gold=GOLD)),
    "change_check": (perturbed.ChangeCheckReply.example, partial(perturbed.parse_change_check, names=KINDS)),
    "modes_note": (notes.NOTES_EXAMPLE, partial(notes.parse_notes, expected=3, answer=GOLD, strict=False)),
    "modes_assign": (
        notes.ASSIGNMENTS_EXAMPLE,
        partial(notes.parse_assignments, expected=3, kinds=COMMISSIONS[:6], answer=GOLD, strict=False),
    ),
    "modes_sort": (
        lists.SORTING_EXAMPLE,
        partial(
            lists.parse_sorting, modes=list(zip(COMMISSIONS[:3], "xyz", strict=True)), notes=COMMISSIONS, strict=False
        ),
    ),
    "modes_merge": (
        lists.MERGING_EXAMPLE,
        partial(lists.parse_changes, modes=[(COMMISSIONS[n % 9], f"{n}") for n in range(30)], strict=False),
    ),
    "leak_check": (LEAK_EXAMPLE, partial(parse_leaks, checked=GOLD)),
    "tree_propose": (
        proposals.EXAMPLE,
        partial(proposals.parse_placements, expected=44, leaves=["<Perception><Counting><Counting Moored Boats>"]),
    ),
    **{
        name: (criteria.CRITERIA_EXAMPLE, partial(criteria.parse_criteria, image_count=2))
        for name in ("criteria", "criteria_no_chain")
    },
    "criteria_published": (criteria.PUBLISHED_EXAMPLE, partial(criteria.parse_criteria, image_count=2)),
    "tree_merge": (merges.EXAMPLE, partial(merges.parse_merges, expected=40, strict=False)),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_stands_in_its_prompt_and_is_refused_where_it_is_copied(name: str) -> None:
    """What a prompt shows is what its reader knows as the example, in whole and in each of its alternatives."""
    example, read = SHOWN[name]
    assert example.text in default_library().get(name).instructions(1)
    for copied in (example.text, f"Here it is:\n```json\n{example.text}\n```"):
        with pytest.raises(UnparsableReply):
            read(copied)


@pytest.mark.parametrize(
    "name",
    ["edit_instruction", "error_in_passages", "error_throughout", "harmless_rewrite", "change_check", "edit_check"],
)
def test_each_line_of_an_example_is_refused_by_itself(name: str) -> None:
    """An alternative that is copied alone is nobody's reply either."""
    example, read = SHOWN[name]
    for line in example.text.splitlines():
        with pytest.raises(UnparsableReply):
            read(line)


def test_a_row_of_a_salient_table_is_none_of_the_example() -> None:
    """The example's table is in no home: a reply that copies it names no row."""
    read = pick_salient("", "", row_of=lambda ref: ref if ref.startswith("leaves/") else None).parse
    assert read is not None
    with pytest.raises(UnparsableReply):
        read("[tides/north:3]")
    assert "[tides/north:3]" in default_library().get("diagnosis_salient").system


@pytest.mark.parametrize("name", ["error_in_passages", "error_throughout", "edit_instruction"])
@pytest.mark.parametrize("placeholder", ["", "<why, in one sentence>", None])
@pytest.mark.parametrize("joined", [True, False], ids=["one object", "two objects"])
def test_an_alternative_that_is_left_unfilled_says_nothing(name: str, placeholder: object, joined: bool) -> None:
    """A reply that fills one of two alternatives in and leaves the other as the form has it is read as the first."""
    _example, read = SHOWN[name]
    filled, other = {
        "error_in_passages": (
            {"changes": [{"original": "Two cats", "new": "Three cats"}], "description": "There were two cats."},
            "none",
        ),
        "error_throughout": ({"answer": "Four boats lie there.", "description": "There were three."}, "none"),
        "edit_instruction": ({"instruction": "Make the cat white.", "change": "It was black."}, "unsuited"),
    }[name]
    left = {other: placeholder}
    reply = json.dumps({**filled, **left}) if joined else f"{json.dumps(filled)}\n{json.dumps(left)}"
    assert read(reply) == read(json.dumps(filled))
    empty = {field: [] if field == "changes" else "<words>" for field in filled if field != "description"}
    stated = {other: "There is no lettering in it at all."}
    reply = json.dumps({**empty, **stated}) if joined else f"{json.dumps(empty)}\n{json.dumps(stated)}"
    assert read(reply) == read(json.dumps(stated))


def test_the_second_alternative_of_the_example_beside_a_reply_says_nothing() -> None:
    """An example's words are known from a reason of the model's own."""
    said = {"changes": [{"original": "Two cats", "new": "Three cats"}], "description": "There were two cats."}
    copied = perturbed.PassagesReply.example.text.splitlines()[1]
    assert perturbed.parse_passages(f"{json.dumps(said)}\n{copied}", GOLD).description == "There were two cats."
    with pytest.raises(UnparsableReply, match="differ"):
        perturbed.parse_passages(json.dumps(said) + '{"none": "There are no steps."}', GOLD)


REVIEW = """<review_result>
<analysis>
<candidate_1_critique>It miscounts.</candidate_1_critique>
<candidate_2_critique>All is right.</candidate_2_critique>
</analysis>
<ranking>2, 1</ranking>
<keep>{}</keep>
<rewrite>
{}
</rewrite>
</review_result>"""


@pytest.mark.parametrize(
    "left",
    ["", "[else the better description, whole]", "else the better description, whole", "none", "N/A", "...", "-"],
)
def test_a_kept_candidate_beside_a_rewrite_that_was_not_used(left: str) -> None:
    """Whoever keeps a candidate and leaves the form's words in the rewrite has said which."""
    read = parse_peer_review(REVIEW.format("2", left), 2)
    assert (read.keep, read.rewrite) == (2, "")


@pytest.mark.parametrize("left", ["", "[the number of the candidate]", "none", "N/A", "-"])
def test_a_rewrite_beside_a_keep_that_was_not_used(left: str) -> None:
    """Whoever rewrites and leaves the form's words in place of a number has said which, too."""
    read = parse_peer_review(REVIEW.format(left, "Two cats sit on a wall."), 2)
    assert (read.keep, read.rewrite) == (None, "Two cats sit on a wall.")


def test_both_alternatives_unfilled_are_no_reply() -> None:
    """Nothing is read where neither is filled in, and nothing where both are."""
    for keep, rewrite in (("none", "none"), ("", ""), ("2", "Two cats sit on a wall.")):
        with pytest.raises(UnparsableReply):
            parse_peer_review(REVIEW.format(keep, rewrite), 2)
