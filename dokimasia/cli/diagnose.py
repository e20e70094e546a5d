"""`dokimasia diagnose`: where a run's models are weak and strong, as tables, down to the atoms behind each figure."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.backend import Backend, detachable, with_backend
from dokimasia.cli.method_verb import run_verb
from dokimasia.cli.requests import made, request_options
from dokimasia.cli.shared import json_option, print_json
from dokimasia.domain.identity import JsonObject
from dokimasia.methods.diagnosis import WordsRequest
from dokimasia.methods.fingerprints import FingerprintRequest
from dokimasia.report.figures import several
from dokimasia.runs.requests import Invocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dokimasia.domain.diagnosis.tables import Asset, Diagnosis
    from dokimasia.methods.diagnosis.tables import Changes
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


@click.command()
@click.option("--against", metavar="RUN2", help="Show what got better or worse in RUN2, leaf by leaf.")
@click.option("--why", metavar="ASSET[:ROW]", help="Show the criteria behind a table, a row of it, a leaf, or a model.")
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, help="Number of criteria that --why shows."
)
@click.option(
    "--asset", "shown", multiple=True, metavar="ASSET", help="Print this table (leaves: those of all models)."
)
@click.option(
    "--write", is_flag=True, help="Have the judge write reports from the tables; figures are printed by the program."
)
@click.option("--fingerprint", is_flag=True, help="Test whether reports without names can be matched to responses.")
@click.option(
    "--matches",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --fingerprint: a person's matches.",
)
@request_options(
    FingerprintRequest,
    leave_out=("min_score", "min_accuracy"),
    optional=("judge",),
    named=("run", "judge", "tree", "seed", "export", "by_hand"),
)
@click.option(
    "--dry-run", is_flag=True, help="--write, --fingerprint: print the cost estimate without sending anything."
)
@json_option
@with_backend
@detachable
def command(
    backend: Backend,
    asked: Mapping[str, object],
    run: str,
    judge: str | None,
    tree: str | None,
    seed: int | None,
    export: Path | None,
    by_hand: bool,
    against: str | None,
    why: str | None,
    top: int,
    shown: tuple[str, ...],
    write: bool,
    fingerprint: bool,
    matches: Path | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Diagnose RUN: where its models are weak and strong, how they rank and tie, how they fail, and what is behind it.

    All figures are tables with intervals, kept with the run. A leaf is marked only by a test that is corrected for all
    nodes of all models. Without a capability tree the data's own categories take its place.
    """
    _check_together(write=write, fingerprint=fingerprint)
    settings = backend.settings
    if not (write or (fingerprint and matches is None)):
        backend.only_here("diagnose without --write or --fingerprint")
    if matches is not None:
        for option, value in (("--judge", judge), ("--by-hand", by_hand), ("--dry-run", dry_run)):
            if value:
                raise click.UsageError(f"--matches takes in what a person decided; {option} does not go with it")
        _import_matches(settings, run, matches, export=export, as_json=as_json)
    elif fingerprint:
        if judge is None:
            raise click.UsageError("--fingerprint needs --judge M: who writes the reports, and matches them")
        if by_hand and export is None:
            raise click.UsageError("--by-hand needs --export DIR: where the trials are written for a person")
        return _match(backend, asked, dry_run=dry_run, as_json=as_json)
    elif write:
        if judge is None:
            raise click.UsageError("--write needs --judge M: who writes")
        return _write(backend, asked, dry_run=dry_run, as_json=as_json)
    elif why is not None:
        _why(settings, run, why, tree=tree, top=top, seed=seed, as_json=as_json)
    else:
        _tables(settings, run, tree=tree, seed=seed, export=export, against=against, shown=shown, as_json=as_json)
    return 0


def _write(backend: Backend, asked: Mapping[str, object], *, dry_run: bool, as_json: bool) -> int:
    """Have a judge write reports on a run, or print those it wrote."""
    from dokimasia.methods.diagnosis import METHOD

    request = made(WordsRequest, {name: asked[name] for name in WordsRequest.model_fields if name in asked})
    return run_verb(METHOD, backend, request, dry_run=dry_run, as_json=as_json)


def _match(backend: Backend, asked: Mapping[str, object], *, dry_run: bool, as_json: bool) -> int:
    """Have a judge match reports to responses, or only write the reports, for a person to match."""
    from dokimasia.methods.fingerprints import METHOD

    return run_verb(METHOD, backend, made(FingerprintRequest, asked), dry_run=dry_run, as_json=as_json)


def _import_matches(settings: "Settings", run: str, path: Path, *, export: Path | None, as_json: bool) -> None:
    """Import a person's matches and print the results of the test; with a folder, also write all files there."""
    import asyncio

    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.local_backend import LocalBackend
    from dokimasia.methods.fingerprints import write_all
    from dokimasia.methods.fingerprints.human_matching import take_matches
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=True, create=False, command="diagnose") as home:
        matches, new = asyncio.run(take_matches(home, run, path))
    click.echo(f"took in {new} new decisions of {path.name} for {matches.id}", err=True)
    print_run(LocalBackend(settings), matches.id, as_json=as_json, full=True)
    if export is not None:
        with Home.open(settings.home, write=False) as home:
            for line in write_all(home, matches, export.absolute()):
                click.echo(line, err=True)


