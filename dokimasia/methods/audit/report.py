"""An audit's report: its tables and analyses with charts, as one page that needs no network, or as Markdown."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dokimasia import __version__
from dokimasia.domain.call import ModelSpec
from dokimasia.methods.audit import METHOD, AuditPlan
from dokimasia.report.data import ModelFacts, PromptFacts, ReportData, Role, RunFacts, Selection
from dokimasia.runs.export_formats import write_whole
from dokimasia.storage.runs import Run


def audit_report(run: Run, figures: Mapping[str, Any]) -> ReportData:
    """Return what the report on an audit says.

    Args:
        run: the audit.
        figures: what `analysing.analyse` returned.
    """
    plan, _ = METHOD.read(run)
    return ReportData(
        facts=_facts(run, plan),
        summary={**figures, "forked_from": None},
        differences=(),
        repeats={},
        reasons={},
        selection=Selection(failed=0, failed_shown=0, others=0, others_shown=0, seed=run.seed),
        samples=(),
        pictures={},
    )


def write_audit_report(
    run: Run, figures: Mapping[str, Any], *, output: Path, redact: Callable[[str], str] = str
) -> None:
    """Write the report of an audit whole or not at all; the same figures give the same bytes.

    Args:
        run: the audit.
        figures: what `analysing.analyse` returned.
        output: a file; `.md` is written as Markdown, all else as a page.
        redact: applied to every text.

    Raises:
        InputError: the file cannot be written.
    """
    from dokimasia.runs.reporting import redacted_report, render

    data = redacted_report(audit_report(run, figures), redact)
    write_whole(output, render(data, "md" if output.suffix.lower() in {".md", ".markdown"} else "html"))


def _facts(run: Run, plan: AuditPlan) -> RunFacts:
    models = [*(_model("candidate", spec) for spec in plan.candidates), _model("judge", plan.judge)]
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
        graphs=dict(METHOD.graphs),
        settings=(
            ("Rubrics", plan.rubrics),
            ("Repeats", str(plan.repeats)),
            ("Blind arm", "yes" if plan.no_image else "no"),
            ("Judge sees the image", "yes" if plan.show_image else "no"),
        ),
    )


def _model(role: Role, spec: ModelSpec) -> ModelFacts:
    sampling = spec.sampling.model_dump(mode="json", exclude_none=True)
    return ModelFacts(role, spec.ref.name, spec.ref.model, spec.ref.endpoint, sampling)
