"""What a peer review came to: accepted, discarded, incomplete; self-preference; places; golden captions and their origins."""

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median
from typing import Any

from dokimasia.algorithms.self_preference import (
    OwnVotes,
    Round,
    SelfPreference,
    own_votes,
    place_rates,
    self_preference,
)
from dokimasia.domain.review import Candidate, GoldenCaption, PeerReview, PeerVote, ReviewRecord
from dokimasia.runs.reading.rates import share
from dokimasia.storage.decisions import standings
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import Made, golden_captions, made_values
from dokimasia.storage.runs import run_samples

DIGITS = 6


def review_figures(home: Home, run_id: str, *, panel: Sequence[str], seed: int) -> dict[str, Any]:
    """Return the figures of a review, ready for JSON.

    Returns:
        What `shape.ReviewFigures` describes, less what all runs say.
    """
    places = run_samples(home, run_id)
    clusters = {place.sample_id: place.cluster for place in places}
    records = made_values(home, run_id, ReviewRecord)
    verdicts = Counter(record.verdict for _, record in records)
    complete = [(made, record) for made, record in records if record.verdict != "incomplete"]
    by_image = [clusters[made.sample_id] for made, _ in complete]
    unknown = len(places) - len(complete)
    failed = [record for _, record in records if record.verdict == "incomplete"]
    golden = [row.caption for row in golden_captions(home, run_id)]
    votes = made_values(home, run_id, PeerVote)
    return {
        "n": len(places),
        "n_complete": len(complete),
        "open_items": len(places) - len(records),
        "coverage": round(len(complete) / len(places), DIGITS) if places else None,
        "verdicts": {name: verdicts[name] for name in ("accepted", "discarded", "incomplete")},
        "accepted": share([record.verdict == "accepted" for _, record in complete], by_image, unknown=unknown),
        "discarded": share([record.verdict == "discarded" for _, record in complete], by_image, unknown=unknown),
        "agreement": dict(sorted(Counter(one.agreement for one in golden).items())),
        "accepted_by_cycle": {str(cycle): n for cycle, n in sorted(Counter(one.cycle for one in golden).items())},
        "failures": dict(sorted(Counter(record.failure for record in failed if record.failure).items())),
        "failed_members": dict(sorted(Counter(one.failed_member for one in failed if one.failed_member).items())),
        "self_preference": {
            "votes": _preferences(vote_rounds(home, run_id), panel, seed=seed),
            "first_ranks": _preferences(rank_rounds(home, run_id), panel, seed=seed),
        },
        "places": {
            "panel": _places(votes),
            "members": {name: _places([one for one in votes if one[1].voter == name]) for name in panel},
        },
        "golden": _golden(golden, panel) | {"checked": _counted_states(home, run_id)},
    }


def vote_rounds(home: Home, run_id: str) -> list[Round]:
    """Return the votes of a run, a round for each sample and cycle in which every member voted, texts by content."""
    texts = _texts(home, run_id)
    found: dict[tuple[str, int], dict[str, PeerVote]] = {}
    where: dict[str, str] = {}
    for made, vote in made_values(home, run_id, PeerVote):
        found.setdefault((made.sample_id, vote.cycle), {})[vote.voter] = vote
        where[made.sample_id] = made.cluster
    rounds: list[Round] = []
    for (sample_id, _), votes in found.items():
        shown = next(iter(votes.values())).shown
        if len(votes) == len(shown):
            choices = {voter: texts[vote.choice].text for voter, vote in sorted(votes.items())}
            rounds.append(Round(choices, _authors(shown, texts), where[sample_id]))
    return rounds


