"""What the page of a perturbing shows beside its figures: the items of some samples, with their images."""

from dataclasses import replace

from dokimasia.methods.perturb.results import items, perturbed_items
from dokimasia.report.data import ReportData
from dokimasia.runs.reading.reporting import chosen, pictures_of
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run


async def with_items(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of a perturbing with the items of the samples that its page shows, those with a failure first."""
    rows = results(home, run.id)
    ids = list(dict.fromkeys(row.sample_id for row in rows))
    failed = {row.sample_id for row in rows if row.failure}
    shown, selection = chosen(run, ids, failed, samples)
    views = [item for id in shown for item in items(home, run, id)]
    made = [one.item for one in perturbed_items(home, run) if one.item.sample_id in set(shown)]
    images = {image.sha256: image for one in made for image in (one.gold_image, one.perturbed_image) if image}
    return replace(data, selection=selection, samples=views, pictures=pictures_of(home, images))
