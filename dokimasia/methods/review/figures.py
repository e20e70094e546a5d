"""The figures of a peer review: outcomes, self-preference, positions, golden captions and their origins."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean, median
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from dokimasia.algorithms import self_preference as preferences
from dokimasia.algorithms.self_preference import OwnVotes, Round, SelfPreference
from dokimasia.algorithms.text.similarity import substance
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import OPEN_KINDS
from dokimasia.domain.options import Protocol
from dokimasia.domain.review import (
    MIN_VOTES,
    Candidate,
    GoldenCaption,
    LostTurn,
    Part,
    PeerReview,
    PeerVote,
    ReviewRecord,
    Rule,
    Verdict,
)
from dokimasia.methods.review.request import ReviewPlan
from dokimasia.people.checks import ReasonFigures, reason_figures
from dokimasia.report.fields import (
    Count,
    Counts,
    Coverage,
    Display,
    Failures,
    Fraction,
    IntervalMethod,
    LeftOpen,
    NoInterval,
    Share,
    Used,
)
from dokimasia.report.figures import share
from dokimasia.runs.figure_models import DataFigures
from dokimasia.runs.figures import calls_and_costs, count_by_kind, counts_by_name, heading, ordered_rows
from dokimasia.runs.measures import failure_fields, limits, ratio, rounded, share_of_hits
from dokimasia.storage.decisions import standings
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_value
from dokimasia.storage.results import results
from dokimasia.storage.reviews import ReviewedValue, golden_captions, made_values
from dokimasia.storage.runs import Run, load_samples, run_samples

_MARKDOWN = re.compile(r"^(?:#{1,6} |\s*(?:[-*+]|[0-9]{1,3}[.)]) )|\*\*[^*\n]+\*\*", re.MULTILINE)
"""Markup that makes a caption structured: a heading, a list entry, or bold words (PerceptionRubrics, appendix D)."""

CheckState = Literal["unverified", "accepted", "edited", "rejected"]
"""State of a golden caption after a person's decision."""


class Preference(Value):
    """How often authors choose their own text, minus how often the others choose it; null if no round counts."""

    own: Annotated[
        Fraction | None,
        Display("own text", "share of its votes that went to the text it wrote itself", write=share),
    ] = Field(description="the rate of choosing one's own text")
    others: Annotated[
        Fraction | None,
        Display("others give it", "share of the other members' votes that went to that text", write=share),
    ] = Field(description="the other members' rate of choosing that text")
    difference: float | None = Field(description="own less others, -1 to 1; above 0: a member prefers itself")
    low: float | None = Field(description="lower end of the difference's 95 % interval, clustered by image")
    high: float | None = Field(description="upper end of the difference's 95 % interval, clustered by image")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    n: Count = Field(description="rounds that count, each once for every member")


class OwnVoteFigures(Value):
    """The share of a member's votes that goes to its own text regardless of content, adjusted for the others' vanity."""

    share: float | None = Field(
        description="-1 to 1; below 0 it shuns its own text; null where votes do not determine it"
    )
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    n: Count = Field(description="rounds")


class MemberPreference(Preference):
    """The self-preference of one member."""

    own_votes: OwnVoteFigures


class Preferences(Value):
    """Self-preference of the panel and of each of its members."""

    rounds: Count = Field(description="rounds, one a sample and cycle, in which two or more members chose")
    panel: Preference
    members: dict[str, MemberPreference]


class SelfPreferences(Value):
    """Self-preference by what members vote for, and by what they rank first."""

    votes: Preferences
    first_ranks: Preferences


class PositionFigures(Value):
    """How often voters choose the text shown at one place."""

    place: int = Field(ge=1, description="the place, from 1")
    chosen: Fraction = Field(description="the share of votes for what stood there")
    expected: Fraction = Field(description="the share that chance gives")
    low: Fraction = Field(description="lower end of the 95 % interval of `chosen`")
    high: Fraction = Field(description="upper end of the 95 % interval of `chosen`")
    n: Count = Field(description="votes in which there was such a place")


class PositionEffect(Value):
    """The effect of the place of a text on votes."""

    panel: tuple[PositionFigures, ...]
    members: dict[str, tuple[PositionFigures, ...]]


class Words(Value):
    """The lengths of golden captions, in words."""

    mean: float
    median: float
    max: Count


