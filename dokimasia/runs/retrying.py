"""Which failures can be asked anew."""

from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.errors import InputError

RETRYABLE: tuple[FailureKind, ...] = (
    "unparsable",
    "refused",
    "truncated",
    "context_overflow",
    "api_error",
    "reference_contradicted",
)
"""Failures that a retry asks anew. What is open (`OPEN_KINDS`) is none of them: every resume takes it up."""


def retryable(names: str) -> tuple[FailureKind, ...]:
    """Return the kinds of failure in a list separated by commas; an empty one means all.

    Raises:
        InputError: a kind that there is not, or one that every resume takes up.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name in OPEN_KINDS:
            done = "asked" if name == "budget" else "answered"
            raise InputError(
                f"what failed as {name} was never {done}: every `dokimasia resume` takes it up, without --kinds"
            )
        if name not in RETRYABLE:
            raise InputError(f"no failure is of kind {name!r}; there are: {', '.join(RETRYABLE)}")
    return tuple(kind for kind in RETRYABLE if not wanted or kind in wanted)
