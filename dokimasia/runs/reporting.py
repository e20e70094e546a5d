"""A run's report: its figures, its versions and some of its samples gathered from the store, drawn and written whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dokimasia import __version__
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import InputError, StorageError
from dokimasia.graphs.versions import VERSIONS
from dokimasia.methods.audit.analysing import analyse
from dokimasia.methods.audit.report import audit_report
from dokimasia.methods.diagnosis.report import report_diagnosis
from dokimasia.methods.evaluation.evaluation import read_plan
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.methods.evaluation.repeats import means_by_repeat
from dokimasia.methods.evaluation.results import scored_rows, summary_of
from dokimasia.methods.evaluation.rivals import rival_differences
from dokimasia.methods.evaluation.sample_view import view_of
from dokimasia.methods.refinement import METHOD as REFINEMENT
from dokimasia.methods.refinement.report import refinement_report
from dokimasia.methods.review.report import review_report
from dokimasia.report.data import ModelFacts, Picture, PromptFacts, ReportData, Role, RunFacts, Selection
from dokimasia.report.thumbnails import picture, share_of
from dokimasia.runs.differences import Answer, Place, Side
from dokimasia.runs.export_formats import write_whole
from dokimasia.runs.selection import choose
from dokimasia.storage.excerpts import failed_samples, failure_reasons, rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.retries import Retry, earlier_outcomes
from dokimasia.storage.runs import Run, SqliteRunStore, run_samples

SAMPLES = 60
"""How many samples a report shows unless it is told otherwise."""

Format = Literal["html", "md"]
Redact = Callable[[str], str]


class Written(NamedTuple):
    """A report that was written: where, its size in bytes, and how many of the run's samples it shows."""

    path: Path
    bytes: int
    shown: int
    samples: int


async def report_data(home: Home, run: Run, *, samples: int = SAMPLES, redact: Redact = str) -> ReportData:
    """Gather what a report says; equal rows give equal data.

    Args:
        home: where the run is, open for reading at least.
        run: an evaluation, a review, an audit or a refinement, finished or not.
        samples: how many samples are shown at most, failures first.
        redact: applied to every text.

    Raises:
        NotFound: the run is none of these.
        StorageError: the home is damaged; a missing image alone is said in its place.
    """
    if run.options.get("kind") == "review":
        return redacted_report(review_report(home, run), redact)
    if run.options.get("kind") == "audit":
        return redacted_report(audit_report(run, analyse(home, run)), redact)
    if run.method == REFINEMENT.name:
        found = refinement_report(home, run, samples=samples, pictures=_pictures)
        return replace(redacted_report(found, redact), samples=_redacted(found.samples, redact))
    plan, _ = read_plan(run)
    summary = summary_of(home, run)
    rows = list(scored_rows(home, run))
    places = [Place(one.sample_id, one.sample_digest, one.cluster) for one in run_samples(home, run.id)]
    sides = {
        name: Side.of(
            places, (Answer(row.sample_id, row.repeat, row.score, row.failure) for row in rows if row.model == name)
        )
        for name in summary["models"]
        if name not in {f"{one}#blind" for one in summary.get("blind", {})}
    }
    failed = failed_samples(home, run.id)
    chosen = choose([place.sample_id for place in places], failed, limit=samples, seed=run.seed)
    shown = (*chosen.failed, *chosen.others)
    views, images = await _views(home, run, shown)
    data = ReportData(
        facts=_facts(run, plan),
        summary=summary,
        differences=(),
        repeats=means_by_repeat(rows),
        reasons=failure_reasons(home, run.id),
        selection=Selection(
            failed=len(failed),
            failed_shown=len(chosen.failed),
            others=len(places) - len(failed),
            others_shown=len(chosen.others),
            seed=run.seed,
        ),
        samples=views,
        pictures=_pictures(home, images),
    )
    differences = rival_differences(sides, [name for name in data.ranked() if name in sides], seed=run.seed)
    return replace(
        data,
        summary=_redacted(summary, redact),
        differences=_redacted(differences, redact),
        repeats=_redacted(data.repeats, redact),
        reasons=_redacted(data.reasons, redact),
        samples=_redacted(views, redact),
        tree=_redacted(_tree(home, run), redact),
        diagnosis=_redacted(report_diagnosis(home, run), redact),
        fingerprints=_redacted(_fingerprints(home, run), redact),
        facts=_redacted_facts(data.facts, redact),
    )


def render(data: ReportData, format: Format) -> bytes:
    """Return a report as UTF-8 text of a format."""
    if format == "md":
        from dokimasia.report.document import render_document

        return render_document(data).encode()
    from dokimasia.report.page import render_page

    return render_page(data).encode()


async def write_report(
    home: Home,
    run: Run,
    *,
    output: Path | None = None,
    format: Format | None = None,
    samples: int = SAMPLES,
    redact: Redact = str,
) -> Written:
    """Write a run's report whole or not at all, by default as `reports/RUN.html` in the home.

    Args:
        home: where the run is.
        run: an evaluation, finished or not.
        output: another file.
        format: by default as the file's name ends.
        samples: how many samples are shown at most.
        redact: applied to every text.

    Raises:
        InputError: the file cannot be written.
        NotFound: the run is not an evaluation.
    """
    ending = "" if output is None else output.suffix.lower()
    chosen: Format = format or ("md" if ending in {".md", ".markdown"} else "html")
    path = output or home.path / "reports" / f"{run.id}.{chosen}"
    data = await report_data(home, run, samples=samples, redact=redact)
    body = render(data, chosen)
    if output is None:
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{path.parent} cannot be made: {error.strerror}; name a file with -o") from error
    write_whole(path, body)
    return Written(path, len(body), data.selection.shown, data.selection.total)


