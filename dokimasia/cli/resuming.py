"""`dokimasia resume` continues a stored run; `fork` repeats it with another judge, model or prompt."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from dokimasia.cli.backend import Backend, detachable, with_backend
from dokimasia.cli.requests import made, request_options
from dokimasia.cli.shared import console, dry_run_options, grid, json_option, print_json, say
from dokimasia.runs.requests import LIMITS, NOBODY, Invocation, RunRequest, prompt_folders

if TYPE_CHECKING:
    from dokimasia.cli.drawing import PreviewShown
    from dokimasia.storage.naming import Usable
    from dokimasia.storage.runs import Run

limits_and_prompts = request_options(
    RunRequest, leave_out=("seed", "fresh", "keep_checkpoints"), lifted=LIMITS, named=("prompts",)
)


@click.command()
@click.argument("run")
@limits_and_prompts
@click.option(
    "--retry-failed", is_flag=True, help="Also ask anew what failed; every earlier outcome is kept on record."
)
@click.option("--kinds", default="", help="With --retry-failed: only these kinds, such as refused,api_error.")
@dry_run_options
@json_option
@with_backend
@detachable
def resume(
    backend: Backend,
    run: str,
    asked: Mapping[str, object],
    prompts: tuple[str, ...],
    retry_failed: bool,
    kinds: str,
    dry_run: bool,
    show_prompts: bool,
    as_json: bool,
) -> int:
    """Resume RUN: its name, the beginning of its ID, or `last` for the newest unfinished run.

    No finished call is sent again, and the data file is not needed. Limits on spending stay as they are, count what was
    spent before, and are raised by the option, or lifted by the word none (--max-cost none).

    --retry-failed asks what failed anew, as a new draw, and what had been achieved before is not asked again: of a scored
    answer whose judge lost the verdict on right or wrong, that verdict alone. Items left open by a
    budget are always resumed.
    """
    from dokimasia.cli.drawing import print_preview, print_run
    from dokimasia.cli.running import exit_code
    from dokimasia.runs.outcome import retryable

    if kinds and not retry_failed:
        raise click.UsageError("--kinds goes with --retry-failed")
    retry = retryable(kinds) if retry_failed else ()
    changes, folders = _changes(asked), prompt_folders(prompts)
    row = backend.find(run, _resumable(retry_failed=retry_failed))
    if dry_run or show_prompts:
        preview = backend.resume_preview(row, changes, prompts=folders, retry=retry)
        print_preview(preview, prompts=show_prompts, as_json=as_json)
        backend.check_keys(preview)
        return 0
    result = backend.resume(row, changes, prompts=folders, retry=retry)
    print_run(backend, row.id, as_json=as_json, figures=result.summary)
    return exit_code(result, backend.where)


@click.command()
@click.argument("run")
@click.option("--from", "node", help="The step to begin at, of an evaluation; without it all steps are listed.")
@click.option("--judge", help="Another judge; of an evaluation, from that step on.")
@click.option("--models", default="", metavar="X=Y,...", help="Replace model X with Y.")
@limits_and_prompts
@dry_run_options
@json_option
@with_backend
@detachable
def fork(
    backend: Backend,
    run: str,
    node: str | None,
    judge: str | None,
    models: str,
    asked: Mapping[str, object],
    prompts: tuple[str, ...],
    dry_run: bool,
    show_prompts: bool,
    as_json: bool,
) -> int:
    """Rerun RUN from a step with a different judge, model or prompt, as another run. Unchanged calls are not re-sent.

    An evaluation is forked at a step, and what comes before it is taken over; without --from all steps are listed in
    order. `--from score --judge OTHER` keeps criteria and answers and has another judge score them; `dokimasia diff` then
    shows what that changed. Any other run is accepted anew with the change, and the ledger answers what it does not touch.
    """
    from dokimasia.cli.drawing import PreviewShown, print_prompts, print_run
    from dokimasia.cli.running import exit_code
    from dokimasia.runs.catalogue import method_of
    from dokimasia.runs.forking import ForkRequest

    request = ForkRequest(
        node=node,
        judge=judge,
        models=_replacements(models),
        prompts=prompt_folders(prompts),
        **_invocation(asked).invocation,
    )

    def forked(run: "Run") -> bool:
        return run.status == "done" and method_of(run).reruns.no_fork is None

    parent = backend.find(run, forked)
    preview = backend.fork_preview(parent, request)
    if dry_run or show_prompts:
        if as_json:
            print_json(preview)
        else:
            shown = PreviewShown.model_validate(preview)
            _print_preview(shown, parent.id, request.node)
            if show_prompts:
                print_prompts(shown)
        backend.check_keys(preview)
        return 0
    result = backend.fork(parent, request)
    print_run(backend, result.run, as_json=as_json, figures=result.summary)
    if not as_json:
        say(f"what changed: dokimasia diff {parent.id} {result.run}{backend.where}")
    return exit_code(result, backend.where)


def _invocation(asked: Mapping[str, object]) -> Invocation:
    return made(Invocation, {name: None if asked[name] == NOBODY else asked[name] for name in Invocation.model_fields})


def _changes(asked: Mapping[str, object]) -> dict[str, object]:
    """Return the changes to a resumed run; of the spending limits only given ones, None for a removed limit."""
    unset_limits = {name for name in LIMITS if asked[name] is None}
    return {name: value for name, value in _invocation(asked).invocation.items() if name not in unset_limits}


def _resumable(*, retry_failed: bool) -> "Usable":
    """Return whether `resume last` can mean a run: an unfinished one or, with --retry-failed, one that can be retried."""
    from dokimasia.runs.catalogue import method_of

    if retry_failed:
        return lambda run: method_of(run).reruns.no_retry is None
    return lambda run: run.status != "done"


def _replacements(models: str) -> dict[str, str]:
    replacements: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in models.split(","))):
        old, equals, new = (piece.strip() for piece in pair.partition("="))
        if not (old and equals and new):
            raise click.UsageError(f"--models {pair!r}: write OLD=NEW, the model of the run and who takes its place")
        if old in replacements:
            raise click.UsageError(f"--models: {old!r} is replaced twice")
        replacements[old] = new
    return replacements


def _print_preview(preview: "PreviewShown", parent: str, node: str | None) -> None:
    from dokimasia.cli.drawing import print_cost

    out = console()
    step_text = f" at {node}" if node else ""
    out.print(f"[bold]run {preview.run}, forked from {parent}{step_text}[/bold]")
    if preview.steps is None:
        print_cost(preview, style="bold")
        return
    table = grid("step", "", "asks", "what it does")
    for step in preview.steps:
        fate = "[yellow]done again[/yellow]" if step.again else "[green]taken over[/green]"
        table.add_row(step.step, fate, ", ".join(step.asks) if step.again else "–", step.does)
    out.print(table)
    print_cost(preview)
