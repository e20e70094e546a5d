"""Fingerprints: whether reports without names can be matched to the models' answers (ATOM, G.1)."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.fingerprints.accepting import accept
from dokimasia.methods.fingerprints.request import NAME, FingerprintPlan, FingerprintRequest
from dokimasia.methods.fingerprints.results import COLUMNS, MATCH, cells, fingerprint_summary
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Method
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dokimasia.runs.work import Job, Stage


def _stages(job: "Job[FingerprintPlan]") -> "AsyncIterator[Stage[Any]]":
    from dokimasia.methods.fingerprints.work import stages

    return stages(job)


def _after(home: Home, run: Run, request: FingerprintRequest) -> Iterator[str]:
    from dokimasia.methods.fingerprints.files import write_all

    if request.export is not None:
        yield from write_all(home, run, request.export)


METHOD: Method[FingerprintRequest, FingerprintPlan] = Method(
    name=NAME,
    title="a test of fingerprints",
    request=FingerprintRequest,
    plan=FingerprintPlan,
    accept=accept,
    stages=_stages,
    figures=fingerprint_summary,
    graphs=versions_of("diagnosis", "fingerprinting"),
    after=_after,
    row_kind=MATCH,
    row_name="trials",
    columns=COLUMNS,
    cells=cells,
    scale=(0.0, 1.0),
)

match_fingerprints = partial(run_method, METHOD)
"""Match reports to answers: `await match_fingerprints(FingerprintRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "FingerprintPlan", "FingerprintRequest", "match_fingerprints"]
