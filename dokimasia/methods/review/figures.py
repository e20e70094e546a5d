"""What a peer review came to: accepted, discarded, incomplete; self-preference; places; golden captions and their origins."""

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median
from typing import Any, get_args

from dokimasia.algorithms.self_preference import (
    OwnVotes,
    Round,
    SelfPreference,
    own_votes,
    place_rates,
    self_preference,
)
from dokimasia.algorithms.statistics import Interval
from dokimasia.algorithms.text.similarity import substance
from dokimasia.domain.judgement import OPEN_KINDS
from dokimasia.domain.review import (
    MIN_VOTES,
    Candidate,
    GoldenCaption,
    LostTurn,
    Part,
    PeerReview,
    PeerVote,
    ReviewRecord,
)
from dokimasia.methods.review.request import ReviewPlan
from dokimasia.runs.figures import counted, heading, paid
from dokimasia.runs.reading.rates import limits, rounded, share
from dokimasia.storage.decisions import standings
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.reviews import ReviewedValue, golden_captions, made_values
from dokimasia.storage.runs import Run, load_samples, run_samples


def review_figures(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a review, ready for JSON; the same stored rows give the same bytes."""
    plan = ReviewPlan.model_validate(run.options["plan"])
    run_id, panel = run.id, plan.names
    places = run_samples(home, run_id)
    clusters = {place.sample_id: place.cluster for place in places}
    records = made_values(home, run_id, ReviewRecord)
    verdicts = Counter(record.verdict for _, record in records)
    complete = [(made, record) for made, record in records if record.verdict != "incomplete"]
    shared = [clusters[made.sample_id] for made, _ in complete]
    unknown = len(places) - len(complete)
    failed = [record for _, record in records if record.verdict == "incomplete"]
    golden = [row.caption for row in golden_captions(home, run_id)]
    votes = made_values(home, run_id, PeerVote)
    reviews = made_values(home, run_id, PeerReview)
    return {
        **heading(run, plan),
        "panel": list(panel),
        "cycles": plan.cycles,
        "accept": plan.accept,
        "request": plan.request,
        "protocol": plan.protocol,
        "n": len(places),
        "images": len({image.sha256 for sample in load_samples(home, run_id) for image in sample.images}),
        "n_complete": len(complete),
        "open_items": len(places) - len(records),
        "coverage": rounded(len(complete) / len(places)) if places else None,
        "verdicts": {name: verdicts[name] for name in ("accepted", "discarded", "incomplete")},
        "accepted": share([record.verdict == "accepted" for _, record in complete], shared, unknown=unknown),
        "discarded": share([record.verdict == "discarded" for _, record in complete], shared, unknown=unknown),
        "agreement": counted(one.agreement for one in golden),
        "accepted_by_cycle": counted(one.cycle for one in golden),
        "failures": counted(one.failure for one in failed if one.failure),
        "failed_members": counted(one.failed_member for one in failed if one.failed_member),
        "kept": share([review.kept for _, review in reviews], [made.cluster for made, _ in reviews]),
        "turns": _turns(home, run_id, panel),
        "self_preference": {
            "votes": _preferences(vote_rounds(home, run_id), panel, seed=run.seed),
            "first_ranks": _preferences(rank_rounds(home, run_id), panel, seed=run.seed),
        },
        "places": {
            "panel": _places(votes),
            "members": {name: _places([one for one in votes if one[1].voter == name]) for name in panel},
        },
        "golden": _golden(golden, panel) | {"checked": counted(caption_states(home, run_id).values())},
        **paid(home, results(home, run_id)),
    }


def vote_rounds(home: Home, run_id: str) -> list[Round]:
    """Return the votes of a run, a round for each sample and cycle in which two or more voted, texts by content."""
    made = made_values(home, run_id, PeerVote)
    return _rounds(home, run_id, [(one, vote.voter, vote, vote.choice) for one, vote in made])


def rank_rounds(home: Home, run_id: str) -> list[Round]:
    """Return the rankings of a run as choices of what stands first, a round for each sample and cycle."""
    made = made_values(home, run_id, PeerReview)
    return _rounds(home, run_id, [(one, review.reviewer, review, review.ranking[0]) for one, review in made])


def _rounds(
    home: Home, run_id: str, chosen: Sequence[tuple[ReviewedValue, str, PeerVote | PeerReview, str]]
) -> list[Round]:
    """Return what members chose as rounds, from each choice with who made it, and what it is a part of."""
    texts = {made.id: candidate for made, candidate in made_values(home, run_id, Candidate)}
    writers: dict[tuple[str, str], set[str]] = {}
    for one in texts.values():
        writers.setdefault((one.sample, substance(one.text)), set()).add(one.author)
    found: dict[tuple[str, str, int], dict[str, str]] = {}
    shown: dict[tuple[str, str, int], tuple[str, ...]] = {}
    for made, member, value, choice in chosen:
        place = (made.sample_id, made.cluster, value.cycle)
        found.setdefault(place, {})[member] = texts[choice].text
        shown.setdefault(place, value.shown)
    return [
        Round(
            dict(sorted(choices.items())),
            {
                text.text: sorted(writers[text.sample, substance(text.text)])
                for text in map(texts.__getitem__, shown[place])
            },
            place[1],
        )
        for place, choices in found.items()
        if len(choices) >= MIN_VOTES
    ]


def caption_states(home: Home, run_id: str) -> dict[str, str]:
    """Return how each golden caption of a run stands, by its id: unverified, or what a person decided."""
    checked = {one.item.subject: one.state for one in standings(home, run_id, kind="caption")}
    states = {row.id: checked.get(row.id, "waiting") for row in golden_captions(home, run_id)}
    return {id: "unverified" if state == "waiting" else state for id, state in states.items()}


def _turns(home: Home, run_id: str, panel: Sequence[str]) -> dict[str, Any]:
    """Return, by member and by what it was to do, how many turns it had and how many of them came to nothing.

    A turn that is still to come is none.
    """
    lost = [one for _, one in made_values(home, run_id, LostTurn) if one.failure not in OPEN_KINDS]
    missing = Counter((one.member, one.part) for one in lost)
    had = missing + Counter(
        [
            *((one.author, "describe") for _, one in made_values(home, run_id, Candidate) if one.cycle == 0),
            *((one.reviewer, "compare") for _, one in made_values(home, run_id, PeerReview)),
            *((one.voter, "vote") for _, one in made_values(home, run_id, PeerVote)),
        ]
    )
    return {
        name: {part: {"n": had[name, part], "lost": missing[name, part]} for part in get_args(Part)}
        | {"failures": counted(one.failure for one in lost if one.member == name)}
        for name in panel
    }


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
    return {"share": _rounded(found.share), **_limits(found.interval), "n": found.n}


def _preference(found: SelfPreference) -> dict[str, Any]:
    rates = {name: _rounded(getattr(found, name)) for name in ("own", "others", "difference")}
    return {**rates, **_limits(found.interval), "n": found.n}


def _limits(interval: Interval | None) -> dict[str, Any]:
    return {"low": None, "high": None} if interval is None else limits(interval)


def _places(votes: Sequence[tuple[ReviewedValue, PeerVote]]) -> list[dict[str, Any]]:
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
            **_limits(one.interval),
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
        "without_vote": sum(not caption.votes for caption in captions),
        "lost_votes": sum(caption.lost > 0 for caption in captions),
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
    return None if value is None else rounded(value) + 0.0