def rank_rounds(home: Home, run_id: str) -> list[Round]:
    """Return the rankings of a run as choices of what stands first, a round for each sample and cycle."""
    texts = _texts(home, run_id)
    found: dict[tuple[str, int], dict[str, PeerReview]] = {}
    where: dict[str, str] = {}
    for made, review in made_values(home, run_id, PeerReview):
        found.setdefault((made.sample_id, review.cycle), {})[review.reviewer] = review
        where[made.sample_id] = made.cluster
    rounds: list[Round] = []
    for (sample_id, _), reviews in found.items():
        shown = next(iter(reviews.values())).shown
        if len(reviews) == len(shown):
            choices = {reviewer: texts[one.ranking[0]].text for reviewer, one in sorted(reviews.items())}
            rounds.append(Round(choices, _authors(shown, texts), where[sample_id]))
    return rounds


def caption_states(home: Home, run_id: str) -> dict[str, str]:
    """Return how each golden caption of a run stands, by its id: unverified, or what a person decided."""
    checked = {one.item.subject: one.state for one in standings(home, run_id, kind="caption")}
    states = {row.id: checked.get(row.id, "waiting") for row in golden_captions(home, run_id)}
    return {id: "unverified" if state == "waiting" else state for id, state in states.items()}


def _counted_states(home: Home, run_id: str) -> dict[str, int]:
    return dict(sorted(Counter(caption_states(home, run_id).values()).items()))


def _texts(home: Home, run_id: str) -> dict[str, Candidate]:
    return {made.id: candidate for made, candidate in made_values(home, run_id, Candidate)}


def _authors(shown: Sequence[str], texts: dict[str, Candidate]) -> dict[str, list[str]]:
    authors: dict[str, list[str]] = {}
    for candidate in sorted((texts[id] for id in shown), key=lambda one: one.author):
        authors.setdefault(candidate.text, []).append(candidate.author)
    return authors


def _preferences(rounds: Sequence[Round], panel: Sequence[str], *, seed: int) -> dict[str, Any]:
    vain = own_votes(rounds, panel)
    return {
        "rounds": len(rounds),
        "panel": _preference(self_preference(rounds, seed=seed)),
        "members": {
            name: _preference(self_preference(rounds, name, seed=seed)) | {"own_votes": _own_votes(vain[name])}
            for name in panel
        },
    }


def _own_votes(found: OwnVotes) -> dict[str, Any]:
    return {
        "share": _rounded(found.share),
        "low": _rounded(found.interval.low if found.interval else None),
        "high": _rounded(found.interval.high if found.interval else None),
        "n": found.n,
    }


def _preference(found: SelfPreference) -> dict[str, Any]:
    return {
        "own": _rounded(found.own),
        "others": _rounded(found.others),
        "difference": _rounded(found.difference),
        "low": _rounded(found.interval.low if found.interval else None),
        "high": _rounded(found.interval.high if found.interval else None),
        "n": found.n,
    }


def _places(votes: Sequence[tuple[Made, PeerVote]]) -> list[dict[str, Any]]:
    rates = place_rates(
        [vote.place for _, vote in votes],
        [len(vote.shown) for _, vote in votes],
        clusters=[made.cluster for made, _ in votes],
    )
    return [
        {
            "place": one.place,
            "chosen": _rounded(one.chosen),
            "expected": _rounded(one.expected),
            "low": _rounded(one.interval.low),
            "high": _rounded(one.interval.high),
            "n": one.n,
        }
        for one in rates
    ]


def _golden(captions: Sequence[GoldenCaption], panel: Sequence[str]) -> dict[str, Any]:
    words = [len(caption.text.split()) for caption in captions]
    origins = [origin for caption in captions for origin in caption.origins]
    drafted = [{origin.author, *origin.also} for origin in origins if origin.cycle == 0]
    written = Counter(caption.author for caption in captions)
    return {
        "n": len(captions),
        "words": {"mean": _rounded(mean(words)), "median": _rounded(median(words)), "max": max(words)}
        if words
        else None,
        "last_author": {name: written[name] for name in panel},
        "sentences": len(origins),
        "in_draft_of": {name: sum(name in authors for authors in drafted) for name in panel},
        "only_in_draft_of": {name: sum(authors == {name} for authors in drafted) for name in panel},
        "added_in_rewrites": len(origins) - len(drafted),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS) + 0.0
