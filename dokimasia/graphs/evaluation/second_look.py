"""A second look at a sample's atomic criteria: a judge says what is wrong with them, and it is mended once or left out (ours).

One call where nothing is wrong, or where all that is wrong is left out without harm; else the set is sent back once with
what was found, and what comes is looked at, too. A look that fails costs nobody a sample: the set stays as it is, and says
that it was not looked at.
"""

from typing import NamedTuple

from dokimasia.agents import evaluation
from dokimasia.algorithms.criteria import counted, with_final
from dokimasia.algorithms.second_look import (
    CriteriaFault,
    accepted,
    faults_found,
    sent_back,
    to_send_back,
    without_faulty,
)
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context

NODE = "judge_criteria"


class LookedAt(NamedTuple):
    """What came of a second look: the set, or why none can be had at present (it is open); and its calls."""

    criteria: CriteriaSet | None
    calls: list[str]
    failed: Failed | None = None

    @property
    def failure(self) -> Failed:
        """The failure of a look that brought no set.

        Raises:
            ValueError: if it brought one.
        """
        if self.failed is None:
            raise ValueError("this look brought a set, not a failure")
        return self.failed


class _Found(NamedTuple):
    """What a look found: faults, None where it failed; and why it is open, if it is."""

    faults: list[CriteriaFault] | None
    calls: list[str]
    left_open: Failed | None = None


async def look_again(
    sample: Sample, chain: ReferenceChain, drawn: CriteriaSet, context: Context, *, attempt: int | None
) -> LookedAt:
    """Return a set of criteria as it is after a second look, with all that was found on record."""
    first = await _look(sample, chain, drawn, context, attempt)
    if first.left_open is not None or first.faults is None:
        return LookedAt(None if first.left_open else drawn, first.calls, first.left_open)
    if not to_send_back(first.faults):
        return LookedAt(_settled(sample, chain, drawn, first.faults, context), first.calls)
    count = context.options.criteria_count
    told = "\n".join(f"- {fault.told}" for fault in first.faults)
    back = Rejected(
        text=evaluation.criteria_reply(drawn.criteria),
        problem=f"{told}\nLeave the other criteria as they are, and let all weights sum to 10 again.",
        call=first.calls[-1],
    )
    what = evaluation.extract_criteria(sample, chain, count=counted(count))
    asked = await context.ask(what, node=NODE, attempt=attempt, rejected=back)
    calls = [*first.calls, *asked.calls]
    if asked.value is None and asked.failure.open:
        return LookedAt(None, calls, asked.failure)
    mended = None if asked.value is None else accepted(asked.value, sample.prompt, chain.answer, count=count)
    if mended is None:
        return LookedAt(_settled(sample, chain, drawn, first.faults, context), calls)
    second = await _look(sample, chain, mended, context, attempt)
    calls += second.calls
    if second.left_open is not None:
        return LookedAt(None, calls, second.left_open)
    later = second.faults or []
    history = sent_back(drawn.criteria, first.faults, mended.criteria, later)
    known = with_final(mended.criteria, chain.answer, sample.choices)
    mended = mended.model_copy(
        update={
            "criteria": known,
            "repaired": drawn.repaired or mended.repaired,
            "faults": (*drawn.faults, *history, *mended.faults),
        }
    )
    return LookedAt(_settled(sample, chain, mended, later, context), calls)


async def _look(
    sample: Sample, chain: ReferenceChain, criteria: CriteriaSet, context: Context, attempt: int | None
) -> _Found:
    asked = await context.ask(evaluation.examine_criteria(sample, chain, criteria.criteria), node=NODE, attempt=attempt)
    if asked.value is None:
        return _Found(None, asked.calls, asked.failure if asked.failure.open else None)
    most = context.options.criteria_count[1]
    return _Found(faults_found(criteria.criteria, asked.value, most=most), asked.calls)


def _settled(
    sample: Sample, chain: ReferenceChain, criteria: CriteriaSet, faults: list[CriteriaFault], context: Context
) -> CriteriaSet:
    """Return a set without what was found to be wrong with it."""
    least = context.options.criteria_count[0]
    kept, told = without_faulty(criteria.criteria, faults, question=sample.prompt, answer=chain.answer, least=least)
    return criteria.model_copy(update={"criteria": kept, "checked": True, "faults": (*criteria.faults, *told)})
