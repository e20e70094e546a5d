"""What is compared: the samples of two runs, and one model's answers to them with what a judge found."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dokimasia.domain.judgement import Correctness

Scale = tuple[float, float]
"""The lowest and the highest score."""

ATOMS: Scale = (1.0, 5.0)
"""The scale of scores by atomic criteria."""


@dataclass(frozen=True, slots=True)
class SampleRef:
    """A sample of a run: its name, the digest of its content, and the cluster of those that share its image."""

    sample_id: str
    digest: str
    cluster: str


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """One scored or failed answer of one model; `criteria` and `response` tell whether two sets of criteria are the same, and
    whether two answers say the same word for word.

    `correctness` says whether its final answer is right, `stated` the share of the criteria's weight that it speaks to, and
    `criteria_stated` to which of them, whose weights are `weights`.
    """

    sample_id: str
    repeat: int
    score: float | None
    failure: str | None
    response: str | None = None
    criteria: str | None = None
    criteria_scores: tuple[int, ...] = ()
    correctness: Correctness = "failed"
    stated: float | None = None
    criteria_stated: tuple[bool, ...] = ()
    weights: tuple[int, ...] = ()

    @property
    def right(self) -> float | None:
        """1 if the answer is right, 0 if it is wrong; None where neither is decided."""
        return {"right": 1.0, "wrong": 0.0}.get(self.correctness)

    @property
    def strict(self) -> float | None:
        """1 if the answer is right, 0 if it is wrong or undecided; None where the decision failed."""
        return None if self.correctness == "failed" else float(self.correctness == "right")

    @property
    def upper(self) -> float | None:
        """1 if the answer is right or undecided, 0 if it is wrong; None where the decision failed."""
        return None if self.correctness == "failed" else float(self.correctness != "wrong")

    def same_criteria(self, other: "ComparedAnswer") -> bool:
        """Whether both were scored by the same criteria."""
        return self.criteria is not None and self.criteria == other.criteria

    def same_response(self, other: "ComparedAnswer") -> bool:
        """Whether both are scores of the same text, whoever wrote it and wherever it was read."""
        return self.response is not None and self.response == other.response


@dataclass(slots=True)
class ComparisonSide:
    """One model in one run: the run's samples in order, and the model's answers; `scored` unless nobody was there to score."""

    places: Sequence[SampleRef]
    answers: dict[str, list[ComparedAnswer]] = field(default_factory=dict[str, list[ComparedAnswer]])
    scored: bool = True

    @classmethod
    def of(
        cls, places: Sequence[SampleRef], answers: Iterable[ComparedAnswer], *, scored: bool = True
    ) -> "ComparisonSide":
        """Return the side with its answers by sample."""
        side = cls(places, scored=scored)
        for answer in answers:
            side.answers.setdefault(answer.sample_id, []).append(answer)
        return side

    def score(self, place: SampleRef) -> float | None:
        """The mean over the sample's scored repeats; None where none is scored."""
        return self.mean(place, lambda one: one.score)

    def mean(self, place: SampleRef, measure: Callable[[ComparedAnswer], float | None]) -> float | None:
        """The mean of a measure over the sample's answers that have it; None where none has."""
        values = [value for one in self.answers.get(place.sample_id, ()) if (value := measure(one)) is not None]
        return sum(values) / len(values) if values else None

    def loss(self, place: SampleRef) -> str:
        """Why something is not known of the sample: the kind of its first failure, that it has no result, or neither."""
        answers = self.answers.get(place.sample_id, ())
        failures = [answer.failure for answer in answers if answer.failure is not None]
        return failures[0] if failures else "not known" if answers else "no result"


def lost_by(
    first: ComparisonSide, second: ComparisonSide, pair: tuple[SampleRef, SampleRef], measured: tuple[object, object]
) -> str:
    """Return why two places of one sample cannot be paired by what was measured at them, None where nothing was."""
    sides = zip(("first", "second"), (first, second), pair, measured, strict=True)
    return "; ".join(f"{name}: {side.loss(place)}" for name, side, place, value in sides if value is None)


def match_places(
    first: Sequence[SampleRef], second: Sequence[SampleRef]
) -> tuple[list[tuple[SampleRef, SampleRef]], Mapping[str, int]]:
    """Pair places by digest; of several with one content, those of one name first, the rest in their order."""
    waiting: dict[str, list[SampleRef]] = {}
    for place in second:
        waiting.setdefault(place.digest, []).append(place)
    partner: dict[str, SampleRef] = {}
    for by_name in (True, False):
        for place in first:
            if place.sample_id in partner:
                continue
            candidates = waiting.get(place.digest, [])
            found = next(
                (candidate for candidate in candidates if not by_name or candidate.sample_id == place.sample_id), None
            )
            if found is not None:
                partner[place.sample_id] = found
                candidates.remove(found)
    shared = [(place, partner[place.sample_id]) for place in first if place.sample_id in partner]
    left = sum(len(places) for places in waiting.values())
    return shared, {"only in the first run": len(first) - len(shared), "only in the second run": left}