async def _views(home: Home, run: Run, ids: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, ImageRef]]:
    samples, rows, store = samples_of(home, run.id, ids), rows_of(home, run.id, ids), SqliteRunStore(home, run.id)
    earlier: dict[str, list[Retry]] = {}
    for one in earlier_outcomes(home, run.id):
        earlier.setdefault(one.failed.sample_id, []).append(one)
    images = {image.sha256: image for id in ids for image in samples[id].images}
    views = [await view_of(store, run, samples[id], rows=rows.get(id, []), earlier=earlier.get(id, [])) for id in ids]
    return views, images


def _tree(home: Home, run: Run) -> dict[str, Any] | None:
    """Return what the report says of the run's capability tree; None where its criteria are mapped to none."""
    from dokimasia.methods.tree.reading.figures import report_tree
    from dokimasia.methods.tree.reading.trees import find_tree_of_run, load_stored

    stored = find_tree_of_run(home, run)
    return None if stored is None else report_tree(home, run, load_stored(home, stored))


def _fingerprints(home: Home, run: Run) -> dict[str, Any] | None:
    """Return what the newest test of the run's fingerprints came to; None where there was none."""
    from dokimasia.methods.fingerprints.results import fingerprint_summary, latest_fingerprints

    test = latest_fingerprints(home, run.id)
    return None if test is None else fingerprint_summary(home, test)


def _pictures(home: Home, images: Mapping[str, ImageRef]) -> dict[str, Picture]:
    share = share_of(len(images))
    return {sha256: _picture(home, image, share) for sha256, image in images.items()}


def _picture(home: Home, image: ImageRef, share: int) -> Picture:
    try:
        data = home.blobs.get(image.sha256)
    except StorageError:
        return Picture(
            image.sha256, image.width, image.height, problem="its bytes are missing or damaged (dokimasia verify)"
        )
    return picture(data, image.sha256, (image.width, image.height), share=share)


def _facts(run: Run, plan: EvaluationPlan) -> RunFacts:
    others = {
        name: tuple(step for step, spec in plan.judges.items() if spec.ref.name == name) for name in plan.options.models
    }
    models = [_model("candidate", spec) for spec in plan.candidates]
    models.append(_model("judge", plan.judge))
    seen: set[str] = set()
    for spec in plan.judges.values():
        if spec.ref.name not in seen and spec.ref != plan.judge.ref:
            seen.add(spec.ref.name)
            models.append(_model("judge", spec, steps=others[spec.ref.name]))
    prompts = []
    for name, identity in sorted(plan.prompts.items()):
        version, _, hashed = identity.partition(":")
        prompts.append(PromptFacts(name, version, hashed))
    same = plan.run_id == run.id
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
        prompts=tuple(prompts),
        graphs=dict(sorted(VERSIONS.items())) if same else None,
        settings=tuple(_settings(plan)),
    )


def _model(role: Role, spec: ModelSpec, *, steps: tuple[str, ...] = ()) -> ModelFacts:
    sampling = spec.sampling.model_dump(mode="json", exclude_none=True)
    return ModelFacts(role, spec.ref.name, spec.ref.model, spec.ref.endpoint, sampling, steps)


def _settings(plan: EvaluationPlan) -> list[tuple[str, str]]:
    settings = [
        ("Repeats", str(plan.repeats)),
        ("Blind arm", "yes" if plan.no_image else "no"),
        ("Judge sees the image when it scores", "yes" if plan.show_image else "no"),
    ]
    if plan.tools:
        settings.append(("Judge's tools", f"{', '.join(plan.tools)}, at most {plan.looks} looks"))
    if plan.limit is not None:
        settings.append(("Limit", f"the first {plan.limit} samples of the file"))
    if plan.criteria is not None:
        settings.append(("Criteria", f"imported collection {plan.criteria}"))
    if plan.responses is not None:
        settings.append(("Answers", f"read from a file (hash {plan.responses})"))
    if plan.fresh:
        settings.append(("Done anew", f"{plan.fresh} times with --fresh"))
    return settings


def _redacted(value: Any, redact: Redact) -> Any:
    """Return plain JSON with every text redacted, names of members included."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(name) if isinstance(name, str) else name: _redacted(one, redact) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [_redacted(one, redact) for one in value]
    return value


def redacted_report(data: ReportData, redact: Redact) -> ReportData:
    """Return a report of figures and facts alone with every text redacted."""
    return replace(data, summary=_redacted(data.summary, redact), facts=_redacted_facts(data.facts, redact))


def _redacted_facts(facts: RunFacts, redact: Redact) -> RunFacts:
    return replace(
        facts,
        command=redact(facts.command),
        models=tuple(
            replace(model, endpoint=redact(model.endpoint), sampling=_redacted(model.sampling, redact))
            for model in facts.models
        ),
    )
