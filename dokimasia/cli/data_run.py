"""What every verb that runs over a data set shares: the options on how much of it, on bad samples, and on money."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import click

from dokimasia.cli.shared import prompt_folders, prompts_option

P = ParamSpec("P")
R = TypeVar("R")


def data_options(function: Callable[..., R]) -> Callable[..., R]:
    """Add the options of `runner.inputs.DataRequest` to a verb, which receives them as one mapping `asked`."""

    @click.option("--limit", type=click.IntRange(1), help="Only the first N samples.")
    @click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of draws and intervals.")
    @prompts_option
    @click.option(
        "--on-bad-sample",
        type=click.Choice(["fail", "skip"]),
        default="fail",
        show_default=True,
        help="What to do with a line of the data that cannot be used.",
    )
    @click.option("--allow-fetch", is_flag=True, help="Fetch images that the data names by https URL.")
    @click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this invocation.")
    @click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this invocation.")
    @click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this invocation.")
    @click.option("--fresh", is_flag=True, help="Make a new run; what the ledger has is still not asked again.")
    @functools.wraps(function)
    def wrapped(*arguments: Any, prompts: tuple[str, ...], **options: Any) -> R:
        named = ("limit", "seed", "on_bad_sample", "allow_fetch", "max_cost", "max_calls", "max_tokens", "fresh")
        asked = {name: options.pop(name) for name in named} | {"prompts": prompt_folders(prompts)}
        return function(*arguments, asked=asked, **options)

    return wrapped


def named_models(text: str) -> tuple[str, ...]:
    """Return the names in a list separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
