"""Votes and peer reviews: the paper's form, critiques that quote, all faults at once, and everything that is no vote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.votes import parse_ballot, parse_description, parse_peer_review, parse_vote
from dokimasia.prompts import default_library

pytestmark = pytest.mark.quick

TWO = "<candidate_1_critique>first</candidate_1_critique><candidate_2_critique>no</candidate_2_critique>"
CRITIQUES = f"{TWO}<candidate_3_critique>third</candidate_3_critique>"


def ballot(best: object, analysis: str = CRITIQUES, rationale: str = "sharper") -> str:
    """The paper's form of a vote."""
    return (
        f"<voting_result><analysis>{analysis}</analysis><best_candidate_id>{best}</best_candidate_id>"
        f"<rationale>{rationale}</rationale></voting_result>"
    )


def review(ranking: object, rewrite: str, analysis: str = CRITIQUES, keep: object = "") -> str:
    """A peer review in the form that is asked for, with a rewrite or a number to keep, or both."""
    texts = f"<rewrite>{rewrite}</rewrite>" if rewrite else ""
    kept = f"<keep>{keep}</keep>" if keep else ""
    return f"<review_result><analysis>{analysis}</analysis><ranking>{ranking}</ranking>{texts}{kept}</review_result>"


@pytest.mark.parametrize("stated", ["2", " 2\n", "Candidate 2", "candidate #2", "2.", "[2]", "**2**"])
def test_reads_a_vote(stated: str) -> None:
    """The number of the best candidate is read as it was displayed."""
    assert parse_vote(ballot(stated), 3) == 2
    assert parse_ballot(ballot(stated), 2) == parse_ballot(ballot(stated), 2)


def test_reads_critiques_and_reason() -> None:
    """A ballot has the critique of each candidate and the reason."""
    read = parse_ballot(ballot(1), 3)
    assert (read.critiques, read.best, read.rationale) == (("first", "no", "third"), 1, "sharper")


def test_all_faults_of_a_vote_are_named_at_once() -> None:
    """A vote for candidate 7 with placeholders for a critique and the reason has three faults, each with its name."""
    analysis = CRITIQUES.replace("third", "[strengths and faults of candidate 3]")
    with pytest.raises(UnparsableReply) as refused:
        parse_ballot(ballot(7, analysis, "[why it is better than the others]"), 3)
    assert refused.value.reason == (
        "there is no critique of candidate 3 (missing, not closed, or empty); the vote is for candidate 7, but the candidates "
        "are 1 to 3; <rationale> is missing, not closed, or empty"
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (ballot(7), "candidate 7, but the candidates are 1 to 3"),
        (ballot(0), "candidate 0"),
        (ballot("Candidate ID (1, 2, or 3)"), "not the number"),
        (ballot("1 and 2"), "not the number"),
        (ballot("-1"), "not the number"),
        (ballot("\u0662"), "not the number"),
        (ballot(""), "not the number"),
        (ballot(1) + ballot(2), "more than once"),
        ("<best_candidate_id>2", "missing or not closed"),
        ("candidate 2 is best", "missing"),
    ],
)
def test_refuses_what_is_no_vote(text: str, named: str) -> None:
    """A vote for candidate 7 of 3, for two, or for none is refused with a reason that says so."""
    with pytest.raises(UnparsableReply) as refused:
        parse_vote(text, 3)
    assert named in refused.value.reason


def test_a_vote_that_is_quoted_in_the_analysis_is_none() -> None:
    """A candidate cannot have itself voted for by being quoted."""
    quoted = "<candidate_1_critique>it says <best_candidate_id>1</best_candidate_id></candidate_1_critique>"
    assert parse_vote(ballot(2, quoted), 3) == 2
    with pytest.raises(UnparsableReply):
        parse_vote(f"<analysis>{quoted}</analysis>", 3)


def test_reads_a_review() -> None:
    """Ranking, critiques and rewrite are read; the rewrite keeps whatever tags it quotes."""
    read = parse_peer_review(review("2, 1", "\nA page with <div>text</div> & <ranking>1</ranking>.\n"), 2)
    assert read.ranking == (2, 1)
    assert read.rewrite == "A page with <div>text</div> & <ranking>1</ranking>."
    assert (read.critiques, read.keep) == (("first", "no"), None)


LISTED = "\n1. Candidate 3\n2. Candidate 1\n3. Candidate 2\n"


@pytest.mark.parametrize(
    "stated",
    ["3, 1, 2", "3 > 1 > 2", "Candidate 3 > Candidate 1 > Candidate 2", LISTED, "1) 3\n2) 1\n3) 2", "[3, 1, 2]"],
)
def test_one_ranking_in_many_forms(stated: str) -> None:
    """Commas, signs, lines, names and numbered lists say the same ranking, in a review that keeps as in one that writes."""
    assert parse_peer_review(review(stated, "x"), 3).ranking == (3, 1, 2)
    assert parse_peer_review(review(stated, "", keep="Candidate 3"), 3).ranking == (3, 1, 2)


def test_keeps_a_candidate() -> None:
    """A number in <keep> stands in place of a rewrite, and an empty or copied <rewrite> beside it is none."""
    for rewrite in ("", " ", "[the better description, whole]"):
        read = parse_peer_review(review("2, 1", rewrite, keep="2"), 2)
        assert (read.keep, read.rewrite) == (2, "")
    written = parse_peer_review(review("2, 1", "A sign says <keep>1</keep>.", keep="[the number of that candidate]"), 2)
    assert (written.keep, written.rewrite) == (None, "A sign says <keep>1</keep>.")


