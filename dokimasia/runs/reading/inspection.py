"""One sample of a run, whole, and on request every call that it took, as it was sent."""

import difflib
from collections.abc import Iterator
from typing import Any

from dokimasia.errors import NotFound
from dokimasia.runs.figures import rows_shown
from dokimasia.runs.registry import method_of
from dokimasia.storage.content.reduced import originals_of, reduced_from
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_value
from dokimasia.storage.runs import Run, run_samples

_SHOWN = ("item", "kind", "model", "arm", "repeat", "outcome", "score", "verdict", "failure", "reason")
"""What of a stored row is shown of an item whose method shows it in no other way."""


async def sample_of_run(
    home: Home, run: Run, sample_id: str, *, raw: bool = False, figures: bool = True
) -> dict[str, Any]:
    """Return everything that a run knows of one sample, ready for JSON; with `raw`, also its calls.

    Beside the items of a sample, for a method that has no more to say of it, stand the run's `figures`.

    Raises:
        NotFound: the run has no such sample, the message names near ones; or nothing of it is finished; or its method
            has no samples.
    """
    method = method_of(run)
    if sample_id not in samples_of(home, run.id, [sample_id]):
        known = [sample.sample_id for sample in run_samples(home, run.id)]
        if not known:
            raise NotFound(f"{method.title} has no samples to show: dokimasia show {run.id} shows it whole")
        near = difflib.get_close_matches(sample_id, known, n=3) or known[:3]
        raise NotFound(f"run {run.id} has no sample {sample_id!r}; there are {len(known)}, such as {', '.join(near)}")
    if method.sample is not None:
        view = await method.sample(home, run, sample_id)
    else:
        items = list((method.items or _items)(home, run, sample_id))
        if not items:
            raise NotFound(f"run {run.id} has no finished item of a sample {sample_id!r}")
        view = {**(method.json_figures(home, run) if figures else {}), "items": items}
    reduced = _reduced(home, run, sample_id)
    if reduced:
        view = {**view, "reduced_images": reduced}
    return {**view, "calls": calls_of_sample(home, run, sample_id)} if raw else view


def items_of_run(home: Home, run: Run, sample_id: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each item of a run that has a result, ready for JSON, as its method shows it, or else as the rows are stored.

    With a sample's name only that sample's.
    """
    method = method_of(run)
    if method.items is not None:
        yield from method.items(home, run, sample_id)
        return
    for row in rows_shown(home, run, sample_id):
        yield {"sample": row.sample_id, **row.model_dump(mode="json", include=set(_SHOWN))}


def _reduced(home: Home, run: Run, sample_id: str) -> list[dict[str, Any]]:
    """Return which images were made smaller for models of the run before they were sent, and what was sent instead."""
    sides = {spec.max_image_side for spec in method_of(run).read(run)[0].models.values()} - {None}
    if not sides:
        return []
    images = {image.sha256 for image in samples_of(home, run.id, [sample_id])[sample_id].images}
    return [row for row in reduced_from(home, images) if row["side"] in sides]


def _items(home: Home, run: Run, sample_id: str | None) -> Iterator[dict[str, Any]]:
    """Yield the results of a sample as they are stored, each with the values that were made."""
    for row in rows_shown(home, run, sample_id):
        yield {
            "sample": row.sample_id,
            **row.model_dump(include={"item", "model", "outcome", "score", "failure", "reason"}),
            "values": [find_value(home, id) for id in row.value_ids],
        }


def calls_of_sample(home: Home, run: Run, sample_id: str) -> list[dict[str, Any]]:
    """Return every call that a sample took, in order, each with its request and its reply."""
    ledger = SqliteLedger(home)
    keys = dict.fromkeys(key for row in rows_shown(home, run, sample_id) for key in row.calls)
    return [_call(home, ledger, key) for key in keys]


def _call(home: Home, ledger: SqliteLedger, key: str) -> dict[str, Any]:
    call, reply = ledger.rebuild(key)
    used = ledger.calls_for([key])[key]
    images = [image.sha256 for message in getattr(call, "messages", ()) for image in message.images]
    return {
        "key": key,
        "label": used.label,
        "model": call.model.name,
        "cost": used.cost,
        "latency": used.latency,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "originals": originals_of(home, images),
        "request": call.model_dump(mode="json"),
        "reply": reply.model_dump(mode="json"),
    }
