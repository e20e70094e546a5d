"""What the prompts of rubrics promise: two worked examples a domain, no form to copy, and no praise of mere mention."""

import re

import pytest

from dokimasia.domain.density import DOMAINS
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.assessment import parse_reasoned_assessment, parse_rubric_assessment
from dokimasia.parsing.perturbation import parse_perturbations
from dokimasia.parsing.rubrics import parse_cross_check, parse_easy_wrong, parse_must_right, parse_repaired
from dokimasia.prompts import default_library

PARSERS = {
    **{f"must_right_{domain}": parse_must_right for domain in DOMAINS},
    "easy_wrong": lambda text: parse_easy_wrong(text, 3),
    "rubric_repair": lambda text: parse_repaired(text, {1, 2}),
    "rubric_cross_check": lambda text: parse_cross_check(text, 2),
    "rubric_assessment": lambda text: parse_rubric_assessment(text, 1, 1),
    "rubric_assessment_reasons": lambda text: parse_reasoned_assessment(text, 1, 1),
    "perturbation": lambda text: parse_perturbations(text, "Two cats.", 2),
}


@pytest.mark.parametrize("name", PARSERS)
def test_a_form_that_is_copied_is_no_reply(name: str) -> None:
    """The form at the end of a prompt stands in placeholders: sent back as it is, no parser reads an answer in it."""
    form = default_library().get(name).system.rsplit("Reply ", 1)[1].split("\n\n", 1)[1]
    with pytest.raises(UnparsableReply):
        PARSERS[name](form)


@pytest.mark.parametrize("domain", DOMAINS)
def test_two_worked_examples_a_domain(domain: str) -> None:
    """Each domain has two examples of its own, in words, that say what is essential and what is not."""
    text = default_library().get(f"must_right_{domain}").system
    examples = re.findall(r"^- .* Essential: .* Not essential: .*$", text, re.MULTILINE)
    assert len(examples) == 2
    assert not any("The response must" in one or '"statement"' in one for one in examples)
    others = [default_library().get(f"must_right_{other}").system for other in DOMAINS if other != domain]
    assert not any(one in other for one in examples for other in others)


def test_the_examples_of_errors_cover_every_domain() -> None:
    """The prompts for easy-wrong rubrics have two examples a domain."""
    text = default_library().get("easy_wrong").system
    published = default_library().get("easy_wrong_published").system
    examples = re.findall(
        r"^- (?:Photographs|Documents|Screens|Charts|Scientific figures|Puzzles|Works and comics): .*$", text, re.M
    )
    assert len(examples) == len(DOMAINS)
    assert all(len(re.findall(r"[Rr]esponses ", one)) == 2 and one in published for one in examples)


def test_rubrics_are_to_be_independent() -> None:
    """One wrong fact fails one rubric: both prompts that write finer rubrics say so, the published one as the paper."""
    assert (
        "a response that gets a single fact wrong fails one statement only"
        in default_library().get("easy_wrong").system
    )
    assert "fails one rubric only" in default_library().get("rubric_repair").system
    assert "independent" not in default_library().get("easy_wrong_published").system


def test_the_gate_is_the_least_that_is_acceptable() -> None:
    """Every prompt for the gate asks for undeniable and essential facts, and calls none of them bad (C.2)."""
    for domain in DOMAINS:
        text = default_library().get(f"must_right_{domain}").system
        assert all(f"\n- {word}: " in text for word in ("undeniable", "essential", "verifiable"))
        assert "careless" not in text
        assert "tests nothing" not in text


def test_a_rubric_is_met_by_what_is_said_or_implied_without_ambiguity() -> None:
    """The judge of an audit is told the rule of C.4; only by default is text that a rubric quotes exact."""
    published = default_library().get("rubric_assessment_published").system
    assert "or implies it without ambiguity" in published
    assert "same words, letters and digits" not in published
    prompt = default_library().get("rubric_assessment")
    assert "or says something from which it follows beyond doubt" in prompt.system
    assert "same words, letters and digits" in prompt.system
    assert "exactness of quoted text is ours" in prompt.source
    reasoned = default_library().get("rubric_assessment_reasons")
    assert (prompt.user, prompt.inputs) == (reasoned.user, reasoned.inputs)
    assert prompt.system.rpartition("\n\nReply in")[0] == reasoned.system.rpartition("\n\nReply in")[0]
