"""Gated rubrics: the two streams, a sample's set with its evidence, and judgements of responses (PerceptionRubrics)."""

import operator
import re
from typing import Literal, NamedTuple, get_args

from pydantic import AliasChoices, Field

from dokimasia.domain.density import Domain
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind, Provenance, Reasons
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.perturbation import TextChange

Stream = Literal["must_right", "easy_wrong"]
"""`must_right`: a fact that gates the score · `easy_wrong`: a point at which models fail (section 3.3.2)."""

STREAMS: tuple[Stream, ...] = get_args(Stream)

Polarity = Literal["positive", "negative"]
"""Whether a response must state something, or must not state it."""

ErrorKind = Literal["object", "attribute", "count", "position", "text", "value", "state", "relation", "order"]
"""The error of a response that fails a rubric: the name of a dimension of error (`prompts.dimensions`)."""

ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)

MIN_MUST_RIGHT, MAX_MUST_RIGHT = 3, 5
MAX_EASY_WRONG = 20
"""The maximum number of easy-wrong rubrics of an image; `published` has no limit."""
DISSENTS = 2
"""The number of panel members that must find a fault with a rubric to drop it."""

WEAK_POOL = 4
"""Easy-wrong rubrics from fewer responses than this are weak: errors of one or two models are not a common pattern."""

FEWEST_TRIED = 3
"""The minimum number of tried responses for a rubric that all of them pass to count as testing nothing."""

TRIAL_CAPTIONS = 4
"""The maximum number of captions with planted errors on which a set's rubrics are tried before acceptance."""

MEASURED_ERRORS = 4
"""The maximum number of errors planted in a golden caption to measure the detection by its set."""

_SUBJECT = r"(?:the|a|an|any|every)\s+(?:response|caption|description|answer)"
_MUST = r"(?:must|may|should|shall|can|ought\s+to|has\s+to|needs\s+to)"
_FORBIDS = re.compile(
    rf"\s*(?:no\s+(?:response|caption|description|answer)\s+{_MUST}\b|(?:{_SUBJECT}\s+)?(?:{_MUST}\s+)?(?:not|never|mustn['’]t|"
    r"cannot|can['’]t|do(?:es)?\s+not|do(?:es)?n['’]t|avoids?|refrains?|abstains?|omits?|leaves?\s+out|(?:be|is)\s+(?:free|silent)|"
    r"(?:make|contain|include|mention|claim)s?\s+(?:no(?!-)|none|nothing))\b)",
    re.IGNORECASE,
)


class Rubric(Value):
    """A statement that is true or false of a response.

    `support` names the members of the pool whose responses make the error, `evidence` quotes the golden caption, `kind`
    is None where nobody said it. `repaired` marks a statement that was mended after it broke a rule, `replaced` one that
    stands in the place of one that tested nothing.
    """

    stream: Stream
    statement: str = Field(min_length=1)
    polarity: Polarity
    kind: ErrorKind | None = None
    support: tuple[str, ...] = ()
    evidence: str = ""
    repaired: bool = False
    replaced: bool = False


class DroppedRubric(Value):
    """A rubric that was left out of its set, why, and by what: the rules that a set keeps, the trial, or the panel."""

    rubric: Rubric
    reason: str
    by: Literal["rules", "trial", "panel"]


class Tried(Value):
    """A text that a set's rubrics were tried on without having been chosen by it, and which of them it passes.

    It is the golden caption as it is, the golden caption with one planted error (`name` is the error's dimension,
    `changes` plant it), or a response (`name` is whose). `passes` follows the set's rubrics, None for one that was not
    tried; it is empty where the judgement, or the planting, failed.
    """

    what: Literal["golden", "planted", "response"]
    name: str = ""
    changes: tuple[TextChange, ...] = ()
    passes: tuple[bool | None, ...] = ()
    failure: FailureKind | None = None


