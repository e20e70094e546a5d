"""Images with the regions of criteria: an SVG per image, with each region numbered like its criterion."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.criterion import Box, Criterion
from dokimasia.domain.look import Look
from dokimasia.domain.wording import percentage
from dokimasia.report.data import Picture
from dokimasia.report.drawing import WIDTH, escape

BADGE = 40
NEAR = 30
COLOURS = 6


class MarkedRegion(NamedTuple):
    """A region of an image, and its subject.

    `mark` links it to the element that highlights it; `label` is its displayed number, empty if it is visible only when
    highlighted; `kind` is its CSS class. `box` are its corners as fractions of the upright image, None for the whole
    image.
    """

    mark: str
    label: str
    kind: str
    box: tuple[float, float, float, float] | None


def regions_of(criteria: Sequence[Criterion], images: Sequence[str]) -> dict[str, list[MarkedRegion]]:
    """Return the regions of criteria, by hash of the image."""
    regions: dict[str, list[MarkedRegion]] = {}
    for number, criterion in enumerate(criteria, start=1):
        anchor = criterion.anchor
        if anchor.image < len(images):
            box = _corners(anchor.box)
            label = "" if box is None else str(number)
            regions.setdefault(images[anchor.image], []).append(MarkedRegion(str(number), label, colour(number), box))
    return regions


def looks_at(looks: Sequence[Look]) -> dict[str, list[MarkedRegion]]:
    """Return the regions that a judge examined with its tools, by hash of the image; they are visible when highlighted."""
    regions: dict[str, list[MarkedRegion]] = {}
    for number, look in enumerate(looks, start=1):
        for region in look.regions:
            mark = MarkedRegion(f"look-{number}", "", "look", _corners(region.box))
            regions.setdefault(region.image, []).append(mark)
    return regions


def _corners(box: Box | None) -> tuple[float, float, float, float] | None:
    if box is None:
        return None
    return (box.x0, box.y0, box.x1, box.y1)


def colour(number: int) -> str:
    """Return the CSS class with a criterion's colour, in the list and on the image."""
    return f"c{(number - 1) % COLOURS + 1}"


def region_text(criterion: Criterion, images: int) -> str:
    """Return the region of a criterion in words and percentages of width and height."""
    anchor = criterion.anchor
    image_text = f"image {anchor.image + 1}: " if images > 1 else ""
    return f"{image_text}{'whole image' if anchor.box is None else box_text(anchor.box)}"


def box_text(box: Box) -> str:
    """Return a box as percentages of width and height from the upper left."""
    return f"{percentage(box.x0)} to {percentage(box.x1)} across, {percentage(box.y0)} to {percentage(box.y1)} down"


def look_text(look: Look, images: Sequence[str]) -> str:
    """Return a judge's look in words: tool and regions, or the arguments if no region could be read."""
    places = [
        (f"image {images.index(region.image) + 1}: " if len(images) > 1 and region.image in images else "")
        + box_text(region.box)
        for region in look.regions
    ]
    return f"{look.tool}: {' and '.join(places) or look.arguments}"


def definitions(pictures: Mapping[str, Picture]) -> str:
    """Return all pictures as one hidden SVG, each once, even if several samples show it."""
    symbols = "".join(
        f'<symbol id="{_id(picture)}" viewBox="0 0 {WIDTH} {_height(picture)}" preserveAspectRatio="none">'
        f'<image href="{escape(picture.uri)}" width="{WIDTH}" height="{_height(picture)}" preserveAspectRatio="none"/></symbol>'
        for picture in pictures.values()
        if picture.uri
    )
    return f'<svg class="unseen" aria-hidden="true" width="0" height="0"><defs>{symbols}</defs></svg>'


def draw_picture(picture: Picture, regions: Sequence[MarkedRegion], about: str) -> str:
    """Return an image with its regions as HTML; if it cannot be drawn, the reason."""
    size = f"{picture.width} × {picture.height}"
    if not picture.uri:
        return f'<figure class="picture"><p class="warning">{escape(about)}: {escape(picture.problem)}</p></figure>'
    height = _height(picture)
    marks = "".join(_mark(region, regions[:index], height) for index, region in enumerate(regions))
    return (
        f'<figure class="picture"><svg viewBox="-4 -4 {WIDTH + 8} {height + 8}" role="img" aria-label="{escape(about)}">'
        f'<use href="#{_id(picture)}" width="{WIDTH}" height="{height}"/>{marks}</svg>'
        f"<figcaption>{escape(about)} · {size} · {escape(picture.sha256[:12])}</figcaption></figure>"
    )


def _mark(region: MarkedRegion, previous: Sequence[MarkedRegion], height: int) -> str:
    x0, y0, x1, y1 = region.box or (0.0, 0.0, 1.0, 1.0)
    left, top = round(x0 * WIDTH, 1), round(y0 * height, 1)
    place = f'x="{left}" y="{top}" width="{round((x1 - x0) * WIDTH, 1)}" height="{round((y1 - y0) * height, 1)}" rx="4"'
    badge = ""
    if region.label and region.box is not None:
        overlaps = sum(1 for earlier in previous if earlier.label and _near(earlier.box, region.box, height))
        across, down = _badge(left, top, overlaps, height)
        badge = (
            f'<rect class="badge" x="{across}" y="{down}" width="{BADGE}" height="{BADGE}" rx="6"/>'
            f'<text x="{across + BADGE / 2}" y="{down + BADGE / 2}">{region.label}</text>'
        )
    kind = f"mark {region.kind}" if region.label else f"mark {region.kind} unlit"
    return f'<g class="{kind}" data-mark="{region.mark}"><rect class="halo" {place}/><rect class="line" {place}/>{badge}</g>'


def _badge(left: float, top: float, overlaps: int, height: int) -> tuple[float, float]:
    """Return the position of a number: next to its region, or inside the image if there is no room.

    `overlaps` is the number of earlier regions that begin at nearly the same place.
    """
    step = BADGE + 6
    across = left - (overlaps + 1) * step
    if across < 0:
        across = left + overlaps * step
        down = max(0.0, top - step)
    else:
        down = top
    return round(min(max(0.0, across), WIDTH - BADGE), 1), round(min(down, max(0.0, height - BADGE)), 1)


def _near(first: tuple[float, ...] | None, second: tuple[float, ...], height: int) -> bool:
    return first is not None and abs(first[0] - second[0]) * WIDTH < NEAR and abs(first[1] - second[1]) * height < NEAR


def _height(picture: Picture) -> int:
    return max(1, round(WIDTH * picture.height / picture.width))


def _id(picture: Picture) -> str:
    return f"p-{picture.sha256[:24]}"
