"""What verbs print for people: a run of any kind, or blocks; the same that the report draws."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dokimasia.cli.shared import console, print_json, redact

if TYPE_CHECKING:
    from dokimasia.report.blocks import Block
    from dokimasia.settings import Settings


def print_run(
    settings: "Settings",
    run: str,
    *,
    as_json: bool,
    sample: str | None = None,
    raw: bool = False,
    figures: Mapping[str, Any] | None = None,
    planted: Mapping[str, Any] | None = None,
) -> None:
    """Print what came of a run: JSON for machines, the sections of its report that a terminal shows for people.

    Args:
        settings: where the home is.
        run: the run's id, or as a user names it.
        as_json: print JSON.
        sample: print this sample whole instead.
        raw: with `sample`, also the calls as they were sent.
        figures: the run's figures, where the caller has them and they say all that JSON is to have.
        planted: what planted parameters make expected.

    Raises:
        NotFound: there is no such run or sample, or the run has no samples to show.
    """
    from dataclasses import replace

    from dokimasia.runner.run_views import kind_of, shown
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    with Home.open(settings.home, write=False) as home:
        found = resolve_run(home, run)
        if not as_json and sample is None and not raw:
            from dokimasia.report.terminal import draw_run
            from dokimasia.runner.reporting import run_data

            draw_run(console(), replace(run_data(home, found, figures), planted=planted), redact=redact)
            return
        view = dict(figures) if figures is not None else shown(home, found, sample, raw=raw)
    if as_json:
        print_json(view)
    elif sample is not None:
        print_sample(kind_of(found), sample, view)


def print_sample(kind: str, sample: str, view: Mapping[str, Any]) -> None:
    """Print one sample of a run whole."""
    from dokimasia.report.blocks import Fold
    from dokimasia.report.sections import KINDS

    draw = KINDS[kind].sample
    if draw is not None:
        print_blocks([Fold(f"sample {sample}", tuple(draw(view.get("items", [view]))))], whole=True)


def print_blocks(blocks: "Iterable[Block]", *, whole: bool = False) -> None:
    """Print blocks; with `whole` also what is in folds."""
    from dokimasia.report.terminal import draw_blocks

    draw_blocks(console(), list(blocks), redact=redact, whole=whole)