class PanelVerdict(Value):
    """What a member of the panel says of a rubric: the golden caption passes it, it is atomic, decidable from a response."""

    member: str
    passes: bool = Field(validation_alias=AliasChoices("passes", "true"))
    atomic: bool
    decidable: bool

    @property
    def dissents(self) -> bool:
        """Whether the member finds a fault in the rubric."""
        return not (self.passes and self.atomic and self.decidable)

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults as texts."""
        faults = {
            "the caption does not pass it": self.passes,
            "not atomic": self.atomic,
            "not decidable": self.decidable,
        }
        return tuple(fault for fault, fine in faults.items() if not fine)


class RubricSource(Value):
    """What a sample's rubrics are made from: its images, its domain, and the golden caption.

    `sample` is the sample's digest, `images` are hashes. `caption_id` is the content id of the golden caption that a
    review agreed on, empty for one that came with the data; `verified` says that a person stands behind the text.
    """

    sample_id: str
    sample: str
    images: tuple[str, ...]
    caption: str = Field(min_length=1)
    caption_id: str = ""
    verified: bool = False
    domain: Domain | None = None


class RubricSet(Value):
    """The rubrics of one sample, must-right first; numbers in a judgement are places within a stream, from 1.

    `pool` names those whose responses easy-wrong rubrics were mined from, `panel` those who cross-checked (empty: nobody
    did), `unheard` members of pool and panel who had nothing to say. `verdicts` follow `rubrics`. `tried` is what its power
    is measured by. `checked` says that a person has decided on the set.
    """

    sample_id: str
    sample: str = ""
    images: tuple[str, ...] = ()
    domain: Domain | None = None
    caption: str = ""
    caption_id: str = ""
    verified: bool = False
    rubrics: tuple[Rubric, ...] = ()
    verdicts: tuple[tuple[PanelVerdict, ...], ...] = ()
    dropped: tuple[DroppedRubric, ...] = ()
    tried: tuple[Tried, ...] = ()
    pool: tuple[str, ...] = ()
    panel: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    checked: bool = False
    provenance: tuple[Provenance, ...] = ()

    @property
    def must_right(self) -> tuple[Rubric, ...]:
        """Rubrics of the must-right stream (A)."""
        return tuple(rubric for rubric in self.rubrics if rubric.stream == "must_right")

    @property
    def easy_wrong(self) -> tuple[Rubric, ...]:
        """Rubrics of the easy-wrong stream (B)."""
        return tuple(rubric for rubric in self.rubrics if rubric.stream == "easy_wrong")


class WrittenRubric(NamedTuple):
    """A rubric as written by a judge: `responses` are numbers of the pool's responses that make the error."""

    statement: str
    polarity: Polarity
    kind: ErrorKind | None = None
    evidence: str = ""
    responses: tuple[int, ...] = ()


class CheckedRubric(NamedTuple):
    """A panel member's answers on one rubric."""

    passes: bool
    atomic: bool
    decidable: bool


class RubricDraft(Value):
    """Rubrics on their way into a set: what is still in, what was dropped, and whose call wrote them.

    `idle` says, by place, why a rubric that was tried tests nothing; `shown` are the texts that it was tried on.
    """

    rubrics: tuple[Rubric, ...] = ()
    dropped: tuple[DroppedRubric, ...] = ()
    idle: dict[int, str] = Field(default_factory=dict)
    shown: tuple[str, ...] = ()
    provenance: tuple[Provenance, ...] = ()


class RubricAssessment(Value):
    """What a judge says of a response: for each must-right (A) and each easy-wrong rubric (B) whether it holds.

    `reasons_a` and `reasons_b` are its sentences on them, None for one that it gave no reason for; they are empty where it
    was not asked for reasons.
    """

    group_a: tuple[bool, ...]
    group_b: tuple[bool, ...]
    reasons_a: Reasons = ()
    reasons_b: Reasons = ()


class RubricJudgement(Value):
    """One judge's assessment of one response by one set, and the gated score, 0 to 1 (section 3.4).

    `reasons_a` and `reasons_b` are as in `RubricAssessment`.
    """

    response: str
    rubrics: str
    group_a: tuple[bool, ...]
    group_b: tuple[bool, ...]
    reasons_a: Reasons = Field(default=(), exclude_if=operator.not_)
    reasons_b: Reasons = Field(default=(), exclude_if=operator.not_)
    score: float = Field(ge=0, le=1)
    provenance: Provenance


class RubricOptions(GraphOptions):
    """Options of making rubrics: pool and panel by shown names, and each sample's source, its id by the sample's name."""

    pool: tuple[str, ...] = ()
    panel: tuple[str, ...] = ()
    sources: dict[str, str] = Field(default_factory=dict)


def polarity_of(statement: str) -> Polarity:
    """Return whether a statement forbids something (`The response must not ...`) or requires it."""
    if _FORBIDS.match(statement):
        return "negative"
    return "positive"
