"""What the prompts of rubrics promise: two worked examples a domain, no form to copy, and no praise of mere mention."""

import re

import pytest

from dokimasia.domain.density import DOMAINS
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.assessment import parse_rubric_assessment
from dokimasia.parsing.perturbation import parse_perturbations
from dokimasia.parsing.rubrics import parse_cross_check, parse_easy_wrong, parse_must_right, parse_repaired
from dokimasia.prompts import default_library

PARSERS = {
    **{f"must_right_{domain}": parse_must_right for domain in DOMAINS},
    "easy_wrong": lambda text: parse_easy_wrong(text, 3),
    "rubric_repair": lambda text: parse_repaired(text, {1, 2}),
    "rubric_cross_check": lambda text: parse_cross_check(text, 2),
    "rubric_assessment": lambda text: parse_rubric_assessment(text, 1, 1),
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
    """Each domain has two examples of its own, in words, that say what tests nothing and what is worth asking."""
    text = default_library().get(f"must_right_{domain}").system
    examples = re.findall(r"^- .*tests nothing\. Worth asking: .*$", text, re.MULTILINE)
    assert len(examples) == 2
    assert not any("The response must" in one or '"statement"' in one for one in examples)
    others = [default_library().get(f"must_right_{other}").system for other in DOMAINS if other != domain]
    assert not any(one in other for one in examples for other in others)


def test_the_examples_of_errors_cover_every_domain() -> None:
    """The prompt for easy-wrong rubrics has two examples a domain."""
    text = default_library().get("easy_wrong").system
    examples = re.findall(
        r"^- (?:Photographs|Documents|Screens|Charts|Scientific figures|Puzzles|Works and comics): .*$", text, re.M
    )
    assert len(examples) == len(DOMAINS)
    assert all(len(re.findall(r"[Rr]esponses ", one)) == 2 for one in examples)


def test_a_rubric_is_met_by_what_is_said_or_implied_without_ambiguity() -> None:
    """The judge of an audit is told the rule of C.4, and only the exactness of quoted text is marked as ours."""
    prompt = default_library().get("rubric_assessment")
    assert "or implies it without ambiguity" in prompt.system
    assert "exactly so" not in prompt.system
    assert "exactness of quoted text is ours" in prompt.source
