"""`dokimasia diff`: two judges, two models or two prompts on the same samples, pair by pair."""

from typing import TYPE_CHECKING

import click

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.drawing import print_blocks
from dokimasia.cli.shared import json_option, print_json, say
from dokimasia.storage.naming import LAST

if TYPE_CHECKING:
    from dokimasia.storage.runs import Run


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--models", help="A,B: compare A of FIRST with B of SECOND (default: all models of the same name).")
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="List so many changed samples.")
@click.option("--seed", type=click.IntRange(0), help="Seed of intervals and tests (default: that of FIRST).")
@json_option
@with_backend
def command(
    backend: Backend, first: str, second: str, models: str | None, top: int, seed: int | None, as_json: bool
) -> None:
    """Compare the runs FIRST and SECOND on the samples that both have: SECOND minus FIRST.

    Samples are paired by their content. Two judges on the same answers: two runs of the same data. Two models of one
    run: dokimasia diff RUN RUN --models A,B, which is drawn as A minus B, as on the run's page (--json: B minus A).

    Without --models, FIRST as last is the newest run that can be compared, and SECOND as last the newest of its kind
    beside FIRST; `diff last last` compares the two newest of a kind, the older one first.
    """
    from dokimasia import operations

    def announce(*runs: "Run") -> None:
        for text, run in zip((first, second), runs, strict=True):
            if text == LAST:
                say(f"last: run {run.id} of {run.created_at[:19].replace('T', ' ')}, {run.command}")

    pair = _pair(models)
    found = backend.call(
        operations.runs.diff,
        runs=f"{first},{second}",
        models=None if pair is None else ",".join(pair),
        top=top,
        seed=seed,
        announce=announce,
    )
    if backend.remote and LAST in (first, second):
        announce(backend.find(found["first"]["run"]), backend.find(found["second"]["run"]))
    if as_json:
        print_json(found)
    else:
        from dokimasia.report.comparison import comparison_blocks

        print_blocks(comparison_blocks(found))


def _pair(models: str | None) -> tuple[str, str] | None:
    if models is None:
        return None
    names = [name.strip() for name in models.split(",")]
    if len(names) != 2 or not all(names):
        raise click.UsageError("--models takes two names: A,B")
    return names[0], names[1]
