"""`dokimasia diagnose RUN --fingerprint`: can reports without names be matched to responses? By a judge, or by a person."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


def fingerprint_run(
    settings: "Settings",
    run: str,
    *,
    tree: str | None,
    judge: str | None,
    matches: Path | None,
    seed: int | None,
    as_json: bool,
    folder: Path | None = None,
    by_hand: bool = False,
    **more: Any,
) -> None:
    """Have a judge match reports to responses, or take a person's matches in; with a folder, write all of it there."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.methods.fingerprints.results import fingerprint_summary
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    if matches is not None:
        if judge is not None or by_hand:
            raise click.UsageError(
                f"--matches takes in what a person decided; {'--judge' if judge else '--by-hand'} does not go with it"
            )
        id = _taken_in(settings, run, matches)
    elif judge is None:
        raise click.UsageError("--fingerprint needs --judge M: who writes the reports, and matches them")
    elif by_hand and folder is None:
        raise click.UsageError("--by-hand needs --export DIR: where the trials are written for a person")
    else:
        id = _carried_out(settings, {"run": run, "judge": judge, "tree": tree, "seed": seed, **more}, by_hand=by_hand)
    with Home.open(settings.home, write=False) as home:
        summary = fingerprint_summary(home, get_run(home, id))
    print_run(settings, id, as_json=as_json, figures=summary)
    if folder is not None:
        _exported(settings, id, summary, folder)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a test of fingerprints under other limits, and print what it came to."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.fingerprints.fingerprinting import resume_fingerprints
    from dokimasia.methods.fingerprints.matching import read_fingerprint_plan

    asked = read_fingerprint_plan(run)[1].model_copy(update=changes)
    result = run_to_end(
        lambda observer, stop: resume_fingerprints(run, settings=settings, request=asked, observer=observer, stop=stop),
        settings,
    )
    print_run(settings, result.run, as_json=as_json, figures=result.summary)


def _taken_in(settings: "Settings", run: str, path: Path) -> str:
    import asyncio

    from dokimasia.methods.fingerprints.by_hand import take_matches
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=True, create=False, command="diagnose") as home:
        found, new = asyncio.run(take_matches(home, run, path))
    click.echo(f"took in {new} new decisions of {path.name} for {found.id}", err=True)
    return found.id


def _carried_out(settings: "Settings", asked: Mapping[str, Any], *, by_hand: bool) -> str:
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis.plan import FingerprintRequest
    from dokimasia.methods.fingerprints.fingerprinting import match_fingerprints

    request = FingerprintRequest.model_validate(asked)
    result = run_to_end(
        lambda observer, stop: match_fingerprints(
            request, settings=settings, observer=observer, stop=stop, by_hand=by_hand
        ),
        settings,
    )
    return result.run


def _exported(settings: "Settings", id: str, summary: Mapping[str, Any], folder: Path) -> None:
    from dokimasia.methods.fingerprints.by_hand import write_bundle
    from dokimasia.methods.fingerprints.results import export_figures
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    with Home.open(settings.home, write=False) as home:
        bundle = write_bundle(home, get_run(home, id), folder)
    written = export_figures(summary, folder)
    click.echo(
        f"wrote {len(written)} files with figures, and {bundle.trials} trials for a reader, to {folder}", err=True
    )
    if bundle.kept:
        click.echo(f"{bundle.sheet} was there and is left as it is", err=True)
    click.echo(
        f"To match them by hand, save {bundle.sheet} under the reader's name, put A or B into report_1_is, and: "
        f"dokimasia diagnose {id} --fingerprint --matches NAME.csv --home {settings.home}",
        err=True,
    )
