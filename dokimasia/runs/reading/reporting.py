"""A run's report: figures, versions and chosen samples, gathered from the store, rendered and written."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from pydantic import BaseModel

from dokimasia.domain.call import STORED, ModelSpec
from dokimasia.domain.duel import REFERENCE
from dokimasia.domain.identity import Value, unit_interval
from dokimasia.domain.ports import Spending
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import ConfigError, InputError, StorageError
from dokimasia.report.data import Added, ModelFacts, Picture, PromptFacts, ReportData, Role, RunFacts, Selection
from dokimasia.report.fields import RunFigures, as_json
from dokimasia.report.thumbnails import picture, share_of
from dokimasia.runs.catalogue import adding_methods, method_named, method_of
from dokimasia.runs.estimate import UNSEEN, Estimate
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.reading.exporting import write_whole
from dokimasia.runs.reading.inspection import items_of_run
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import open_questions
from dokimasia.storage.runs import Run
from dokimasia.storage.spending import spent_by
from dokimasia.storage.usage import has_calls_since
from dokimasia.version import __version__

ROLES: Mapping[str, Role] = {
    "candidates": "candidate",
    "models": "model",
    "panel": "member",
    "pool": "pool",
    "peers": "peer",
    "baseline": "baseline",
    "judge": "judge",
    "judges": "judge",
    "embedding": "embedding",
}
"""The role of models by the field of a plan."""

SETTINGS: Mapping[str, tuple[str, str]] = {
    "source": ("Source", "{}"),
    "onto": ("Grown on", "{}"),
    "rubrics": ("Rubrics", "{}"),
    "ask": ("Prompt style", "{}"),
    "protocol": ("Protocol", "{}"),
    "tolerance": ("Numeric tolerance", "{} (relative)"),
    "repeats": ("Repeats", "{}"),
    "no_image": ("Blind arm", "{}"),
    "show_image": ("Judge sees the image when it scores", "{}"),
    "baseline_name": ("Baseline", "{}"),
    "judge_sees": ("Judge of the duels is shown", "{}"),
    "factuality": ("Visual factuality judged by", "{}"),
    "single": ("One order of places alone", "{}"),
    "noise_floor": ("Noise floor", "{}"),
    "tools": ("Judge's tools", "{}"),
    "limit": ("Limit", "the first {} samples of the file"),
    "criteria": ("Criteria", "collection {}"),
    "responses": ("Answers", "{}"),
    "auxiliary": ("Auxiliary responses", "{}"),
    "rankings": ("Human rankings", "{}"),
    "orders": ("Orders of a batch", "{}"),
    "thresholds": ("Thresholds", "{}"),
    "cycles": ("Cycles at most", "{}"),
    "accept": ("Accepts", "{}"),
    "request": ("Request", "{}"),
    "arms": ("Arms", "{}"),
    "threshold": ("Taken up", "scores below {}"),
    "rounds": ("Rounds at most", "{}"),
    "withhold": ("Withheld", "{} of the failed criteria"),
    "judgements": ("Judgements of each new answer", "{}"),
    "leak_judge": ("Judge looks for leaks, too", "{}"),
    "show_answer": ("Model sees its earlier answer", "{}"),
    "growth": ("Growth", "{}"),
    "tasks": ("Trials", "{}"),
    "fresh": ("Done anew", "{} times with --fresh"),
}
"""Titles and texts in a report, by the field of a plan; unset fields are left out."""


def facts_of(run: Run, plan: RunPlan, *, graphs: Mapping[str, int] | None, open_questions: int = 0) -> RunFacts:
    """Return the facts of a run: models with their roles, prompts, and other options in words.

    Args:
        run: the run as accepted.
        plan: its plan.
        graphs: the graphs' versions; None if this program's differ from those of the run.
        open_questions: the number of open questions to people.
    """
    prompts = sorted(plan.prompts.items())
    return RunFacts(
        run=run.id,
        status=run.status,
        command=run.command,
        data_name=Path(run.data_name).name,
        data_hash=run.data_hash,
        seed=run.seed,
        accepted_by=run.version,
        written_by=__version__,
        models=tuple(_models(dict(plan))),
        prompts=tuple(PromptFacts(name, *version.partition(":")[::2]) for name, version in prompts),
        graphs=graphs,
        settings=tuple(_settings(plan)),
        open_questions=open_questions,
        unseen=next((note for note in _notes(run) if UNSEEN in note), ""),
    )


def _notes(run: Run) -> tuple[str, ...]:
    """Return the notes of the estimate that a run began with."""
    if "estimate" in run.options:
        return Estimate.of_run(run).notes
    return ()


def _models(fields: Mapping[str, object]) -> Iterator[ModelFacts]:
    """Yield each model once for each of its roles; a peer that is also a candidate counts as candidate only."""
    seen: set[tuple[str, bool]] = set()
    for field, role in ROLES.items():
        value = fields.get(field)
        for spec in value if isinstance(value, tuple) else (value,):
            if not isinstance(spec, ModelSpec):
                continue
            key = (spec.ref.name, role == "judge")
            if role != "peer" or key not in seen:
                yield _model(role, spec)
            seen.add(key)
    for field in fields.keys() - ROLES.keys():
        value = fields[field]
        yield from (
            _model("model", spec) for spec in (value if isinstance(value, tuple) else ()) if isinstance(spec, ModelSpec)
        )
    name = fields.get("baseline_name")
    if fields.get("baseline") is None and isinstance(name, str) and name != REFERENCE:
        yield ModelFacts("baseline", name, name, STORED, {})
    by_step = fields.get("judges")
    judges: Mapping[str, ModelSpec] = by_step if isinstance(by_step, Mapping) else {}
    own = fields.get("judge")
    others = [spec for spec in judges.values() if not isinstance(own, ModelSpec) or spec.ref != own.ref]
    for name in dict.fromkeys(spec.ref.name for spec in others):
        steps = tuple(step for step, spec in judges.items() if spec.ref.name == name)
        yield _model("judge", judges[steps[0]], steps=steps)


def _model(role: Role, spec: ModelSpec, *, steps: tuple[str, ...] = ()) -> ModelFacts:
    sampling = spec.sampling.model_dump(mode="json", exclude_none=True)
    return ModelFacts(role, spec.ref.name, spec.ref.model, spec.ref.endpoint, sampling, steps)


def _settings(plan: Value) -> Iterator[tuple[str, str]]:
    fields = plan.model_dump(mode="json")
    judged, has_responses = bool(fields.get("judge") or fields.get("judges")), fields.get("responses") is not None
    idle = {*(() if judged and "judge_sees" not in fields else ("show_image",)), *(("ask",) if has_responses else ())}
    for field, (title, words) in SETTINGS.items():
        value = fields.get(field)
        if (isinstance(value, bool) or value) and field not in idle:
            yield title, words.format(_words(value))


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(
            f"{name.replace('_', ' ')} {_words(part)}" for name, part in value.items() if part not in (None, "")
        )
    if isinstance(value, list):
        return ", ".join(_words(part) for part in value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


class SampleSelection(NamedTuple):
    """The chosen samples: those with a failure, then others, each group in the order of the data."""

    failed: tuple[str, ...]
    others: tuple[str, ...]


def draw_samples(ids: Sequence[str], failed: Collection[str], *, limit: int, seed: int) -> SampleSelection:
    """Return at most `limit` samples, failures first; a group that is too large is sampled at random.

    A sample's draw depends only on the seed and its id, so that a growing run keeps most of its selection.

    Args:
        ids: the run's samples, in order.
        failed: the samples with a failure.
        limit: the number of samples, at least 0.
        seed: the seed of the draw.
    """
    with_failure = [id for id in ids if id in failed]
    rest = [id for id in ids if id not in failed]
    first = _draw(with_failure, limit, seed)
    return SampleSelection(first, _draw(rest, limit - len(first), seed))


def _draw(ids: Sequence[str], limit: int, seed: int) -> tuple[str, ...]:
    chosen_ids = set(sorted(ids, key=lambda id: (unit_interval("report", seed, id), id))[:limit])
    return tuple(id for id in ids if id in chosen_ids)


SAMPLES = 60
"""The most samples that a report shows by default."""

Format = Literal["html", "md"]
Redact = Callable[[str], str]


class ReportFile(NamedTuple):
    """A written report: its path, its size in bytes, and how many of the run's samples it shows."""

    path: Path
    bytes: int
    shown: int
    samples: int


