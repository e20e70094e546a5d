"""What is wrong with a form filled in place by place is said of its places, in their words."""

from functools import partial

from dokimasia.agents.form_faults import faults_in_words, place_faults
from dokimasia.agents.readers import faults_of
from dokimasia.parsing.votes import parse_ballot, parse_peer_review
from tests.agents.test_reply_form import _asked  # pyright: ignore[reportPrivateUsage]


def test_open_places_are_named_all_at_once_without_tags() -> None:
    """An empty comparison says of each place what is to be done there; the reader's tags are not shown."""
    aid, form = _asked("peer_review", partial(parse_peer_review, n=2), 2)
    assert "<ranking>" in faults_of(aid, form.compose({}))
    assert place_faults(form, aid, {}) == {
        "0": "write something here",
        "1": "write something here",
        "2": "choose a ranking",
        "3": "choose one of the two",
    }
    assert faults_in_words(form, aid, {}) == (
        "Candidate 1 critique: write something here; Candidate 2 critique: write something here; "
        "Ranking: choose a ranking; Keep: choose one of the two"
    )


def test_half_a_ranking_and_a_rewrite_that_is_empty() -> None:
    """What is missing in a ranking is named, and of the two ways on the one that was chosen."""
    aid, form = _asked("peer_review", partial(parse_peer_review, n=2), 2)
    said = {"0": ["wrong colour"], "1": ["all right"]}
    assert place_faults(form, aid, {**said, "2": ["2", ""], "3": ["first"]}) == {
        "2": "the ranking has no place for 1 yet"
    }
    assert place_faults(form, aid, {**said, "2": ["2", "2"], "3": [""]}) == {
        "2": "each number stands once in the ranking",
        "4": "write something here",
    }
    assert place_faults(form, aid, {**said, "2": ["2", "1"], "3": ["first"]}) == {}


def test_a_place_that_may_stay_empty_is_not_asked_for() -> None:
    """Nobody as good as the best is an answer; the best one is needed."""
    aid, form = _asked("peer_vote", partial(parse_ballot, n=2), 2)
    named = place_faults(form, aid, {"0": ["fine"], "1": ["fine"]})
    assert named == {"2": "choose one", "4": "write something here"}
