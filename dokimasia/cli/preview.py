"""`--dry-run`: what a run would ask and cost, and one rendered prompt of each kind, without any call."""

from typing import Any

import click

from dokimasia.agents import schemas
from dokimasia.agents.evaluation import chain_text, criteria_text, question_inputs
from dokimasia.agents.schemas import takes_schema
from dokimasia.cli.shared import console
from dokimasia.cli.tables import cost_text
from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.sample import Sample
from dokimasia.prompts import PromptLibrary, Rendered, render, with_form, with_looking
from dokimasia.runner.evaluation import EvaluationRequest, prepare
from dokimasia.runner.inputs import library_of
from dokimasia.settings import Settings
from dokimasia.storage.memory import MemoryBlobs

PLACEHOLDER_CHAIN = ReferenceChain(reasoning="(the judge's reasoning stands here)", answer="(its final answer)")
PLACEHOLDER_CRITERIA = CriteriaSet(
    criteria=(Criterion(question="(the judge's question)", ground_truth="(what it holds to be true)", weight=10),)
)


def preview(request: EvaluationRequest, settings: Settings) -> dict[str, Any]:
    """Return the estimate and the prompts of the first sample, ready for JSON."""
    plan, samples, estimate = prepare(request, settings=settings, blobs=MemoryBlobs())
    library = library_of(request.prompts)
    prompts = _prompts(samples[0], library, show_image=request.show_image or bool(plan.tools))
    if plan.tools:
        prompts = [_with_tools(one, plan.looks, library) for one in prompts]
    if takes_schema(plan.judge):
        prompts = [_as_object(one, library) for one in prompts]
    return {
        "run": plan.run_id,
        "samples": estimate.samples,
        "calls": estimate.calls,
        "cost": estimate.cost,
        "models": {name: one.model_dump(mode="json") for name, one in estimate.models.items()},
        "prompts": {one.name: _messages(one) for one in prompts},
    }


def print_preview(shown: dict[str, Any]) -> None:
    """Print a preview for people."""
    out = console()
    out.print(f"[bold]{shown['samples']} samples, about {shown['calls']} calls, cost {cost_text(shown['cost'])}[/bold]")
    for name, model in shown["models"].items():
        tokens = f"{model['input_tokens']:,} tokens in, {model['output_tokens']:,} out"
        out.print(f"  {name}: {model['calls']} calls, {tokens}, {cost_text(model['cost'])}")
    for name, messages in shown["prompts"].items():
        out.rule(f"prompt {name}")
        for message in messages:
            images = f" + {message['images']} image(s)" if message["images"] else ""
            click.echo(f"[{message['role']}{images}]\n{message['text']}\n")


def _prompts(sample: Sample, library: PromptLibrary | None, *, show_image: bool) -> list[Rendered]:
    inputs = question_inputs(sample)
    reference = {"reference_answer": sample.reference_answer} if sample.reference_answer is not None else {}
    prompts = [
        render("solver", {**inputs, **reference}, images=sample.images, library=library),
        render("criteria", {**inputs, "chain": chain_text(PLACEHOLDER_CHAIN)}, images=sample.images, library=library),
        render("candidate", inputs, images=sample.images, library=library),
        render(
            "checkpoints",
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


def _with_tools(rendered: Rendered, looks: int, library: PromptLibrary | None) -> Rendered:
    """Return a prompt as it is put to a judge that is offered tools."""
    offered = rendered.name in ("solver", "checkpoints") and any(message.images for message in rendered.messages)
    return with_looking(rendered, looks, library=library) if offered else rendered


def _as_object(rendered: Rendered, library: PromptLibrary | None) -> Rendered:
    """Return a prompt as it is put to a judge that takes an output schema."""
    forms = {
        "criteria": schemas.criteria(1).form,
        "checkpoints": schemas.checkpoint_scores(1).form,
        "equivalence": schemas.equivalence().form,
    }
    form = forms.get(rendered.name)
    return rendered if form is None else with_form(rendered, form, library=library)


def _messages(rendered: Rendered) -> list[dict[str, Any]]:
    return [
        {"role": message.role, "text": message.text, "images": len(message.images)} for message in rendered.messages
    ]
