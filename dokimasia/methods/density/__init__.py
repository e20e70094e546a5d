"""The density filter: selects images with enough content (PerceptionRubrics, 3.2)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.density.figures import FilterFigures, after, filter_figures, items
from dokimasia.methods.density.request import FilterPlan, FilterRequest, accept
from dokimasia.runs.method import Method, ReportParts, ResultParts, graph_stages, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[FilterRequest, FilterPlan] = Method(
    name="filter",
    title="a run of the filter",
    request=FilterRequest,
    plan=FilterPlan,
    accept=accept,
    stages=graph_stages("density"),
    figures=filter_figures,
    shape=lambda: FilterFigures,
    graphs=versions_of("density_filter"),
    after=after,
    results=ResultParts(name="ratings", items=items),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.density.report", "DRAWING")),
)

filter_images = verb(METHOD, "filter")
"""Keep the images with enough content: `await filter_images(FilterRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "FilterRequest", "filter_images"]
