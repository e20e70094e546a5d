"""Failed items of an evaluation asked anew: each enters its graph at the step that failed, and keeps what it achieved."""

from typing import Any

from dokimasia.domain.call import ChatReply
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.verdicts import parse_equivalence
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow
from dokimasia.storage.retries import Retry


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
    """Return what an answer that failed enters its graph with.

    A response that was given is not asked for again, nor whether it is right, if that was decided, nor its scores, if it
    has them: then the verdict on its final answer is all that is asked.
    """
    if retry is None:
        return {}
    failed = retry.failed
    achieved = {
        "response": failed.response_id,
        "final": failed.final_id if failed.verdict in ("right", "wrong") else None,
        "judgement": failed.judgement_id,
    }
    kept = {name: id for name, id in achieved.items() if id is not None}
    return {"attempt": retry.attempt, "calls": list(failed.calls), **_looks(failed), **kept}


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
