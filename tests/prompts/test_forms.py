"""Forms: made for the real number of things, shown again empty in a repair, and taken off again when a prompt is recognised."""

from pathlib import Path

import pytest

from dokimasia.errors import ConfigError
from dokimasia.prompts import PromptLibrary, default_library, recognise, render, with_form, with_repair

pytestmark = pytest.mark.quick

INPUTS = {"candidates": "[]"}
NAMES = [name for name in default_library().names() if default_library().get(name).form]


@pytest.mark.parametrize("name", ["peer_review", "peer_vote"])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_form_has_a_line_for_each_thing(name: str, count: int) -> None:
    """There is one critique for each candidate that is shown, no more and no fewer, and the prompt is recognised."""
    rendered = render(name, INPUTS, count=count)
    text = rendered.messages[0].text
    assert text.endswith(rendered.form)
    assert [f"<candidate_{n}_critique>" in text for n in range(9)] == [1 <= n <= count for n in range(9)]
    found = recognise(rendered.messages)
    assert found is not None
    assert (found.name, found.inputs) == (name, INPUTS)
    held = recognise(with_form(rendered, "{}").messages)
    assert held is not None
    assert held.name == name


def test_a_repair_shows_the_form_again() -> None:
    """A reply that is sent back comes with the empty form for the same number of things; a prompt without one with none."""
    rendered = render("peer_vote", INPUTS, count=3)
    repaired = with_repair(rendered, "Candidate 2 is best.", "no vote")
    assert "<candidate_3_critique>[" in repaired.messages[-1].text
    found = recognise(repaired.messages)
    assert found is not None
    assert (found.name, found.problem) == ("peer_vote", "no vote")
    assert "The form, empty" not in with_repair(render("solver", {"question": "?"}), "x", "y").messages[-1].text


def test_no_form_can_be_copied_as_it_is() -> None:
    """What is to be filled in stands in square brackets and holds no number that could be an answer."""
    assert set(NAMES) >= {"peer_review", "peer_vote", "density", "domain"}
    for name in NAMES:
        form = default_library().get(name).form_for(3)
        for line in form.splitlines():
            if line.startswith("<") and line.count("<") == 2:
                between = line[line.index(">") + 1 : line.rindex("<")]
                assert between.startswith("[")
                assert between.endswith("]")


def test_other_instructions_are_not_taken_for_it() -> None:
    """A form with a line too few is nobody's prompt."""
    rendered = render("peer_vote", INPUTS, count=3)
    head = rendered.messages[0]
    part = head.parts[0]
    assert part.kind == "text"
    lines = [line for line in part.text.splitlines() if "candidate_2_critique" not in line]
    forged = head.model_copy(update={"parts": (part.model_copy(update={"text": "\n".join(lines)}),)})
    assert recognise([forged, *rendered.messages[1:]]) is None


def test_a_form_has_no_other_slot(tmp_path: Path) -> None:
    """A prompt whose form asks for an input is refused with its path: a form is trusted text."""
    (tmp_path / "mine.md").write_text(
        "---\nname: mine\nversion: 1\noutput: x\nsource: y\ninputs: {a: required}\n---\n"
        "## system\ns\n## form\n{{n}} {{a}}\n## user\n{{a}}\n"
    )
    with pytest.raises(ConfigError, match=r"mine\.md: .* the form none but"):
        PromptLibrary.from_folders(tmp_path)
