"""Perturbation: right answers with inserted errors of named dimensions, for probing judges (FOCUS, section 2)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.perturb.figures import (
    COLUMNS,
    PerturbedItem,
    PerturbFigures,
    cells,
    figures_of_run,
    items,
    perturbation_files,
    perturbed_items,
)
from dokimasia.methods.perturb.request import PerturbPlan, PerturbRequest, accept
from dokimasia.people.checks import open_checks
from dokimasia.runs.method import ExportParts, Method, PeopleParts, ReportParts, ResultParts, lazy_function, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[PerturbRequest, PerturbPlan] = Method(
    name="perturb",
    title="a perturbation run",
    request=PerturbRequest,
    plan=PerturbPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.perturb.work", "stages"),
    figures=figures_of_run,
    shape=lambda: PerturbFigures,
    graphs=versions_of("gold_imaging", "gold_writing", "image_perturbing", "text_perturbing"),
    ended=open_checks,
    results=ResultParts(name="perturbations", items=items, items_apart=True),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.perturb.report", "DRAWING"),
        extend=lazy_function("dokimasia.methods.perturb.report", "with_items"),
    ),
    export=ExportParts(columns=COLUMNS, cells=cells, forms={"perturbations": perturbation_files}),
    people=PeopleParts(checked=True),
)

perturb = verb(METHOD, "perturb")
"""Perturb answers: `await perturb(PerturbRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "PerturbPlan", "PerturbRequest", "PerturbedItem", "perturb", "perturbed_items"]
