"""Growth of a capability tree: its criteria, their placements, and the results of its phases."""

from typing import Literal, NamedTuple

from pydantic import Field

from dokimasia.domain.capability import CATEGORIES, Level, Name
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind

Phase = Literal["fit", "propose", "merge", "prune", "map", "edit", "restore", "import"]
"""The origin of a version: a phase of a growth, or a person's edit, restoration or import."""

SUBSAMPLE = 260
"""The default number of samples whose criteria a tree is grown from (ATOM, appendix E.1)."""

MIN_SUPPORT = 5
"""The default minimum number of criteria of a leaf (ATOM, appendix E.1)."""


class TreeCriterion(NamedTuple):
    """A criterion mapped to a tree.

    `key` is stable across runs: `<first 16 digits of the criteria set's id>:<number, from 1>` for a criterion of a run,
    and for one of a file the same form over a hash of its text and sample. `stratum` is the property that a sub-sample
    is balanced over (a category or a source; empty if there is none), `question` the sample's question if known.
    """

    key: str
    text: str
    sample_id: str
    stratum: str = ""
    ground_truth: str = ""
    question: str = ""
    cluster: str = ""


class Placement(NamedTuple):
    """The mapping of a criterion: a leaf, or None with the kind of failure and a reason; never a default.

    `failure` is `unplaced` if the judge states that no leaf fits, else a kind of failure of its reply. `call`, `model`,
    `prompt` and `prompt_version` identify the judge's decision; they are empty if a person placed it.
    """

    criterion: str
    leaf: str | None
    failure: str = ""
    reason: str = ""
    call: str = ""
    model: str = ""
    prompt: str = ""
    prompt_version: int = 0


class GrowthOptions(Value):
    """How a tree is grown: part of the growth's identity.

    `subsample` is how many samples the tree is grown from (0: all); `rounds` how often criteria are proposed for, and
    the tree merged and pruned; `batch` how many criteria one call maps; `shown` how many leaves one call shows. `level`
    says which layer the leaves are of.
    """

    categories: tuple[Name, ...] = CATEGORIES
    level: Level = "capability"
    subsample: int = Field(default=SUBSAMPLE, ge=0)
    rounds: int = Field(default=2, ge=1, le=15)
    min_support: int = Field(default=MIN_SUPPORT, ge=1)
    batch: int = Field(default=25, ge=1, le=200)
    propose_batch: int = Field(default=10, ge=1, le=50)
    shown: int = Field(default=200, ge=10)
    embedding: str = ""
    seed: int = Field(default=0, ge=0)


class Rejection(Value):
    """A part of a judge's reply that was rejected, and why; `call` is the ledger key."""

    what: str = Field(max_length=300)
    reason: str = Field(max_length=500)
    call: str = ""


class FailedBatch(Value):
    """A call of a phase that brought nothing, and how many criteria or leaves it was about.

    A size of 0 says that they were asked about again, in halves.
    """

    kind: FailureKind
    reason: str = Field(max_length=500)
    size: int


class PhaseReport(Value):
    """What a phase did: calls of the judge, how much it was asked about, and all that was not taken up.

    `rejected` counts rejections, of which `rejections` holds the first 200; `unplaced` counts criteria
    without a leaf by kind.
    """

    phase: Phase
    round: int = 0
    calls: int = 0
    asked: int = 0
    added: int = 0
    merged: int = 0
    renamed: int = 0
    pruned: int = 0
    placed: int = 0
    unplaced: dict[str, int] = Field(default_factory=dict)
    rejected: int = 0
    rejections: tuple[Rejection, ...] = ()
    failures: tuple[FailedBatch, ...] = ()
