"""Failure modes: what goes wrong in failed atoms, made by open and axial coding, counted by structured coding."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.modes.accepting import accept
from dokimasia.methods.modes.coded import Coded, CodedAtom, coded_of, latest_modes, modes_of
from dokimasia.methods.modes.counting import NO_MODE, Contrast, contrasts, of_answers
from dokimasia.methods.modes.examples import chosen, examples_by_mode
from dokimasia.methods.modes.files import read_modes, write_modes
from dokimasia.methods.modes.request import NAME, ModesPlan, ModesRequest
from dokimasia.methods.modes.results import COLUMNS, cells, items, modes_figures
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Addition, Method, SampleGroup, later, lazily
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


def _after(home: Home, run: Run, request: ModesRequest) -> Iterable[str]:
    """Write the modes, where a file was named for them and there are any."""
    if request.export is not None:
        modes = modes_of(home, run)
        yield (
            f"there are no modes: nothing was written to {request.export}"
            if modes is None
            else write_modes(modes, request.export)
        )


def _of_evaluation(home: Home, run: Run) -> dict[str, Any] | None:
    found = latest_modes(home, run.id)
    return None if found is None else modes_figures(home, found)


def modes_by_answer(home: Home, run: Run) -> Mapping[str, SampleGroup]:
    """Return the failure modes of an analysis, or of the newest one of an evaluation, each with the answers that show it."""
    found = run if run.method == NAME else latest_modes(home, run.id)
    if found is None:
        return {}
    coded = coded_of(home, found)
    shown: dict[str, set[tuple[str, str]]] = {}
    for one in coded.atoms:
        if one.mode is not None:
            shown.setdefault(one.mode, set()).add((one.answer.sample_id, one.answer.model))
    return {
        mode.name: SampleGroup(mode.name, 0, frozenset(shown[mode.name])) for mode in coded.modes if mode.name in shown
    }


METHOD: Method[ModesRequest, ModesPlan] = Method(
    name=NAME,
    title="an analysis of failure modes",
    request=ModesRequest,
    plan=ModesPlan,
    accept=accept,
    stages=lazily("dokimasia.methods.modes.work", "stages"),
    drawing=later("dokimasia.methods.modes.blocks", "DRAWING"),
    report=lazily("dokimasia.methods.modes.report", "with_samples"),
    adds=Addition(_of_evaluation, later("dokimasia.methods.modes.blocks", "section"), "failure mode", modes_by_answer),
    figures=modes_figures,
    shape=later("dokimasia.methods.modes.shape", "ModesFigures"),
    graphs=versions_of("mode_coding", "mode_making"),
    after=_after,
    items=items,
    items_shown=False,
    row_name="atoms",
    columns=COLUMNS,
    cells=cells,
    diff=(
        "a run with --modes FILE counts the modes of another on its own data; how far two judges agree on one run is said by "
        "--coder"
    ),
)

find_modes = partial(run_method, METHOD)
"""Find failure modes: `await find_modes(ModesRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = [
    "METHOD",
    "NO_MODE",
    "Coded",
    "CodedAtom",
    "Contrast",
    "ModesPlan",
    "ModesRequest",
    "chosen",
    "coded_of",
    "contrasts",
    "examples_by_mode",
    "find_modes",
    "latest_modes",
    "modes_figures",
    "of_answers",
    "read_modes",
    "write_modes",
]
