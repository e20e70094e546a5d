"""What the page of a refinement shows beside its figures: failed answers, before and after."""

from dataclasses import replace

from dokimasia.methods.refinement.results import refined_samples, refinement_rows
from dokimasia.report.data import ReportData
from dokimasia.runs.reading.reporting import chosen, pictures_of
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


async def with_refined(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of a refinement with some of its failed answers."""
    failed = list(dict.fromkeys(row.sample_id for row in refinement_rows(home, run) if row.selected))
    shown, selection = chosen(run, failed, failed, samples)
    images = {image.sha256: image for one in samples_of(home, run.id, shown).values() for image in one.images}
    views = refined_samples(home, run, shown, only_failed=True)
    return replace(data, selection=selection, samples=views, pictures=pictures_of(home, images))
