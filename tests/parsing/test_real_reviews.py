"""What real members of a panel wrote: every recorded comparison and vote is read, or refused for the same reasons as others."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.remarks import remarks
from dokimasia.parsing.votes import parse_ballot, parse_peer_review
from dokimasia.prompts.fence import fenced_pieces

OPENINGS = {"peer_review": "You are one of several reviewers", "peer_vote": "You vote for the best"}

NO_CRITIQUE = "there is no critique of candidate {} (missing, not closed, or empty)"
NO_REASON = "<rationale> is missing, not closed, or empty"
NOT_CLOSED = "<rewrite> is not closed: there is no </rewrite>"
REFUSED = {
    "b28": f"{NO_CRITIQUE.format(3)}; the ranking '2, 1' does not name each of the candidates 1 to 3 once",
    "b36": NO_CRITIQUE.format(3),
    "b38": f"{NO_CRITIQUE.format('1, 2, 3')}; <best_candidate_id> is missing or not closed; {NO_REASON}",
    "b39": "not all of the rewrite is about the image: 'Candidate 1 is already the best descrip…'",
    "b40": f"{NO_CRITIQUE.format('1, 2, 3')}; {NO_REASON}",
    "b44": NOT_CLOSED,
    "b45": NOT_CLOSED,
}
"""By model's letter and number: a form for two of three, a vote in words, talk about candidates, a rewrite without an end."""


@pytest.fixture
def exchanges(shared_data: Path) -> list[dict[str, Any]]:
    """The recorded exchanges; skipped where they are not present."""
    path = shared_data / "rehearsal" / "exchanges.jsonl"
    if not path.exists():
        pytest.skip(f"no recorded exchanges at {path}")
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def shown_in(exchange: dict[str, Any]) -> list[str]:
    """The candidates that a member was shown."""
    shown = {piece.name: piece.text for piece in fenced_pieces(exchange["messages"][1]["text"])}
    return [row["text"] for row in orjson.loads(shown["candidates"])]


def test_every_recorded_reply(exchanges: list[dict[str, Any]]) -> None:
    """Of 30 replies 23 are read; a slip is refused wherever it occurs, with all that is wrong named, and nothing else is."""
    refused: dict[str, str] = {}
    read = 0
    for exchange in exchanges:
        opening = exchange["messages"][0]["text"]
        name = next((name for name, text in OPENINGS.items() if opening.startswith(text)), None)
        if name is None:
            continue
        shown, reply = shown_in(exchange), exchange["reply"]
        try:
            if name == "peer_review":
                said = parse_peer_review(reply, len(shown), shown)
                assert sorted(said.ranking) == list(range(1, len(shown) + 1))
                assert said.rewrite
            else:
                parse_ballot(reply, len(shown))
        except UnparsableReply as problem:
            refused[f"{exchange['model'].removeprefix('real-')[0]}{exchange['number']}"] = problem.reason
        else:
            read += 1
    assert read == 23
    assert refused.keys() == REFUSED.keys()
    assert all(reason.startswith(REFUSED[name]) for name, reason in refused.items()), refused


def test_the_numbered_list_is_a_ranking(exchanges: list[dict[str, Any]]) -> None:
    """The reply that lost its image for a ranking in lines is read as soon as its rewrite is closed."""
    (exchange,) = (one for one in exchanges if (one["model"], one["number"]) == ("real-b", 44))
    closed = f"{exchange['reply']}</rewrite></review_result>"
    assert parse_peer_review(closed, 3, shown_in(exchange)).ranking == (3, 1, 2)


def test_no_recorded_draft_is_taken_for_talk(exchanges: list[dict[str, Any]]) -> None:
    """Of the drafts of real models only the one that offers to go on has a remark in it."""
    drafts = [one for one in exchanges if one["messages"][0]["text"].startswith("You describe an image")]
    assert len(drafts) == 9
    assert [one["number"] for one in drafts if remarks(one["reply"])] == [13]
