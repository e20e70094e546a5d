"""What the page of an evaluation shows beside its figures: differences, repeats, and some samples whole, failures first."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dokimasia.domain.sample import ImageRef
from dokimasia.methods.evaluation.figures import scored_rows
from dokimasia.methods.evaluation.repeats import means_by_repeat
from dokimasia.methods.evaluation.rivals import rival_differences
from dokimasia.methods.evaluation.sample_view import view_of
from dokimasia.report.data import ReportData
from dokimasia.runs.reading.differences import Answer, Place, Side
from dokimasia.runs.reading.reporting import chosen, pictures_of
from dokimasia.storage.excerpts import failed_samples, failure_reasons, rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.retries import Retry, earlier_outcomes
from dokimasia.storage.runs import Run, SqliteRunStore, run_samples


async def with_samples(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of an evaluation with what the page alone shows."""
    rows = list(scored_rows(home, run))
    places = [Place(one.sample_id, one.sample_digest, one.cluster) for one in run_samples(home, run.id)]
    sides = {
        name: Side.of(
            places, (Answer(row.sample_id, row.repeat, row.score, row.failure) for row in rows if row.model == name)
        )
        for name in data.ranked()
        if name not in data.blind_arms
    }
    shown, selection = chosen(run, [place.sample_id for place in places], failed_samples(home, run.id), samples)
    views, images = await _views(home, run, shown)
    return replace(
        data,
        differences=rival_differences(sides, list(sides), seed=run.seed),
        repeats=means_by_repeat(rows),
        reasons=failure_reasons(home, run.id),
        selection=selection,
        samples=views,
        pictures=pictures_of(home, images),
    )


async def _views(home: Home, run: Run, ids: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, ImageRef]]:
    samples, rows, store = samples_of(home, run.id, ids), rows_of(home, run.id, ids), SqliteRunStore(home, run.id)
    earlier: dict[str, list[Retry]] = {}
    for one in earlier_outcomes(home, run.id):
        earlier.setdefault(one.failed.sample_id, []).append(one)
    images = {image.sha256: image for id in ids for image in samples[id].images}
    views = [await view_of(store, run, samples[id], rows=rows.get(id, []), earlier=earlier.get(id, [])) for id in ids]
    return views, images
