"""One prompt of each kind that judges are asked by, rendered for a sample, with placeholders for what models would write."""

from collections.abc import Iterator, Sequence
from typing import Any

from dokimasia.agents import Ask
from dokimasia.agents.evaluation import (
    examine_criteria,
    extract_criteria,
    judge_equivalence,
    score_checkpoints,
    write_chain,
)
from dokimasia.agents.judging import (
    compare_responses,
    extract_without_chain,
    rank_responses,
    rate_response,
    score_aspects,
    score_compared,
)
from dokimasia.algorithms.criteria import COUNT, counted
from dokimasia.domain.criterion import PUBLISHED_COUNT, CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.judging.judgements import ComparedCriteria, ComparedCriterion
from dokimasia.domain.sample import Sample
from dokimasia.methods.judging.request import JudgingPlan
from dokimasia.methods.judging.units import asked_methods, bases_of
from dokimasia.prompts import PromptLibrary, Rendered, render

CHAIN = ReferenceChain(reasoning="(the judge's reasoning stands here)", answer="(its final answer)")
CRITERIA = CriteriaSet(
    criteria=(Criterion(question="(the judge's question)", ground_truth="(what it holds to be true)", weight=10),)
)
COMPARED = ComparedCriteria(
    criteria=(ComparedCriterion(criterion="(what tells responses apart)", weight=10),),
    provenance=Provenance(call="", model="", prompt="", prompt_version=0, prompt_hash=""),
)
RESPONSE, OTHER = "(a response)", "(another response)"


def previews(plan: JudgingPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts as they would be put to every judge, in the order in which they are asked."""
    return [
        render(one.prompt, one.inputs, images=one.images, count=one.count, library=library)
        for one in (*_of_bases(plan, sample), *_of_responses(plan, sample))
    ]


def _of_bases(plan: JudgingPlan, sample: Sample) -> Iterator[Ask[Any]]:
    """Yield what is asked before a response is judged."""
    published = plan.protocol == "published"
    count = counted(PUBLISHED_COUNT if published else COUNT)
    bases = bases_of(plan)
    if "chain" in bases:
        yield write_chain(sample)
        if sample.reference_text is not None:
            yield judge_equivalence(sample, CHAIN.answer)
    if "criteria" in bases:
        yield extract_criteria(sample, CHAIN, count=None if published else count)
        if not published:
            yield examine_criteria(sample, CHAIN, CRITERIA.criteria)
    if "chainless" in bases:
        yield extract_without_chain(sample, count=count)
    if "compared" in bases:
        yield compare_responses(sample, (RESPONSE, OTHER))


def _of_responses(plan: JudgingPlan, sample: Sample) -> Iterator[Ask[Any]]:
    """Yield what is asked of a response, or of all to a sample."""
    published = plan.protocol == "published"
    for method in asked_methods(plan):
        if method == "pointwise":
            yield rate_response(sample, RESPONSE)
        elif method == "batch":
            yield rank_responses(sample, (RESPONSE, OTHER))
        elif method == "scan":
            yield score_compared(sample, COMPARED, RESPONSE)
        elif method == "atom-no-decomposition":
            yield score_aspects(sample, CHAIN, RESPONSE, show_image=plan.show_image)
        else:
            yield score_checkpoints(sample, CRITERIA, RESPONSE, show_image=plan.show_image, published=published)