class Golden(Value):
    """The golden captions, and the origins of their sentences."""

    n: Count = Field(description="golden captions")
    without_vote: Count = Field(
        description="of them, those accepted because the candidates of all members were one text"
    )
    equally_good: Count = Field(
        description="of them, those that some vote names as equally good only: no unanimous choice, as the paper wants it"
    )
    lost_votes: Count = Field(description="of them, those that were voted for while a member's vote could not be used")
    words: Words | None = Field(description="their lengths; null without a caption")
    structured: Count = Field(
        description="of them, those with Markdown in them (headings, lists, bold words); the others are prose"
    )
    last_author: Counts = Field(description="captions by the member that wrote them last")
    sentences: Count = Field(description="sentences of all captions")
    in_draft_of: Counts = Field(
        description="sentences by member in whose draft they stand, a sentence for each such member"
    )
    only_in_draft_of: Counts = Field(description="sentences that stand in the draft of this member alone")
    added_in_rewrites: Count = Field(description="sentences that stand in no draft")
    checked: dict[CheckState, Count] = Field(description="captions by what a person decided on them")
    reasons: ReasonFigures | None = Field(
        default=None, description="why people edited or rejected captions; left out where they did neither"
    )


class TurnFigures(Value):
    """Counts of a member's turns at one task."""

    n: Count = Field(description="turns")
    lost: Count = Field(description="of them, those of which nothing came that could be used")


class MemberTurns(Value):
    """The turns of one member: drafts, comparisons and votes that it was asked for."""

    describe: TurnFigures
    compare: TurnFigures
    vote: TurnFigures
    failures: Counts = Field(description="lost turns by kind of failure")
    equally_good: Count = Field(description="votes that name others as equally good")


class ReviewFigures(Used, DataFigures):
    """The figures of a peer review."""

    panel: tuple[str, ...] = Field(description="names of the members")
    cycles: int = Field(ge=0, description="cycles of comparing, ranking and rewriting, at most")
    accept: Rule = Field(description="what accepts a caption: all votes, or after the last cycle most of them")
    request: str = Field(description="what a description was asked for")
    protocol: Protocol = Field(description="default, or as in the paper")
    n: Count = Field(description="samples")
    images: Count = Field(description="their different images")
    n_complete: Count = Field(description="samples whose review was accepted or discarded")
    coverage: Coverage
    verdicts: dict[Verdict, Count] = Field(description="samples by how their review ended")
    accepted: Share = Field(description="of the complete reviews; clustered by image")
    discarded: Share = Field(description="of the complete reviews; clustered by image")
    agreement: dict[Rule, Count] = Field(description="golden captions by how they were agreed on")
    accepted_by_cycle: Counts = Field(description="golden captions by the cycle after which they were agreed on")
    failures: Failures
    left_open: LeftOpen
    failed_members: Counts = Field(description="incomplete reviews by the member that failed")
    kept: Share = Field(
        description="comparisons that kept a candidate as it is, or wrote it down once more; clustered by image"
    )
    turns: dict[str, MemberTurns] = Field(description="turns by member")
    self_preference: SelfPreferences
    places: PositionEffect
    golden: Golden


class StoredValue(Value):
    """A value that a review made, as it is stored: its id, its type, and its fields."""

    id: str
    type: str
    value: dict[str, JsonValue]  # by type


class CheckedCaption(GoldenCaption):
    """A golden caption with its id and its state after a person's decision."""

    id: str
    state: str


class ReviewItem(Value):
    """A reviewed sample with its record and golden caption; if a single sample is read, with all texts written about it."""

    sample: str
    record: ReviewRecord | None
    golden: CheckedCaption | None
    values: tuple[StoredValue, ...] = ()
    calls: tuple[str, ...] = ()


