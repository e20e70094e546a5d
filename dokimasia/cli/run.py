"""`dokimasia run`: walk a data set through the graph of a plug-in, with the ledger and the resume of every other run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, console, json_option, print_json, prompt_folders, prompts_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings

SHOWN_ITEMS = 20


@click.command()
@click.argument("graph")
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.option("--judge", required=True, help="The judge: a name from dokimasia.toml or any LiteLLM name.")
@click.option("--models", default="", help="Models, separated by commas: each sample is walked through once for each.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N samples.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Handed to the graph.")
@click.option("--prompt", help="The question of samples that have none of their own, such as the images of a folder.")
@prompts_option
@click.option(
    "--on-bad-sample",
    type=click.Choice(["fail", "skip"]),
    default="fail",
    show_default=True,
    help="What to do with a line of the data that cannot be used.",
)
@click.option("--allow-fetch", is_flag=True, help="Fetch images that the data names by https URL.")
@click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this sitting.")
@click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this sitting.")
@click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this sitting.")
@click.option("--fresh", is_flag=True, help="Make a new run; what the ledger has is still not asked again.")
@json_option
@common
def command(
    settings: "Settings",
    graph: str,
    data: Path,
    judge: str,
    models: str,
    limit: int | None,
    seed: int,
    prompt: str | None,
    prompts: tuple[str, ...],
    on_bad_sample: str,
    allow_fetch: bool,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Walk the samples of DATA through GRAPH, a graph that an installed plug-in brings (dokimasia plugins lists them).

    The same command continues an interrupted run, or prints what came of it.
    """
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.graph.running import GraphRequest, run_graph

    request = GraphRequest(
        graph=graph,
        data=data.absolute(),
        judge=judge,
        models=tuple(name.strip() for name in models.split(",") if name.strip()),
        limit=limit,
        seed=seed,
        prompt=prompt,
        prompts=prompt_folders(prompts),
        fresh=fresh,
        on_bad_sample=on_bad_sample,
        allow_fetch=allow_fetch,
        max_cost=max_cost,
        max_calls=max_calls,
        max_tokens=max_tokens,
    )
    result = run_to_end(
        lambda observer, stop: run_graph(request, settings=settings, observer=observer, stop=stop), settings
    )
    print_graph_run(settings, result.run, as_json=as_json)


def print_graph_run(settings: "Settings", run: str, *, as_json: bool, sample: str | None = None) -> None:
    """Print what came of a run of a graph: counts, and the items with the values that they made."""
    from itertools import islice

    from dokimasia.errors import NotFound
    from dokimasia.methods.graph.results import graph_items, graph_summary
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    with Home.open(settings.home, write=False) as home:
        found = resolve_run(home, run)
        summary = graph_summary(home, found)
        if as_json:
            print_json(summary | {"items": list(graph_items(home, found, sample))})
            return
        items = list(islice(graph_items(home, found, sample), None if sample else SHOWN_ITEMS))
    if sample is not None and not items:
        raise NotFound(f"run {found.id} has no finished item of a sample {sample!r}")
    _print_summary(summary)
    _print_items(items, whole=sample is not None)
    done = sum(one["n"] for one in summary["models"].values())
    if sample is None and done > len(items):
        console().print(f"[dim]and {done - len(items)} more; --sample ID shows one whole, --json all[/dim]")


def _print_summary(summary: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from dokimasia.cli.tables import cost_text

    out = console()
    state = "" if summary["status"] == "done" else f" · [bold red]{summary['status']}[/bold red]"
    title = f"run {summary['run']} · graph {summary['graph']} (version {summary['version']}) · judge {summary['judge']}"
    out.print(f"[bold]{title}[/bold]{state}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("model", "items", "made", "scored", "failed"):
        table.add_column(name, overflow="fold")
    for name, one in summary["models"].items():
        failures = ", ".join(f"{count} {kind}" for kind, count in one["failures"].items()) or "–"
        table.add_row(name or "–", str(one["n"]), str(one["made"]), str(one["scored"]), failures)
    out.print(table)
    out.print(f"{summary['samples']} samples, {summary['calls']} calls, cost {cost_text(summary['cost'])}")


def _print_items(items: list[dict[str, Any]], *, whole: bool) -> None:
    import orjson
    from rich.markup import escape

    from dokimasia.cli.shared import redact

    out = console()
    for item in items:
        who = f"{item['sample']} · {item['model']}" if item["model"] else item["sample"]
        end = item["outcome"] if item["score"] is None else f"{item['score']:g}"
        if item["failure"]:
            end = f"{item['failure']}: {item['reason']}"
        out.print(f"[bold]{escape(who)}[/bold] · {escape(redact(end))}", style="red" if item["failure"] else "")
        for value in item["values"]:
            text = orjson.dumps(value["value"], option=orjson.OPT_INDENT_2 if whole else 0).decode()
            if not whole:
                text = " ".join(str(value["value"].get("text", text)).split())
            shown = f"  {value['type']}: {escape(redact(text))}"
            out.print(shown, style="dim", no_wrap=not whole, overflow="fold" if whole else "ellipsis")
