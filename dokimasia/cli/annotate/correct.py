"""`dokimasia annotate correct`: a person has the last word on an answer of a finished evaluation, or leaves a sample out."""

from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.places.placing import placed
from dokimasia.cli.shared import console, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.cli.places import Place


def _scores(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[int, int]:
    found: dict[int, int] = {}
    for value in values:
        number, _, score = value.partition("=")
        if not (number.strip().isdecimal() and score.strip().isdecimal()):
            raise click.BadParameter(f"{value!r}: write it as NUMBER=SCORE, such as 2=4")
        found[int(number)] = int(score)
    return found


@click.command("correct")
@click.argument("run")
@click.argument("sample")
@click.option("--model", default="", help="Whose answer is corrected; NAME#blind for the arm without images.")
@click.option("--repeat", type=click.IntRange(0), default=0, show_default=True, help="Which of its answers, from 0.")
@click.option("--answer", type=click.Choice(["right", "wrong"]), help="What the final answer is.")
@click.option(
    "--criterion",
    "criteria",
    multiple=True,
    callback=_scores,
    metavar="NUMBER=SCORE",
    help="The score of a criterion, 1 to 5, or 0 for not stated (repeatable).",
)
@click.option("--leave-out", is_flag=True, help="Leave the sample out: its question or its reference is wrong.")
@click.option("--undo", is_flag=True, help="What the judge said counts again; with --leave-out, the sample does.")
@click.option("--reason", default="", help="Why; it stands beside the correction.")
@click.option("--who", help="Who corrects (default: the name of the user of this machine).")
@json_option
@placed
def correct(place: "Place", run: str, sample: str, who: str | None, as_json: bool, **said: Any) -> None:
    """Correct by hand what the judge of RUN, an evaluation, said of an answer to SAMPLE; or leave SAMPLE out.

    The figures count what people said, and say how much that is. The judge's reply and its own verdict stay as they are.
    """
    from pydantic import ValidationError

    from dokimasia.cli.places.checks import user_name
    from dokimasia.errors import InputError
    from dokimasia.methods.evaluation.correcting import CorrectionTarget

    try:
        wanted = CorrectionTarget.model_validate({"sample": sample, **said})
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise InputError("; ".join(str(one["msg"]).removeprefix("Value error, ") for one in found)) from None
    shown = place.correct(run, wanted, who=(who or user_name()).strip())
    if as_json:
        print_json(shown)
        return
    changes = ", ".join(f"{one['what']}: {one['from']} → {one['to']}" for one in shown["changes"])
    done = "what was corrected is taken back" if shown["undo"] else changes or "left out of all figures"
    console().print(f"{sample}{f' · {wanted.model}' if wanted.model else ''}: {done}", markup=False)
