"""What a refinement will ask and cost at most, by counting its calls; tokens by rule of thumb."""

from collections.abc import Iterator, Mapping

from dokimasia.domain.options import GraphOptions
from dokimasia.domain.refinement import Arm
from dokimasia.methods.evaluation import ANSWER_TOKENS, VERDICT_TOKENS, scoring
from dokimasia.methods.refinement.plan import RefinementPlan
from dokimasia.methods.refinement.source import Source, SourceAnswer, peers_for, shown_atoms
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, SampleSize, added_up

POINT_TOKENS, HINT_TOKENS = 40, 80


def estimate(plan: RefinementPlan, source: Source, sizes: Mapping[str, SampleSize]) -> Estimate:
    """Return what a refinement will ask at most.

    Which final answers are wrong is not known before they are checked, so every scored answer counts as one that failed
    (with a threshold: every one below it), and goes through all rounds of all arms; no final answer is settled by a
    rule, every hint is rewritten once, and a feedback that gives something away as a whole is looked at again after each
    piece that is left out. Who gives which hint is counted for that case, too: the calls are an upper bound together,
    and those of a single peer nearly so.

    Args:
        plan: the refinement.
        source: what it takes from the run that it refines.
        sizes: of the run's samples, by name.
    """
    names = {spec.ref.name for spec in plan.candidates}
    taken = [
        answer
        for answer in source.answers
        if answer.model in names and (plan.threshold is not None or sizes[answer.sample_id].reference)
    ]
    failed = [answer for answer in taken if plan.threshold is None or answer.score < plan.threshold]
    peers = peers_for(failed, source, plan) if "peer" in plan.arms else {}
    options = plan.options

    def asked() -> Iterator[Asking]:
        for answer in taken:
            yield from _checked(plan, sizes[answer.sample_id], times=1)
        for answer in failed:
            size = sizes[answer.sample_id]
            yield from scoring(plan.judge, options, size, times=plan.judgements)
            for arm in plan.arms[1:]:
                yield from _of_arm(plan, options, answer, size, arm)
            for order in peers.get(answer.key, {}).values():
                yield from _hinted(plan, size, [name for name, _ in order])

    return added_up(asked(), len(sizes))


def _of_arm(
    plan: RefinementPlan, options: GraphOptions, answer: SourceAnswer, size: SampleSize, arm: Arm
) -> Iterator[Asking]:
    """Yield the calls of all rounds of an arm, but for the hints."""
    told = len(shown_atoms(answer, plan)) if arm in ("self", "peer") else 0
    sent = (
        size.text
        + size.images_for(options.models[answer.model])
        + told * (POINT_TOKENS + (HINT_TOKENS if arm == "peer" else 0))
    )
    earlier = ANSWER_TOKENS if plan.show_answer else 0
    yield Asking(options.models[answer.model], plan.rounds, sent + earlier, ANSWER_TOKENS)
    yield from _checked(plan, size, times=plan.rounds)
    yield from scoring(plan.judge, options, size, times=plan.rounds * plan.judgements)
    if plan.leak_judge and told:
        pieces = 2 * told if arm == "peer" else told
        yield _looked(plan, size, POINT_TOKENS, times=plan.rounds * told)
        yield _looked(plan, size, pieces * (POINT_TOKENS + HINT_TOKENS) // 2, times=plan.rounds * (pieces - 1))


def _checked(plan: RefinementPlan, size: SampleSize, *, times: int) -> Iterator[Asking]:
    """Yield the calls that say whether final answers are right; without a reference answer nobody is asked."""
    if size.reference:
        sent = INSTRUCTION_TOKENS + size.text + size.reference * 2
        yield Asking(plan.judge, times, sent, VERDICT_TOKENS)


def _hinted(plan: RefinementPlan, size: SampleSize, order: list[str]) -> Iterator[Asking]:
    """Yield the calls of one atom's hints: in each round one peer's, in two wordings, both looked at."""
    for round in range(plan.rounds if order else 0):
        peer = plan.models[order[round % len(order)]]
        shown = INSTRUCTION_TOKENS + size.text + size.images_for(peer) + POINT_TOKENS + ANSWER_TOKENS
        yield Asking(peer, 2, shown, HINT_TOKENS)
        if plan.leak_judge:
            yield _looked(plan, size, HINT_TOKENS, times=2)


def _looked(plan: RefinementPlan, size: SampleSize, text: int, *, times: int) -> Asking:
    """Return the calls in which the judge looks for what a text gives away."""
    return Asking(plan.judge, times, INSTRUCTION_TOKENS + size.text + size.reference + text, VERDICT_TOKENS)
