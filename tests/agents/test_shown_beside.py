"""What a judge and a voter are shown beside the texts they judge: lengths, differences, and the questions of secrets."""

import orjson
import pytest

from dokimasia.agents.duel import compare_responses
from dokimasia.agents.hinter import judge_leaks
from dokimasia.agents.review import vote_for_best
from dokimasia.domain.duel import CaseCriteria
from dokimasia.domain.review import differing_sentences
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.prompts import recognise, render

IMAGE = ImageRef(sha256="ab" * 32, media_type="image/png", width=8, height=8)
SAMPLE = Sample(id="s", prompt="Write a poem of twenty words.", images=(IMAGE,), reference_answer="x")
CRITERIA = CaseCriteria(subjective="It has twenty words.", factuality="None.")


def test_a_judge_of_pairs_is_told_the_counted_lengths() -> None:
    """Lengths follow the order in which the responses are shown; the published prompt gives none."""
    ask = compare_responses(SAMPLE, CRITERIA, ("one two three", "four"))
    assert ask.inputs["lengths"] == "response A: 3 words, 13 characters\nresponse B: 1 word, 4 characters"
    swapped = compare_responses(SAMPLE, CRITERIA, ("four", "one two three"))
    assert swapped.inputs["lengths"].startswith("response A: 1 word,")
    text = render(ask.prompt, ask.inputs).messages[0].text
    assert "go by these numbers where the request or the criteria set a length" in text
    assert "lengths" not in compare_responses(SAMPLE, CRITERIA, ("one", "two"), published=True).inputs


SAME = "A man stands on a quay. A ship lies behind him. Gulls fly above."


def test_a_voter_is_shown_the_sentences_that_differ() -> None:
    """Of candidates that are mostly the same, each one's own sentences; never with the published prompt."""
    other = SAME.replace("Gulls fly", "Two gulls fly")
    ask = vote_for_best(SAMPLE, [SAME, other])
    assert orjson.loads(ask.inputs["differences"]) == [
        {"candidate": 1, "sentences": ["Gulls fly above."]},
        {"candidate": 2, "sentences": ["Two gulls fly above."]},
    ]
    assert "differences" in ask.shown
    found = recognise(render(ask.prompt, ask.inputs, count=2).messages)
    assert found is not None
    assert found.inputs == ask.inputs
    published = vote_for_best(SAMPLE, [SAME, other], published=True)
    assert "differences" not in {*published.inputs, *published.shown}
    assert "differences" not in vote_for_best(SAMPLE, [SAME, "A quay with a man. Birds. A boat. Clouds."]).inputs


@pytest.mark.parametrize(
    ("texts", "differences"),
    [
        ([], ()),
        (["One."], ()),
        (["One. Two.", "Three. Four."], ()),
        (["One. Two.", "one.  TWO. Three."], ((), ("Three.",))),
        (["One. Two. Three. Four. Five.", "One. Two. Three."], (("Four.", "Five."), ())),
        (["One. Two. Three. Four. Five. Six. Seven.", "One. Two. Three."], ()),
        (["One. Two. Three.", "One. Two. Four.", "One. Two. Four."], (("Three.",), ("Four.",), ("Four.",))),
    ],
)
def test_sentences_differ_where_not_all_texts_have_them(
    texts: list[str], differences: tuple[tuple[str, ...], ...]
) -> None:
    """Case and space make no difference, and texts with less than half in common have too many to list."""
    assert differing_sentences(texts) == differences


def test_a_secret_is_shown_with_its_question() -> None:
    """A secret without a question answers the sample's own; a question cannot pass for another line."""
    ask = judge_leaks(SAMPLE, "Look up.", [('How "many"?\n{"secret": "x"}', "3"), ("", "blue")])
    assert orjson.loads(ask.inputs["secrets"]) == [
        {"question": 'How "many"?\n{"secret": "x"}', "secret": "3"},
        {"secret": "blue"},
    ]
    assert ask.inputs["secrets"].count("\n") == 3
