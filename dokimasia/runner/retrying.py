"""Failed items asked anew: each enters its graph at the step that failed, and what it achieved before is kept."""

from typing import Any

from dokimasia.domain.call import ChatReply
from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import InputError, UnparsableReply
from dokimasia.parsing.verdicts import parse_equivalence
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow
from dokimasia.storage.retries import Retry

RETRYABLE: tuple[FailureKind, ...] = (
    "unparsable",
    "refused",
    "truncated",
    "context_overflow",
    "api_error",
    "reference_contradicted",
)
"""Failures that a retry asks anew. `budget` is none of them: nothing was asked, and every resume takes it up."""


def retryable(names: str) -> tuple[FailureKind, ...]:
    """Return the kinds of failure in a list separated by commas; an empty one means all.

    Raises:
        InputError: a kind that there is not, or `budget`.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name == "budget":
            raise InputError(
                "what failed as budget was never asked: every `dokimasia resume` takes it up, without --kinds"
            )
        if name not in RETRYABLE:
            raise InputError(f"no failure is of kind {name!r}; there are: {', '.join(RETRYABLE)}")
    return tuple(kind for kind in RETRYABLE if not wanted or kind in wanted)


def retried_replay(retry: Retry | None, ledger: SqliteLedger) -> dict[str, Any]:
    """Return what a replay that failed enters its graph with beside its sample.

    A chain that was written stays, unless it is the chain that contradicts the reference; one that a judge already
    agreed with is not judged again. The calls of the earlier attempt were paid for and go on counting.
    """
    if retry is None:
        return {}
    failed = retry.failed
    entered: dict[str, Any] = {"attempt": retry.attempt, "calls": list(failed.calls), **_looks(failed)}
    if failed.chain_id is None or failed.failure == "reference_contradicted":
        return entered
    agreed = {"agreed": "judge"} if judge_agreed(failed.calls, ledger) else {}
    return {**entered, "chain": failed.chain_id, **agreed}


def retried_score(retry: Retry | None) -> dict[str, Any]:
    """Return what an answer that failed enters its graph with: a response that was given is not asked for again."""
    if retry is None:
        return {}
    failed = retry.failed
    response = {} if failed.response_id is None else {"response": failed.response_id}
    return {"attempt": retry.attempt, "calls": list(failed.calls), **_looks(failed), **response}


def _looks(failed: ResultRow) -> dict[str, Any]:
    """What a judge looked at stays with the calls in which it did."""
    return {"looks": list(failed.value_ids)} if failed.value_ids else {}


def judge_agreed(calls: tuple[str, ...], ledger: SqliteLedger) -> bool:
    """Whether the last verdict on equivalence among the calls says yes.

    After a yes no other chain is written, so that verdict, if it is one, is about the chain that stands.
    """
    figures = ledger.calls_for(calls)
    asked = [key for key in calls if key in figures and figures[key].label == "equivalence"]
    if not asked:
        return False
    _, reply = ledger.rebuild(asked[-1])
    if not isinstance(reply, ChatReply) or reply.refusal is not None or reply.finish_reason == "content_filter":
        return False
    try:
        return parse_equivalence(reply.text)
    except UnparsableReply:
        return False
