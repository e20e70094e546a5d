"""Circular peer review: a panel's drafts, comparisons, rewrites and votes, and the golden caption it agrees on.

PerceptionRubrics, section 3.3.1. Every value of a review is stored: each reviewer's texts, the candidates in the order
shown, rankings, rewrites and votes, and the draft from which each sentence of the golden caption came.
"""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from dokimasia.domain.decision import sentences_of
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import OPEN_KINDS, FailureKind, Flag, Provenance
from dokimasia.domain.options import GraphOptions

MAX_CYCLES = 2
"""The default maximum of cycles of comparing, ranking and rewriting (PerceptionRubrics: N is at most 2)."""

MIN_VOTES = 2
"""The minimum number of votes that decide anything, since one voter alone is not an agreement."""

DESCRIBE_REQUEST = (
    "Describe this image in full: the scene as a whole, every object that can be made out with its attributes, how many "
    "there are, where they are and how they relate to each other, and every text, label and value exactly as it is "
    "written."
)
"""The default request for a description."""

Rule = Literal["unanimous", "majority"]
"""The rule for accepting a caption: all votes or, if requested, more than half of them after the last cycle."""

Verdict = Literal["accepted", "discarded", "incomplete"]
"""How a review ended: agreed; divided to the end; or with too few replies, which says nothing about agreement."""

Part = Literal["describe", "compare", "vote"]
"""A member's task in turn: a draft, a comparison in a cycle, a vote after it."""

NOT_HEARD: tuple[FailureKind, ...] = ("api_error", *OPEN_KINDS)
"""Failures that a repeated call may resolve: the review waits for these replies, but continues without any other."""


class CandidateComparison(Value):
    """What a reviewer says of candidates numbered from 1: a critique of each, all of them best first, and what follows.

    That is a better text, or the number of the candidate that it keeps as it is, which is the first of its ranking.
    """

    stored_as: ClassVar[str] = "Comparison"

    critiques: tuple[str, ...]
    ranking: tuple[int, ...]
    rewrite: str = ""
    keep: int | None = None


class Ballot(Value):
    """What a voter says of candidates numbered from 1: a critique of each, the number of the best, and why.

    `equal` are the numbers of others that it takes for as good.
    """

    critiques: tuple[str, ...]
    best: int = Field(ge=1)
    equal: tuple[int, ...] = ()
    rationale: str = ""


class Candidate(Value):
    """One description in the pool: the draft of a panel member (cycle 0), or its rewrite in a cycle (from 1).

    `author` is the member's shown name, `sample` the sample's digest. `sources` are the candidates that the author of a
    rewrite was shown.
    """

    sample: str
    author: str
    cycle: int = Field(ge=0)
    text: str
    flags: tuple[Flag, ...] = ()
    sources: tuple[str, ...] = ()
    provenance: Provenance


class PeerReview(Value):
    """One reviewer's comparison in one cycle.

    `shown` are the candidates' ids in the order in which the reviewer saw them; `critiques` follow that order,
    `ranking` holds ids, the best first. `rewrite` is the id of the candidate that the reviewer wrote or, where it `kept`
    one of the candidates as it is (or wrote the same once more), of that one.
    """

    sample: str
    reviewer: str
    cycle: int = Field(ge=1)
    shown: tuple[str, ...]
    critiques: tuple[str, ...]
    ranking: tuple[str, ...]
    rewrite: str
    kept: bool = False
    provenance: Provenance


class PeerVote(Value):
    """One reviewer's vote after one cycle, over candidates as it saw them: `choice` is the id of the one it chose.

    `place` is the number under which it saw that one, from 1; `equal` are the ids of others that it takes for as good.
    """

    sample: str
    voter: str
    cycle: int = Field(ge=1)
    shown: tuple[str, ...]
    critiques: tuple[str, ...]
    place: int = Field(ge=1)
    choice: str
    equal: tuple[str, ...] = ()
    rationale: str
    provenance: Provenance


class LostTurn(Value):
    """A member's turn that came to nothing: what it was to do in which cycle (0: the drafts), and why.

    `call` is the ledger key of its last reply, empty where none came.
    """

    sample: str
    member: str
    cycle: int = Field(ge=0)
    part: Part
    failure: FailureKind
    reason: str
    call: str = ""


