"""`dokimasia decide`: go through the items that wait for a person in a run, or exchange them as files."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import EXISTING_FILE, FILE, console, json_option, print_json
from dokimasia.domain.wording import percentage
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.people.checks.figures import StandingFigures


@click.command()
@click.argument("run")
@click.option("--who", help="Who checks (default: the name of the user of this machine).")
@click.option("--second", is_flag=True, help="Go through what others have decided, for a second opinion.")
@click.option(
    "--export",
    "export",
    type=FILE,
    help="Write all items here (JSON lines; with perturbations also a page); with --who without what others decided.",
)
@click.option(
    "--import",
    "import_",
    type=EXISTING_FILE,
    help="Take in the decisions of a file that --export wrote and somebody filled in.",
)
@json_option
@with_backend
def command(
    backend: Backend,
    run: str,
    who: str | None,
    second: bool,
    export: Path | None,
    import_: Path | None,
    as_json: bool,
) -> None:
    """Check what RUN made: accept, edit or reject captions and rubrics, or label perturbations; answer what it asks people.

    A perturbation is valid (worse), score-invariant (harmless), incorrect, not relevant, or one is not sure; judges are
    probed with the first two alone.

    After an edit or a rejection of a caption it asks why; Enter gives no reason.

    A question that a run puts to a person in the place of a model (human/NAME) is answered by that person alone (--who NAME).

    Every decision is kept at once, with who and when; whoever stops goes on later where they were. With --json nothing
    is asked: it prints how all items stand.
    """
    if as_json and export is None and import_ is None:
        print_json(backend.standing(run))
        return
    person = backend.reviewer(run, who)
    if import_ is not None:
        imported = backend.take_in_checks(run, import_, who=person)
        known_already = f", {imported.known} known already" if imported.known else ""
        text = f"took in {several(imported.decided, 'decision')}{known_already}; {several(imported.empty, 'line')} without one"
        if imported.left:
            text += (
                f"; {imported.left} are left for the process that writes to the home at the moment, which takes them in"
            )
        click.echo(text, err=True)
    if export is not None:
        from dokimasia.people.checks.files import write_files

        files = backend.check_files(run, export.name, who=person, others=not who)
        count = files[export.name].count(b"\n")
        pages = [path for path in write_files(files, export)[1:] if path.suffix == ".html"]
        page = f", and a page for {person} to label them on to {pages[0]}" if pages else ""
        if page and not who:
            page += " (--who NAME makes it for another person)"
        click.echo(f"wrote {several(count, 'item')} to {export}{page}", err=True)
    if not as_json and export is None and import_ is None:
        from dokimasia.cli.checking import go_through

        go_through(backend, run, who=person, second=second)
        if second and backend.due_items(run, who=person, second=True).items:
            return  # figures would reveal others' decisions on items still to be judged
    figures = backend.standing(run)
    if as_json:
        print_json(figures)
    else:
        _print(figures, escape(backend.where))


def _print(figures: "StandingFigures", where: str) -> None:
    out = console()
    states = ", ".join(f"{count} {state}" for state, count in figures.states.items() if count)
    kinds = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in figures.kinds.items())
    out.print(f"[bold]run {figures.run}[/bold] · {kinds}: {states}")
    if figures.labels is not None:
        from dokimasia.people.checks import label_blocks
        from dokimasia.report.terminal import draw_blocks

        draw_blocks(out, label_blocks(figures.labels, figures.run))
        return
    for pair in figures.agreement:
        kappa = "" if pair.kappa is None else f", kappa {pair.kappa:.2f}"
        out.print(
            f"{' and '.join(pair.people)} decided alike on {percentage(pair.share)} of {pair.n} items "
            f"({percentage(pair.low)} to {percentage(pair.high)}{kappa}); the same text on {pair.same_text}"
        )
    if figures.reasons is not None:
        from dokimasia.people.checks.blocks import reason_blocks
        from dokimasia.report.terminal import draw_blocks

        draw_blocks(out, reason_blocks(figures.reasons))
    if figures.answered:
        out.print(f"[dim]the run goes on with the answers: dokimasia resume {figures.run}{where}[/dim]", soft_wrap=True)
    for name, count in figures.asked.items():
        person = escape(name)
        out.print(
            f"[dim]{several(count, 'question')} to {person}: dokimasia decide {figures.run} --who {person}{where}[/dim]",
            soft_wrap=True,
        )
    unaddressed = figures.states["waiting"] - sum(figures.asked.values())
    if unaddressed > 0:
        out.print(f"[dim]{unaddressed} wait: dokimasia decide {figures.run}{where}[/dim]", soft_wrap=True)
