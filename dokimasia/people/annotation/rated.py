"""People's ratings by unit: all ratings, the adjudicated value, and the reference value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.annotation import SCALES, SCORE, Annotation, AnnotationUnit, scale_ends
from dokimasia.domain.duel import task_of
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError


class SampleOrigin(NamedTuple):
    """A sample's category, and its cluster of samples that share an image."""

    category: str
    cluster: str


def group_of(sample: Sample) -> str:
    """Return the stratum of a sample for drawing cases: its task if the data name one, else its category."""
    return task_of(sample) or sample.category or ""


def origin_of(sample: Sample) -> SampleOrigin:
    """Return the category and cluster of a sample."""
    return SampleOrigin(group_of(sample), sample.cluster)


class RatedUnit(NamedTuple):
    """A unit with each person's rating, by name, and the adjudicated value, if any."""

    unit: AnnotationUnit
    place: SampleOrigin
    said: Mapping[str, float]
    adjudicated: float | None = None

    @property
    def reference(self) -> float:
        """People's reference value: the adjudicated value, else the mean of the ratings."""
        if self.adjudicated is None:
            return sum(self.said.values()) / len(self.said)
        return self.adjudicated

    @property
    def apart(self) -> float:
        """The difference between the highest and the lowest rating."""
        if self.said:
            return max(self.said.values()) - min(self.said.values())
        return 0.0


def put_together(
    annotations: Iterable[Annotation], places: Callable[[str], SampleOrigin | None] = lambda sample: None
) -> list[RatedUnit]:
    """Return each unit once, in order, with all its ratings; category and cluster are from annotations or `places`.

    For the category, annotations take precedence over `places`; for the cluster, `places` does. A sample without a
    known cluster is a cluster of its own.
    """
    by_unit: dict[AnnotationUnit, list[Annotation]] = {}
    for rating in annotations:
        by_unit.setdefault(rating.unit, []).append(rating)
    units: list[RatedUnit] = []
    for unit, ratings in sorted(by_unit.items()):
        place = places(unit.id)
        if place is None:
            cluster = next((rating.cluster for rating in ratings if rating.cluster), f"sample:{unit.id}")
            place = SampleOrigin("", cluster)
        category = next((rating.category for rating in ratings if rating.category), place.category)
        by_person: dict[str, float] = {}
        for rating in sorted(ratings, key=lambda rating: rating.annotator):
            if not rating.adjudicates:
                by_person[rating.annotator] = rating.value
        decided = next((rating.value for rating in ratings if rating.adjudicates), None)
        units.append(RatedUnit(unit, place._replace(category=category), by_person, decided))
    return units


def scale_in(annotations: Iterable[Annotation], *, name: str) -> tuple[int, int] | None:
    """Return the scale of scores in the lines of a file; None if no line has a scale.

    Raises:
        DataError: two lines have different scales.
    """
    first: Annotation | None = None
    for rating in annotations:
        if rating.unit.measure != SCORE or not rating.scale:
            continue
        first = first or rating
        if rating.scale != first.scale:
            raise DataError(
                f"{name}: scores are on the scale {first.scale} in line {first.line} and {rating.scale} in line {rating.line}; "
                "compare each scale in a file of its own"
            )
    if first is None:
        return None
    return scale_ends(first.scale)


def scale_of(
    measure: str, annotations: Sequence[Annotation], scale: tuple[int, int] | None, *, name: str
) -> tuple[int, int]:
    """Return the scale of a measure: for scores `scale` if given, or else the measure's own.

    Raises:
        DataError: a rating is outside the scale; with file and line.
    """
    low, high = scale if scale is not None and measure == "score" else SCALES.get(measure, SCALES["score"])
    for rating in annotations:
        if rating.unit.measure == measure and not low <= rating.value <= high:
            raise DataError(
                f"{name}, line {rating.line}: the {measure} {rating.value:g} lies outside {low} to {high}; name people's scale "
                "with --scale LOW-HIGH"
            )
    return low, high
