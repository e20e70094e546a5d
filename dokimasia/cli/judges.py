"""`dokimasia judges check`: whether a judge is good enough, from planted errors to a verdict."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.requests import made, request_options
from dokimasia.cli.shared import console, json_option, print_json, say
from dokimasia.operations.judge_checks import LABELLER, PERTURB, PROBE, UNMEASURED, JudgeCheckRequest
from dokimasia.report.figures import in_words, several

if TYPE_CHECKING:
    from dokimasia.domain.identity import JsonObject


@click.group()
def command() -> None:
    """Check judges."""


@command.command(help=JudgeCheckRequest.__doc__, short_help="Say whether a judge is good enough, and why.")
@request_options(JudgeCheckRequest, leave_out=UNMEASURED)
@click.option("--dry-run", is_flag=True, help="Print the cost estimate without sending anything.")
@json_option
@with_backend
def check(backend: Backend, asked: Mapping[str, object], dry_run: bool, as_json: bool) -> int:
    """Carry out a check, or print what it would cost."""
    from dokimasia import operations
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import exit_code
    from dokimasia.domain.passport import Passport
    from dokimasia.people.passports import check_blocks, write_passport

    request = made(JudgeCheckRequest, asked)
    planting = request.planting
    if dry_run:
        _print_estimates(backend, request, as_json=as_json)
        return 0
    planted, spent = request.data, 0.0
    if planting is not None:
        outcome = backend.run(PERTURB, planting)
        if outcome.end != "complete":
            return exit_code(outcome, backend.where)
        planted, spent = Path(outcome.run), backend.call(operations.runs.one_run, run=outcome.run).spent.cost
    if request.labels is not None:
        imported = backend.take_in_checks(str(planted), request.labels, who=LABELLER)
        say(f"labels: {imported.decided} new, {imported.known} known already, {imported.empty} lines without one")
    outcome = backend.run(PROBE, request.probing(planted, spent=spent))
    if outcome.end != "complete":
        return exit_code(outcome, backend.where)
    run = [outcome.run]
    figures = backend.call(
        operations.passports.one_judge_check,
        judge=request.judge,
        run=run,
        reference=request.reference or "",
        seed=request.seed,
    )
    if request.output is not None:
        passport = backend.call(operations.passports.one_passport, judge=request.judge, run=run, seed=request.seed)
        write_passport(Passport.model_validate(passport), request.output)
        say(f"wrote the passport to {request.output}: --passport {request.output} makes later runs heed it")
    if as_json:
        print_json(figures)
    else:
        print_blocks(check_blocks(figures))
    return 0


def _print_estimates(backend: Backend, request: JudgeCheckRequest, *, as_json: bool) -> None:
    """Print what the two runs of a check would cost; the probe's cost is known once its errors are planted.

    Raises:
        ConfigError: a key is not set; raised after printing.
    """
    from dokimasia.cli.drawing import PreviewShown, print_preview

    previews: dict[str, JsonObject | None] = {"planting": None, "probing": None}
    planted: Path | None = request.data
    if (planting := request.planting) is not None:
        preview = previews["planting"] = backend.preview(PERTURB, planting)
        planting_preview = PreviewShown.model_validate(preview)
        planted = Path(planting_preview.run) if planting_preview.status == "done" else None
    if planted is not None:
        previews["probing"] = backend.preview(PROBE, request.probing(planted))
    if as_json:
        print_json({**previews, "left_out": request.left_out})
    for name, preview in previews.items():
        if preview is None:
            continue
        if not as_json:
            console().print(f"[bold]{name}[/bold]")
            print_preview(preview, prompts=False, as_json=False)
        backend.check_keys(preview)
    if as_json:
        return
    if planted is None:
        calls = sum(2 if name.startswith("pairwise") else 1 for name in request.evaluators) * len(request.judges)
        console().print(
            f"[bold]probing[/bold]\nabout {calls} calls for each planted error, and for each right answer as many and a few "
            "more; --dry-run says what they cost once the errors are planted, and --max-cost limits both runs together"
        )
    if request.left_out:
        _print_left_out(backend, request, planted, previews["probing"])


def _print_left_out(
    backend: Backend, request: JudgeCheckRequest, planted: Path | None, probing: "JsonObject | None"
) -> None:
    """Print the evaluators that a check leaves out although evaluations judge by them, their calls, and their option."""
    calls = "a call more for each planted error and right answer"
    if "checkpoints" in request.left_out:
        calls += ", and of checkpoints the calls that make the criteria of each sample"
    evaluators = (*request.evaluators, *request.left_out)
    if planted is not None and probing is not None:
        wider = request.model_copy(update={"evaluators": evaluators})
        more = backend.preview(PROBE, wider.probing(planted))
        added = sum(int(more.get(name, 0)) - int(probing.get(name, 0)) for name in ("calls", "in_ledger"))
        calls = f"about {several(added, 'call')} more"
    console().print(
        f"[bold]left out[/bold]\n{in_words(request.left_out)}, by which evaluations score: {calls}; "
        f"--evaluators {','.join(evaluators)} measures all"
    )