def figures_of_run(home: Home, run: Run) -> ReviewFigures:
    """Return the figures of a review; the same stored rows give the same bytes."""
    plan = run.plan_as(ReviewPlan)
    samples = run_samples(home, run.id)
    records: list[ReviewRecord] = []
    acceptances: list[bool] = []  # of complete reviews, by cluster
    clusters: list[str] = []
    for source, record in made_values(home, run.id, ReviewRecord):
        records.append(record)
        if record.verdict != "incomplete":
            acceptances.append(record.verdict == "accepted")
            clusters.append(source.cluster)
    unknown = len(samples) - len(acceptances)
    golden = [row.caption for row in golden_captions(home, run.id)]
    votes = made_values(home, run.id, PeerVote)
    reviews = made_values(home, run.id, PeerReview)
    return ReviewFigures(
        **heading(run, plan),
        **calls_and_costs(home, results(home, run.id)),
        panel=plan.names,
        cycles=plan.cycles,
        accept=plan.accept,
        request=plan.request,
        protocol=plan.protocol,
        n=len(samples),
        images=len({image.sha256 for sample in load_samples(home, run.id) for image in sample.images}),
        n_complete=len(acceptances),
        open_items=len(samples) - len(records),
        coverage=ratio(len(acceptances), len(samples)),
        verdicts={
            "accepted": sum(acceptances),
            "discarded": len(acceptances) - sum(acceptances),
            "incomplete": len(records) - len(acceptances),
        },
        accepted=share_of_hits(acceptances, clusters, unknown=unknown),
        discarded=share_of_hits([not hit for hit in acceptances], clusters, unknown=unknown),
        agreement=count_by_kind(caption.agreement for caption in golden),
        accepted_by_cycle=counts_by_name(caption.cycle for caption in golden),
        **failure_fields(record.failure for record in records),
        failed_members=counts_by_name(record.failed_member for record in records if record.failed_member),
        kept=share_of_hits([review.kept for _, review in reviews], [source.cluster for source, _ in reviews]),
        turns=_turns(home, run.id, plan.names),
        self_preference=SelfPreferences(
            votes=_preferences(vote_rounds(home, run.id), plan.names, seed=run.seed),
            first_ranks=_preferences(rank_rounds(home, run.id), plan.names, seed=run.seed),
        ),
        places=PositionEffect(
            panel=_positions(votes),
            members={name: _positions([vote for vote in votes if vote[1].voter == name]) for name in plan.names},
        ),
        golden=_golden(
            golden,
            plan.names,
            caption_states(home, run.id),
            records,
            reason_figures(home, run.id, standings(home, run.id, kind="caption")),
        ),
    )


def vote_rounds(home: Home, run_id: str) -> list[Round]:
    """Return the votes of a run: a round for each sample and cycle with at least two voters."""
    votes = made_values(home, run_id, PeerVote)
    return _rounds(home, run_id, [(source, vote.voter, vote, vote.choice) for source, vote in votes])


def rank_rounds(home: Home, run_id: str) -> list[Round]:
    """Return the first places of a run's rankings as choices: a round for each sample and cycle."""
    reviews = made_values(home, run_id, PeerReview)
    return _rounds(home, run_id, [(source, review.reviewer, review, review.ranking[0]) for source, review in reviews])


def _rounds(
    home: Home, run_id: str, choices: Sequence[tuple[ReviewedValue, str, PeerVote | PeerReview, str]]
) -> list[Round]:
    """Return members' choices as rounds."""
    candidates = {source.id: candidate for source, candidate in made_values(home, run_id, Candidate)}
    writers: dict[tuple[str, str], set[str]] = {}
    for candidate in candidates.values():
        writers.setdefault((candidate.sample, substance(candidate.text)), set()).add(candidate.author)
    texts_by_round: dict[tuple[str, str, int], dict[str, str]] = {}
    displayed: dict[tuple[str, str, int], tuple[str, ...]] = {}
    for source, member, value, choice in choices:
        key = (source.sample_id, source.cluster, value.cycle)
        texts_by_round.setdefault(key, {})[member] = candidates[choice].text
        displayed.setdefault(key, value.shown)
    rounds: list[Round] = []
    for key, by_member in texts_by_round.items():
        if len(by_member) < MIN_VOTES:
            continue
        authors: dict[str, list[str]] = {}
        for id in displayed[key]:
            candidate = candidates[id]
            authors[candidate.text] = sorted(writers[candidate.sample, substance(candidate.text)])
        rounds.append(Round(dict(sorted(by_member.items())), authors, key[1]))
    return rounds


def caption_states(home: Home, run_id: str) -> dict[str, CheckState]:
    """Return the state of each golden caption of a run, by id: unverified, or a person's decision."""
    decided = {standing.item.subject: standing.state for standing in standings(home, run_id, kind="caption")}
    states: dict[str, CheckState] = {}
    for row in golden_captions(home, run_id):
        state = decided.get(row.id)
        states[row.id] = state if state == "accepted" or state == "edited" or state == "rejected" else "unverified"
    return states