class Origin(Value):
    """Where a sentence of a golden caption came from, by likeness of sentences through the rewrites.

    `candidate` is the oldest text in which it (or what became of it) stands, `author` and `cycle` are that text's;
    cycle 0 is a draft, a later one means that the sentence was added in a rewrite. `likeness` is the least likeness of
    two neighbours on the way, 0 to 1 (1: word for word). `also` are the authors of other texts that hold one as like.
    """

    sentence: str
    candidate: str
    author: str
    cycle: int = Field(ge=0)
    likeness: float = Field(ge=0, le=1)
    also: tuple[str, ...] = ()


class GoldenCaption(Value):
    """A description that a panel agreed on; unverified until a person has decided on it.

    `candidate` is the id of the agreed text, `author` who wrote it last, `cycle` the one after which it was agreed.
    `agreement` is how: by all votes, or (only where that was asked for) by most of them. `votes` are those for it, 0 where
    the candidates of all were one text and nothing was left to vote on; `lost` are votes that could not be used. `sample`
    is the sample's digest, `sample_id` its name. `origins` has one entry a sentence, in order.
    """

    sample: str
    sample_id: str
    text: str
    candidate: str
    author: str
    cycle: int = Field(ge=1)
    agreement: Rule
    panel: tuple[str, ...]
    votes: int = Field(ge=0)
    lost: int = Field(default=0, ge=0)
    origins: tuple[Origin, ...] = ()


class ReviewRecord(Value):
    """How the review of one sample ended, with the ids of all that was written on the way, in order.

    `tally` counts the votes of the last finished cycle by the chosen text's id, `lost` are turns that came to nothing;
    `failed_member` and `failure` are set where it is incomplete.
    """

    sample: str
    panel: tuple[str, ...]
    rule: Rule
    verdict: Verdict
    cycles: int = Field(ge=0)
    reason: str
    candidates: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    tally: dict[str, int] = Field(default_factory=dict)
    golden: str | None = None
    failed_member: str | None = None
    failure: FailureKind | None = None


class ReviewOptions(GraphOptions):
    """Options of a peer review: the panel by shown names, how many cycles at most, what accepts, what is asked for.

    As `published` every comparison writes, every cycle is voted on, and every vote has to come.
    """

    panel: tuple[str, ...] = Field(min_length=2)
    cycles: int = Field(default=MAX_CYCLES, ge=1)
    accept: Rule = "unanimous"
    request: str = DESCRIBE_REQUEST
    published: bool = False


def agreed(choices: dict[str, tuple[str, ...]], rule: Rule, *, last: bool) -> tuple[str, Rule] | None:
    """Return the text that votes agree on, and how; None if they are divided or fewer than two.

    Args:
        choices: for each usable vote, the text chosen and those considered equally good.
        rule: `majority` also accepts, after the last cycle, a text that more than half of the voters consider best,
            alone or among others.
        last: whether no cycle follows.

    Returns:
        The text that most voters consider best, alone or among others; ties go to the text chosen most often, then to
        the one named first.
    """
    if len(choices) < MIN_VOTES:
        return None
    supported = Counter(text for voted in choices.values() for text in dict.fromkeys(voted))
    chosen = Counter(voted[0] for voted in choices.values())
    text, votes = max(supported.items(), key=lambda pair: (pair[1], chosen[pair[0]]))
    if votes == len(choices):
        return text, "unanimous"
    if rule == "majority" and last and 2 * votes > len(choices):
        return text, "majority"
    return None


def differing_sentences(texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return, for each text, its sentences that not all texts have; empty if the texts have less than half in common.

    Sentences are compared regardless of case and space.
    """
    sentences = [sentences_of(text) for text in texts]
    keys = [{_sentence_key(sentence) for sentence in of_text} for of_text in sentences]
    common = set[str]().union(*keys[:1]).intersection(*keys[1:])
    if len(texts) < 2 or not common or any(2 * len(common) < len(text_keys) for text_keys in keys):
        return ()
    return tuple(
        tuple(sentence for sentence in of_text if _sentence_key(sentence) not in common) for of_text in sentences
    )


def _sentence_key(sentence: str) -> str:
    return " ".join(sentence.casefold().split())
