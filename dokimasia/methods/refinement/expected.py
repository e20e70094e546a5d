"""What a refinement will ask and cost at most, by counting its calls; tokens by rule of thumb."""

from collections.abc import Iterator, Mapping

from dokimasia.algorithms.closed_loop import failed_atoms
from dokimasia.domain.refinement import Arm
from dokimasia.methods.evaluation import ANSWER_TOKENS, VERDICT_TOKENS, scoring
from dokimasia.methods.refinement.plan import RefinementPlan
from dokimasia.methods.refinement.source import SourceAnswer, SourceRun, most_shown, peers_for
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, SampleSize, added_up

POINT_TOKENS, HINT_TOKENS = 40, 80


def estimate(plan: RefinementPlan, source: SourceRun, sizes: Mapping[str, SampleSize]) -> Estimate:
    """Return what a refinement will ask at most.

    A scored answer of which it is not known that it is right counts as one that failed (with a threshold: every one below
    it) and can be fed back, and goes through all rounds of all arms; no final answer is
    settled by a rule, every hint is rewritten once, and what is checked for leaks is looked at again after each piece that
    is left out. Who gives which hint is counted for that case, too: the calls are an upper bound together, and those of a
    single peer nearly so.

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
    failed = [answer for answer in taken if _may_fail(answer, plan.threshold)]
    peers = peers_for({one: failed_atoms(one.scores) for one in failed}, source, plan) if "peer" in plan.arms else {}

    def asked() -> Iterator[Asking]:
        for answer in taken:
            yield from _checked(plan, sizes[answer.sample_id], times=0 if answer.final else 1)
        if plan.leak_judge and plan.names_points:
            for id, count in {answer.sample_id: len(answer.scores) for answer in failed}.items():
                yield _looked(plan, sizes[id], count * POINT_TOKENS, times=count)
        for answer in failed:
            size = sizes[answer.sample_id]
            yield from scoring(plan.judge, plan.options, size, times=plan.judgements)
            for arm in plan.arms[1:]:
                yield from _of_arm(plan, answer, size, arm)
            if answer.key in peers:
                able = dict.fromkeys(name for order in peers[answer.key].values() for name, _ in order)
                yield from _hinted(plan, size, len(most_shown(answer, plan)), list(able))

    every = sum(answer.model in names for answer in source.answers)
    return added_up(asked(), len(sizes), items=every + len(failed) * (len(plan.arms) - 1))


def _may_fail(answer: SourceAnswer, threshold: float | None) -> bool:
    return answer.verdict in ("wrong", None) if threshold is None else answer.score < threshold


def _of_arm(plan: RefinementPlan, answer: SourceAnswer, size: SampleSize, arm: Arm) -> Iterator[Asking]:
    """Yield the calls of all rounds of an arm, but for the hints."""
    told = len(most_shown(answer, plan)) if arm in ("self", "peer") else 0
    model = plan.models[answer.model]
    points = told * (POINT_TOKENS + (HINT_TOKENS if arm == "peer" else 0))
    sent = INSTRUCTION_TOKENS + size.text + size.images_for(model) + points
    earlier = 0 if plan.hide_answer else ANSWER_TOKENS
    deciding = 0 if plan.protocol == "published" else plan.rounds - 1
    yield Asking(model, plan.rounds, sent + earlier, ANSWER_TOKENS)
    yield from _checked(plan, size, times=plan.rounds)
    yield from scoring(plan.judge, plan.options, size, times=plan.rounds * plan.judgements + deciding)


def _checked(plan: RefinementPlan, size: SampleSize, *, times: int) -> Iterator[Asking]:
    """Yield the calls that say whether final answers are right; without a reference answer nobody is asked."""
    if size.reference:
        sent = INSTRUCTION_TOKENS + size.text + size.reference * 2
        yield Asking(plan.judge, times, sent, VERDICT_TOKENS)


def _hinted(plan: RefinementPlan, size: SampleSize, told: int, able: list[str]) -> Iterator[Asking]:
    """Yield the calls of one answer's hints: in each round of as few peers as can be, in two wordings, all looked at."""
    writers = told if plan.protocol == "published" else min(told, len(able))
    shown = INSTRUCTION_TOKENS + size.text + told * POINT_TOKENS + 2 * ANSWER_TOKENS
    for round in range(plan.rounds if able else 0):
        for number in range(writers):
            peer = plan.models[able[(round + number) % len(able)]]
            sent = shown + size.images_for(peer)
            yield Asking(peer, 1 + (told if number == 0 else 0), sent, told * HINT_TOKENS)
        if plan.leak_judge:
            yield _looked(plan, size, told * (POINT_TOKENS + HINT_TOKENS), times=1 + 2 * told)


def _looked(plan: RefinementPlan, size: SampleSize, text: int, *, times: int) -> Asking:
    """Return the calls in which the judge looks for what a text gives away."""
    return Asking(plan.judge, times, INSTRUCTION_TOKENS + size.text + size.reference + text, VERDICT_TOKENS)
