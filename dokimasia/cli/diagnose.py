"""`dokimasia diagnose`: what a run says of its models, in tables first, and down to the atoms behind each figure."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, json_option, print_json, prompt_folders, prompts_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dokimasia.domain.diagnosis import Asset, Diagnosis
    from dokimasia.methods.diagnosis.diagnosing import Changes
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


@click.command()
@click.argument("run")
@click.option("--tree", metavar="TREE", help="Another tree or version than the run's own.")
@click.option("--against", metavar="RUN2", help="Say what got better or worse in RUN2, leaf by leaf.")
@click.option("--why", metavar="ASSET[:ROW]", help="Show the atoms behind a table, a row of it, a leaf, or a model.")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many atoms --why shows.")
@click.option(
    "--asset", "shown", multiple=True, metavar="ASSET", help="Print this table (leaves: those of all models)."
)
@click.option("--export", "folder", type=click.Path(file_okay=False, path_type=Path), help="Write all as CSV and PNG.")
@click.option(
    "--write", is_flag=True, help="Have the judge write reports from the tables; figures are printed by the program."
)
@click.option("--fingerprint", is_flag=True, help="Test whether reports without names can be matched to responses.")
@click.option("--judge", metavar="M", help="Who writes, or matches: a name from dokimasia.toml or any LiteLLM name.")
@click.option(
    "--matches", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="--fingerprint: a person's."
)
@click.option("--by-hand", is_flag=True, help="--fingerprint: the judge writes; a person matches what --export wrote.")
@click.option(
    "--responses",
    type=click.IntRange(2, 50),
    default=30,
    show_default=True,
    help="--fingerprint: answers of each model that a trial shows.",
)
@click.option(
    "--trials",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="--fingerprint: trials a pair, at most; they share no sample.",
)
@click.option("--max-cost", type=click.FloatRange(0), help="Spend at most so many US dollars in this sitting.")
@click.option("--max-calls", type=click.IntRange(0), help="Send at most so many requests in this sitting.")
@click.option("--max-tokens", type=click.IntRange(0), help="Use at most so many tokens in this sitting.")
@click.option("--fresh", is_flag=True, help="Write, or match, as a new run; answers in the ledger are used again.")
@prompts_option
@click.option("--seed", type=click.IntRange(0), help="Seed of intervals and tests (default: that of RUN).")
@json_option
@common
def command(
    settings: "Settings",
    run: str,
    tree: str | None,
    against: str | None,
    why: str | None,
    top: int,
    shown: tuple[str, ...],
    folder: Path | None,
    write: bool,
    fingerprint: bool,
    judge: str | None,
    matches: Path | None,
    by_hand: bool,
    responses: int,
    trials: int,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    fresh: bool,
    prompts: tuple[str, ...],
    seed: int | None,
    as_json: bool,
) -> None:
    """Diagnose RUN: where its models are weak and strong, how they rank and tie, how they fail, and what is behind it.

    All figures are tables with intervals, kept with the run. A leaf is marked only by a test that is corrected for all
    nodes of all models. Without a capability tree the data's own categories take its place.
    """
    _check_together(write=write, fingerprint=fingerprint)
    asked: dict[str, Any] = {
        "max_cost": max_cost,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "fresh": fresh,
        "prompts": prompt_folders(prompts),
    }
    if fingerprint:
        from dokimasia.cli.diagnose_fingerprint import fingerprint_run

        asked |= {"responses": responses, "trials": trials, "folder": folder, "by_hand": by_hand}
        fingerprint_run(settings, run, tree=tree, judge=judge, matches=matches, seed=seed, as_json=as_json, **asked)
        return
    if write:
        from dokimasia.cli.diagnose_words import write_reports

        write_reports(settings, run, tree=tree, judge=judge, seed=seed, as_json=as_json, **asked)
        return
    if why is not None:
        _why(settings, run, why, tree=tree, top=top, seed=seed, as_json=as_json)
        return
    _tables(settings, run, tree=tree, against=against, shown=shown, folder=folder, seed=seed, as_json=as_json)


_PAID = frozenset({"judge", "max_cost", "max_calls", "max_tokens", "fresh", "prompts"})
_HAND = frozenset({"matches", "by_hand", "responses", "trials"})
_SAID = {
    "": frozenset({"why", "against", "shown", "folder"}),
    "--why": frozenset({"why", "top"}),
    "--write": _PAID,
    "--fingerprint": _PAID | _HAND | {"folder"},
}
"""What is asked for, and the options that go with it; --tree, --seed and --json go with everything."""


def _check_together(*, write: bool, fingerprint: bool) -> None:
    """Refuse options that would have no effect, rather than pass over them.

    Raises:
        click.UsageError: an option does not go with what is asked for.
    """
    if write and fingerprint:
        raise click.UsageError("--write and --fingerprint are two things: ask for one")
    context = click.get_current_context()
    given = {
        one.name: one.opts[-1] if one.name == "folder" else one.opts[0]
        for one in context.command.params
        if one.name and context.get_parameter_source(one.name) is click.core.ParameterSource.COMMANDLINE
    }
    asked = "--write" if write else "--fingerprint" if fingerprint else "--why" if "why" in given else ""
    for name, option in given.items():
        homes = [of for of, names in _SAID.items() if name in names and of]
        if name in _SAID[asked] or not any(name in names for names in _SAID.values()):
            continue
        if asked in ("--write", "--fingerprint") or name not in _PAID | _HAND | {"top"}:
            raise click.UsageError(f"{option} does not go with {asked}")
        raise click.UsageError(f"{option} belongs to {' or '.join(homes)}")


def _tables(
    settings: "Settings",
    run: str,
    *,
    tree: str | None,
    against: str | None,
    shown: tuple[str, ...],
    folder: Path | None,
    seed: int | None,
    as_json: bool,
) -> None:
    from dokimasia.cli.diagnose_view import asset_blocks, assets_named, compared, notes, overview
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.methods.diagnosis.diagnosing import changes, diagnose
    from dokimasia.methods.diagnosis.files import export
    from dokimasia.methods.tree.reading.trees import evaluation_of
    from dokimasia.storage.home import Home

    change: Changes | None = None
    with Home.open(settings.home, write=False) as home:
        found, own = evaluation_of(home, run)
        diagnosis = diagnose(home, found, tree=tree or own, seed=seed)
        if against is not None:
            other, _ = evaluation_of(home, against)
            change = changes(home, found, other, tree=tree or own, seed=seed)
    named = assets_named(change.assets if change else diagnosis.assets, shown)
    _keep(settings, found, diagnosis)
    written = export(diagnosis, folder, further=change.assets if change else ()) if folder is not None else []
    for path in written[:1]:
        click.echo(f"wrote {len(written)} files to {path.parent}", err=True)
    if as_json:
        print_json(_as_json(diagnosis, change, named))
        return
    if change is not None:
        print_blocks([*notes(diagnosis.simulated, change.notes), *compared(change, named)])
    elif shown:
        tables = (block for asset in named for block in asset_blocks(asset, most=None))
        print_blocks([*notes(diagnosis.simulated, diagnosis.notes), *tables])
    else:
        print_blocks(overview(diagnosis, words=_words(settings, diagnosis.run)))


def _words(settings: "Settings", run: str) -> str | None:
    """Return the id of the newest finished report in words on a run, None without one."""
    from dokimasia.methods.diagnosis.words import latest_words
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        written = latest_words(home, run)
    return written.id if written else None


def _why(
    settings: "Settings", run: str, text: str, *, tree: str | None, top: int, seed: int | None, as_json: bool
) -> None:
    from dokimasia.cli.diagnose_view import behind_figure
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.methods.diagnosis.diagnosing import diagnosis_of
    from dokimasia.methods.diagnosis.evidence import evidence
    from dokimasia.methods.diagnosis.material import gather
    from dokimasia.methods.tree.reading.trees import evaluation_of
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        found, own = evaluation_of(home, run)
        gathered = gather(home, found, tree=tree or own, seed=seed)
        diagnosis = diagnosis_of(found, gathered)
        behind = evidence(home, found, gathered, diagnosis, text, limit=top)
        files = {
            image["sha256"]: str(home.blobs.file(image["sha256"])) for one in behind["shown"] for image in one["images"]
        }
    if as_json:
        print_json(behind)
    else:
        print_blocks(behind_figure(diagnosis, behind, files))


def _keep(settings: "Settings", run: "Run", diagnosis: "Diagnosis") -> None:
    """Keep the tables with the run; where another process writes to the home, say that they were not kept."""
    import asyncio

    from dokimasia.domain.identity import value_id
    from dokimasia.errors import HomeLocked
    from dokimasia.methods.diagnosis.diagnosing import keep, kept_id
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        if kept_id(home, run) == value_id(diagnosis):
            return
    try:
        with Home.open(settings.home, write=True, command="diagnose") as home:
            asyncio.run(keep(home, run, diagnosis))
    except HomeLocked as problem:
        click.echo(f"not kept with the run: {problem}", err=True)


def _as_json(diagnosis: "Diagnosis", change: "Changes | None", named: "Sequence[Asset]") -> dict[str, Any]:
    """Return the tables that were asked for; of two runs all of the first, and what changed."""
    tables = [one.model_dump(mode="json") for one in named]
    if change is None:
        return diagnosis.model_dump(mode="json", exclude={"assets"}) | {"assets": tables}
    against = {"run": change.second, "shared": change.shared, "notes": list(change.notes), "assets": tables}
    return diagnosis.model_dump(mode="json") | {"against": against}
