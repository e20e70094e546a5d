"""Outcomes of calls to models: a value, or a failure with a kind; a failure is never a number."""

import operator
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from dokimasia.domain.identity import Value

FailureKind = Literal[
    "unparsable",
    "refused",
    "truncated",
    "context_overflow",
    "api_error",
    "budget",
    "waiting",
    "reference_contradicted",
    "undecided",
]
"""`undecided`: no rule could decide whether a final answer is right, and no judge was available."""

FAILURE_MEANINGS: Mapping[str, str] = {
    "unparsable": "the judge's reply does not say what it was asked to say, also when asked again",
    "refused": "a model would not answer, or its answer was filtered",
    "truncated": "a reply was cut off before it said what was asked",
    "context_overflow": "the request was longer than the model takes",
    "api_error": "no reply could be had after all tries",
    "budget": "the limit on spending was reached; resume takes it up",
    "waiting": "a person has not answered yet; resume takes it up",
    "reference_contradicted": "the judge's own solution contradicts the reference answer",
    "undecided": "no rule says whether the answer is right, and no judge was named; strict accuracy counts it as not right",
}
"""What each `FailureKind` means, for readers of results."""

OPEN_KINDS: tuple[FailureKind, ...] = ("budget", "waiting")
"""Failures not caused by a model: the budget was exhausted, or a person has not answered yet. A resume retries these
items; if both apply, the first is recorded.
"""

Flag = Literal["refused", "truncated"]

EMPTY_REPLY = "the answer is empty"
"""The reason for the failure of a reply without text."""


class Failed(Value):
    """Nothing was measured, and why: a kind to count by and a reason to read (never a secret, at most 500 characters)."""

    outcome: Literal["failed"] = "failed"
    kind: FailureKind
    reason: str = Field(max_length=500)

    @property
    def open(self) -> bool:
        """Whether a resume attempts the item again."""
        return self.kind in OPEN_KINDS


class Scored(Value):
    """A measured score; its unit is that of the method that made it (checkpoint scoring: 1 to 5, higher is better)."""

    outcome: Literal["scored"] = "scored"
    score: float = Field(allow_inf_nan=False)


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


Answered = Literal["right", "wrong", "unknown"]

Correctness = Literal["right", "wrong", "undecided", "failed"]
"""The known correctness of an answer: `undecided` if no rule could decide and nobody was asked; `failed` if there is no
answer, or the judge gave no verdict. Strict accuracy counts undecided answers as not right, and excludes failed ones.
"""


def correctness_of(verdict: str | None, failure: str | None) -> Correctness:
    """Return whether an answer is correct, from its result's verdict and kind of failure.

    Examples:
        >>> correctness_of("unknown", "undecided"), correctness_of("unknown", None), correctness_of(None, "api_error")
        ('undecided', 'failed', 'failed')
    """
    if verdict == "right" or verdict == "wrong":
        return verdict
    if verdict == "unknown" and failure == "undecided":
        return "undecided"
    return "failed"


AnswerRule = Literal[
    "choice",
    "exact",
    "number",
    "yes or no",
    "rank",
    "date",
    "month",
    "weekday",
    "time",
    "colour",
    "side",
    "list",
    "contains",
    "empty",
    "no answer",
    "judge",
    "person",
    "no reference",
    "none",
    "unreadable",
]
"""What decided whether a final answer is right: a rule, a judge's verdict on equivalence, or why nothing did (`none`:
no rule applies, and no judge was available; `unreadable`: the judge gave no verdict; `person`: somebody corrected it by
hand).
"""


class FinalAnswer(Value):
    """Whether a response's final answer is right, and by which rule; `unknown` where neither rule nor judge could say.

    `answer` is what was compared (cut), `stated` whether the response states it on a line of its own, `failure` the kind
    of failure of the judge that was asked, `calls` its calls.
    """

    response: str
    verdict: Answered
    rule: AnswerRule
    answer: str = ""
    stated: bool = True
    failure: FailureKind | None = None
    calls: tuple[str, ...] = ()


MAX_REASON = 300
"""The maximum number of stored characters of a judge's reason for a score."""

Reasons = tuple[Annotated[str, Field(max_length=MAX_REASON)] | None, ...]
"""A judge's sentences on its scores or results, in their order; None for one without a reason."""


class CriterionScore(NamedTuple):
    """A judge's score of one criterion, 1 to 5, and whether the response addresses the point at all (if not: 1).

    `stated` is None if the judge was not asked to distinguish silence from error. `reason` is its sentence on the
    score; None if it gave none or was not asked for one.
    """

    score: int
    stated: bool | None
    reason: str | None = None


class CheckpointScores(Value):
    """One judge's scores of one response (ATOM, section 3.3): integers 1 to 5, in the order of the criteria.

    `stated` says of each criterion whether the response speaks of it; where it does not, the score is 1. It is empty where
    the judge was not asked. `reasons` has the judge's sentence on each score, null for one that it gave no reason for; it is
    empty where the judge was not asked for reasons.
    """

    response: str
    criteria: str
    scores: tuple[Annotated[int, Field(ge=1, le=5)], ...]
    stated: tuple[bool, ...] = ()
    reasons: Reasons = Field(default=(), exclude_if=operator.not_)
    score: float = Field(ge=1, le=5, description="weighted mean of the scores")
    provenance: Provenance

    @model_validator(mode="after")
    def _silence_counts_one(self) -> "CheckpointScores":
        if self.stated and len(self.stated) != len(self.scores):
            raise ValueError("`stated` has a place for every score")
        if self.reasons and len(self.reasons) != len(self.scores):
            raise ValueError("`reasons` has a place for every score")
        if any(score > 1 and not is_stated for score, is_stated in zip(self.scores, self.stated, strict=False)):
            raise ValueError("a criterion that the response does not speak of has the score 1")
        return self

    @property
    def addressed(self) -> tuple[bool, ...]:
        """Whether the response addresses each criterion; true for all if the judge was not asked."""
        return self.stated or (True,) * len(self.scores)


class Rejected(Value):
    """A reply that cannot be used, kept so that the one re-ask can quote it: its text (cut), what is wrong, its call."""

    text: str
    problem: str
    call: str
