"""`dokimasia demo`: the main job, offline, on a world whose truth is known, so that one can see it measured right."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.demo.diagnosis import diagnosis_step
from dokimasia.cli.demo.probe import probe_step
from dokimasia.cli.demo.tree import tree_step
from dokimasia.cli.shared import configured, console, json_option, print_json, reading, redact, shown_path
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.simulation.scene import Scene, SceneQuestion

JUDGE = "sim/judge-noisy"
CANDIDATES = ("sim/strong", "sim/steady", "sim/hasty", "sim/nearsighted", "sim/weak")
REFINED = ("sim/hasty", "sim/weak")
"""Those whose failures are taken up; all others may give them hints, and so may each other."""


@click.command()
@click.option("--samples", type=click.IntRange(7), default=84, show_default=True, help="How many questions.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Which world.")
@json_option
@configured
def command(settings: "Settings", samples: int, seed: int, as_json: bool) -> None:
    """Make a small planted world, evaluate five simulated models on it, diagnose them, let two mend failures, probe a judge.

    Every figure stands beside the one that follows from what was planted. The same command again asks nothing anew. It ends
    with the path of the page that it writes.
    """
    from dokimasia.simulation.world import make_world, write_world
    from dokimasia.storage.home import Home

    data = settings.home / f"world-{samples}-{seed}.jsonl"
    Home.open(settings.home, write=True).close()
    pictures = write_world(data, samples, seed)
    click.echo(
        f"made {several(samples, 'question')} on {several(pictures, 'picture')} in seven domains: {data}", err=True
    )
    pairs = list(make_world(samples, seed))
    shown = evaluation_step(settings, data.absolute(), pairs, seed, as_json=as_json)
    shown["tree"] = tree_step(settings, shown["run"], pairs, seed, judge=JUDGE, models=CANDIDATES, as_json=as_json)
    shown["diagnosis"] = diagnosis_step(settings, shown["run"], pairs, models=CANDIDATES, as_json=as_json)
    shown["refinement"] = refinement_step(settings, shown["run"], pairs, seed, as_json=as_json)
    shown["probe"] = probe_step(settings, seed, as_json=as_json)
    shown["report"] = str(page_step(settings, shown["run"]))
    if as_json:
        print_json(shown)
    else:
        click.echo(f"all of it as a page: {shown['report']}")


def page_step(settings: "Settings", run: str) -> Path:
    """Write the evaluation's page, with tree and diagnosis on it, and return its path from here."""
    from dokimasia.runs.reading.reporting import write_report

    with reading(settings, run) as (home, found):
        written = asyncio.run(write_report(home, found, redact=redact))
    return Path(shown_path(written.path))


def evaluation_step(
    settings: "Settings", data: Path, pairs: "Sequence[tuple[Scene, SceneQuestion]]", seed: int, *, as_json: bool
) -> dict[str, Any]:
    """Evaluate the models, print their scores beside the planted ones, and return the figures with `planted`."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.places.here import Here
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.evaluation import EvaluationRequest, evaluate
    from dokimasia.simulation.truths.evaluation import expected_mean

    request = EvaluationRequest(data=data, judge=JUDGE, models=CANDIDATES, seed=seed)
    result = run_to_end(partial(evaluate, request), settings, method="evaluate")
    planted = {name: expected_mean(name, JUDGE, pairs) for name in CANDIDATES}
    if not as_json:
        print_run(Here(settings), result.run, as_json=False, figures=result.summary, planted=planted)
        out = console()
        out.print(
            "[dim]planted: the expected score computed from the planted parameters alone, by code that the measurement "
            "does not share; within: the measured interval contains it.[/dim]"
        )
        home = shown_path(settings.home)
        out.print(f"look closer: dokimasia show {result.run} --sample {pairs[0][1].id} --home {home}\n")
    return {**result.summary, "planted": planted}


def refinement_step(
    settings: "Settings", run: str, pairs: "Sequence[tuple[Scene, SceneQuestion]]", seed: int, *, as_json: bool
) -> dict[str, Any]:
    """Let models mend what they got wrong, print what came of it beside what is planted, and return the figures."""
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.refinement import RefinementRequest, refine
    from dokimasia.methods.refinement.figures import RefinementFigures
    from dokimasia.methods.refinement.report import mended
    from dokimasia.methods.refinement.report import planted as beside_planted
    from dokimasia.report.blocks import Paragraph, Span
    from dokimasia.simulation.profiles import as_candidate, as_judge, find_profile
    from dokimasia.simulation.truths.refinement import expected_rates

    request = RefinementRequest(run=run, models=REFINED, seed=seed)
    result = run_to_end(partial(refine, request), settings, method="refine")
    judge = as_judge(find_profile(JUDGE))
    profiles = {name: as_candidate(find_profile(name)) for name in CANDIDATES}
    planted: dict[str, dict[str, float]] = {}
    for name in REFINED:
        peers = [profile for other, profile in profiles.items() if other != name]
        planted[name] = {**expected_rates(profiles[name], judge, pairs, peers=peers).accuracy}
    if not as_json:
        refinement, home = RefinementFigures.model_validate(result.summary), shown_path(settings.home)
        print_blocks(
            [
                Paragraph(Span("What the models got wrong, answered again with and without feedback", "strong")),
                *((mended(refinement),) if refinement.failed else ()),
                Paragraph(
                    "Wrong answers, asked for once more in the same words. again: told nothing; retry: told that it was wrong; "
                    "self: also the questions of failed atoms; peer: also hints of models that solved them.",
                    "note",
                ),
                beside_planted(refinement, planted),
                Paragraph(
                    (
                        "look closer: ",
                        Span(f"dokimasia show {result.run} --home {home}", "code"),
                        "\nas a page: ",
                        Span(f"dokimasia report {result.run} --home {home}", "code"),
                    )
                ),
            ]
        )
    return {**result.summary, "planted": planted}