def _paid(home: Home, run: Run) -> Spending | None:
    """Return a run's spending; None if none is stored although calls of it are newer than the run."""
    paid = spent_by(home, run.id)
    if paid.calls or not has_calls_since(home, run.id, run.created_at):
        return paid
    return None


def run_data(home: Home, run: Run, figures: RunFigures | None = None) -> ReportData:
    """Return the data of a run for the terminal: its facts, its figures, and its items, if any.

    Args:
        home: the home of the run, open for reading at least.
        run: a run of any kind, finished or not.
        figures: the run's figures, if already computed.

    Raises:
        NotFound: the run's method is not installed.
    """
    method = method_of(run)
    plan, _ = method.read(run)
    open_count = len(open_questions(home, run=run.id))
    facts = facts_of(run, plan, graphs=_graphs(run, method.graphs_of(plan)), open_questions=open_count)
    if figures is None:
        figures = method.figures(home, run)
    items = list(items_of_run(home, run)) if method.results.items_shown else []
    drawing = method.report.drawing()
    if drawing.figures is not None and isinstance(figures, Mapping):
        figures = drawing.figures.model_validate(figures)
    return ReportData(
        replace(drawing, name=drawing.name or method.title),
        facts,
        as_json(figures),
        figures if isinstance(figures, BaseModel) else None,
        opening=method.report.opening(home, run) if method.report.opening is not None and run.status == "done" else (),
        paid=_paid(home, run),
        samples=items,
    )


