"""`dokimasia rubrics`: must-right and easy-wrong rubrics from golden captions, and rubric sets as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.data_run import data_options, named_models
from dokimasia.cli.shared import common, console, json_option, print_json, redact

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run

SHOWN_ITEMS = 5


@click.command()
@click.argument("source", required=False)
@click.option("--judge", help="Who writes the rubrics: a name from dokimasia.toml or any LiteLLM name.")
@click.option("--pool", default="", help="Models, separated by commas, whose errors easy-wrong rubrics are mined from.")
@click.option("--panel", help="Who cross-checks every rubric (default: the review's panel); none: nobody.")
@click.option("--prompt", help="What the pool is asked, in place of what the review asked.")
@click.option(
    "--export",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the rubrics to this file, as JSON lines.",
)
@click.option("--schema", "show_schema", is_flag=True, help="Print the JSON schema of such a file's lines, and end.")
@data_options
@json_option
@common
def command(
    settings: "Settings",
    source: str | None,
    judge: str | None,
    pool: str,
    panel: str | None,
    prompt: str | None,
    output: Path | None,
    show_schema: bool,
    asked: dict[str, Any],
    as_json: bool,
) -> None:
    """Make rubrics from the golden captions of SOURCE: a review's run, or a data file with captions.

    A data file's lines have `id`, `image`, and the caption as `caption` or `reference_answer`. With --export alone (no
    --judge), SOURCE is a run that made rubrics, and they are written as they stand after people's checks. The same command
    continues an interrupted run, or prints what came of it.
    """
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.rubrics.files import schema
    from dokimasia.methods.rubrics.making import make_rubrics
    from dokimasia.methods.rubrics.plan import KIND, RubricRequest
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run, resolve_run

    if show_schema:
        print_json(schema())
        return
    if source is None:
        raise click.UsageError("name a review's run or a file of captions")
    if judge is None:
        if output is None:
            raise click.UsageError("name who writes the rubrics with --judge, and --pool; or --export FILE alone")
        with Home.open(settings.home, write=False) as home:
            run = resolve_run(home, source)
        if run.options.get("kind") != KIND:
            raise click.UsageError(f"run {run.id} made no rubrics: name who writes them with --judge, and --pool")
        _export(settings, run, output)
        return
    path = Path(source)
    request = RubricRequest.model_validate(
        {
            "data": path.absolute() if path.exists() else path,
            "source": "" if path.exists() else source,
            "judge": judge,
            "pool": named_models(pool),
            "panel": None if panel is None else () if panel == "none" else named_models(panel),
            "prompt": prompt,
            **asked,
        }
    )
    result = run_to_end(
        lambda observer, stop: make_rubrics(request, settings=settings, observer=observer, stop=stop), settings
    )
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
    show_run(settings, run, as_json=as_json)
    if output is not None:
        _export(settings, run, output)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with the making of rubrics under other limits, and print what came of it."""
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.graph.images import read_image_plan, resume_images
    from dokimasia.methods.rubrics.making import RUBRICS

    request = read_image_plan(RUBRICS, run)[1].model_copy(update=changes)
    run_to_end(
        lambda observer, stop: resume_images(
            RUBRICS, run, settings=settings, request=request, observer=observer, stop=stop
        ),
        settings,
    )
    show_run(settings, run, as_json=as_json)


def show_run(settings: "Settings", run: "Run", *, as_json: bool, sample: str | None = None) -> None:
    """Print what came of the making of rubrics; with `sample`, one set whole, with what was dropped and why."""
    from dokimasia.errors import NotFound
    from dokimasia.methods.rubrics.making import rubric_items, rubric_summary
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    with Home.open(settings.home, write=False) as home:
        run = get_run(home, run.id)
        summary = rubric_summary(home, run)
        items = list(rubric_items(home, run, sample))
    if sample is not None and not items:
        raise NotFound(f"run {run.id} has no finished item of a sample {sample!r}")
    if as_json:
        print_json(summary | {"items": items})
        return
    out = console()
    if sample is None:
        _print_summary(out, summary)
    for item in items if sample is not None else items[:SHOWN_ITEMS]:
        _print_set(out, item, whole=sample is not None)
    if sample is None and len(items) > SHOWN_ITEMS:
        out.print(f"[dim]and {len(items) - SHOWN_ITEMS} more; show RUN --sample ID shows one whole, --json all[/dim]")


def _export(settings: "Settings", run: "Run", output: Path) -> None:
    from dokimasia.methods.rubrics.files import encode_sets, sets_of_run
    from dokimasia.runs.export_formats import write_whole
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        sets = sets_of_run(home, run)
    write_whole(output, encode_sets(sets))
    click.echo(f"wrote the rubrics of {len(sets)} images to {output}", err=True)


def _print_summary(out: Any, summary: Mapping[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from dokimasia.cli.figures import heading
    from dokimasia.cli.tables import cost_text

    heading(out, summary, f"run {summary['run']} · rubrics · judge {summary['judge']}")
    panel = ", ".join(summary["panel"]) or "none: nobody cross-checked"
    out.print(f"pool {', '.join(summary['pool'])} · panel {panel}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", "rubrics", "per image"):
        table.add_column(name, justify="left" if not name else "right")
    for name, title in (("must_right", "must-right"), ("easy_wrong", "easy-wrong"), ("rubrics", "together")):
        mean = summary["per_image"][name]
        table.add_row(title, str(summary[name]), "–" if mean is None else f"{mean:.2f}")
    out.print(table)
    dropped, kinds = summary["dropped"], summary["kinds"]
    out.print(
        f"{summary['sets']} images of {summary['samples']}, {summary['verified']} captions verified, "
        f"{summary['checked']} sets checked by a person"
    )
    out.print(
        f"dropped: {dropped['rules']} by the rules, {dropped['panel']} by the panel · mended: {summary['repaired']} · "
        f"forbidding: {summary['negative']}"
    )
    if kinds:
        out.print("kinds of error: " + ", ".join(f"{kind} {count}" for kind, count in kinds.items()), style="dim")
    if summary["failures"]:
        failed = ", ".join(f"{count} {kind}" for kind, count in summary["failures"].items())
        out.print(f"failed: {failed}", style="red")
    out.print(f"[dim]{summary['calls']} calls, cost {cost_text(summary['cost'])}[/dim]")


def _print_set(out: Any, item: Mapping[str, Any], *, whole: bool) -> None:
    from rich.markup import escape

    def say(text: str, style: str = "") -> None:
        out.print(escape(redact(text)), style=style, overflow="fold" if whole else "ellipsis", no_wrap=not whole)

    if item["set"] is None:
        say(f"{item['sample']}: {item['failure']}: {item['reason']}", "red")
        return
    made = item["set"]
    say(f"\n{item['sample']} ({made['domain']})", "bold")
    if whole:
        say(made["caption"], "dim")
    for rubric in made["rubrics"]:
        mark = "gate" if rubric["stream"] == "must_right" else "fine"
        support = f" ← {', '.join(rubric['support'])}" if rubric["support"] else ""
        say(f"  {mark}  {rubric['statement']}{support}")
        if whole and rubric["evidence"]:
            say(f'        "{rubric["evidence"]}"', "dim")
    gone: Sequence[Mapping[str, Any]] = made["dropped"] if whole else ()
    for one in gone:
        say(f"  dropped by the {one['by']}: {one['rubric']['statement']} ({one['reason']})", "yellow")
