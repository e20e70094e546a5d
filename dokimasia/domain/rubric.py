"""Gated rubrics: the two streams, a sample's set with its evidence, and what a judge says of a response (PerceptionRubrics)."""

import re
from typing import Literal, NamedTuple, get_args

from pydantic import Field

from dokimasia.domain.density import Domain
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.options import GraphOptions

Stream = Literal["must_right", "easy_wrong"]
"""`must_right`: a fact that gates the score · `easy_wrong`: a point at which models were seen to fail (section 3.3.2)."""

STREAMS: tuple[Stream, ...] = get_args(Stream)

Polarity = Literal["positive", "negative"]
"""Whether a response has to say something, or must not say it."""

ErrorKind = Literal["object", "attribute", "count", "position", "text", "value", "state", "relation"]
"""What a response that fails a rubric has got wrong."""

ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)

MIN_MUST_RIGHT, MAX_MUST_RIGHT = 3, 5
MAX_EASY_WRONG = 12
DISSENTS = 2
"""So many members of the panel who find a fault with a rubric drop it."""

_FORBIDS = re.compile(
    r"\s*(?:(?:the|a|any|every)\s+(?:response|caption|description|answer)\s+)?"
    r"(?:(?:must|may|should|shall|can)\s+(?:not|never)|mustn['’]t|cannot|does\s+not|never)\b",
    re.IGNORECASE,
)


class Rubric(Value):
    """A statement that is true or false of a response.

    `support` names the members of the pool whose responses make the error, `evidence` quotes the golden caption, `kind`
    is None where nobody said it. `repaired` marks a statement that was mended after it broke a rule.
    """

    stream: Stream
    statement: str = Field(min_length=1)
    polarity: Polarity
    kind: ErrorKind | None = None
    support: tuple[str, ...] = ()
    evidence: str = ""
    repaired: bool = False


class DroppedRubric(Value):
    """A rubric that was left out of its set, why, and by what: the rules that a set keeps, or the panel."""

    rubric: Rubric
    reason: str
    by: Literal["rules", "panel"]


class PanelVerdict(Value):
    """What a member of the panel says of a rubric: true of the golden caption, atomic, decidable from a response."""

    member: str
    true: bool
    atomic: bool
    decidable: bool

    @property
    def dissents(self) -> bool:
        """Whether the member finds a fault with it."""
        return not (self.true and self.atomic and self.decidable)

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults in words."""
        named = {"not true of the caption": self.true, "not atomic": self.atomic, "not decidable": self.decidable}
        return tuple(fault for fault, fine in named.items() if not fine)


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
    did), `unheard` members of pool and panel who had nothing to say. `verdicts` follow `rubrics`. `checked` says that a
    person has decided on the set.
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
    pool: tuple[str, ...] = ()
    panel: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    checked: bool = False
    provenance: tuple[Provenance, ...] = ()

    @property
    def must_right(self) -> tuple[Rubric, ...]:
        """Group A."""
        return tuple(rubric for rubric in self.rubrics if rubric.stream == "must_right")

    @property
    def easy_wrong(self) -> tuple[Rubric, ...]:
        """Group B."""
        return tuple(rubric for rubric in self.rubrics if rubric.stream == "easy_wrong")


class WrittenRubric(NamedTuple):
    """A rubric as a judge wrote it: `responses` are numbers of the pool's responses that make the error."""

    statement: str
    polarity: Polarity
    kind: ErrorKind | None = None
    evidence: str = ""
    responses: tuple[int, ...] = ()


class CheckedRubric(NamedTuple):
    """What a panel member answers on one rubric."""

    true: bool
    atomic: bool
    decidable: bool


class RubricDraft(Value):
    """Rubrics on their way into a set: what is still in, what was dropped, and whose call wrote them."""

    rubrics: tuple[Rubric, ...] = ()
    dropped: tuple[DroppedRubric, ...] = ()
    provenance: tuple[Provenance, ...] = ()


class RubricAssessment(Value):
    """What a judge says of a response: for each must-right (A) and each easy-wrong rubric (B) whether it holds."""

    group_a: tuple[bool, ...]
    group_b: tuple[bool, ...]


class RubricJudgement(Value):
    """One judge's assessment of one response by one set, and the gated score, 0 to 1 (section 3.4)."""

    response: str
    rubrics: str
    group_a: tuple[bool, ...]
    group_b: tuple[bool, ...]
    score: float = Field(ge=0, le=1)
    provenance: Provenance


class RubricOptions(GraphOptions):
    """Options of making rubrics: pool and panel by shown names, and each sample's source, its id by the sample's name."""

    pool: tuple[str, ...] = ()
    panel: tuple[str, ...] = ()
    sources: dict[str, str] = Field(default_factory=dict)


def polarity_of(statement: str) -> Polarity:
    """Return whether a statement forbids something (`The response must not ...`) or demands it."""
    return "negative" if _FORBIDS.match(statement) else "positive"
