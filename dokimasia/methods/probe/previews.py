"""One prompt of each kind that judges are asked by, rendered for a sample, with placeholders for answers and what is made."""

from collections.abc import Iterator, Sequence
from typing import Any

from dokimasia.agents import Ask
from dokimasia.agents.blindspots import Judged, compare_answers, read_justification, score_answer, write_reference
from dokimasia.agents.evaluation import (
    examine_criteria,
    extract_criteria,
    judge_equivalence,
    score_checkpoints,
    write_chain,
)
from dokimasia.agents.rubrics import assess_response, write_must_right
from dokimasia.algorithms.criteria import COUNT, counted
from dokimasia.domain.blindspots import PUBLISHED, Evaluator, paradigm_of
from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.density import DOMAINS, domain_of
from dokimasia.domain.rubric import Rubric, RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.prompts import PromptLibrary, Rendered, render

GOLD, PERTURBED = "(the answer as it was)", "(the answer with a change in it)"
CHAIN = ReferenceChain(reasoning="(the judge's reasoning stands here)", answer="(its final answer)")
CRITERIA = CriteriaSet(
    criteria=(Criterion(question="(the judge's question)", ground_truth="(what it holds to be true)", weight=10),)
)
RUBRIC = Rubric(stream="must_right", statement="(what a response must say)", polarity="positive")


def previews(plan: ProbePlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts as they would be put to every judge, in the order in which they are asked."""
    asked = [*_of_judges(plan, sample)]
    if plan.writer is not None and "image-to-text" in plan.dimensions:
        asked.append(write_reference(sample))
    if plan.reader is not None:
        asked.append(read_justification("(what a judge says beside its judgement)", error="(what was changed)"))
    return [
        render(one.prompt, one.inputs, images=one.images, count=one.count, library=library)
        for one in {ask.prompt: ask for ask in asked}.values()
    ]


def _of_judges(plan: ProbePlan, sample: Sample) -> Iterator[Ask[Any]]:
    images = "text-to-image" in plan.dimensions and bool(sample.images)
    gold: Judged = sample.images[0] if images else GOLD
    other: Judged = sample.images[0] if images else PERTURBED
    for evaluator in plan.evaluators:
        if evaluator not in PUBLISHED:
            yield from _in_use(evaluator, sample)
        elif paradigm_of(evaluator) == "pairwise":
            yield compare_answers(sample, evaluator, gold, other)
        else:
            yield score_answer(sample, evaluator, other, reference=gold if evaluator == "reference" else None)


def _in_use(evaluator: Evaluator, sample: Sample) -> Iterator[Ask[Any]]:
    if evaluator == "checkpoints":
        yield write_chain(sample)
        yield extract_criteria(sample, CHAIN, count=counted(COUNT))
        yield examine_criteria(sample, CHAIN, CRITERIA.criteria)
        yield score_checkpoints(sample, CRITERIA, PERTURBED)
    elif evaluator == "gated":
        yield write_must_right(sample, GOLD, domain_of(sample) or DOMAINS[0])
        yield assess_response(sample, RubricSet(sample_id=sample.id, rubrics=(RUBRIC,)), PERTURBED)
    else:
        yield judge_equivalence(sample.model_copy(update={"reference_answer": GOLD}), PERTURBED)
