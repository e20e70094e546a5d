"""How criteria are drawn: asked for, sent back once with the broken rules named, then mended by rule as far as one can."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dokimasia.agents import Ask, evaluation, failure
from dokimasia.algorithms.criteria import Broken, check_criteria, rescale_weights, with_alternatives, with_final
from dokimasia.algorithms.second_look import accepted
from dokimasia.domain.criterion import PUBLISHED_COUNT, CriteriaSet, Criterion
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context


class CriteriaDraw(NamedTuple):
    """Criteria, or why there are none, and the calls that they took."""

    criteria: CriteriaSet | None
    failed: Failed | None
    calls: tuple[str, ...]


async def draw_criteria(
    what: Ask[Sequence[Criterion]],
    sample: Sample,
    answer: str,
    context: Context,
    *,
    node: str,
    attempt: int | None = None,
) -> CriteriaDraw:
    """Ask for criteria; a set that breaks a rule is sent back, unless a reply was sent back already, then mended by rule.

    Args:
        what: asks for them.
        sample: whose they are.
        answer: the final answer that they lead to; empty where none is known.
        context: the work item's.
        node: whose judge is asked.
        attempt: ask under this attempt alone.
    """
    published, count = context.options.published, context.options.criteria_count

    def broken(criteria: Sequence[Criterion]) -> list[Broken]:
        return check_criteria(
            criteria, sample.prompt, count=PUBLISHED_COUNT if published else count, wording=not published
        )

    asked = await context.ask(what, node=node, attempt=attempt)
    problems = [] if asked.value is None else broken(asked.value)
    if asked.value is not None and problems and asked.sent_back is None:
        named = "\n".join(f"- {problem.text}" for problem in problems)
        back = Rejected(text=evaluation.criteria_reply(asked.value), problem=named, call=asked.call or "")
        again = await context.ask(what, node=node, attempt=attempt, rejected=back)
        asked = asked.then(again, sent_back=back)
        problems = [] if asked.value is None else broken(asked.value)
    calls = tuple(asked.calls)
    if asked.value is None:
        return CriteriaDraw(None, asked.failure, calls)
    if not problems:
        drawn = CriteriaSet(criteria=tuple(asked.value))
    elif published:
        drawn = _rescaled(asked.value, broken)
    else:
        drawn = accepted(asked.value, sample.prompt, answer or asked.value[-1].ground_truth, count=count)
    if drawn is None:
        reason = "criteria break the rules: " + "; ".join(problem.text for problem in problems)
        return CriteriaDraw(None, failure("unparsable", reason), calls)
    return CriteriaDraw(
        drawn.model_copy(update={"criteria": with_final(drawn.criteria, answer, sample.choices)}), None, calls
    )


def settled(criteria: CriteriaSet, sample: Sample) -> CriteriaSet:
    """Return criteria as answers are scored by them: where several answers are accepted, the final one says so."""
    return criteria.model_copy(
        update={"criteria": with_alternatives(criteria.criteria, sample.accepted, sample.choices)}
    )


def _rescaled(
    criteria: Sequence[Criterion], broken: Callable[[Sequence[Criterion]], list[Broken]]
) -> CriteriaSet | None:
    """Return the criteria with weights rescaled to sum to ten, if that mends all that is wrong with them."""
    weights = rescale_weights([criterion.weight for criterion in criteria])
    mended = tuple(c.model_copy(update={"weight": w}) for c, w in zip(criteria, weights, strict=True))
    return None if broken(mended) else CriteriaSet(criteria=mended, repaired=True)
