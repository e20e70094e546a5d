"""The sentence that asks for a JSON object goes into the instructions and comes out of them again."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.domain.call import Message
from dokimasia.domain.sample import TextPart
from dokimasia.prompts import default_library, recognise, render, with_form, with_repair, without_form

TEXT = st.text(st.sampled_from(list('<>\\\n {}"AENDfo:,')), max_size=60)


@given(question=TEXT, form=TEXT)
@settings(max_examples=150, deadline=None)
def test_a_prompt_with_a_form_is_the_same_prompt(question: str, form: str) -> None:
    """Whatever the form is, it is taken out without a trace, and the prompt is recognised with its inputs."""
    rendered = render("solver", {"question": question})
    held = with_form(rendered, form)
    assert form in held.messages[0].text
    assert without_form(held.messages) == rendered.messages
    found = recognise(held.messages)
    assert found is not None
    assert (found.name, found.inputs) == ("solver", {"question": question})
    repaired = recognise(with_repair(held, "bad", "worse").messages)
    assert repaired is not None
    assert repaired.problem == "worse"


def test_messages_without_a_form_stay_as_they_are() -> None:
    """Nothing is taken out of other instructions, nor out of what a user says."""
    rendered = render("solver", {"question": "What?"})
    assert without_form(rendered.messages) == rendered.messages
    said = (Message(role="user", parts=(TextPart(text=with_form(rendered, "{}").messages[0].text),)),)
    assert without_form(said) == said


def test_a_form_alone_makes_instructions_of_its_own() -> None:
    """A prompt without instructions gets some, which go again."""
    rendered = render("candidate", {"question": "What?"})
    held = with_form(rendered, "{}")
    assert [message.role for message in held.messages] == ["system", "user"]
    assert without_form(held.messages) == rendered.messages


def test_a_check_is_recognised_before_a_question() -> None:
    """The probe has no instructions and is still told from a candidate's question."""
    found = recognise(render("probe", {"task": "Name the colours.", "code": "ab12"}).messages)
    assert found is not None
    assert (found.name, found.inputs) == ("probe", {"task": "Name the colours.", "code": "ab12"})


@pytest.mark.parametrize(
    "name", ["checkpoints", "checkpoints_published", "criteria", "criteria_check", "criteria_published"]
)
def test_what_is_asked_last_names_no_form(name: str) -> None:
    """The user's part of a prompt that can be answered as a JSON object asks for no lines and no array."""
    assert not re.search(r"\bline|JSON|array", default_library().get(name).user)
