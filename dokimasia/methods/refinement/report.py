"""A refinement's report: its figures, its versions, and failed answers before and after, as the report's sections read them."""

from collections.abc import Callable, Mapping
from pathlib import Path

from dokimasia import __version__
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.sample import ImageRef
from dokimasia.graphs.versions import versions_of
from dokimasia.methods.refinement.plan import RefinementPlan
from dokimasia.methods.refinement.results import refined_samples, refinement_rows, refinement_summary
from dokimasia.report.data import ModelFacts, Picture, PromptFacts, ReportData, Role, RunFacts, Selection
from dokimasia.runs.selection import choose
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

Pictures = Callable[[Home, Mapping[str, ImageRef]], dict[str, Picture]]


def refinement_report(home: Home, run: Run, *, samples: int, pictures: Pictures) -> ReportData:
    """Return what the report on a refinement says; equal rows give equal data.

    Args:
        home: where it is.
        run: a refinement, finished or not.
        samples: how many samples with a failed answer are shown at most.
        pictures: makes small copies of images.
    """
    plan = RefinementPlan.model_validate(run.options["plan"])
    failed = list(dict.fromkeys(row.sample_id for row in refinement_rows(home, run) if row.selected))
    shown = choose(failed, failed, limit=samples, seed=run.seed).failed
    images = {image.sha256: image for sample in samples_of(home, run.id, shown).values() for image in sample.images}
    return ReportData(
        facts=_facts(run, plan),
        summary=refinement_summary(home, run),
        differences=(),
        repeats={},
        reasons={},
        selection=Selection(failed=len(failed), failed_shown=len(shown), others=0, others_shown=0, seed=run.seed),
        samples=refined_samples(home, run, shown, only_failed=True),
        pictures=pictures(home, images),
    )


def _facts(run: Run, plan: RefinementPlan) -> RunFacts:
    named = {spec.ref.name for spec in plan.candidates}
    models = [
        *(_model("candidate", spec) for spec in plan.candidates),
        *(_model("peer", spec) for spec in plan.peers if spec.ref.name not in named),
        _model("judge", plan.judge),
    ]
    settings = [
        ("Refines", plan.source),
        ("Arms", ", ".join(plan.arms)),
        ("Taken up", "wrong final answers" if plan.threshold is None else f"scores below {plan.threshold:g}"),
        ("Rounds at most", str(plan.rounds)),
        ("Withheld", f"{plan.withhold:.0%} of the failed atoms"),
        ("Judgements of each new answer", str(plan.judgements)),
        ("Judge looks for leaks", "yes" if plan.leak_judge else "no"),
        ("Model sees its earlier answer", "yes" if plan.show_answer else "no"),
    ]
    return RunFacts(
        run=run.id,
        status=run.status,
        command=run.command,
        data_name=Path(run.data_name).name,
        data_hash=run.data_hash,
        seed=run.seed,
        accepted_by=run.version,
        written_by=__version__,
        models=tuple(models),
        prompts=tuple(PromptFacts(name, *one.partition(":")[::2]) for name, one in sorted(plan.prompts.items())),
        graphs=versions_of("refinement"),
        settings=tuple(settings),
    )


def _model(role: Role, spec: ModelSpec) -> ModelFacts:
    sampling = spec.sampling.model_dump(mode="json", exclude_none=True)
    return ModelFacts(role, spec.ref.name, spec.ref.model, spec.ref.endpoint, sampling)