_PAID = frozenset({"judge", "keep_checkpoints", "fresh", "prompts", "dry_run", *Invocation.model_fields})
_HAND = frozenset({"matches", "by_hand", "responses", "trials"})
_OPTIONS = {
    "": frozenset({"why", "against", "shown", "export"}),
    "--why": frozenset({"why", "top"}),
    "--write": _PAID,
    "--fingerprint": _PAID | _HAND | {"export"},
}
"""The options that go with each action; --tree, --seed and --json go with all of them."""


def _check_together(*, write: bool, fingerprint: bool) -> None:
    """Refuse options that would have no effect, rather than ignore them.

    Raises:
        click.UsageError: an option does not go with the action.
    """
    if write and fingerprint:
        raise click.UsageError("--write and --fingerprint are two things: ask for one")
    context = click.get_current_context()
    options = {
        param.name: param.opts[0]
        for param in context.command.params
        if param.name and context.get_parameter_source(param.name) is click.core.ParameterSource.COMMANDLINE
    }
    action = ""
    if write:
        action = "--write"
    elif fingerprint:
        action = "--fingerprint"
    elif "why" in options:
        action = "--why"
    for name, option in options.items():
        actions = [flag for flag, names in _OPTIONS.items() if name in names and flag]
        if name in _OPTIONS[action] or not any(name in names for names in _OPTIONS.values()):
            continue
        if action in ("--write", "--fingerprint") or name not in _PAID | _HAND | {"top"}:
            raise click.UsageError(f"{option} does not go with {action}")
        raise click.UsageError(f"{option} belongs to {' or '.join(actions)}")


def _tables(
    settings: "Settings",
    run: str,
    *,
    tree: str | None,
    seed: int | None,
    export: Path | None,
    against: str | None,
    shown: tuple[str, ...],
    as_json: bool,
) -> None:
    from dokimasia.cli.diagnose_view import asset_blocks, assets_named, compared, notes, overview
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.methods.diagnosis.figures import latest_words
    from dokimasia.methods.diagnosis.files import export_diagnosis
    from dokimasia.methods.diagnosis.tables import compare_diagnoses, diagnose
    from dokimasia.methods.tree import evaluation_of
    from dokimasia.storage.home import Home

    change: Changes | None = None
    with Home.open(settings.home, write=False) as home:
        evaluation, own_tree = evaluation_of(home, run)
        tree = tree or own_tree
        diagnosis = diagnose(home, evaluation, tree=tree, seed=seed)
        words = latest_words(home, diagnosis.run)
        if against is not None:
            other, _ = evaluation_of(home, against)
            change = compare_diagnoses(home, evaluation, other, tree=tree, seed=seed)
    assets = assets_named(change.assets if change else diagnosis.assets, shown)
    _store(settings, evaluation, diagnosis)
    if export is not None:
        files = export_diagnosis(diagnosis, export, further=change.assets if change else ())
        click.echo(f"wrote {several(len(files), 'file')} to {export}", err=True)
    if as_json:
        print_json(_as_json(diagnosis, change, assets))
        return
    if change is not None:
        print_blocks([*notes(diagnosis.simulated, change.notes), *compared(change, assets)])
    elif shown:
        tables = (block for asset in assets for block in asset_blocks(asset, most=None))
        print_blocks([*notes(diagnosis.simulated, diagnosis.notes), *tables])
    else:
        print_blocks(overview(diagnosis, words=words.id if words else None))


def _why(
    settings: "Settings", run: str, text: str, *, tree: str | None, top: int, seed: int | None, as_json: bool
) -> None:
    from dokimasia.cli.diagnose_view import behind_figure
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.methods.diagnosis.evidence import evidence
    from dokimasia.methods.diagnosis.evidence_data import gather
    from dokimasia.methods.diagnosis.tables import diagnosis_of
    from dokimasia.methods.tree import evaluation_of
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        evaluation, own_tree = evaluation_of(home, run)
        gathered = gather(home, evaluation, tree=tree or own_tree, seed=seed)
        diagnosis = diagnosis_of(evaluation, gathered)
        behind = evidence(home, evaluation, gathered, diagnosis, text, limit=top)
        files = {image.sha256: str(home.blobs.file(image.sha256)) for atom in behind.shown for image in atom.images}
    if as_json:
        print_json(behind.model_dump(mode="json"))
    else:
        print_blocks(behind_figure(diagnosis, behind, files))


def _store(settings: "Settings", run: "Run", diagnosis: "Diagnosis") -> None:
    """Store the tables with the run; if another process holds the home, print that they were not stored."""
    import asyncio

    from dokimasia.domain.identity import value_id
    from dokimasia.errors import HomeLocked
    from dokimasia.methods.diagnosis.tables import store_diagnosis, stored_diagnosis_id
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        if stored_diagnosis_id(home, run) == value_id(diagnosis):
            return
    try:
        with Home.open(settings.home, write=True, command="diagnose") as home:
            asyncio.run(store_diagnosis(home, run, diagnosis))
    except HomeLocked as problem:
        click.echo(f"not kept with the run: {problem}", err=True)


def _as_json(diagnosis: "Diagnosis", change: "Changes | None", assets: "Sequence[Asset]") -> JsonObject:
    """Return the requested tables as JSON; for two runs, all tables of the first, and the changes."""
    tables = [asset.model_dump(mode="json") for asset in assets]
    if change is None:
        return diagnosis.model_dump(mode="json", exclude={"assets"}) | {"assets": tables}
    against = {"run": change.second, "shared": change.shared, "notes": list(change.notes), "assets": tables}
    return diagnosis.model_dump(mode="json") | {"against": against}
