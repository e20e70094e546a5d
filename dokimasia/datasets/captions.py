"""Comparison of caption sets: images, lengths, domains, annotators and sources (PerceptionRubrics, table 3)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from dokimasia.datasets.lines import FileProblems, read_rows
from dokimasia.domain.density import DOMAIN_TITLES, domain_named
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DataError

CAPTIONS = ("caption", "reference_answer", "gold")
"""The fields of a line that can contain its caption; the first one present counts."""

IMAGES = ("image", "images")
ANNOTATORS = ("annotator", "annotators", "panel")
SOURCES = ("source", "sources")


class CaptionSet(NamedTuple):
    """The composition of a set of captions; `words_a_caption` is the mean, and counts are by name, most
    frequent first.
    """

    name: str
    captions: int
    images: int
    words_a_caption: float
    median_words: float
    longest: int
    domains: Mapping[str, int]
    annotators: Mapping[str, int]
    sources: Mapping[str, int]


def read_caption_set(path: Path) -> CaptionSet:
    """Return the composition of a file of captions; its images are counted by name and are not opened.

    A line has the caption as `caption`, `reference_answer` or `gold`, and may have `image` or `images`, a `domain` or
    `category`, `annotator` (also `annotators`, or the `panel` of a file of rubrics) and `source`, itself or in its
    `meta`.

    Raises:
        NotFound: there is no such file.
        DataError: a line cannot be read, or no line has a caption.
    """
    words: list[int] = []
    images: set[str] = set()
    counts: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())
    problems = FileProblems(path)
    for row in problems.readable(read_rows(path)):
        fields = _with_meta(row.fields)
        caption = next(_texts(fields, CAPTIONS), "")
        if not caption:
            continue
        words.append(len(caption.split()))
        images.update(_texts(fields, IMAGES))
        domain = domain_named(fields.get("domain"), fields.get("category"))
        if domain is not None:
            counts[0][DOMAIN_TITLES[domain]] += 1
        counts[1].update(set(_texts(fields, ANNOTATORS)))
        counts[2].update(set(_texts(fields, SOURCES)))
    problems.refuse()
    if not words:
        raise DataError(f"{path}: no caption in it; a line has one as {', '.join(CAPTIONS)}")
    domains, annotators, sources = (dict(counter.most_common()) for counter in counts)
    return CaptionSet(
        name=path.stem,
        captions=len(words),
        images=len(images),
        words_a_caption=round(fmean(words), 2),
        median_words=median(words),
        longest=max(words),
        domains=domains,
        annotators=annotators,
        sources=sources,
    )


def _with_meta(fields: JsonObject) -> JsonObject:
    meta = fields.get("meta")
    if isinstance(meta, dict):
        return meta | fields
    return fields


def _texts(fields: JsonObject, names: Iterable[str]) -> Iterator[str]:
    """Yield the texts of the named fields, in order: a single text, or those of a list."""
    for name in names:
        value = fields.get(name)
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and text.strip():
                yield text.strip()
