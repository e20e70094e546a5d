"""`dokimasia filter`: keep the images that hold enough to put perception to the test."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.data_run import data_options
from dokimasia.cli.shared import common, console, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


@click.command()
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.option("--judge", required=True, help="The judge: a name from dokimasia.toml or any LiteLLM name.")
@click.option(
    "--thresholds",
    multiple=True,
    metavar="DOMAIN=X,Y|FILE",
    help="Keep a domain's images from complexity X and informativeness Y on (1 to 10); all=X,Y for the rest.",
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write what is kept as a data file."
)
@data_options
@json_option
@common
def command(
    settings: "Settings",
    data: Path,
    judge: str,
    thresholds: tuple[str, ...],
    output: Path | None,
    asked: dict[str, Any],
    as_json: bool,
) -> None:
    """Rate every image of DATA by visual complexity and informativeness, and keep those that reach the thresholds.

    The domain is the data's own (`domain`, or a category of that name), else the judge says it. A line of DATA needs only
    `id` and `image`. The same command continues an interrupted run, or prints what came of it.
    """
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.density.filtering import FILTER, FilterRequest, read_thresholds, write_kept
    from dokimasia.methods.graph.images import run_images
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    request = FilterRequest(data=data.absolute(), judge=judge, thresholds=read_thresholds(thresholds), **asked)
    result = run_to_end(
        lambda observer, stop: run_images(FILTER, request, settings=settings, observer=observer, stop=stop), settings
    )
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
        if output is not None:
            kept = write_kept(home, run, output)
            click.echo(f"{kept} samples written to {output}", err=True)
    show_run(settings, run, as_json=as_json)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a run of the filter under other limits, and print what came of it."""
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.density.filtering import FILTER
    from dokimasia.methods.graph.images import read_image_plan, resume_images

    request = read_image_plan(FILTER, run)[1].model_copy(update=changes)
    run_to_end(
        lambda observer, stop: resume_images(
            FILTER, run, settings=settings, request=request, observer=observer, stop=stop
        ),
        settings,
    )
    show_run(settings, run, as_json=as_json)


def show_run(settings: "Settings", run: "Run", *, as_json: bool, sample: str | None = None) -> None:
    """Print what the filter kept, by domain; with `sample`, one sample's ratings."""
    from dokimasia.errors import NotFound
    from dokimasia.methods.density.filtering import filter_items, filter_summary
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    with Home.open(settings.home, write=False) as home:
        run = get_run(home, run.id)
        summary = filter_summary(home, run)
        items = list(filter_items(home, run, sample))
    if sample is not None and not items:
        raise NotFound(f"run {run.id} has no finished item of a sample {sample!r}")
    if as_json:
        print_json(summary | {"items": items})
        return
    if sample is None:
        _print_summary(summary)
    _print_items(items if sample is not None else [item for item in items if item["failure"]])


def _print_summary(summary: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from dokimasia.cli.figures import heading, mean_text, share_text
    from dokimasia.cli.tables import cost_text

    out = console()
    heading(out, summary, f"run {summary['run']} · filter · judge {summary['judge']}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name in ("domain", "complexity", "informativeness", "kept"):
        table.add_column(name, overflow="fold", justify="left" if name == "domain" else "right")
    for name, one in [*summary["domains"].items(), ("all", summary)]:
        cells = (mean_text(one["visual_complexity"]), mean_text(one["informativeness"]), share_text(one["kept"]))
        table.add_row(one.get("title", name), *cells, style="bold" if name == "all" else "")
    out.print(table)
    given = sum(one["given"] for one in summary["domains"].values())
    out.print(
        f"[dim]{summary['n_rated']} of {summary['n']} rated, {given} domains given by the data, {summary['calls']} calls, "
        f"cost {cost_text(summary['cost'])}. Ratings 1 to 10; 95 % intervals, clustered by image.[/dim]"
    )


def _print_items(items: list[dict[str, Any]]) -> None:
    from rich.markup import escape

    from dokimasia.cli.shared import redact

    out = console()
    for item in items:
        rating = item["rating"]
        if rating is None:
            out.print(f"{escape(item['sample'])} · {item['failure']}: {escape(redact(item['reason']))}", style="red")
            continue
        density, least = rating["density"], rating["threshold"]
        out.print(
            f"{escape(item['sample'])} · {rating['domain']} · complexity {density['visual_complexity']} "
            f"(from {least['visual_complexity']:g}) · informativeness {density['informativeness']} "
            f"(from {least['informativeness']:g}) · {'kept' if rating['kept'] else 'dropped'}"
        )
