"""One sample of a run as HTML: its images with regions, its question, and the results of its method."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup
from pydantic import JsonValue, TypeAdapter

from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.look import Look
from dokimasia.domain.sample import Sample
from dokimasia.people.checks import without_others
from dokimasia.report.blocks import Block, Fold, Image
from dokimasia.report.browser import draw_question
from dokimasia.report.data import Clip, Views
from dokimasia.report.drawing import Charts
from dokimasia.report.overlay import definitions
from dokimasia.report.sections import plain
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.reading.inspection import sample_of_run
from dokimasia.runs.reading.reporting import pictures_of, redact_texts
from dokimasia.service.drawing import drawn
from dokimasia.service.state import Service
from dokimasia.storage.excerpts import rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

LONGEST = 20_000
"""Maximum number of characters of a text on the page of a sample."""

_LOOKS = TypeAdapter(tuple[Look, ...])


def view_of(home: Home, run: Run, sample_id: str, who: str) -> Mapping[str, JsonValue]:
    """Return the results of a sample, without others' decisions on items that `who` has not decided; no items if
    unfinished.

    Raises:
        NotFound: there is no such sample.
    """
    if sample_id in samples_of(home, run.id, [sample_id]) and not rows_of(home, run.id, [sample_id]):
        return {"items": []}
    return without_others(home, run, asyncio.run(sample_of_run(home, run, sample_id, figures=False)), who)


def draw_sample(service: Service, run: Run, sample: Sample, view: Mapping[str, JsonValue]) -> Markup:
    """Return a sample as drawn by its method, from the results returned by `view_of`."""
    shown_view: Mapping[str, Any] = redact_texts(view, service.redact)
    drawing = method_of(run).report.drawing()
    pictures = pictures_of(service.home, {image.sha256: image for image in sample.images})
    clip = Clip(run.id, service.redact(sample.id), LONGEST)
    markup = Markup(definitions(pictures))
    views: Views = shown_view.get("items", [shown_view])
    if drawing.card is not None and views:
        return markup + Markup(drawing.card(shown_view, pictures, clip))
    criteria = shown_view.get("criteria")
    draw = drawing.sample or plain.sample
    blocks = draw(views, lambda text: "".join(clip.cut(text))) if views else ()
    blocks_markup = drawn(list(_pictured(blocks, {image.sha256 for image in sample.images})), Charts())
    return markup + Markup(
        draw_question(
            redact_texts(sample, service.redact),
            pictures,
            clip,
            accepted=None if sample.reference_text is None else service.redact(sample.reference_text),
            criteria=CriteriaSet.model_validate(criteria).criteria if criteria else (),
            looks=[look for item in views for look in _LOOKS.validate_python(item.get("looks", ()))],
            rest=blocks_markup,
            words=not (drawing.asks and views),
        )
    )


def _pictured(blocks: Iterable[Block], shown_hashes: Collection[str]) -> Iterator[Block]:
    """Yield blocks with addresses for images of the home, without images already shown."""
    for block in blocks:
        if isinstance(block, Fold):
            yield replace(block, blocks=list(_pictured(block.blocks, shown_hashes)))
        elif not isinstance(block, Image) or not block.sha256:
            yield block
        elif block.sha256 not in shown_hashes:
            yield block if block.uri else replace(block, uri=f"/api/images/{block.sha256}")
