"""A review's report: its figures and versions, as the report's sections read them."""

from pathlib import Path

from dokimasia import __version__
from dokimasia.methods.graph.images import read_image_plan
from dokimasia.methods.review.reviewing import REVIEW, review_summary
from dokimasia.report.data import ModelFacts, PromptFacts, ReportData, RunFacts, Selection
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


def review_report(home: Home, run: Run) -> ReportData:
    """Return what the report on a review says; equal rows give equal data.

    Raises:
        NotFound: the run is no review.
    """
    plan, _ = read_image_plan(REVIEW, run)
    models = tuple(
        ModelFacts(
            "member",
            spec.ref.name,
            spec.ref.model,
            spec.ref.endpoint,
            spec.sampling.model_dump(mode="json", exclude_none=True),
        )
        for spec in plan.panel
    )
    prompts = tuple(PromptFacts(name, *one.partition(":")[::2]) for name, one in sorted(plan.prompts.items()))
    settings = [
        ("Cycles at most", str(plan.cycles)),
        ("Accepts", "all votes" if plan.accept == "unanimous" else "a majority after the last cycle"),
        ("Request", plan.request),
    ]
    if plan.limit is not None:
        settings.append(("Limit", f"the first {plan.limit} samples of the file"))
    facts = RunFacts(
        run=run.id,
        status=run.status,
        command=run.command,
        data_name=Path(run.data_name).name,
        data_hash=run.data_hash,
        seed=run.seed,
        accepted_by=run.version,
        written_by=__version__,
        models=models,
        prompts=prompts,
        graphs={plan.graph: plan.version},
        settings=tuple(settings),
    )
    summary = review_summary(home, run)
    nothing = Selection(failed=0, failed_shown=0, others=0, others_shown=0, seed=run.seed)
    return ReportData(
        facts=facts,
        summary=summary,
        differences=(),
        repeats={},
        reasons={},
        selection=nothing,
        samples=(),
        pictures={},
    )
