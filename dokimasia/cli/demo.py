"""`dokimasia demo`: the main job, offline, on a world whose truth is known, so that one can see it measured right."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import common, json_option

if TYPE_CHECKING:
    from dokimasia.settings import Settings

JUDGE = "sim/judge-noisy"
CANDIDATES = ("sim/strong", "sim/steady", "sim/hasty", "sim/nearsighted", "sim/weak")


@click.command()
@click.option("--samples", type=click.IntRange(7), default=84, show_default=True, help="How many questions.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Which world.")
@json_option
@common
def command(settings: "Settings", samples: int, seed: int, as_json: bool) -> None:
    """Make a small planted world, evaluate five simulated models on it, and hold the result against the planted truth."""
    from dokimasia.cli.running import print_result, run_to_end
    from dokimasia.cli.shared import console
    from dokimasia.runner.evaluation import EvaluationRequest, evaluate
    from dokimasia.simulation.truth import expected_mean
    from dokimasia.simulation.world import make_world, write_world

    data = settings.home / f"world-{samples}-{seed}.jsonl"
    data.parent.mkdir(parents=True, exist_ok=True)
    pictures = write_world(data, samples, seed)
    click.echo(f"made {samples} questions on {pictures} pictures in seven domains: {data}", err=True)
    request = EvaluationRequest(data=data.absolute(), judge=JUDGE, models=CANDIDATES, seed=seed)
    result = run_to_end(
        lambda observer, stop: evaluate(request, settings=settings, observer=observer, stop=stop), settings
    )
    pairs = list(make_world(samples, seed))
    planted = {name: expected_mean(name, JUDGE, pairs) for name in CANDIDATES}
    print_result(result.summary, as_json=as_json, planted=planted)
    if not as_json:
        out = console()
        out.print(
            "[dim]planted: the expected score computed from the planted parameters alone, by code that the measurement "
            "does not share; within: the measured interval contains it.[/dim]"
        )
        out.print(
            f"look closer: dokimasia show {result.run} --sample {pairs[0][1].id} --home {_relative(settings.home)}"
        )


def _relative(path: Path) -> str:
    return os.path.relpath(path)
