"""Setup verbs: `dokimasia init` writes a configuration; `schema` and `plugins` show what is available."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.shared import FILE, configured, console, grid, json_option, print_json
from dokimasia.errors import ConfigError

if TYPE_CHECKING:
    from dokimasia.settings import Settings


TEMPLATE = """\
## Models by name. Any LiteLLM name (openai/gpt-5, anthropic/..., ollama/...) works without being listed here.
## Lines with one # are examples: take the # away to use them. Keys never stand in this file: api_key_env names the
## environment variable that holds one.

## Where runs, calls and images are kept; the folder of this file is where a relative path begins.
# home = ".dokimasia"

## The model that embeds questions and answers for searches by meaning, on the samples' pages and by show RUN --search.
# embedding = "openai/text-embedding-3-small"

## Where workers (--workers) have the keys from: each from its own "environment", or "sent" by this process, enciphered
## for each worker.
# worker_keys = "environment"

## What holds for every model that does not say otherwise.
# [defaults]
## The most requests that an endpoint is sent at once, and how many a run begins with before it has seen how they go.
# max_concurrency = 64
# start_concurrency = 16
# timeout = 120.0

## A hosted model under a short name, with its prices in US dollars per million tokens.
# [models.judge]
# model = "openai/gpt-5"
# api_key_env = "OPENAI_API_KEY"
# input_price = 1.25
# output_price = 10.0
## Input that the provider reads from its cache of prompts, or writes into it; without these prices it costs the whole.
# cached_input_price = 0.125
# cache_write_price = 1.25
# capabilities = ["vision", "json_schema", "tools"]
## Images with a longer side of more pixels are made smaller before they are sent; without it all are sent as they are.
# max_image_side = 1568
## What tables group models by and say of them: weights are open or proprietary, parameters such as 7B or 235B-A22B.
# weights = "proprietary"

# [models.judge.sampling]
# reasoning_effort = "medium"
# max_tokens = 16000

## A server of your own on the OpenAI wire format. `endpoint` names where it runs in the ledger, so that its address
## may change without a call being paid for again; without it the address is the name.
# [models.local]
# model = "hosted_vllm/Qwen/Qwen2.5-VL-7B-Instruct"
# endpoint = "our-vllm"
# api_base = "http://127.0.0.1:8000/v1"
# transport = "auto"
# max_concurrency = 32
# start_concurrency = 32
# rpm = 600
# tpm = 200000
# timeout = 60.0
# input_price = 0.0
# output_price = 0.0
# capabilities = ["vision"]
# weights = "open"
# parameters = "7B"

# [models.local.sampling]
# temperature = 0.7
# top_p = 0.9
# max_tokens = 2048
# reasoning_effort = "low"

## Whatever else the provider takes; it becomes part of a call's identity.
# [models.local.sampling.extra]
# top_k = 40

## A person in the place of a model (human/ana works without being listed): what an hour of theirs costs in US dollars.
# [models.expert]
# model = "human/ana"
# hourly_rate = 30.0

## An image model, which edits images: marked as one, with its price in US dollars per edited image.
# [models.editor]
# model = "openai/gpt-image-1.5"
# api_key_env = "OPENAI_API_KEY"
# capabilities = ["image_edit"]
# image_price = 0.05

# [models.editor.sampling.extra]
# quality = "medium"
"""


PASSPORT = "passport"


@click.command()
@click.option(
    "--config", "path", type=FILE, default=Path("dokimasia.toml"), show_default=True, help="Where to write it."
)
@click.option("--force", is_flag=True, help="Replace a file that is already there.")
def init(path: Path, force: bool) -> None:
    """Write a commented dokimasia.toml: a table for each model, and API keys by the names of their environment variables."""

    if path.exists() and not force:
        raise ConfigError(
            f"{path} is already there; edit it, name another file with --config, or replace it with --force"
        )
    path.write_text(TEMPLATE, encoding="utf-8")
    click.echo(f"wrote {path}. Uncomment a model, export its key, then: dokimasia evaluate DATA --judge J --models A,B")


@click.command()
@click.argument("method", required=False)
def schema(method: str | None) -> None:
    """Print the JSON schema of what --json prints of a run of METHOD; without METHOD, list the methods that have one.

    `passport` stands for the files that `dokimasia passport` writes.

    A field that is not required is left out where there is nothing to say.
    """
    from dokimasia.domain.wording import nearest
    from dokimasia.people.passports import schema as passport_schema
    from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
    from dokimasia.runs.figure_models import figures_schema, methods_with_schema

    if method == PASSPORT:
        print_json(passport_schema())
        return
    if method is not None:
        named_method = next(
            (
                method_entry.name
                for method_entry in methods_with_schema()
                if method in (method_entry.report.drawing().name, method_entry.title)
            ),
            None,
        )
        if named_method is not None and named_method != method:
            raise ConfigError(
                f"no method {method!r}, which is what runs of {named_method!r} are called: `dokimasia schema {named_method}`"
            )
        names = [*OWN, *plugin_methods()]
        if method not in names:
            hint = nearest(method, [*names, PASSPORT]) or ";"
            raise ConfigError(f"no method is called {method!r}{hint} `dokimasia schema` lists all")
        print_json(figures_schema(method_named(method)))
        return
    for method_shown in methods_with_schema():
        click.echo(f"{method_shown.name:<12} {method_shown.title}")
    click.echo(f"{PASSPORT:<12} the passport of a judge, which is a file")


@click.command()
@json_option
@configured
def plugins(settings: "Settings", as_json: bool) -> None:
    """List the plug-ins that are installed, each with its distribution, and say which cannot be used and why."""
    from dokimasia.plugins import GROUPS, listing

    entries = listing()
    if as_json:
        print_json([plugin._asdict() for plugin in entries])
        return
    out = console()
    if not entries:
        out.print(f"no plug-ins are installed; a distribution announces them in {', '.join(GROUPS.values())}")
        return
    table = grid("kind", "name", "distribution", "what")
    for plugin in entries:
        state = "[green]" if plugin.problem is None else "[red]"
        owner = f"{plugin.distribution} {plugin.version}".strip()
        table.add_row(plugin.kind, f"{state}{escape(plugin.name)}[/]", escape(owner), escape(plugin.value))
    out.print(table)
    for plugin in entries:
        if plugin.problem is not None:
            out.print(escape(plugin.problem), style="red")
