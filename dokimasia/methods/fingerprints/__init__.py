"""Fingerprints: a test of whether anonymous reports can be matched to the models' answers (ATOM, G.1)."""

from collections.abc import Iterable
from typing import Any

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.fingerprints.figures import (
    COLUMNS,
    FingerprintFigures,
    cells,
    fingerprint_figures,
    latest_fingerprints,
)
from dokimasia.methods.fingerprints.request import MATCH, NAME, FingerprintPlan, FingerprintRequest, accept
from dokimasia.report.fields import as_json
from dokimasia.runs.method import (
    Addition,
    ExportParts,
    Method,
    ReportParts,
    ResultParts,
    ScoreParts,
    lazy_function,
    lazy_value,
)
from dokimasia.runs.verbs import verb
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

write_all = lazy_function("dokimasia.methods.fingerprints.human_matching", "write_all")
"""Writes a test's figures, and its trials for a reader; takes home, run and folder, and yields messages for the user."""


def _after(home: Home, run: Run, request: FingerprintRequest) -> Iterable[str]:
    if request.export is None:
        return ()
    return write_all(home, run, request.export)


def _of_evaluation(home: Home, run: Run) -> dict[str, Any] | None:
    test = latest_fingerprints(home, run.id)
    if test is None:
        return None
    return as_json(fingerprint_figures(home, test))


METHOD: Method[FingerprintRequest, FingerprintPlan] = Method(
    name=NAME,
    title="a test of fingerprints",
    request=FingerprintRequest,
    plan=FingerprintPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.fingerprints.work", "stages"),
    figures=fingerprint_figures,
    shape=lambda: FingerprintFigures,
    graphs=versions_of("diagnosis", "fingerprinting"),
    after=_after,
    results=ResultParts(kind=MATCH, name="trials"),
    scores=ScoreParts(scale=(0.0, 1.0)),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.fingerprints.report", "DRAWING"),
        adds=Addition(_of_evaluation, lazy_value("dokimasia.methods.fingerprints.report", "section")),
    ),
    export=ExportParts(columns=COLUMNS, cells=cells),
)

match_fingerprints = verb(METHOD, "match_fingerprints")
"""Match reports to answers: `await match_fingerprints(FingerprintRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "FingerprintPlan", "FingerprintRequest", "match_fingerprints", "write_all"]
