"""Lists of runs, and the full view of one sample of a run with all its calls."""

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from dokimasia.domain.identity import JsonObject
from dokimasia.domain.ports import Spending
from dokimasia.errors import NotFound
from dokimasia.report.sections import check_models
from dokimasia.report.sections.calls import CallView
from dokimasia.runs.catalogue import adding_methods, method_named, method_of
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.figures import forked_from, limits_of, ordered_rows
from dokimasia.runs.method import SampleGroup
from dokimasia.storage.content.reduced import originals_of, reduced_from
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_value
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.questions import open_questions
from dokimasia.storage.runs import Run, list_runs, run_samples
from dokimasia.storage.spending import spent_by
from dokimasia.storage.usage import has_unpriced

_SHOWN = ("item", "kind", "model", "arm", "repeat", "outcome", "score", "verdict", "failure", "reason")
"""Fields of a stored row that are shown for an item whose method has no item view."""


async def sample_of_run(
    home: Home, run: Run, sample_id: str, *, raw: bool = False, figures: bool = True
) -> Mapping[str, object]:
    """Return everything that a run stores about one sample, ready for JSON; with `raw`, also its calls.

    For a method without a view of samples these are the sample's items and, with `figures`, the run's figures.

    Raises:
        NotFound: the run has no such sample (the message suggests similar ids), nothing of it is finished, or the method
            has no samples.
    """
    method = method_of(run)
    if sample_id not in samples_of(home, run.id, [sample_id]):
        sample_ids = [sample.sample_id for sample in run_samples(home, run.id)]
        if not sample_ids:
            raise NotFound(f"{method.title} has no samples to show: dokimasia show {run.id} shows it whole")
        hint = f"; there are {len(sample_ids)}, such as {', '.join(sample_ids[:3])}"
        if near := difflib.get_close_matches(sample_id, sample_ids, n=3):
            hint = f"; did you mean {' or '.join(map(repr, near))}?"
        raise NotFound(f"run {run.id} has no sample {sample_id!r}{hint}")
    if method.results.sample is not None:
        view = await method.results.sample(home, run, sample_id)
    else:
        items = list((method.results.items or _items)(home, run, sample_id))
        if not items:
            raise NotFound(f"run {run.id} has no finished item of a sample {sample_id!r}")
        view = {**(method.json_figures(home, run) if figures else {}), "items": items}
    reduced = _reduced(home, run, sample_id)
    if reduced:
        view = {**view, "reduced_images": reduced}
    if raw:
        return {**view, "calls": calls_of_sample(home, run, sample_id)}
    return view


def view_about_models(view: JsonObject, models: Collection[str], run: str) -> JsonObject:
    """Return a view of a run or of a sample with the parts about some models; without `models`, the view as it is.

    Raises:
        InputError: the view has no part about one of them.
    """
    if not models:
        return view
    known: dict[str, None] = {}
    chosen = {
        name: part if name == "calls" else _about_models(name, part, models, known) for name, part in view.items()
    }
    check_models(models, known, run)
    return chosen


def _about_models(name: str, value: object, models: Collection[str], known: dict[str, None]) -> object:
    """Return the parts about some models of the value of a field, and add all models that it names to `known`."""
    if isinstance(value, list):
        entries: list[object] = []
        for entry in cast("list[object]", value):
            model = cast("JsonObject", entry).get("model") if isinstance(entry, dict) else None
            if isinstance(model, str):
                known[model] = None
            if not isinstance(model, str) or model in models:
                entries.append(_about_models("", entry, models, known))
        return entries
    if not isinstance(value, dict):
        return value
    parts = cast("JsonObject", value)
    if name == "models":
        known.update(dict.fromkeys(parts))
        return {model: part for model, part in parts.items() if model in models}
    return {key: _about_models(key, part, models, known) for key, part in parts.items()}


def items_of_run(home: Home, run: Run, sample_id: str | None = None) -> Iterator[Mapping[str, object]]:
    """Yield each finished item of a run, ready for JSON, in its method's view or else as the stored row.

    With a sample's id, only the items of that sample.
    """
    method = method_of(run)
    if method.results.items is not None:
        yield from method.results.items(home, run, sample_id)
        return
    for row in ordered_rows(home, run, sample_id):
        yield {"sample": row.sample_id, **row.model_dump(mode="json", include=set(_SHOWN))}


def _reduced(home: Home, run: Run, sample_id: str) -> list[dict[str, object]]:
    """Return the images of a sample that were downscaled for models of the run, with the images sent instead."""
    sides = {spec.max_image_side for spec in method_of(run).read(run)[0].models.values()} - {None}
    if not sides:
        return []
    images = {image.sha256 for image in samples_of(home, run.id, [sample_id])[sample_id].images}
    return [image._asdict() for image in reduced_from(home, images) if image.side in sides]


