"""Preview of an evaluation's prompts for a sample, with placeholders for text that models write."""

from collections.abc import Mapping, Sequence

from dokimasia.agents import schemas
from dokimasia.agents.evaluation import (
    PLACEHOLDER_CHAIN,
    PLACEHOLDER_CRITERIA,
    criteria_previews,
    criteria_text,
    question_inputs,
)
from dokimasia.agents.schemas import takes_schema
from dokimasia.algorithms.criteria import counted
from dokimasia.domain.options import scoring_prompt
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.prompts import PromptLibrary, Rendered, render, with_form, with_looking

WITH_TOOLS = ("solver", "checkpoints", "checkpoints_published", "checkpoints_reasons")

FORMS = {
    "criteria": schemas.criteria(1).form,
    "criteria_published": schemas.criteria(1, published=True).form,
    "criteria_check": schemas.criteria_check(1).form,
    "checkpoints": schemas.criterion_scores(1).form,
    "checkpoints_published": schemas.criterion_scores(1, published=True).form,
    "checkpoints_reasons": schemas.criterion_scores(1, reasons=True).form,
    "equivalence": schemas.equivalence().form,
}
"""The empty reply form of an output schema, by prompt."""


def previews(plan: EvaluationPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts for solver, judge and, unless their answers already exist, candidates."""
    inputs = question_inputs(sample)
    published = plan.protocol == "published"

    def rendered(name: str, inputs: Mapping[str, str], images: Sequence[ImageRef] = ()) -> Rendered:
        prompt = render(name, inputs, images=images, library=library)
        if plan.tools and name in WITH_TOOLS and any(message.images for message in prompt.messages):
            prompt = with_looking(prompt, plan.looks, library=library)
        if plan.judge is not None and takes_schema(plan.judge) and name in FORMS:
            prompt = with_form(prompt, FORMS[name], library=library)
        return prompt

    candidate: list[Rendered] = []
    if plan.asked:
        candidate.append(rendered("candidate_plain" if plan.ask == "plain" else "candidate", inputs, sample.images))
    if plan.judge is None:
        return candidate
    reference = {} if sample.reference_text is None else {"reference_answer": sample.reference_text}
    prompts = [rendered("solver", {**inputs, **reference}, sample.images)]
    if reference:
        prompts.append(rendered("equivalence", {**inputs, **reference, "answer": PLACEHOLDER_CHAIN.answer}))
    asks = criteria_previews(sample, count=None if published else counted(plan.criteria_count))
    prompts += [rendered(ask.prompt, ask.inputs, ask.images) for ask in asks]
    scoring = rendered(
        scoring_prompt(published=published, reasons=plan.reasons),
        {**inputs, "criteria": criteria_text(PLACEHOLDER_CRITERIA), "response": "(the candidate's answer)"},
        sample.images if plan.show_image or plan.tools else (),
    )
    return [*prompts, *candidate, scoring]
