"""What an evaluation will ask and cost, by counting its calls; tokens by rule of thumb."""

from collections.abc import Iterable, Iterator, Mapping

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import GraphOptions
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, SampleSize, added_up, frame_tokens

LOOK_TOKENS, LOOK_CALL_TOKENS = 1500, 60
CHAIN_TOKENS, CRITERIA_TOKENS, VERDICT_TOKENS, ANSWER_TOKENS, SCORES_TOKENS = 600, 400, 40, 300, 60
CHECK_TOKENS = 120
CHAIN_TEXT, CRITERIA_TEXT, ANSWER_TEXT = 150, 220, 90
"""Tokens of what is sent on of a chain, of criteria and of an answer: their text, without what a model thought before."""


def estimate(plan: EvaluationPlan, sizes: Iterable[SampleSize], library: PromptLibrary) -> Estimate:
    """Return what a plan will ask over samples of these sizes, by prompts of this library."""
    known, options = list(sizes), plan.options
    frames = {name: frame_tokens(library, name) for name in plan.prompts}
    asked = (asking for size in known for asking in _of_sample(plan, options, size, frames))
    return added_up(asked, len(known), items=len(known) * plan.rows_per_sample)


def _of_sample(
    plan: EvaluationPlan, options: GraphOptions, size: SampleSize, frames: Mapping[str, int]
) -> Iterator[Asking]:
    asks, judge_of = plan.asks, plan.judge_of
    published = "_published" if plan.protocol == "published" else ""
    looking = bool(plan.tools and size.images)
    if "write_chain" in asks:
        solver = judge_of("write_chain")
        sent = frames["solver"] + _shown(solver, size) + size.reference
        yield Asking(solver, 1, sent, CHAIN_TOKENS)
        if looking:
            yield from _looks(solver, sent, plan.looks)
    if "extract_criteria" in asks:
        extractor = judge_of("extract_criteria")
        sent = frames[f"criteria{published}"] + _shown(extractor, size) + CHAIN_TEXT
        yield Asking(extractor, 1, sent, CRITERIA_TOKENS)
    if "judge_criteria" in asks:
        told = frames["criteria_check"] + size.text + CHAIN_TEXT + CRITERIA_TEXT
        yield Asking(judge_of("judge_criteria"), 1, told, CHECK_TOKENS)
    if "judge_chain" in asks and size.reference:
        compared = frames["equivalence"] + size.text + size.reference * 2
        yield Asking(judge_of("judge_chain"), 1, compared, VERDICT_TOKENS)
    for candidate in plan.candidates:
        for arm in plan.arms:
            if "answer" in asks:
                pictures = 0 if arm else size.images_for(candidate)
                frame = frames["candidate_plain" if plan.ask == "plain" else "candidate"]
                yield Asking(candidate, plan.repeats, frame + size.text + pictures, ANSWER_TOKENS)
            if "score" in asks:
                frame = frames[f"checkpoints{published}"]
                yield from scoring(judge_of("score"), options, size, times=plan.repeats, frame=frame)
                if size.reference:
                    compared = frames["equivalence"] + size.text + size.reference * 2
                    yield Asking(judge_of("score"), plan.repeats, compared, VERDICT_TOKENS)


def _shown(spec: ModelSpec, size: SampleSize) -> int:
    return size.text + size.images_for(spec)


def scoring(
    judge: ModelSpec, options: GraphOptions, size: SampleSize, *, times: int, frame: int = INSTRUCTION_TOKENS
) -> Iterator[Asking]:
    """Yield the calls in which a judge scores all criteria of an answer, so many times; `frame` is the prompt's own length."""
    pictures = size.images_for(judge) if options.show_image or options.tools else 0
    sent = frame + size.text + CRITERIA_TEXT + ANSWER_TEXT + pictures
    yield Asking(judge, times, sent, SCORES_TOKENS)
    if options.tools and size.images:
        yield from _looks(judge, sent, options.looks, times=times)


def _looks(spec: ModelSpec, sent: int, looks: int, *, times: int = 1) -> Iterator[Asking]:
    """Yield the calls of an ask with tools: every look may be a call of its own, which sends everything before it again."""
    for look in range(looks + 1):
        yield Asking(spec, times, sent + look * LOOK_TOKENS, LOOK_CALL_TOKENS)
