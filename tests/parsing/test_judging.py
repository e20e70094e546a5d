"""Rankings of several responses, criteria from differences and scores of aspects: what is stated, or all that is wrong."""

import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.judging.replies import (
    AspectScore,
    parse_aspect_scores,
    parse_batch_ranking,
    parse_compared_criteria,
)
from dokimasia.prompts import default_library

CRITERIA = '[{"criterion": "It names the sign.", "weight": 7}, {"criterion": "It counts the birds.", "weight": 2}]'
ASPECTS = "what is seen | score: [4]\nhow it is reasoned | score: [1]\nwhat is concluded | score: [5]"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Ranking: [[2 > 1 = 3]]", (2, 1, 2)),
        ("**Ranking:** [[3>2>1]]", (3, 2, 1)),
        ("Ranking: [[1 = 2 = 3]]\n\nRanking: [[1=2=3]]", (1, 1, 1)),
        ("<think>[[3 > 2 > 1]]</think>Ranking: [[1 > 2 > 3]]", (1, 2, 3)),
    ],
)
def test_reads_a_ranking(text: str, places: tuple[int, ...]) -> None:
    """Places go by the responses' numbers; equal places are a tie; what was only thought is no ranking."""
    assert parse_batch_ranking(text, 3) == places


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Ranking: [[NUMBERS]]", "there is no ranking"),
        ("2 > 1 > 3", "there is no ranking"),
        ("Ranking: [[2, 1, 3]]", "is no ranking"),
        ("Ranking: [[2 > 1 > 3 ...]]", "is no ranking"),
        ("Ranking: [[A > B > C 1]]", "is no ranking"),
        ("Ranking: [[1 < 2 < 3]]", "is no ranking"),
        ("Ranking: [[1 > 2 > 3]]\nRanking: [[3 > 2 > 1]]", "different rankings"),
        ("It is not [[1 > 2 > 3]]", "stands before"),
        ("Ranking: [[1 > 2 > 3]], or the other way round", "stands behind"),
        ("Ranking: [[1 > 4 > 4]]", "no response 4: they are 1 to 3; more than once ranked: 4; not ranked: 2, 3"),
    ],
)
def test_what_is_no_ranking_is_refused(text: str, reason: str) -> None:
    """Another form, two rankings, a doubt beside it, and numbers that are missing, unknown or double, all named at once."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_batch_ranking(text, 3)


def test_reads_compared_criteria() -> None:
    """Criteria keep their order and weights, with a fence around them or without."""
    read = (("It names the sign.", 7), ("It counts the birds.", 2))
    assert parse_compared_criteria(CRITERIA) == parse_compared_criteria(f"```json\n{CRITERIA}\n```") == read


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It names the sign.", "no complete JSON array"),
        ('[{"criterion": "SENTENCE", "weight": 3}]', "there are 1 criteria, not 2 to 8; criterion 1 is the empty form"),
        (CRITERIA.replace("7", "11"), "criterion 1: the weight 11 is not an integer from 1 to 10"),
        (CRITERIA.replace("7", '"7"'), "criterion 1: the weight '7'"),
        (CRITERIA.replace("7", "7.5"), "criterion 1: the weight 7.5"),
        (CRITERIA.replace("It counts the birds.", "it names the SIGN."), "criterion 2 stands there twice"),
        (CRITERIA.replace("the sign", "more than response 2"), "speaks of a response by its number"),
        (CRITERIA.replace("the sign", "the ~~red~~ sign"), "struck out"),
        (CRITERIA.replace("It names the sign.", " "), "the field 'criterion' is missing, empty"),
        (f"{CRITERIA}\n{CRITERIA.replace('7', '8')}", "more than one JSON array"),
        (f"{CRITERIA}\nThe first response is the best.", "beside the form stands"),
    ],
)
def test_what_are_no_criteria_is_refused(text: str, reason: str) -> None:
    """Every fault of every criterion is named."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_compared_criteria(text)


def test_reads_aspects() -> None:
    """Aspects stand in the judge's own words; bullets and emphasis around them do not count."""
    read = (AspectScore("what is seen", 4), AspectScore("how it is reasoned", 1), AspectScore("what is concluded", 5))
    assert parse_aspect_scores(ASPECTS) == read
    assert parse_aspect_scores("- **" + ASPECTS.replace("\n", "\n2. ").replace(" |", "** |", 1)) == read


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there are 0 aspects, not 3 to 5"),
        (ASPECTS.replace("[4]", "[6]"), "'what is seen' has the score '6', not an integer from 1 to 5"),
        (ASPECTS.replace("[4]", "[4/5]"), "'4/5'"),
        (ASPECTS.replace("[4]", "[8,5]"), "'8,5'"),
        (ASPECTS.replace("[4]", "4"), "is no line of the form"),
        (ASPECTS.replace("what is concluded", "What is seen"), "is scored more than once"),
        (ASPECTS.replace("what is seen", "ASPECT"), "names no aspect"),
        ("\n".join(ASPECTS.splitlines()[:2]), "there are 2 aspects, not 3 to 5"),
        (ASPECTS + "\nOverall it deserves 3.", "beside the form stands"),
    ],
)
def test_what_are_no_aspects_is_refused(text: str, reason: str) -> None:
    """Scores off the scale, aspects without a name or twice, too few of them, and talk beside them are refused."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_aspect_scores(text)


@pytest.mark.parametrize(
    ("prompt", "read"),
    [
        ("batch_ranking", lambda text: parse_batch_ranking(text, 3)),
        ("scan_criteria", parse_compared_criteria),
        ("aspect_scores", parse_aspect_scores),
    ],
)
def test_the_form_of_a_prompt_is_no_reply(prompt: str, read) -> None:
    """A judge that copies its instructions, whole or their last line, has said nothing."""
    system = default_library().get(prompt).system
    for text in (system, system.splitlines()[-1]):
        with pytest.raises(UnparsableReply):
            read(text)
