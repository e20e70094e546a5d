"""Prompts render into messages and are recognised back from them, whatever stands in their inputs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.domain.sample import ImageRef
from dokimasia.errors import ConfigError
from dokimasia.prompts import PromptLibrary, default_library, escape, recognise, render, unescape, with_repair

pytestmark = pytest.mark.quick

IMAGE = ImageRef(sha256="ab" * 32, media_type="image/png", width=3, height=4)
HOSTILE = st.text(st.sampled_from(list("<\\>\n AEND0fQUSTIOR|\u200b\uff1c\u00ab\u22d8")), max_size=60) | st.text(
    max_size=80
)
FENCED = [name for name in default_library().names() if default_library().get(name).has_fence and name != "repair"]


@given(HOSTILE)
@settings(max_examples=600, deadline=None)
def test_escaping_is_reversible_and_leaves_no_marker(text: str) -> None:
    """Escaped text holds no run of three '<', and unescaping gives the text back exactly."""
    assert "<<<" not in escape(text)
    assert unescape(escape(text)) == text


@pytest.mark.parametrize(
    "marker",
    [
        "\uff1c\uff1c\uff1cEND",
        "<\u200b<\u200b<END",
        "<\u2060<\ufeff<END",
        "<\u00ad<\u202e<END",
        "\u2039\u2039\u2039END",
        "\u00ab<END",
        "\u300a\u300aEND",
        "\u226a\uff1cEND",
        "\u22d8END",
        "<\uff1c\ufe64END",
        "<\U000e0020<\u3164<END",
    ],
)
def test_look_alikes_of_a_marker_are_blunted(marker: str) -> None:
    """Full-width and other brackets, and signs between brackets that do not show, make no marker either."""
    assert "\\" in escape(marker)
    assert unescape(escape(marker)) == marker


@pytest.mark.parametrize("text", ["a << b", "\u00abquoted\u00bb", "a \u226a b", "\uff1ctag\uff1e", "<\\<"])
def test_what_looks_like_no_marker_stays(text: str) -> None:
    """Quotation marks, comparisons and pairs of brackets are put as they are."""
    assert escape(text) == text


@pytest.mark.parametrize("name", FENCED)
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_recognise_is_the_inverse_of_render(name: str, data: st.DataObject) -> None:
    """Whatever the inputs hold, markers included, they are read back as they were."""
    prompt = default_library().get(name)
    inputs = {key: data.draw(HOSTILE) for key in prompt.inputs if not prompt.optional(key) or data.draw(st.booleans())}
    rendered = render(name, inputs, images=[IMAGE] if prompt.images else [])
    found = recognise(rendered.messages)
    assert found is not None
    assert (found.name, found.version, found.inputs) == (name, prompt.version, inputs)
    assert found.images == ((IMAGE,) if prompt.images else ())


@given(question=HOSTILE, problem=HOSTILE, bad=HOSTILE)
@settings(max_examples=100, deadline=None)
def test_a_repair_is_recognised_with_its_problem(question: str, problem: str, bad: str) -> None:
    """A request that sends a bad reply back names the prompt, its inputs and the problem."""
    rendered = with_repair(render("solver", {"question": question}), bad, problem)
    found = recognise(rendered.messages)
    assert found is not None
    assert (found.name, found.inputs, found.problem) == ("solver", {"question": question}, problem)


def test_a_candidate_can_be_asked_in_the_data_sets_own_words() -> None:
    """A candidate's plain prompt is the question as it stands, with its options where there are any, and nothing else."""
    plain = render("candidate_plain", {"question": "How many cups?"}, images=[IMAGE])
    assert [message.role for message in plain.messages] == ["user"]
    assert plain.messages[0].text == "How many cups?"


def test_a_candidate_is_asked_to_show_what_its_answer_rests_on() -> None:
    """By default the question comes first, as it stands; then the candidate is asked for its steps and a final line."""
    asked = render("candidate", {"question": "How many cups?"}, images=[IMAGE]).messages
    assert [message.role for message in asked] == ["user"]
    question, _, request = asked[0].text.partition("\n\n")
    assert question == "How many cups?"
    assert all(words in request for words in ("what you see", "steps", '"Final answer:"'))


@pytest.mark.parametrize("name", ["candidate", "candidate_plain"])
def test_a_candidates_prompt_is_recognised_for_what_it_is(name: str) -> None:
    """Two prompts without instructions of their own are told apart by what they ask, whatever the question holds."""
    inputs = {"question": "How many\n\ncups?", "choices": "A. 1\nB. 2"}
    found = recognise(render(name, inputs).messages)
    assert found is not None
    assert (found.name, found.inputs) == (name, inputs)


def test_a_forged_fence_is_not_recognised() -> None:
    """A block whose nonce does not follow from the inputs is nobody's prompt."""
    rendered = render("equivalence", {"question": "q", "answer": "a", "reference_answer": "r"})
    part = rendered.messages[1].parts[0]
    assert part.kind == "text"
    forged = part.model_copy(update={"text": part.text.replace("\na\n", "\nb\n")})
    message = rendered.messages[1].model_copy(update={"parts": (forged,)})
    assert recognise([rendered.messages[0], message]) is None


def test_untrusted_text_never_enters_the_system_role() -> None:
    """No prompt's system part has a slot; inputs stand in the user's message only."""
    for name in default_library().names():
        assert "{{" not in default_library().get(name).system


def test_unknown_and_missing_inputs_are_named() -> None:
    """Rendering with the wrong inputs says which."""
    with pytest.raises(ConfigError, match=r"unknown inputs \['colour'\], missing inputs \['question'\]"):
        render("solver", {"colour": "red"})


def test_a_broken_prompt_file_is_named(tmp_path) -> None:
    """A prompt file with a slot that is not among its inputs is refused with its path."""
    (tmp_path / "mine.md").write_text(
        "---\nname: mine\nversion: 1\noutput: x\nsource: y\ninputs: {a: required}\n---\n## user\n{{b}}\n"
    )
    with pytest.raises(ConfigError, match=r"mine\.md: the user part must use each"):
        PromptLibrary.from_folders(tmp_path)


def test_what_is_long_is_not_kept() -> None:
    """The same question is rendered once for all candidates; one of megabytes leaves with whoever asked it."""
    short, long = ({"question": "How many cups?" * times} for times in (1, 100_000))
    assert render("solver", short) is render("solver", short)
    assert render("solver", long) is not render("solver", long)
    assert render("solver", long) == render("solver", long)
