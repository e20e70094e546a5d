"""What the page of duels shows beside its figures: some cases whole with their images, those with a failure first."""

from dataclasses import replace

from dokimasia.methods.duel.results import duel_items
from dokimasia.report.data import ReportData
from dokimasia.runs.reading.reporting import chosen, pictures_of
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, load_samples


async def with_cases(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of a run of duels with the cases that its page shows."""
    rows = results(home, run.id)
    ids = list(dict.fromkeys(row.sample_id for row in rows if row.sample_id))
    failed = {row.sample_id for row in rows if row.failure}
    shown, selection = chosen(run, ids, failed, samples)
    images = {sample.id: sample.images for sample in load_samples(home, run.id) if sample.id in set(shown)}
    items = [
        {**item, "pictures": [image.sha256 for image in images[id]]}
        for id in shown
        for item in duel_items(home, run, id)
    ]
    pictures = pictures_of(home, {image.sha256: image for several in images.values() for image in several})
    return replace(data, selection=selection, samples=items, pictures=pictures)
