"""Some samples of a probe whole: the answers that were judged, what judges said of each, and where they looked closer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dokimasia.methods.probe.blocks import DRAWING as FIGURES
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.results import probe_items
from dokimasia.methods.probe.tables import short
from dokimasia.methods.probe.units import stored_probes
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Facts,
    Fold,
    Image,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
)
from dokimasia.report.data import Cut, Picture, ReportData, Views
from dokimasia.report.overlay import look_text, looks_at
from dokimasia.runs.reading.reporting import chosen, pictures_of
from dokimasia.storage.excerpts import failed_samples
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, load_samples, run_samples

LONGEST = 3_000
"""Characters of a text that a page shows of a sample."""

SAID = 400
"""Characters of a justification that are shown."""


async def with_samples(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of a probe with the samples that its page shows, those with a failure first."""
    ids = [place.sample_id for place in run_samples(home, run.id)]
    shown, selection = chosen(run, ids, failed_samples(home, run.id), samples)
    wanted = set(shown)
    views = [item for id in shown for item in probe_items(home, run, id)]
    plan = ProbePlan.model_validate(run.options["plan"])
    images = {image.sha256: image for one in load_samples(home, run.id) if one.id in wanted for image in one.images}
    for one in stored_probes(home, plan):
        if one.item.sample_id in wanted and one.item.perturbed_image is not None:
            images[one.item.perturbed_image.sha256] = one.item.perturbed_image
    return replace(data, selection=selection, samples=views, pictures=pictures_of(home, images))


def section(data: ReportData) -> Section | None:
    """Return the samples of the page; None where there are none."""
    folds: list[Block] = []
    for id in dict.fromkeys(item["sample"] for item in data.samples):
        views = [item for item in data.samples if item["sample"] == id]
        failed = " · with a failure" if any(item["failure"] for item in views) else ""
        folds.append(Fold(f"{id}{failed}", (*_pictures(views, data.pictures), *sample(views, _cut)), f"sample-{id}"))
    if not folds:
        return None
    return Section("samples", "Samples", (Paragraph(data.selection.text, "note"), *folds), menu="Samples", only="page")


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield one sample whole: the request, the gold answer and what was made of it, what judges said, where they looked."""
    if not views:
        return
    images = list(dict.fromkeys(sha256 for one in views for sha256 in _images(one)))
    yield Facts([(f"image {at}", Span(sha256, "muted")) for at, sha256 in enumerate(images, start=1)])
    yield Texts([(Span("request", "muted"), cut(views[0]["prompt"]))])
    golds = dict.fromkeys(one["gold"] for one in views)
    changed = {one["item"]: one for one in views if one["item"]}
    yield Texts(
        [
            *((Span("gold answer", "strong"), cut(gold)) for gold in golds),
            *(
                ((Span(one["dimension"], "strong"), f": {one['description']}"), cut(one["perturbed"]))
                for one in changed.values()
            ),
        ]
    )
    columns = [
        Column(title, numeric=False) for title in ("item", "judge", "evaluator", "gold answer", "item's", "found")
    ]
    yield Table(columns, [_row(one) for one in views if one["case"] != "gold"], "What the judges said")
    said = [(_about(one), cut(_shortened(text))) for one in views for text in one["justification"] or () if one["item"]]
    if said:
        yield Fold(f"{len(said)} justifications", (Texts(said),))
    looks = [_look(one, look, images) for one in views for look in one["looks"]]
    if looks:
        yield Paragraph(Span("Where judges looked closer", "strong"))
        yield Bullets(looks)


def _images(view: Mapping[str, Any]) -> list[str]:
    """Return the hashes of the images of a view: those of the sample, and the one that was edited."""
    return [*view["images"], *([view["perturbed"]] if view["task"] == "text-to-image" and view["perturbed"] else [])]


def _row(one: Mapping[str, Any]) -> list[Cell]:
    name = one["dimension"] if one["item"] else "unchanged, judged again"
    told = [", ".join(one[field] or ()) or figures.NOTHING for field in ("gold_scores", "scores")]
    evaluator = f"{short(one['evaluator'])}{' · new reference' if one['new_reference'] else ''}"
    return [name, one["judge"], evaluator, *told, _found(one)]


def _found(one: Mapping[str, Any]) -> Cell:
    """Return what came of an item in a word or two."""
    if one["failure"]:
        return Span(f"{one['failure']}: {one['reason']}", "bad")
    parts: list[Span] = []
    if one["undetected"] is not None:
        missed = one["undetected"]
        text = "detected" if not missed else "undetected" if missed == 1 else "undetected in one order"
        parts.append(Span(text, "bad" if missed else "good"))
    elif one["equal"] is not None:
        parts.append(
            Span("judged equal" if one["equal"] == 1 else "not judged equal", "good" if one["equal"] == 1 else "bad")
        )
    if one["worse"]:
        parts.append(Span(" · judged better than the gold answer", "bad"))
    if one["words"]:
        parts.append(Span(f" · named: “{'”, “'.join(one['words'])}”", "muted"))
    return tuple(parts)


def _about(one: Mapping[str, Any]) -> Cell:
    return f"{one['judge']} on {one['dimension']} ({short(one['evaluator'])})"


def _look(one: Mapping[str, Any], look: Mapping[str, Any], images: Sequence[str]) -> Cell:
    made = f" → image {look['made']['sha256'][:12]}" if look["made"] else ""
    what = one["dimension"] or "the unchanged answer"
    text = f"{one['judge']} for {what} ({short(one['evaluator'])}): {look_text(look, images)}{made}: {look['text']}"
    return Span(text, "bad" if look["failed"] else "muted")


def _pictures(views: Views, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the images of a sample, each with the regions that judges looked at."""
    regions = looks_at([look for one in views for look in one["looks"]])
    for number, sha256 in enumerate(dict.fromkeys(sha256 for one in views for sha256 in _images(one)), start=1):
        if (one := pictures.get(sha256)) is None:
            continue
        boxes = [region.box for region in regions.get(sha256, ()) if region.box is not None]
        about = f"image {number}" + (f": {len(set(boxes))} regions that judges looked at" if boxes else "")
        yield Image(one.uri, (one.problem and f"{about}: {one.problem}") or about, boxes, one.height / one.width)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text) - LONGEST:,} characters more)"


def _shortened(text: str) -> str:
    return text if len(text) <= SAID else f"{text[:SAID]} … ({len(text) - SAID:,} characters more)"


DRAWING = replace(FIGURES, sections=(*FIGURES.sections[:-2], section, *FIGURES.sections[-2:]), sample=sample, asks=True)
