"""What the page of an analysis shows beside its figures: the samples that its examples are of, with their answers."""

from dataclasses import replace
from typing import Any

from dokimasia.domain.judgement import Response
from dokimasia.methods.modes.coded import coded_of
from dokimasia.report.data import ReportData
from dokimasia.runs.reading.reporting import chosen, pictures_of
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.runs import Run


async def with_samples(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of an analysis with the samples of its examples, and of each the answers that were coded."""
    cited = list(dict.fromkeys(str(each["sample"]) for one in data.summary["modes"] for each in one["examples"]))
    shown, selection = chosen(run, cited, (), samples)
    found = samples_of(home, run.id, shown)
    answers = {one.answer.key: one.answer for one in coded_of(home, run).atoms if one.answer.sample_id in found}
    texts = find_values(home, Response, (one.response for one in answers.values()))
    views: list[dict[str, Any]] = [
        {
            "sample": found[id].model_dump(mode="json", include={"id", "prompt", "images"}),
            "answers": [
                {"model": one.model, "repeat": one.repeat, "text": texts[one.response].text}
                for one in answers.values()
                if one.sample_id == id
            ],
        }
        for id in shown
    ]
    images = {image.sha256: image for one in found.values() for image in one.images}
    return replace(data, selection=selection, samples=views, pictures=pictures_of(home, images))
