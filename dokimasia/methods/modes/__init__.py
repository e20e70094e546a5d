"""Failure modes: what goes wrong in failed atoms, found by open and axial coding and counted by structured coding."""

from collections.abc import Iterable, Mapping

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.modes.coded import Coded, CodedAtom, chosen, coded_of, latest_modes, modes_of
from dokimasia.methods.modes.figures import (
    COLUMNS,
    NO_MODE,
    ModesFigures,
    cells,
    contrasts,
    examples_by_mode,
    items,
    modes_figures,
    of_answers,
)
from dokimasia.methods.modes.figures import ContrastFigures as Contrast
from dokimasia.methods.modes.files import read_modes, write_modes
from dokimasia.methods.modes.request import NAME, ModesPlan, ModesRequest, accept
from dokimasia.runs.method import (
    Addition,
    ExportParts,
    Method,
    ReportParts,
    ResultParts,
    SampleGroup,
    ScoreParts,
    lazy_function,
    lazy_value,
)
from dokimasia.runs.verbs import verb
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


def _after(home: Home, run: Run, request: ModesRequest) -> Iterable[str]:
    """Write the modes to the file of `--export`, if requested, and yield a message for the user."""
    if request.export is None:
        return
    modes = modes_of(home, run)
    if modes is None:
        yield f"there are no modes: nothing was written to {request.export}"
    else:
        yield write_modes(modes, request.export)


def _of_evaluation(home: Home, run: Run) -> ModesFigures | None:
    analysis = latest_modes(home, run.id)
    if analysis is None:
        return None
    return modes_figures(home, analysis)


def modes_by_answer(home: Home, run: Run) -> Mapping[str, SampleGroup]:
    """Return the failure modes of an analysis, or of an evaluation's newest one, with the answers that show each."""
    analysis = run if run.method == NAME else latest_modes(home, run.id)
    if analysis is None:
        return {}
    codings = coded_of(home, analysis)
    answers: dict[str, set[tuple[str, str]]] = {}
    for atom in codings.atoms:
        if atom.mode is not None:
            answers.setdefault(atom.mode, set()).add((atom.answer.sample_id, atom.answer.model))
    groups: dict[str, SampleGroup] = {}
    for mode in codings.modes:
        if mode.name in answers:
            groups[mode.name] = SampleGroup(mode.name, 0, frozenset(answers[mode.name]))
    return groups


METHOD: Method[ModesRequest, ModesPlan] = Method(
    name=NAME,
    title="an analysis of failure modes",
    request=ModesRequest,
    plan=ModesPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.modes.work", "stages"),
    figures=modes_figures,
    shape=lambda: ModesFigures,
    graphs=versions_of("mode_coding", "mode_making"),
    after=_after,
    results=ResultParts(name="atoms", items=items, items_apart=True),
    scores=ScoreParts(
        no_diff=(
            "a run with --modes FILE counts the modes of another on its own data; how far two judges agree on one run is said by "
            "--coder"
        )
    ),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.modes.report", "DRAWING"),
        extend=lazy_function("dokimasia.methods.modes.report", "with_samples"),
        adds=Addition(
            _of_evaluation, lazy_value("dokimasia.methods.modes.report", "section"), "failure mode", modes_by_answer
        ),
    ),
    export=ExportParts(columns=COLUMNS, cells=cells),
)

find_modes = verb(METHOD, "modes")
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
