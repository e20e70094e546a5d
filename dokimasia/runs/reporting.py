"""A run's report: its figures, its versions and some of its samples gathered from the store, drawn and written whole."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dokimasia.analysis.differences import Answer, Place, Side
from dokimasia.analysis.repeats import means_by_repeat
from dokimasia.analysis.rivals import rival_differences
from dokimasia.analysis.selection import choose
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import InputError, StorageError
from dokimasia.report.data import Picture, ReportData, RunFacts, Selection
from dokimasia.report.thumbnails import picture, share_of
from dokimasia.runner.export_formats import write_whole
from dokimasia.runner.inspection import view_of
from dokimasia.runner.results import scored_rows
from dokimasia.runner.run_facts import facts_of
from dokimasia.runner.run_views import kind_of, view_of_kind
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


def run_data(home: Home, run: Run, figures: Mapping[str, Any] | None = None) -> ReportData:
    """Return what a terminal shows of a run: which run it is, its figures, and its items where it has any.

    Args:
        home: where the run is, open for reading at least.
        run: a run of any kind, finished or not.
        figures: its figures where they were made already.

    Raises:
        NotFound: the run is of a kind that this program does not know.
    """
    view = view_of_kind(run)
    facts = facts_of(run, view.plan.model_validate(run.options["plan"]), roles=view.roles_of(), graphs={})
    summary = view.figures(home, run) if figures is None else figures
    items = list(view.items(home, run, None)) if view.items is not None and view.listed else []
    return ReportData(kind_of(run), facts, summary, samples=items)


async def report_data(
    home: Home, run: Run, *, samples: int = SAMPLES, redact: Redact = str, figures: Mapping[str, Any] | None = None
) -> ReportData:
    """Gather what a report says; equal rows give equal data.

    Args:
        home: where the run is, open for reading at least.
        run: a run of any kind, finished or not.
        samples: how many samples are shown at most, failures first.
        redact: applied to every text.
        figures: its figures where they were made already; by default an audit's have its analyses.

    Raises:
        NotFound: the run is of a kind that this program does not know.
        StorageError: the home is damaged; a missing image alone is said in its place.
    """
    view = view_of_kind(run)
    if figures is None and view.reported is not None:
        figures = view.reported(home, run)
    data = run_data(home, run, figures)
    graphs = view.graphs(run, view.plan.model_validate(run.options["plan"]))
    data = replace(data, facts=replace(data.facts, graphs=graphs))
    if data.kind == "":
        data = await _with_samples(home, run, data, samples)
    elif data.kind == "refine":
        data = _with_refined(home, run, data, samples)
    else:
        data = _with_items(run, data, samples)
    return _redacted_data(data, redact)


async def _with_samples(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of an evaluation with what the page alone shows: differences, samples, tree and diagnosis."""
    from dokimasia.runner.diagnosis_report import report_diagnosis

    rows = list(scored_rows(home, run))
    places = [Place(one.sample_id, one.sample_digest, one.cluster) for one in run_samples(home, run.id)]
    sides = {
        name: Side.of(
            places, (Answer(row.sample_id, row.repeat, row.score, row.failure) for row in rows if row.model == name)
        )
        for name in data.ranked()
        if name not in data.blind_arms
    }
    chosen, selection = _chosen(run, [place.sample_id for place in places], failed_samples(home, run.id), samples)
    views, images = await _views(home, run, chosen)
    return replace(
        data,
        differences=rival_differences(sides, list(sides), seed=run.seed),
        repeats=means_by_repeat(rows),
        reasons=failure_reasons(home, run.id),
        selection=selection,
        samples=views,
        pictures=_pictures(home, images),
        tree=_tree(home, run),
        diagnosis=report_diagnosis(home, run),
        fingerprints=_fingerprints(home, run),
    )


def _with_refined(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of a refinement with failed answers before and after."""
    from dokimasia.runner.refining_results import refined_samples, refinement_rows

    failed = list(dict.fromkeys(row.sample_id for row in refinement_rows(home, run) if row.selected))
    chosen, selection = _chosen(run, failed, failed, samples)
    images = {image.sha256: image for one in samples_of(home, run.id, chosen).values() for image in one.images}
    views = refined_samples(home, run, chosen, only_failed=True)
    return replace(data, selection=selection, samples=views, pictures=_pictures(home, images))


def _with_items(run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of another kind of run with the items that are shown, failures first."""
    ids = list(dict.fromkeys(str(item["sample"]) for item in data.samples))
    failed = {str(item["sample"]) for item in data.samples if item.get("failure")}
    chosen, selection = _chosen(run, ids, failed, samples)
    shown = {id: [item for item in data.samples if item["sample"] == id] for id in chosen}
    return replace(data, selection=selection, samples=[item for each in shown.values() for item in each])


def _chosen(run: Run, ids: Sequence[str], failed: Collection[str], samples: int) -> tuple[tuple[str, ...], Selection]:
    """Return which samples are shown, failures first, and how many of how many these are."""
    chosen = choose(ids, failed, limit=samples, seed=run.seed)
    selection = Selection(
        failed=len(failed),
        failed_shown=len(chosen.failed),
        others=len(ids) - len(failed),
        others_shown=len(chosen.others),
        seed=run.seed,
    )
    return (*chosen.failed, *chosen.others), selection


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
    figures: Mapping[str, Any] | None = None,
) -> Written:
    """Write a run's report whole or not at all, by default as `reports/RUN.html` in the home.

    Args:
        home: where the run is.
        run: a run of any kind, finished or not.
        output: another file.
        format: by default as the file's name ends.
        samples: how many samples are shown at most.
        redact: applied to every text.
        figures: the run's figures where they were made already.

    Raises:
        InputError: the file cannot be written.
        NotFound: the run is of a kind that this program does not know.
    """
    ending = "" if output is None else output.suffix.lower()
    chosen: Format = format or ("md" if ending in {".md", ".markdown"} else "html")
    path = output or home.path / "reports" / f"{run.id}.{chosen}"
    data = await report_data(home, run, samples=samples, redact=redact, figures=figures)
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


def _redacted(value: Any, redact: Redact) -> Any:
    """Return plain JSON with every text redacted, names of members included."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(name) if isinstance(name, str) else name: _redacted(one, redact) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [_redacted(one, redact) for one in value]
    return value


def _redacted_data(data: ReportData, redact: Redact) -> ReportData:
    """Return a report's data with every text redacted."""
    fields = ("summary", "differences", "repeats", "reasons", "samples", "tree", "diagnosis", "fingerprints")
    changed = {name: _redacted(getattr(data, name), redact) for name in fields}
    return replace(data, facts=_redacted_facts(data.facts, redact), **changed)


def _redacted_facts(facts: RunFacts, redact: Redact) -> RunFacts:
    return replace(
        facts,
        command=redact(facts.command),
        models=tuple(
            replace(model, endpoint=redact(model.endpoint), sampling=_redacted(model.sampling, redact))
            for model in facts.models
        ),
    )