def _turns(home: Home, run_id: str, panel: Sequence[str]) -> dict[str, MemberTurns]:
    """Return the number of turns and of failed turns, by member and kind of turn.

    Future turns are not counted.
    """
    lost = [turn for _, turn in made_values(home, run_id, LostTurn) if turn.failure not in OPEN_KINDS]
    lost_turns: Counter[tuple[str, Part]] = Counter((turn.member, turn.part) for turn in lost)
    turns = lost_turns.copy()
    for _, candidate in made_values(home, run_id, Candidate):
        if candidate.cycle == 0:
            turns[candidate.author, "describe"] += 1
    for _, review in made_values(home, run_id, PeerReview):
        turns[review.reviewer, "compare"] += 1
    equal: Counter[str] = Counter()
    for _, vote in made_values(home, run_id, PeerVote):
        turns[vote.voter, "vote"] += 1
        equal[vote.voter] += bool(vote.equal)

    def of_part(name: str, part: Part) -> TurnFigures:
        return TurnFigures(n=turns[name, part], lost=lost_turns[name, part])

    members: dict[str, MemberTurns] = {}
    for name in panel:
        members[name] = MemberTurns(
            describe=of_part(name, "describe"),
            compare=of_part(name, "compare"),
            vote=of_part(name, "vote"),
            failures=counts_by_name(turn.failure for turn in lost if turn.member == name),
            equally_good=equal[name],
        )
    return members


def _preferences(rounds: Sequence[Round], panel: Sequence[str], *, seed: int) -> Preferences:
    votes = preferences.own_votes(rounds, panel)
    members: dict[str, MemberPreference] = {}
    for name in panel:
        preference = _preference(preferences.self_preference(rounds, name, seed=seed))
        members[name] = MemberPreference(**dict(preference), own_votes=_own_votes(votes[name]))
    panel_preference = _preference(preferences.self_preference(rounds, seed=seed))
    return Preferences(rounds=len(rounds), panel=panel_preference, members=members)


def _own_votes(votes: OwnVotes) -> OwnVoteFigures:
    return OwnVoteFigures(share=rounded(votes.share), **limits(votes.interval), n=votes.n)


def _preference(preference: SelfPreference) -> Preference:
    return Preference(
        own=rounded(preference.own),
        others=rounded(preference.others),
        difference=rounded(preference.difference),
        **limits(preference.interval),
        n=preference.n,
    )


def _positions(votes: Sequence[tuple[ReviewedValue, PeerVote]]) -> tuple[PositionFigures, ...]:
    rates = preferences.place_rates(
        [vote.place for _, vote in votes],
        [len(vote.shown) for _, vote in votes],
        clusters=[source.cluster for source, _ in votes],
    )
    return tuple(
        PositionFigures(
            place=rate.place,
            chosen=rounded(rate.chosen),
            expected=rounded(rate.expected),
            low=rounded(rate.interval.low),
            high=rounded(rate.interval.high),
            n=rate.n,
        )
        for rate in rates
    )


def _golden(
    captions: Sequence[GoldenCaption],
    panel: Sequence[str],
    states: dict[str, CheckState],
    records: Sequence[ReviewRecord],
    reasons: ReasonFigures | None,
) -> Golden:
    first_choices = {record.sample: record.tally for record in records}
    lengths = [len(caption.text.split()) for caption in captions]
    origins = [origin for caption in captions for origin in caption.origins]
    drafters = [{origin.author, *origin.also} for origin in origins if origin.cycle == 0]
    last_authors = Counter(caption.author for caption in captions)
    drafted = Counter(name for authors in drafters for name in authors)
    drafted_alone = Counter(name for authors in drafters if len(authors) == 1 for name in authors)
    words = None
    if lengths:
        words = Words(mean=rounded(mean(lengths)), median=rounded(median(lengths)), max=max(lengths))
    return Golden(
        n=len(captions),
        without_vote=sum(not caption.votes for caption in captions),
        equally_good=sum(
            caption.votes > first_choices[caption.sample].get(caption.candidate, 0) for caption in captions
        ),
        lost_votes=sum(caption.lost > 0 for caption in captions),
        words=words,
        structured=sum(_MARKDOWN.search(caption.text) is not None for caption in captions),
        last_author={name: last_authors[name] for name in panel},
        sentences=len(origins),
        in_draft_of={name: drafted[name] for name in panel},
        only_in_draft_of={name: drafted_alone[name] for name in panel},
        added_in_rewrites=len(origins) - len(drafters),
        checked=count_by_kind(states.values()),
        reasons=reasons,
    )


def review_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each reviewed sample (`ReviewItem`) as JSON; with `sample`, only that one, with all that was written."""
    states = caption_states(home, run.id)
    for row in ordered_rows(home, run, sample):
        values = [StoredValue.model_validate({"id": id, **find_value(home, id)}) for id in row.value_ids]
        item: dict[str, object] = {"sample": row.sample_id, "record": None, "golden": None}
        for value in reversed(values):
            if value.type == "ReviewRecord":
                item |= {"record": value.value}
            elif value.type == "GoldenCaption":
                item |= {"golden": {"id": value.id, "state": states[value.id], **value.value}}
        if sample is not None:
            item |= {"values": [value.model_dump() for value in values], "calls": list(row.calls)}
        yield item
