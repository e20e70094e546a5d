"""`dokimasia fork`: do a run again from a step on with another judge, model or prompt; the rest is taken over."""

from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, console, json_option, print_json, prompts_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option("--from", "node", required=True, help="The step to begin at; an unknown one is answered with the list.")
@click.option("--judge", help="Another judge, from that step on.")
@click.option("--models", default="", metavar="X=Y,...", help="Have Y answer in the place of the candidate X.")
@prompts_option
@click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this sitting.")
@click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this sitting.")
@click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this sitting.")
@click.option("--dry-run", is_flag=True, help="Print what would be taken over and what asked; ask nothing.")
@json_option
@common
def command(
    settings: "Settings",
    run: str,
    node: str,
    judge: str | None,
    models: str,
    prompts: tuple[str, ...],
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Do RUN again from a step on, as a run of its own; what comes before the step is taken over and not asked again.

    The steps, in order: write_chain, check_chain, judge_chain, extract_criteria, answer, score. `--from score --judge
    OTHER` keeps criteria and answers and has another judge score them; `dokimasia diff` then shows what that changed.
    """
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.cli.shared import prompt_folders
    from dokimasia.runner.forking import ForkRequest, fork, preview_fork
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    request = ForkRequest(
        node=node,
        judge=judge,
        models=_replacements(models),
        prompts=prompt_folders(prompts),
        max_cost=max_cost,
        max_calls=max_calls,
        max_tokens=max_tokens,
    )
    with Home.open(settings.home, write=False) as home:
        parent = resolve_run(home, run)
        shown = preview_fork(home, parent, request, settings=settings)
    if dry_run:
        if as_json:
            print_json(shown)
        else:
            _print_preview(shown)
        return
    result = run_to_end(
        lambda observer, stop: fork(parent, request, settings=settings, observer=observer, stop=stop), settings
    )
    print_run(settings, result.run, as_json=as_json, figures=result.summary)
    if not as_json:
        click.echo(f"what changed: dokimasia diff {parent.id} {result.run} --home {settings.home}", err=True)


def _replacements(models: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in models.split(","))):
        old, equals, new = (piece.strip() for piece in pair.partition("="))
        if not (old and equals and new):
            raise click.UsageError(
                f"--models {pair!r}: write OLD=NEW, the candidate of the run and who takes its place"
            )
        if old in found:
            raise click.UsageError(f"--models: {old!r} is replaced twice")
        found[old] = new
    return found


def _print_preview(shown: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from dokimasia.report.figures import cost_text

    out = console()
    origin = shown["forked_from"]
    out.print(f"[bold]run {shown['run']}, forked from {origin['run']} at {origin['node']}[/bold]")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("step", "", "asks", "what it does"):
        table.add_column(name, overflow="fold")
    for step in shown["steps"]:
        fate = "[yellow]done again[/yellow]" if step["again"] else "[green]taken over[/green]"
        table.add_row(step["step"], fate, ", ".join(step["asks"]) if step["again"] else "–", step["does"])
    out.print(table)
    out.print(f"{shown['samples']} samples, about {shown['calls']} calls, cost {cost_text(shown['cost'])}")
    for name, model in shown["models"].items():
        tokens = f"{model['input_tokens']:,} tokens in, {model['output_tokens']:,} out"
        out.print(f"  {name}: {model['calls']} calls, {tokens}, {cost_text(model['cost'])}")
