"""What people said of each thing, put together: the ratings of all, the decision of whoever adjudicated, and what holds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.annotation import SCALES, Annotation, AnnotationUnit
from dokimasia.domain.duel import task_of
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError


class SampleOrigin(NamedTuple):
    """Where a sample belongs: its category, and the cluster of what shares its image."""

    category: str
    cluster: str


def group_of(sample: Sample) -> str:
    """Return what cases are drawn evenly over: a sample's task where its data name one, else its category."""
    return task_of(sample) or sample.category or ""


class RatedUnit(NamedTuple):
    """A unit with what each person said of it, by name, and the decision of whoever adjudicated."""

    unit: AnnotationUnit
    place: SampleOrigin
    said: Mapping[str, float]
    adjudicated: float | None = None

    @property
    def reference(self) -> float:
        """What holds for people: the adjudicated value, else the mean of what they said."""
        return sum(self.said.values()) / len(self.said) if self.adjudicated is None else self.adjudicated

    @property
    def apart(self) -> float:
        """How far the highest rating lies above the lowest."""
        return max(self.said.values()) - min(self.said.values()) if self.said else 0.0


def put_together(
    annotations: Iterable[Annotation], places: Callable[[str], SampleOrigin | None] = lambda sample: None
) -> list[RatedUnit]:
    """Return each unit once, in order of the units; where a sample belongs says `places`, else the annotation itself.

    A sample of which neither is known is a cluster of its own.
    """
    by_unit: dict[AnnotationUnit, list[Annotation]] = {}
    for one in annotations:
        by_unit.setdefault(one.unit, []).append(one)
    found: list[RatedUnit] = []
    for unit, ones in sorted(by_unit.items()):
        known = places(unit.id)
        place = SampleOrigin(
            next((one.category for one in ones if one.category), known.category if known else ""),
            known.cluster if known else next((one.cluster for one in ones if one.cluster), f"sample:{unit.id}"),
        )
        said = {one.annotator: one.value for one in sorted(ones, key=lambda one: one.annotator) if not one.adjudicates}
        decided = next((one.value for one in ones if one.adjudicates), None)
        found.append(RatedUnit(unit, place, said, decided))
    return found


def scale_of(
    measure: str, annotations: Sequence[Annotation], scale: tuple[int, int] | None, *, name: str
) -> tuple[int, int]:
    """Return the scale of a measure: its own, or for scores the one that is asked for.

    Raises:
        DataError: a rating lies outside of it; with file and line.
    """
    low, high = scale if scale is not None and measure == "score" else SCALES.get(measure, SCALES["score"])
    for one in annotations:
        if one.unit.measure == measure and not low <= one.value <= high:
            raise DataError(
                f"{name}, line {one.line}: the {measure} {one.value:g} lies outside {low} to {high}; name people's scale "
                "with --scale LOW-HIGH"
            )
    return low, high
