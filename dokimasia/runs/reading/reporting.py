"""A run's report: its figures, its versions and some of its items gathered from the store, drawn and written whole."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from dokimasia.domain.sample import ImageRef
from dokimasia.errors import ConfigError, InputError, StorageError
from dokimasia.report.data import Added, Picture, ReportData, Selection
from dokimasia.report.fields import RunFigures, as_json
from dokimasia.report.thumbnails import picture, share_of
from dokimasia.runs.catalogue import OWN, plugin_methods
from dokimasia.runs.reading.export_formats import write_whole
from dokimasia.runs.reading.facts import facts_of
from dokimasia.runs.reading.selection import choose
from dokimasia.runs.registry import method_named, method_of
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import open_questions
from dokimasia.storage.runs import Run

SAMPLES = 60
"""How many samples a report shows unless it is told otherwise."""

Format = Literal["html", "md"]
Redact = Callable[[str], str]


class ReportFile(NamedTuple):
    """A report that was written: where, its size in bytes, and how many of the run's samples it shows."""

    path: Path
    bytes: int
    shown: int
    samples: int


def run_data(home: Home, run: Run, figures: RunFigures | None = None) -> ReportData:
    """Return what a terminal shows of a run: which run it is, its figures, and its items where it has any.

    Args:
        home: where the run is, open for reading at least.
        run: a run of any kind, finished or not.
        figures: its figures where they were made already.

    Raises:
        NotFound: the run's method is not there.
    """
    method = method_of(run)
    plan, _ = method.read(run)
    asked = len(open_questions(home, run=run.id))
    facts = facts_of(run, plan, graphs=_graphs(run, method.graphs_of(plan)), open_questions=asked)
    if figures is None:
        figures = method.figures(home, run)
    items = list(method.items(home, run, None)) if method.items is not None and method.items_shown else []
    drawing = method.drawing()
    if drawing.figures is not None and isinstance(figures, Mapping):
        figures = drawing.figures.model_validate(figures)
    return ReportData(
        replace(drawing, name=drawing.name or method.title),
        facts,
        as_json(figures),
        figures if isinstance(figures, BaseModel) else None,
        samples=items,
    )


async def report_data(
    home: Home, run: Run, *, samples: int = SAMPLES, redact: Redact = str, figures: RunFigures | None = None
) -> ReportData:
    """Gather what a report says; equal rows give equal data.

    Args:
        home: where the run is, open for reading at least.
        run: a run of any kind, finished or not.
        samples: how many samples are shown at most, failures first.
        redact: applied to every text.
        figures: its figures where they were made already; by default an audit's have its analyses.

    Raises:
        NotFound: the run's method is not there.
        StorageError: the home is damaged; a missing image alone is said in its place.
    """
    method = method_of(run)
    if figures is None and method.report_figures is not None:
        figures = method.report_figures(home, run)
    data = run_data(home, run, figures)
    if method.report is not None:
        data = await method.report(home, run, data, samples)
    else:
        data = _with_items(run, data, samples)
    if data.drawing.added_after is not None:
        data = replace(data, added=_added(home, run))
    return _redacted_data(data, redact)


def _graphs(run: Run, now: Mapping[str, int]) -> Mapping[str, int] | None:
    """Return the graphs' versions; None where this program's are not those of the run."""
    before: Any = run.options.get("versions", {})
    return dict(now) if all(before.get(name) == version for name, version in now.items()) else None


def _added(home: Home, run: Run) -> dict[str, Added]:
    """Return what other methods, those of plug-ins too, add to the page of a run that they rest on."""
    found: dict[str, Added] = {}
    for name in (*OWN, *plugin_methods()):
        adds = method_named(name).adds
        if adds is not None and (value := adds.figures(home, run)) is not None:
            found[name] = Added(value, adds.section())
    return found


def _with_items(run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data with the items that are shown, failures first."""
    ids = list(dict.fromkeys(str(item["sample"]) for item in data.samples))
    failed = {str(item["sample"]) for item in data.samples if item.get("failure")}
    shown, selection = chosen(run, ids, failed, samples)
    kept = {id: [item for item in data.samples if item["sample"] == id] for id in shown}
    return replace(data, selection=selection, samples=[item for each in kept.values() for item in each])


def chosen(run: Run, ids: Sequence[str], failed: Collection[str], samples: int) -> tuple[tuple[str, ...], Selection]:
    """Return which samples are shown, failures first, and how many of how many these are."""
    picked = choose(ids, failed, limit=samples, seed=run.seed)
    selection = Selection(
        failed=len(failed),
        failed_shown=len(picked.failed),
        others=len(ids) - len(failed),
        others_shown=len(picked.others),
        seed=run.seed,
    )
    return (*picked.failed, *picked.others), selection


def render(data: ReportData, format: Format) -> bytes:
    """Return a report as UTF-8 text of a format."""
    if format == "md":
        from dokimasia.report.document import render_document

        return render_document(data).encode()
    from dokimasia.report.page import render_page

    return render_page(data).encode()


def format_of(output: Path | None) -> Format:
    """Return the format that a file's name ends in; a page without one.

    Raises:
        ConfigError: the ending is that of another format.
    """
    ending = "" if output is None else output.suffix.lower()
    if ending in {".md", ".markdown"}:
        return "md"
    if ending in {"", ".html", ".htm"}:
        return "html"
    raise ConfigError(
        f"{output}: a report is a page (.html) or Markdown (.md); name such a file, or choose with --format"
    )


async def write_report(
    home: Home,
    run: Run,
    *,
    output: Path | None = None,
    format: Format | None = None,
    samples: int = SAMPLES,
    redact: Redact = str,
    figures: RunFigures | None = None,
) -> ReportFile:
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
        InputError: the file cannot be written, or its ending is that of another format.
        NotFound: the run is of a kind that this program does not know.
    """
    wanted = format or format_of(output)
    path = output or home.path / "reports" / f"{run.id}.{wanted}"
    data = await report_data(home, run, samples=samples, redact=redact, figures=figures)
    body = render(data, wanted)
    if output is None:
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{path.parent} cannot be made: {error.strerror}; name a file with -o") from error
    write_whole(path, body)
    return ReportFile(path, len(body), data.selection.shown, data.selection.total)


def pictures_of(home: Home, images: Mapping[str, ImageRef]) -> dict[str, Picture]:
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


def redacted(value: Any, redact: Redact) -> Any:
    """Return plain JSON, or figures as their model, with every text redacted, names of members included."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, BaseModel):
        return value.model_copy(
            update={name: redacted(getattr(value, name), redact) for name in value.model_fields_set}
        )
    if isinstance(value, dict | Mapping):
        return {redact(name) if isinstance(name, str) else name: redacted(one, redact) for name, one in value.items()}
    if isinstance(value, list | tuple | Sequence):
        return [redacted(one, redact) for one in value]
    return value


def _redacted_data(data: ReportData, redact: Redact) -> ReportData:
    """Return a report's data with every text redacted."""
    redact = cache(redact)  # the names of members come back thousands of times
    fields = ("summary", "figures", "differences", "repeats", "reasons", "samples")
    changed: dict[str, Any] = {name: redacted(getattr(data, name), redact) for name in fields}
    changed["added"] = {name: Added(redacted(one.value, redact), one.section) for name, one in data.added.items()}
    models = tuple(
        replace(model, endpoint=redact(model.endpoint), sampling=redacted(model.sampling, redact))
        for model in data.facts.models
    )
    facts = replace(data.facts, command=redact(data.facts.command), models=models)
    return replace(data, facts=facts, **changed)
