"""What came of asking a model: a value, or a failure of a named kind; never a number in place of a failure."""

from typing import Annotated, Literal

from pydantic import Field

from dokimasia.domain.identity import Value

FailureKind = Literal[
    "unparsable",
    "refused",
    "truncated",
    "context_overflow",
    "api_error",
    "budget",
    "reference_contradicted",
]

Flag = Literal["refused", "truncated"]


class Failed(Value):
    """Nothing was measured, and why: a kind to count by and a reason to read (never a secret, at most 500 characters)."""

    outcome: Literal["failed"] = "failed"
    kind: FailureKind
    reason: str = Field(max_length=500)


class Scored(Value):
    """A measured score; its unit is that of the method that made it (checkpoint scoring: 1 to 5, higher is better)."""

    outcome: Literal["scored"] = "scored"
    score: float = Field(allow_inf_nan=False)


Outcome = Annotated[Scored | Failed, Field(discriminator="outcome")]


class Provenance(Value):
    """Where a judge's value came from: the ledger's call, the model, the prompt with version and hash, what was shown."""

    call: str
    model: str
    prompt: str
    prompt_version: int
    prompt_hash: str
    shown: tuple[str, ...] = ()


class Response(Value):
    """A candidate's answer to one sample, as it stands; `flags` mark refusing or truncated text that is judged all the same.

    `provenance` is None for an answer that existed before (read from a file of responses).
    """

    sample: str
    model: str
    arm: str = ""
    repeat: int = Field(default=0, ge=0)
    text: str
    flags: tuple[Flag, ...] = ()
    provenance: Provenance | None = None


class CheckpointScores(Value):
    """One judge's scores of one response (ATOM, section 3.3): integers 1 to 5, in the order of the criteria."""

    response: str
    criteria: str
    scores: tuple[Annotated[int, Field(ge=1, le=5)], ...]
    score: float = Field(ge=1, le=5, description="weighted mean of the scores")
    provenance: Provenance


class Rejected(Value):
    """A reply that cannot be used, kept so that the one re-ask can quote it: its text (cut), what is wrong, its call."""

    text: str
    problem: str
    call: str
