"""One prompt of each kind that an evaluation asks by, rendered for a sample; what models would write is a placeholder."""

from collections.abc import Sequence
from typing import Any

from dokimasia.agents import Ask, schemas
from dokimasia.agents.evaluation import criteria_text, examine_criteria, extract_criteria, question_inputs
from dokimasia.agents.schemas import takes_schema
from dokimasia.algorithms.criteria import counted
from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.prompts import PromptLibrary, Rendered, render, with_form, with_looking

PLACEHOLDER_CHAIN = ReferenceChain(reasoning="(the judge's reasoning stands here)", answer="(its final answer)")
PLACEHOLDER_CRITERIA = CriteriaSet(
    criteria=(Criterion(question="(the judge's question)", ground_truth="(what it holds to be true)", weight=10),)
)


def previews(plan: EvaluationPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts as they would be put to solver, judge and candidates; to these none where their answers exist."""
    asking = "candidate_plain" if plan.ask == "plain" else "candidate"
    candidate = [render(asking, question_inputs(sample), images=sample.images, library=library)]
    if plan.responses is not None:
        candidate = []
    if plan.judge is None:
        return candidate
    published = plan.protocol == "published"
    prompts = _of_judge(sample, library, show_image=plan.show_image or bool(plan.tools), published=published)
    prompts[-1:-1] = _of_criteria(plan, sample, library)
    if plan.tools:
        prompts = [_with_tools(one, plan.looks, library) for one in prompts]
    if takes_schema(plan.judge):
        prompts = [_as_object(one, library) for one in prompts]
    return [*prompts[:-1], *candidate, prompts[-1]]


def _of_judge(sample: Sample, library: PromptLibrary | None, *, show_image: bool, published: bool) -> list[Rendered]:
    inputs = question_inputs(sample)
    reference = {"reference_answer": sample.reference_text} if sample.reference_text is not None else {}
    prompts = [
        render("solver", {**inputs, **reference}, images=sample.images, library=library),
        render(
            "checkpoints_published" if published else "checkpoints",
            {**inputs, "criteria": criteria_text(PLACEHOLDER_CRITERIA), "response": "(the candidate's answer)"},
            images=sample.images if show_image else (),
            library=library,
        ),
    ]
    if reference:
        prompts.insert(
            1, render("equivalence", {**inputs, **reference, "answer": PLACEHOLDER_CHAIN.answer}, library=library)
        )
    return prompts


def _of_criteria(plan: EvaluationPlan, sample: Sample, library: PromptLibrary | None) -> list[Rendered]:
    """Return the prompts by which criteria are drawn and looked at."""
    asks: list[Ask[Any]] = [
        extract_criteria(sample, PLACEHOLDER_CHAIN, count=counted(plan.criteria_count)),
        examine_criteria(sample, PLACEHOLDER_CHAIN, PLACEHOLDER_CRITERIA.criteria),
    ]
    if plan.protocol == "published":
        asks = [extract_criteria(sample, PLACEHOLDER_CHAIN)]
    return [render(one.prompt, one.inputs, images=one.images, library=library) for one in asks]


def _with_tools(rendered: Rendered, looks: int, library: PromptLibrary | None) -> Rendered:
    """Return a prompt as it is put to a judge that is offered tools."""
    offered = rendered.name in ("solver", "checkpoints", "checkpoints_published") and any(
        message.images for message in rendered.messages
    )
    return with_looking(rendered, looks, library=library) if offered else rendered


def _as_object(rendered: Rendered, library: PromptLibrary | None) -> Rendered:
    """Return a prompt as it is put to a judge that takes an output schema."""
    forms = {
        "criteria": schemas.criteria(1).form,
        "criteria_published": schemas.criteria(1, published=True).form,
        "criteria_check": schemas.criteria_check(1).form,
        "checkpoints": schemas.checkpoint_scores(1).form,
        "checkpoints_published": schemas.checkpoint_scores(1, published=True).form,
        "equivalence": schemas.equivalence().form,
    }
    form = forms.get(rendered.name)
    return rendered if form is None else with_form(rendered, form, library=library)
