"""What an audit is: data, rubric sets, candidates, a judge, hashed into a run's id; and its work items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from dokimasia.agents.candidate import BLIND
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.rubric import RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError
from dokimasia.graphs.rubrics import rubric_audit
from dokimasia.runner.inputs import DataRequest
from dokimasia.runner.plan import RUN_ID_LENGTH, model_identity

KIND = "audit"
PROMPTS = ("candidate", "repair", "rubric_assessment")


class AuditRequest(DataRequest):
    """What the user asks of an audit: data, rubrics (a run's id or a file), models, a judge, and the options.

    `prompt` is what the models are asked in place of the full description that rubrics are made for.
    """

    rubrics: str
    models: tuple[str, ...]
    judge: str
    repeats: int = Field(default=1, ge=1)
    no_image: bool = False
    show_image: bool = False


class AuditPlan(Value):
    """An audit by its content; `sets` are the rubric sets' ids by the sample's name, `rubrics` hashes what they demand."""

    data: str
    rubrics: str
    sets: dict[str, str]
    judge: ModelSpec
    candidates: tuple[ModelSpec, ...]
    repeats: int = 1
    no_image: bool = False
    show_image: bool = False
    limit: int | None = None
    seed: int = 0
    prompts: dict[str, str]
    version: int = rubric_audit.VERSION
    fresh: int = 0

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        models = {spec.ref.name: spec for spec in (*self.candidates, self.judge)}
        return GraphOptions(judge=self.judge.ref.name, models=models, show_image=self.show_image)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms of every candidate: with the image, and with `no_image` also without."""
        return ("", BLIND) if self.no_image else ("",)

    @property
    def run_id(self) -> str:
        """The run's id: 16 hexadecimal digits over everything that decides its results."""
        identity: dict[str, Any] = {
            "command": KIND,
            "version": self.version,
            "data": self.data,
            "rubrics": self.rubrics,
            "judge": model_identity(self.judge),
            "candidates": sorted((model_identity(spec) for spec in self.candidates), key=lambda one: one["name"]),
            "repeats": self.repeats,
            "arms": list(self.arms),
            "show_image": self.show_image,
            "limit": self.limit,
            "seed": self.seed,
            "prompts": dict(self.prompts),
            "fresh": self.fresh,
        }
        return digest("run", identity)[:RUN_ID_LENGTH]

    def items(self, sample_id: str) -> Iterator["AuditItem"]:
        """The answers that are asked and assessed for one sample, in a fixed order."""
        for candidate in self.candidates:
            for arm in self.arms:
                for repeat in range(self.repeats):
                    yield AuditItem(sample_id, candidate.ref.name, arm, repeat)


@dataclass(frozen=True, slots=True)
class AuditItem:
    """One answer of one candidate to one sample, to be assessed."""

    sample_id: str
    model: str
    arm: str
    repeat: int

    @property
    def name(self) -> str:
        """The item's name, unique in its run."""
        return f"audit/{self.sample_id}/{self.model}/{self.arm}/{self.repeat}"


def sets_for(
    samples: Sequence[Sample], sets: Sequence[RubricSet], source: str
) -> tuple[list[tuple[Sample, RubricSet]], list[str]]:
    """Return each sample with its rubric set (the one of its name, else the only one of its images), and who has none.

    A sample that has none, such as one whose review was discarded, is no part of the audit and is named.

    Raises:
        DataError: no sample has a set, or the set of a sample's name was made for another image.
    """
    by_name = {one.sample_id: one for one in sets}
    by_images: dict[tuple[str, ...], list[RubricSet]] = {}
    for one in sets:
        if one.images:
            by_images.setdefault(one.images, []).append(one)
    found: list[tuple[Sample, RubricSet]] = []
    missing: list[str] = []
    for sample in samples:
        images = tuple(image.sha256 for image in sample.images)
        named, same = by_name.get(sample.id), by_images.get(images, [])
        if named is not None and (not named.images or named.images == images):
            one = named
        elif len(same) == 1:
            one = same[0]
        elif named is not None:
            raise DataError(
                f"{source}: the rubrics of sample {sample.id!r} were made for another image than the data has under that "
                "name; rubrics can only be used on the images that they were made for"
            )
        else:
            one = None
        if one is None or not one.rubrics:
            missing.append(sample.id)
        else:
            found.append((sample, one))
    if not found:
        raise DataError(f"{source} has no rubrics for any of the {len(samples)} samples of the data")
    return found, missing