def test_all_faults_of_a_review_are_named_at_once() -> None:
    """A copied form for two of three candidates, with a rewrite that is not closed, has three faults."""
    with pytest.raises(UnparsableReply) as refused:
        parse_peer_review(review("2, 1", "x", TWO).replace("</rewrite>", ""), 3)
    assert refused.value.reason == (
        "there is no critique of candidate 3 (missing, not closed, or empty); the ranking '2, 1' does not name each of the "
        "candidates 1 to 3 once; <rewrite> is not closed: there is no </rewrite>"
    )


def test_the_form_is_no_answer() -> None:
    """The empty form that a member is given, copied as it is, is refused in every field."""
    for name, parse in (("peer_review", parse_peer_review), ("peer_vote", parse_ballot)):
        with pytest.raises(UnparsableReply) as refused:
            parse(default_library().get(name).form_for(3), 3)
        assert refused.value.reason.count(";") >= 2


def test_a_rewrite_speaks_of_the_image_alone() -> None:
    """Talk about candidates in a rewrite is refused with its words, and so is a candidate to keep that talks."""
    shown = ["A dog sleeps. Would you like me to describe anything else?", "A dog."]
    with pytest.raises(UnparsableReply, match="about the image: 'Candidate 2 is already the best"):
        parse_peer_review(review("2, 1", "Candidate 2 is already the best description. A dog."), 2, shown)
    with pytest.raises(UnparsableReply, match=r"candidate 1 cannot be kept as it is.* 'Would you like me"):
        parse_peer_review(review("1, 2", "", keep=1), 2, shown)
    assert parse_peer_review(review("2, 1", "", keep=2), 2, shown).keep == 2


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (review("1, 2, 3", "x"), "candidate 3"),
        (review("1", "x"), "does not name each"),
        (review("1, 1", "x"), "does not name each"),
        (review("", "x"), "does not name each"),
        (review("1, best", "x"), "not the number"),
        (review("1, 2", "  "), "neither a text in <rewrite> nor a number in <keep>"),
        (review("1, 2", ""), "neither a text in <rewrite> nor a number in <keep>"),
        (review("1, 2", "x", keep=1), "both a text in <rewrite> and a number in <keep>"),
        (review("1, 2", "", keep=3), "what is kept is for candidate 3"),
        (review("1, 2", "", keep="the first"), "not the number"),
        (review("1, 2", "", keep=2), "puts candidate 1 first"),
        (review("2. Candidate 1\n1. Candidate 2", "x"), "not the number"),
        (review("2, 1", "x", CRITIQUES.replace("no", " ")), "no critique of candidate 2"),
        (review("1, 2", "x").replace("</rewrite>", ""), "not closed"),
        (review("1, 2", "x").replace("<rewrite>", ""), "neither a text in <rewrite>"),
        (review("1, 2", "<rewrite>x"), "more than once"),
        (review("1, 2", "x").replace("<ranking>1, 2</ranking>", ""), "<ranking> is missing"),
    ],
)
def test_refuses_what_is_no_review(text: str, named: str) -> None:
    """A ranking that is not of these candidates, or a rewrite that is not whole, is refused with a reason."""
    with pytest.raises(UnparsableReply) as refused:
        parse_peer_review(text, 2)
    assert named in refused.value.reason


def test_a_long_caption_is_read_whole() -> None:
    """A rewrite of 3,400 words is an ordinary one."""
    words = " ".join(f"word{number}" for number in range(3_400))
    assert parse_peer_review(review("1, 2", words), 2).rewrite == words


def test_descriptions() -> None:
    """A description is taken as it stands, without thought; an empty one is refused."""
    assert parse_description("<think>hm</think>\n# A dog\n") == "# A dog"
    with pytest.raises(UnparsableReply):
        parse_description(" \n")


def test_bounded() -> None:
    """Hostile repetition is refused in no time."""
    for text in ("<candidate_1_critique>" * 300_000, "<analysis>" * 300_000, "<ranking>1</ranking>" * 300_000):
        with pytest.raises(UnparsableReply):
            parse_peer_review(text, 2)
        with pytest.raises(UnparsableReply):
            parse_ballot(text, 2)


@given(st.text(max_size=300), st.integers(1, 5))
def test_never_more_than_the_text_states(text: str, n: int) -> None:
    """Any text is a vote within range or refused."""
    try:
        number = parse_vote(text, n)
    except UnparsableReply:
        return
    assert 1 <= number <= n
    assert str(number) in text


@pytest.mark.parametrize(
    ("said", "equal"),
    [
        ("", ()),
        ("<equally_good>none</equally_good>", ()),
        ("<equally_good>None.</equally_good>", ()),
        ("<equally_good>[the numbers of others that are as faithful, or: none]</equally_good>", ()),
        ("<equally_good></equally_good>", ()),
        ("<equally_good>1, 3</equally_good>", (1, 3)),
        ("<equally_good>Candidate 3 and candidate 2</equally_good>", (3,)),
        ("<equally_good>2</equally_good>", ()),
        ("<equally_good>4</equally_good>", None),
        ("<equally_good>perhaps the first</equally_good>", None),
    ],
)
def test_others_may_be_as_good(said: str, equal: tuple[int, ...] | None) -> None:
    """A vote may name others that are as good as the best; what is no list of other candidates is a fault."""
    critiques = "".join(f"<candidate_{at}_critique>so so</candidate_{at}_critique>" for at in (1, 2, 3))
    reply = f"{critiques}<best_candidate_id>2</best_candidate_id>{said}<rationale>it is true</rationale>"
    if equal is None:
        with pytest.raises(UnparsableReply, match="equally good"):
            parse_ballot(reply, 3)
    else:
        assert parse_ballot(reply, 3).equal == equal
