"""A run, or one sample of it, printed: JSON for machines, blocks drawn with Rich for people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import console, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings


def print_run(settings: "Settings", run: str, *, as_json: bool, sample: str | None = None, raw: bool = False) -> None:
    """Print a run's figures; with `sample`, that sample whole, and with `raw` its calls, too."""
    import asyncio

    from dokimasia.runs.inspection import sample_of_run
    from dokimasia.runs.registry import method_of
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    with Home.open(settings.home, write=False) as home:
        found = resolve_run(home, run)
        method = method_of(found)
        if sample is not None:
            print_json(asyncio.run(sample_of_run(home, found, sample, raw=raw)))
            return
        shown = method.figures(home, found)
        if as_json and method.items is not None and method.items_shown:
            shown = {**shown, "items": list(method.items(home, found, None))}
    print_json(shown)


def print_preview(shown: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what a run would ask and cost."""
    if as_json:
        print_json(shown)
        return
    out = console()
    out.print(f"[bold]{shown['samples']} samples, about {shown['calls']} calls, cost {cost_text(shown['cost'])}[/bold]")
    for name, model in shown["models"].items():
        tokens = f"{model['input_tokens']:,} tokens in, {model['output_tokens']:,} out"
        out.print(f"  {name}: {model['calls']} calls, {tokens}, {cost_text(model['cost'])}")
    for name, messages in shown["prompts"].items():
        out.rule(f"prompt {name}")
        for message in messages:
            images = f" + {message['images']} image(s)" if message["images"] else ""
            click.echo(f"[{message['role']}{images}]\n{message['text']}\n")


def cost_text(cost: float | None) -> str:
    """Return a cost in US dollars for people; unknown is said to be unknown."""
    return "unknown" if cost is None else f"${cost:,.4f}" if cost < 1 else f"${cost:,.2f}"