def _items(home: Home, run: Run, sample_id: str | None) -> Iterator[dict[str, object]]:
    """Yield the stored results of a sample, each with its values."""
    for row in ordered_rows(home, run, sample_id):
        yield {
            "sample": row.sample_id,
            **row.model_dump(include={"item", "model", "outcome", "score", "failure", "reason"}),
            "values": [find_value(home, id) for id in row.value_ids],
        }


def calls_of_sample(home: Home, run: Run, sample_id: str) -> list[JsonObject]:
    """Return all calls of a sample, in order, each with its request and its reply."""
    ledger = SqliteLedger(home)
    keys = dict.fromkeys(key for row in ordered_rows(home, run, sample_id) for key in row.calls)
    return [_call(home, ledger, key).model_dump(mode="json") for key in keys]


def _call(home: Home, ledger: SqliteLedger, key: str) -> CallView:
    call, reply = ledger.rebuild(key)
    figures = ledger.calls_for([key])[key]
    images = [image.sha256 for message in getattr(call, "messages", ()) for image in message.images]
    return CallView(
        key=key,
        label=figures.label,
        model=call.model.name,
        cost=figures.cost,
        latency=figures.latency,
        input_tokens=figures.input_tokens,
        output_tokens=figures.output_tokens,
        originals=originals_of(home, images),
        request=call,
        reply=reply,
    )


FIELDS = frozenset({"id", "method", "command", "data_name", "seed", "fresh", "status", "created_at", "updated_at"})


def run_summary(home: Home, run: Run, label: Label, *, questions: int = 0, why: str = "") -> JsonObject:
    """Return a run's entry in a list of runs, ready for JSON.

    Args:
        home: the home, open for reading at least.
        run: the run.
        label: its name and tags.
        questions: the number of its open questions to people.
        why: why it was interrupted or failed, if known.
    """
    more = {"forked_from": forked_from(run), "open_questions": questions, "why": why, "limits": limits_of(run)}
    more |= {"models": run.model_names, "spent": run_spending(home, run, spent_by(home, run.id)), **label._asdict()}
    return run.model_dump(mode="json", include=set(FIELDS)) | more


def run_spending(home: Home, run: Run, spent: Spending) -> JsonObject:
    """Return what a run spent; the costs of its calls are read only if a model has no known price."""
    priced = "estimate" in run.options and Estimate.of_run(run).cost is not None
    return {**spent._asdict(), "unknown_cost": bool(spent.calls) and not priced and has_unpriced(home, run.id)}


def waiting_questions(home: Home) -> Counter[str]:
    """Return the number of open questions to people by the run's id."""
    return Counter(question.run for question in open_questions(home))


def end_reasons(home: Home, runs: Iterable[Run]) -> dict[str, str]:
    """Return a sentence on why each interrupted or failed run ended, by the run's id."""
    ids = [run.id for run in runs if run.status in ("interrupted", "failed")]
    sql = "SELECT run_id, json_extract(data, '$.why') FROM events WHERE run_id IN ({marks}) AND kind = 'ended' ORDER BY id"
    return {run_id: str(why) for run_id, why in home.all_among(sql, ids)}


def current_summary(home: Home, run: Run) -> JsonObject:
    """Return the entry of one run, with its label and open questions, ready for JSON."""
    label, questions = labels(home).get(run.id, Label()), waiting_questions(home)[run.id]
    return run_summary(home, run, label, questions=questions, why=end_reasons(home, [run]).get(run.id, ""))


def labelled_runs(
    home: Home,
    *,
    tags: tuple[str, ...] = (),
    wanted: Callable[[Run], bool] = lambda run: True,
    text: str = "",
) -> list[tuple[Run, Label]]:
    """Return the runs of a home, newest first, each with its label.

    Args:
        home: the home, open for reading at least.
        tags: only runs with all of these tags.
        wanted: only runs for which this returns true.
        text: only runs whose id, method, names, tags, command or data contain this text, in any case.
    """
    labels_by_run: Mapping[str, Label] = labels(home)
    folded = text.casefold()
    labelled = [(run, labels_by_run.get(run.id, Label())) for run in list_runs(home) if wanted(run)]
    return [
        (run, label)
        for run, label in labelled
        if set(tags) <= set(label.tags)
        and folded in "\n".join((run.id, run.method, run.command, run.data_name, *label.names, *label.tags)).casefold()
    ]


class SampleGrouping(NamedTuple):
    """One grouping of samples: the method's name, the word for a group, and the groups by id."""

    name: str
    called: str
    groups: Mapping[str, SampleGroup]


def sample_groupings(home: Home, run: Run) -> Sequence[SampleGrouping]:
    """Return all groupings of a run's samples, including those of plug-ins."""
    groupings: list[SampleGrouping] = []
    for name in adding_methods():
        adds = method_named(name).report.adds
        if adds is not None and adds.groups is not None and (groups := adds.groups(home, run)):
            groupings.append(SampleGrouping(name, adds.grouping, groups))
    return groupings
