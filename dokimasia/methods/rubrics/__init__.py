"""Gated rubrics made from golden captions (PerceptionRubrics, 3.3.2)."""

from collections.abc import Iterable

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.rubrics.figures import COLUMNS, RubricsFigures, cells, figures_of_run, has_sets, rubric_items
from dokimasia.methods.rubrics.files import encode_sets, read_sets, schema, sets_id, sets_of_run, write_sets
from dokimasia.methods.rubrics.request import RubricPlan, RubricRequest, accept
from dokimasia.people.checks import open_checks
from dokimasia.runs.method import ExportParts, Method, PeopleParts, ReportParts, ResultParts, graph_stages, lazy_value
from dokimasia.runs.verbs import verb
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run


def export_sets(home: Home, run: Run, request: RubricRequest) -> Iterable[str]:
    """Write the rubric sets to the file of `--export`, if requested, and yield a message for the user."""
    if request.export is not None:
        if has_sets(results(home, run.id)):
            yield write_sets(home, run, request.export)
        else:
            yield f"no rubrics were made yet: nothing was written to {request.export}"


METHOD: Method[RubricRequest, RubricPlan] = Method(
    name="rubrics",
    title="a run that makes rubrics",
    request=RubricRequest,
    plan=RubricPlan,
    accept=accept,
    stages=graph_stages("rubrics.rubric_making"),
    figures=figures_of_run,
    shape=lambda: RubricsFigures,
    graphs=versions_of("rubric_making"),
    ended=open_checks,
    after=export_sets,
    results=ResultParts(name="rubric sets", items=rubric_items),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.rubrics.report", "DRAWING")),
    export=ExportParts(columns=COLUMNS, cells=cells),
    people=PeopleParts(checked=True),
)

make_rubrics = verb(METHOD, "make_rubrics")
"""Make rubrics: `await make_rubrics(RubricRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = [
    "METHOD",
    "RubricPlan",
    "RubricRequest",
    "encode_sets",
    "make_rubrics",
    "read_sets",
    "schema",
    "sets_id",
    "sets_of_run",
    "write_sets",
]
