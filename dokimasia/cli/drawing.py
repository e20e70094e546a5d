"""Output of verbs for people: runs of any method and blocks, as in the report, and previews of runs."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel

from dokimasia.cli.shared import console, print_json, redact, with_target_flags
from dokimasia.domain.identity import JsonObject
from dokimasia.report.fields import RunFigures
from dokimasia.report.figures import several
from dokimasia.runs.estimate import ModelEstimate, StepEstimate

if TYPE_CHECKING:
    from dokimasia.cli.backend import Backend
    from dokimasia.report.blocks import Block
    from dokimasia.report.data import Drawing


def print_run(
    backend: "Backend",
    run: str,
    *,
    as_json: bool,
    sample: str | None = None,
    raw: bool = False,
    full: bool = False,
    models: Collection[str] = (),
    figures: RunFigures | None = None,
    planted: Mapping[str, object] | None = None,
) -> None:
    """Print the results of a run: as JSON, or its conclusion and its first table.

    Args:
        backend: where the run is.
        run: the run's id, or another of its names.
        as_json: print JSON.
        sample: print all results of this sample instead.
        raw: with `sample`, also the calls as they were sent.
        full: print all sections and all columns.
        models: print only what is about these models, in tables, JSON and samples.
        figures: the run's figures, if the caller has them.
        planted: expected figures, computed from planted parameters.

    Raises:
        NotFound: there is no such run or sample, or the run has no samples to show.
        InputError: the results have no such model.
    """
    from dokimasia import operations
    from dokimasia.runs.catalogue import method_of
    from dokimasia.runs.reading.inspection import view_about_models

    if sample is not None:
        view = backend.call(operations.results.one_sample, run=run, sample=sample, raw=raw or None)
    elif as_json:
        view = backend.view(run, figures=figures)
    else:
        backend.draw(run, full=full, models=models, figures=figures, planted=planted)
        return
    view = view_about_models(view, models, run)
    if as_json:
        print_json(view)
    elif sample is not None:
        print_sample(method_of(backend.find(run)).report.drawing(), sample, view, raw=raw)


def print_sample(drawing: "Drawing", sample: str, view: JsonObject, *, raw: bool = False) -> None:
    """Print all results of a sample; with `raw` also its calls (without it, `calls` may be their number)."""
    from dokimasia.report.blocks import Fold
    from dokimasia.report.sections import plain
    from dokimasia.report.sections.calls import calls, reduced_images

    draw = drawing.sample or plain.sample
    sample_blocks = draw(view.get("items", [view]), str)
    call_blocks = (*reduced_images(view), *(calls(view) if raw else ()))
    print_blocks([Fold(f"sample {sample}", (*sample_blocks, *call_blocks))], whole=True)


def print_blocks(blocks: "Iterable[Block]", *, whole: bool = False) -> None:
    """Print blocks; with `whole` also the contents of folds."""
    from dokimasia.report.terminal import draw_blocks

    draw_blocks(console(), list(blocks), redact=lambda text: with_target_flags(redact(text)), whole=whole)


class PromptMessage(BaseModel):
    """A message of a prompt, with the number of its images."""

    role: str
    text: str
    images: int


class ForkStep(BaseModel):
    """A step of an evaluation: whether a fork does it again, and which models that asks."""

    step: str
    does: str
    again: bool
    asks: list[str]


class PreviewShown(BaseModel):
    """What a run or a fork would be, ask and cost, as `--dry-run --json` prints it."""

    run: str
    samples: int
    calls: int
    cost: float | None
    models: dict[str, ModelEstimate]
    people: dict[str, int] = {}
    notes: list[str]
    max_image_side: dict[str, int] = {}
    answered: int = 0
    followed: int = 0
    in_ledger: int = 0
    undecided: ModelEstimate = ModelEstimate(cost=0.0)
    by_step: list[StepEstimate] = []
    status: str = ""
    prompts: dict[str, list[PromptMessage]] = {}
    steps: list[ForkStep] | None = None


def print_preview(preview: JsonObject, *, prompts: bool, as_json: bool) -> None:
    """Print a run's cost and calls, and with `prompts` one prompt of each kind; JSON always includes the prompts."""
    if as_json:
        print_json(preview)
        return
    shown = PreviewShown.model_validate(preview)
    print_cost(shown, style="bold")
    if prompts:
        print_prompts(shown)
    elif shown.prompts:
        console().print(f"[dim]{several(len(shown.prompts), 'prompt')}: add --show-prompts to read[/dim]")


def print_prompts(preview: PreviewShown) -> None:
    """Print one prompt of each kind as a model would receive it."""
    out = console()
    for name, messages in preview.prompts.items():
        out.rule(f"prompt {name}")
        for message in messages:
            images = f" + {message.images} image(s)" if message.images else ""
            out.print(f"[{message.role}{images}]\n{redact(message.text)}\n", markup=False)


def print_cost(preview: PreviewShown, *, style: str = "") -> None:
    """Print the estimated cost of a run, and its calls to each model."""
    from dokimasia.report.figures import cost_text

    out = console()
    known_cost = sum(model.cost or 0.0 for model in preview.models.values())
    out.print(
        f"estimated cost {cost_text(preview.cost, known_cost)}: {several(preview.samples, 'sample')}, "
        f"about {several(preview.calls, 'call')}",
        style=style,
    )
    if preview.status == "done":
        out.print(
            f"run {preview.run} is finished: the same command prints what came of it and asks nothing", style=style
        )
    elif preview.answered and not preview.followed:
        out.print(f"{several(preview.answered, 'call')} of run {preview.run} made already", style=style)
    if preview.undecided.calls:
        out.print(
            f"and at most {several(preview.undecided.calls, 'call')} where no rule decides an answer, cost "
            f"{cost_text(preview.undecided.cost)}"
        )
    if preview.in_ledger:
        scope = "" if preview.followed >= preview.samples else f", as counted on {preview.followed:,} of the samples"
        out.print(f"not counted: {several(preview.in_ledger, 'call')} in the ledger or not needed{scope}")
    for name, model in preview.models.items():
        tokens = f"{model.input_tokens:,} tokens in, {model.output_tokens:,} out"
        side = preview.max_image_side.get(name)
        reduced = "" if side is None else f", images made smaller above {side:,} pixels a side"
        out.print(f"  {name}: {several(model.calls, 'call')}, {tokens}, {cost_text(model.cost)}{reduced}")
    for step in preview.by_step:
        if step.step:
            most = "at most " if step.if_undecided else ""
            spared = f", {step.calls - step.left:,} not counted" if step.left < step.calls else ""
            out.print(
                f"  {step.step} ({step.model}): {most}{several(step.left, 'call')}{spared}, {cost_text(step.left_cost)}"
            )
    for name, count in preview.people.items():
        out.print(f"  {name}: {several(count, 'question')} to a person at most")
    for note in preview.notes:
        out.print(f"note: {note}", style="yellow", markup=False)