async def report_data(
    home: Home, run: Run, *, samples: int = SAMPLES, redact: Redact = str, figures: RunFigures | None = None
) -> ReportData:
    """Return the data of a run's report; equal rows give equal data.

    Args:
        home: the home of the run, open for reading at least.
        run: a run of any kind, finished or not.
        samples: the most samples to show, failures first.
        redact: applied to every text.
        figures: the run's figures, if already computed; by default an audit's include its analyses.

    Raises:
        NotFound: the run's method is not installed.
        StorageError: the home is damaged; a missing image is only noted in its place.
    """
    method = method_of(run)
    if figures is None and method.report.figures is not None:
        figures = method.report.figures(home, run)
    data = run_data(home, run, figures)
    if method.report.extend is not None:
        data = await method.report.extend(home, run, data, samples)
    else:
        data = _with_items(run, data, samples)
    if data.drawing.added_after is not None:
        data = replace(data, added=_added(home, run))
    return _redacted_data(data, redact)


def _graphs(run: Run, now: Mapping[str, int]) -> Mapping[str, int] | None:
    """Return the graphs' versions; None if this program's differ from those of the run."""
    if all(run.versions.get(name) == version for name, version in now.items()):
        return dict(now)
    return None


def _added(home: Home, run: Run) -> dict[str, Added]:
    """Return the sections that other methods, including plug-ins, add to the page of a run they build on."""
    added: dict[str, Added] = {}
    for name in adding_methods():
        adds = method_named(name).report.adds
        if adds is not None and (value := adds.figures(home, run)) is not None:
            added[name] = Added(value, adds.section())
    return added


def _with_items(run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data with only the items of selected samples, failures first."""
    items: dict[str, list[Mapping[str, object]]] = {}
    for item in data.samples:
        items.setdefault(str(item["sample"]), []).append(item)
    failed = {id for id, of_sample in items.items() if any(item.get("failure") for item in of_sample)}
    shown, selection = select_samples(run, list(items), failed, samples)
    return replace(data, selection=selection, samples=[item for id in shown for item in items[id]])


def select_samples(
    run: Run, ids: Sequence[str], failed: Collection[str], samples: int
) -> tuple[tuple[str, ...], Selection]:
    """Return the samples to show, failures first, and the counts of shown and all samples."""
    picked = draw_samples(ids, failed, limit=samples, seed=run.seed)
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
    """Return the report format by a file's ending; HTML without one.

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
    """Write a run's report atomically, by default as `reports/RUN.html` in the home.

    Args:
        home: the home of the run.
        run: a run of any kind, finished or not.
        output: the file, if another.
        format: the format; by default by the file's ending.
        samples: the most samples to show.
        redact: applied to every text.
        figures: the run's figures, if already computed.

    Raises:
        InputError: the file cannot be written, or its ending is that of another format.
        NotFound: the run's method is not installed.
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


def redact_texts(value: Any, redact: Redact) -> Any:
    """Return JSON values, or figures as their model, with every text redacted, including keys."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, BaseModel):
        return value.model_copy(
            update={name: redact_texts(getattr(value, name), redact) for name in value.model_fields_set}
        )
    if isinstance(value, dict | Mapping):
        return {
            redact(name) if isinstance(name, str) else name: redact_texts(member, redact)
            for name, member in value.items()
        }
    if isinstance(value, tuple):
        return tuple(redact_texts(member, redact) for member in cast("tuple[Any, ...]", value))
    if isinstance(value, list | Sequence):
        return [redact_texts(member, redact) for member in value]
    return value


def _redacted_data(data: ReportData, redact: Redact) -> ReportData:
    """Return a report's data with every text redacted."""
    redact = cache(redact)  # names of fields repeat thousands of times
    fields = ("summary", "figures", "differences", "repeats", "reasons", "samples")
    changed = {name: redact_texts(getattr(data, name), redact) for name in fields}
    added = {name: Added(redact_texts(added.value, redact), added.section) for name, added in data.added.items()}
    models = tuple(
        replace(model, endpoint=redact(model.endpoint), sampling=redact_texts(model.sampling, redact))
        for model in data.facts.models
    )
    facts = replace(data.facts, command=redact(data.facts.command), models=models)
    return replace(data, facts=facts, added=added, **changed)
