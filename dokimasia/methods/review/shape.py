"""The figures of a peer review, typed: what `--json` prints."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.options import Protocol
from dokimasia.domain.review import Rule, Verdict
from dokimasia.report.fields import Count, Counts, Coverage, Failures, Fraction, NoInterval, Share, Used
from dokimasia.runs.figure_models import DataFigures


class Preference(Value):
    """How often a text is chosen by its author, less how often the others choose it; null where no round counts."""

    own: Fraction | None = Field(description="the rate of choosing one's own text")
    others: Fraction | None = Field(description="the other members' rate of choosing that text")
    difference: float | None = Field(description="own less others, -1 to 1; above 0: a member prefers itself")
    low: float | None = Field(description="lower end of the difference's 95 % interval, clustered by image")
    high: float | None = Field(description="upper end of the difference's 95 % interval, clustered by image")
    no_interval: NoInterval = None
    n: Count = Field(description="rounds that count, each once for every member")


class OwnVoteFigures(Value):
    """Which part of a member's votes goes to its own text whatever it says, the others' vanity allowed for."""

    share: float | None = Field(
        description="-1 to 1; below 0 it shuns its own text; null where votes do not determine it"
    )
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
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
    """How often voters choose what they are shown at one place."""

    place: int = Field(ge=1, description="the place, from 1")
    chosen: Fraction = Field(description="the share of votes for what stood there")
    expected: Fraction = Field(description="the share that chance gives")
    low: Fraction = Field(description="lower end of the 95 % interval of `chosen`")
    high: Fraction = Field(description="upper end of the 95 % interval of `chosen`")
    n: Count = Field(description="votes in which there was such a place")


class PositionEffect(Value):
    """Whether the place at which a text is shown decides votes."""

    panel: tuple[PositionFigures, ...]
    members: dict[str, tuple[PositionFigures, ...]]


class Words(Value):
    """The lengths of golden captions, in words."""

    mean: float
    median: float
    max: Count


class Golden(Value):
    """The golden captions, and where their sentences came from."""

    n: Count = Field(description="golden captions")
    without_vote: Count = Field(
        description="of them, those accepted because the candidates of all members were one text"
    )
    lost_votes: Count = Field(description="of them, those that were voted for while a member's vote could not be used")
    words: Words | None = Field(description="their lengths; null without a caption")
    last_author: Counts = Field(description="captions by the member that wrote them last")
    sentences: Count = Field(description="sentences of all captions")
    in_draft_of: Counts = Field(
        description="sentences by member in whose draft they stand, a sentence for each such member"
    )
    only_in_draft_of: Counts = Field(description="sentences that stand in the draft of this member alone")
    added_in_rewrites: Count = Field(description="sentences that stand in no draft")
    checked: dict[Literal["unverified", "accepted", "edited", "rejected"], Count] = Field(
        description="captions by what a person decided on them"
    )


class TurnFigures(Value):
    """The turns that a member had to do one thing."""

    n: Count = Field(description="turns")
    lost: Count = Field(description="of them, those of which nothing came that could be used")


class MemberTurns(Value):
    """The turns of one member: drafts, comparisons and votes that it was asked for."""

    describe: TurnFigures
    compare: TurnFigures
    vote: TurnFigures
    failures: Counts = Field(description="lost turns by kind of failure")


class ReviewFigures(Used, DataFigures):
    """The figures of a peer review."""

    panel: tuple[str, ...] = Field(description="names of the members")
    cycles: int = Field(ge=0, description="cycles of comparing, ranking and rewriting, at most")
    accept: Rule = Field(description="what accepts a caption: all votes, or after the last cycle most of them")
    request: str = Field(description="what a description was asked for")
    protocol: Protocol = Field(description="ours, or as in the paper")
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
    failed_members: Counts = Field(description="incomplete reviews by the member that failed")
    kept: Share = Field(
        description="comparisons that kept a candidate as it is, or wrote it down once more; clustered by image"
    )
    turns: dict[str, MemberTurns] = Field(description="turns by member")
    self_preference: SelfPreferences
    places: PositionEffect
    golden: Golden
