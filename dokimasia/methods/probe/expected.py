"""What a probe will ask and cost, by counting its judgements; tokens by rule of thumb."""

from collections.abc import Iterator, Mapping, Sequence

from dokimasia.domain.blindspots import Evaluator, Probe, paradigm_of
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.sample import Sample
from dokimasia.methods.probe.arms import Arm
from dokimasia.methods.probe.items import Gold, golds_of
from dokimasia.methods.probe.prompts import IN_USE
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import READ, count_items, ways
from dokimasia.prompts import PromptLibrary
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.runs.estimate import (
    CHARACTERS_PER_TOKEN,
    INSTRUCTION_TOKENS,
    Asking,
    Estimate,
    SampleSize,
    added_up,
    size_of,
)

FRAME_TOKENS = 700
"""Of a prompt of the published evaluators, its axes and their levels among it."""
JUDGEMENT_TOKENS, READING_TOKENS, WORD_TOKENS = 300, 40, 60
CHAIN_TOKENS, CRITERIA_TOKENS, CHECK_TOKENS, RUBRIC_TOKENS = 600, 400, 120, 500
LOOK_TOKENS, LOOK_CALL_TOKENS = 1500, 60


def estimate(
    plan: ProbePlan, samples: Sequence[Sample], probes: Mapping[str, Sequence[Probe]], library: PromptLibrary
) -> Estimate:
    """Return what a plan will ask at most, over samples with their probes.

    Notes say what nobody sees in the number of items: what the judges' criteria come to, what looks may, and which gold
    answers are too short for their dimension.
    """
    asked = (one for sample in samples for one in _of_sample(plan, sample, probes[sample.id]))
    found = added_up(asked, len(samples), items=count_items(plan, probes))
    return found.model_copy(update={"notes": tuple(_notes(plan, probes))})


def _notes(plan: ProbePlan, probes: Mapping[str, Sequence[Probe]]) -> Iterator[str]:
    every = [one for several in probes.values() for one in several]
    unchecked = sum(not one.checked for one in every)
    if unchecked:
        yield f"nobody has decided on {unchecked} of the {len(every)} perturbations; they are taken as they were meant"
    dimensions = {task: error_dimensions(task) for task in plan.dimensions}
    short = [
        (one, dimensions[one.item.task][one.item.dimension])
        for one in every
        if one.item.gold and one.item.dimension in dimensions[one.item.task]
    ]
    short = [(one, kind) for one, kind in short if len(one.item.gold.split()) < kind.least_words]
    if short:
        named = ", ".join(f"{one.item.sample_id} ({kind.name})" for one, kind in short[:3]) + (", …" * (len(short) > 3))
        yield (
            f"{len(short)} of the gold answers {'has' if len(short) == 1 else 'have'} too few words for their dimension, "
            f"which cannot work on them: {named}"
        )
    if plan.tools:
        yield "with tools every look that --looks allows is counted, so most of these calls may never be sent"
    if made := [one for one in plan.evaluators if one in IN_USE and one != "right-or-wrong"]:
        yield f"for {' and '.join(made)} every judge first makes criteria of its own, which is part of the calls"


def _of_sample(plan: ProbePlan, sample: Sample, probes: Sequence[Probe]) -> Iterator[Asking]:
    size = size_of(sample)
    if plan.writer is not None:
        yield Asking(plan.writer, 1, INSTRUCTION_TOKENS + size.text + size.images_for(plan.writer), JUDGEMENT_TOKENS)
    for arm in plan.arms:
        for evaluator, _ in ways(plan, arm):
            golds = list(golds_of(probes))
            yield from _of_bases(plan, arm, evaluator, size, golds)
            for gold in golds:
                yield from _of_gold(plan, arm, evaluator, size, gold)


def _of_bases(
    plan: ProbePlan, arm: Arm, evaluator: Evaluator, size: SampleSize, golds: Sequence[Gold]
) -> Iterator[Asking]:
    """Yield what is asked for the criteria or the rubrics that judgements go by; an arm with tools has those without."""
    judge = arm.in_use
    if judge is None or arm.tools:
        return
    shown = INSTRUCTION_TOKENS + size.text + size.images_for(judge)
    if evaluator == "checkpoints":
        yield Asking(judge, 2 if size.reference else 1, shown + size.reference, CHAIN_TOKENS)
        yield Asking(judge, 2 if size.reference else 0, INSTRUCTION_TOKENS + 2 * size.reference, WORD_TOKENS)
        yield Asking(judge, 2, shown + CHAIN_TOKENS, CRITERIA_TOKENS)
        yield Asking(judge, 2, INSTRUCTION_TOKENS + size.text + CHAIN_TOKENS + CRITERIA_TOKENS, CHECK_TOKENS)
    elif evaluator == "gated":
        for gold in golds:
            yield Asking(judge, 3, shown + tokens_of(gold.item.gold), RUBRIC_TOKENS)


def _of_gold(plan: ProbePlan, arm: Arm, evaluator: Evaluator, size: SampleSize, gold: Gold) -> Iterator[Asking]:
    """Yield what is asked of one gold answer and what was made of it; every judgement once, every pair in both orders."""
    spec = arm.in_use if evaluator in IN_USE and arm.in_use is not None else arm.spec
    answer = tokens_of(gold.item.gold)
    sent = FRAME_TOKENS + size.text + _seen(evaluator, spec, size, answer, tools=arm.tools)
    received = JUDGEMENT_TOKENS if evaluator not in IN_USE else WORD_TOKENS
    paradigm = paradigm_of(evaluator)
    compared = plan.retests + len(gold.probes) * (2 if evaluator.startswith("pairwise") else 1)
    count = compared + (paradigm != "pairwise")
    if arm.tools:
        for look in range(plan.looks + 2):
            yield Asking(spec, count, sent + look * LOOK_TOKENS, LOOK_CALL_TOKENS if look else received)
    else:
        yield Asking(spec, count, sent, received)
    if plan.reader is not None and paradigm in READ:
        yield Asking(plan.reader, compared, INSTRUCTION_TOKENS + JUDGEMENT_TOKENS, READING_TOKENS)


def _seen(evaluator: Evaluator, spec: ModelSpec, size: SampleSize, answer: int, *, tools: bool) -> int:
    """Return the tokens of what a judge is shown of one item: the answers, and the images of the sample or the judged ones."""
    two = 2 if paradigm_of(evaluator) in ("pairwise", "reference") else 1
    if evaluator in IN_USE:
        return answer + RUBRIC_TOKENS + (size.images_for(spec) if tools else 0)
    images = size.images_for(spec)
    return two * answer + images if answer else two * images


def tokens_of(text: str) -> int:
    """Return the tokens of a text by rule of thumb."""
    return len(text) // CHARACTERS_PER_TOKEN
