"""The composition of a data set: lengths of queries and references, roles, instructions, types of images,
sub-categories.

These are the published statistics of Creation-MMBench (figures 5 and 10), and of ATOM's domains (figure 5).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from pydantic import JsonValue

from dokimasia.domain.sample import Sample

BOUNDS = (25, 50, 100, 200, 400, 800, 1500)
"""Upper bounds of the classes of lengths, in words; the last class has none."""

IMAGE_TYPES = ("image_type", "image_types", "image_category", "image_categories")
"""The fields of `meta` that name the types of a sample's images: a text, or a list of texts."""

SUB_CATEGORIES = ("subcategory", "sub_category")
"""The fields of `meta` that name a sample's sub-category."""


class Lengths(NamedTuple):
    """The lengths of texts in words: the number of texts, their mean, median, minimum and maximum; and the number in
    each class.

    `classes` has the number of texts by class, such as `26-50`, in order, without empty classes.
    """

    n: int
    mean: float
    median: float
    shortest: int
    longest: int
    classes: Mapping[str, int]


class DataStatistics(NamedTuple):
    """The statistics of a data set; None or empty if no sample has the counted property.

    `sub_categories` counts samples by `domain > sub-category`; without `meta.domain`, a sample's category replaces it.
    """

    query_words: Lengths | None
    reference_words: Lengths | None
    roles: Mapping[str, int]
    instructions: Mapping[str, int]
    image_types: Mapping[str, int]
    images_a_sample: Mapping[str, int]
    sub_categories: Mapping[str, int]


class StatisticsCounter:
    """Computes the composition of a data set, one sample at a time; texts are not stored."""

    def __init__(self) -> None:
        self._query_words: list[int] = []
        self._reference_words: list[int] = []
        self._roles: Counter[str] = Counter()
        self._instructions: Counter[str] = Counter()
        self._image_types: Counter[str] = Counter()
        self._images: Counter[int] = Counter()
        self._sub_categories: Counter[str] = Counter()

    def add(self, sample: Sample) -> None:
        """Count a sample."""
        if sample.prompt.strip():
            self._query_words.append(len(sample.prompt.split()))
        if sample.reference_answer is not None:
            self._reference_words.append(len(sample.reference_answer.split()))
        self._roles.update(_texts(sample.meta.get("role")))
        self._instructions.update(_texts(sample.meta.get("instruction")))
        for name in IMAGE_TYPES:
            self._image_types.update(_texts(sample.meta.get(name)))
        self._images[len(sample.images)] += 1
        domain = sample.meta.get("domain") or sample.category
        for name in SUB_CATEGORIES:
            if sub_category := sample.meta.get(name):
                self._sub_categories[f"{domain or 'no domain'} > {sub_category}"] += 1

    def statistics(self) -> DataStatistics:
        """Return the statistics of the samples counted so far."""
        return DataStatistics(
            query_words=_lengths(self._query_words),
            reference_words=_lengths(self._reference_words),
            roles=_ranked(self._roles),
            instructions=_ranked(self._instructions),
            image_types=_ranked(self._image_types),
            images_a_sample={str(count): n for count, n in sorted(self._images.items())},
            sub_categories=_ranked(self._sub_categories),
        )


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts of a field, normalised: single spaces, no full stop at the end, no initial capital."""
    for text in value if isinstance(value, list) else [value]:
        if not isinstance(text, str):
            continue
        plain = " ".join(text.split()).rstrip(".")
        if plain:
            yield plain if plain[1:2].isupper() else plain[0].lower() + plain[1:]


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _lengths(words: Sequence[int]) -> Lengths | None:
    if not words:
        return None
    counts = Counter(map(_class_of, words))
    classes: dict[str, int] = {}
    low = 0
    for number, high in enumerate(BOUNDS):
        if counts[number]:
            classes[f"{low}-{high}"] = counts[number]
        low = high + 1
    if counts[len(BOUNDS)]:
        classes[f"over {BOUNDS[-1]}"] = counts[len(BOUNDS)]
    return Lengths(
        n=len(words),
        mean=round(fmean(words), 1),
        median=median(words),
        shortest=min(words),
        longest=max(words),
        classes=classes,
    )


def _class_of(words: int) -> int:
    """Return the number of the class of a length, from 0."""
    return bisect_left(BOUNDS, words)
