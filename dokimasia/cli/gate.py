"""`dokimasia gate`: whether a run is worse than its baseline, for continuous integration."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.drawing import print_blocks
from dokimasia.cli.shared import FILE, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.report.board import Measure
    from dokimasia.report.gate import GateVerdict

EXIT_CODES: dict["GateVerdict", int] = {"no drop": 0, "drop": 3, "cannot tell": 4}


class Percent(click.ParamType):
    """A number from 0 to 100, with or without a percent sign."""

    name = "percent"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            number = float(str(value).strip().removesuffix("%"))
        except ValueError:
            number = -1
        if not 0 <= number <= 100:
            self.fail(f"{value!r} is no percentage from 0 to 100, such as 2%", param, ctx)
        return number


def _models_of(models: str | None) -> tuple[str, str] | None:
    """Return the model of the baseline and that of the run, the same if only one is named; None without the option."""
    names = [] if models is None else [name.strip() for name in models.split(",")]
    if len(names) > 2 or not all(names):
        raise click.UsageError("--models takes a model of both runs, A, or that of the baseline and that of RUN: A,B")
    return (names[0], names[-1]) if names else None


@click.command()
@click.argument("run")
@click.option("--baseline", required=True, metavar="RUN", help="The run to compare with.")
@click.option(
    "--max-drop",
    required=True,
    type=Percent(),
    metavar="PERCENT",
    help="The largest allowed drop: percentage points of accuracy, or percent of the scale of scores.",
)
@click.option(
    "--measure",
    type=click.Choice(["accuracy", "score"]),
    help="What must not drop (default: accuracy, if both runs have reference answers).",
)
@click.option(
    "--models",
    help="A: compare only this model of both runs; A,B: compare A of the baseline with B of RUN (default: all models of the "
    "same name).",
)
@click.option("--seed", type=click.IntRange(0), help="Seed of intervals (default: that of the baseline).")
@click.option("--allow-undecided", is_flag=True, help="Exit with 0 where the samples cannot tell.")
@click.option("--junit", type=FILE, help="Write JUnit XML here, a test case for each model.")
@click.option("--markdown", type=FILE, help="Write a comment for a pull request here.")
@json_option
@with_backend
def command(
    backend: Backend,
    run: str,
    baseline: str,
    max_drop: float,
    measure: "Measure | None",
    models: str | None,
    seed: int | None,
    allow_undecided: bool,
    junit: Path | None,
    markdown: Path | None,
    as_json: bool,
) -> int:
    """Say whether a model of RUN is worse than in its baseline by more than is allowed.

    Samples are paired by their content, and a paired interval decides. No model is called.

    \b
    Exit codes:
      0  no drop (with --allow-undecided also: cannot tell)
      1  an error of the program
      2  a mistake in the command, such as runs over different data
      3  a drop
      4  cannot tell: the output says about how many samples would

    An answer that is neither right nor wrong counts as not right; where such answers could turn the verdict, it is
    cannot tell. In JUnit XML a drop is a failure, and cannot tell a failure of that type, with --allow-undecided a
    skipped test.
    """
    from dokimasia import operations
    from dokimasia.report.document import markdown_lines
    from dokimasia.report.gate import gate_blocks
    from dokimasia.report.gate import junit as as_junit
    from dokimasia.runs.reading.exporting import write_whole

    pair = _models_of(models)
    figures = backend.call(
        operations.runs.gate,
        run=run,
        baseline=baseline,
        max_drop=max_drop,
        measure=measure,
        models=None if pair is None else ",".join(pair),
        seed=seed,
    )
    if junit is not None:
        write_whole(junit, as_junit(figures, allow_undecided=allow_undecided).encode())
    if markdown is not None:
        write_whole(markdown, "\n".join(markdown_lines(list(gate_blocks(figures)))).encode())
    if as_json:
        print_json(figures)
    else:
        print_blocks(gate_blocks(figures))
    if allow_undecided and figures.verdict == "cannot tell":
        return 0
    return EXIT_CODES[figures.verdict]
