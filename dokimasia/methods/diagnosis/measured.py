"""What a diagnosis is made from: a run's answers and scores, the groups of its criteria, and who is spoken of."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from dokimasia.domain.diagnosis.tables import Grouping
from dokimasia.methods.modes import Coded
from dokimasia.methods.tree import MeasuredRun

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

LIMIT = 0.05
"""The expected share of false marks among all marks of a diagnosis."""

MIN_SUPPORT = 5
"""A leaf with fewer scored criteria of a model is shown, and never marked."""

OWN_INTERVAL = ", each with its own 95 % interval, clustered by images"
"""Said of tables whose cells have intervals, and left out where these are not drawn."""

Final = Literal["right", "wrong", "undecided", "no reference"]
"""What the run says of an answer's final answer; undecided where neither a rule nor the judge could say."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of a model: its score (1 to 5; None where it failed, and how), its final answer, and its reasons.

    `reasons` are the scores of the criteria that the answer speaks to, the final answer left out. What it leaves unsaid is
    not among them: silence is no error.
    """

    sample_id: str
    cluster: str
    model: str
    repeat: int
    score: float | None
    failure: str | None
    reasons: tuple[int, ...] = ()
    final: Final = "no reference"


class ModelSamples(NamedTuple):
    """One model's samples: the mean score of each over its scored repeats, every scored repeat, and each one's cluster."""

    scores: Mapping[str, float]
    repeats: Mapping[str, Sequence[float]]
    clusters: Mapping[str, str]


@dataclass(frozen=True)
class DiagnosisMaterial:
    """What a diagnosis is made from.

    Attributes:
        tree: the criteria under their leaves; where the run has no tree, under the data's categories.
        grouping: which of the two.
        measured: the scores, criterion by criterion, 0 to 100.
        models: whom to speak of, in the order of the tables; no arms without the image.
        answers: every answer of these models, in the run's order.
        repeats: how often each sample was answered.
        seed: of intervals and permutations.
        coded: failed atoms under their modes, where these were analysed.
        silence_known: whether the judge was asked which criteria an answer does not speak to.
    """

    tree: "Tree"
    grouping: Grouping
    measured: MeasuredRun
    models: tuple[str, ...]
    answers: Sequence[Answered] = field(default_factory=list[Answered])
    repeats: int = 1
    seed: int = 0
    coded: Coded | None = None
    silence_known: bool = True

    @property
    def leaf(self) -> str:
        """What a group of criteria is called."""
        return "leaf" if self.grouping == "tree" else "category"

    @property
    def leaves(self) -> str:
        """What several groups of criteria are called."""
        return "leaves" if self.grouping == "tree" else "categories"

    @cached_property
    def seen(self) -> Mapping[str, ModelSamples]:
        """Each model's samples."""
        return {model: _seen(self.answers, model) for model in self.models}

    def scores(self, model: str) -> Mapping[str, float]:
        """Return a model's scores by criterion."""
        return self.measured.scores.get(model, {})

    def clusters_of(self, criteria: Iterable[str]) -> list[str]:
        """Return the cluster of each criterion: one for all that is asked about the same image."""
        return [self.measured.cluster_of.get(one, one) for one in criteria]

    def counted(self, count: int) -> str:
        """Return so many groups in words."""
        return f"{count} {self.leaf if count == 1 else self.leaves}"


def _seen(answers: Sequence[Answered], model: str) -> ModelSamples:
    repeats: dict[str, list[float]] = {}
    clusters: dict[str, str] = {}
    for one in answers:
        if one.model == model:
            clusters[one.sample_id] = one.cluster
            if one.score is not None:
                repeats.setdefault(one.sample_id, []).append(one.score)
    return ModelSamples({id: sum(each) / len(each) for id, each in repeats.items()}, repeats, clusters)


def slugs_of(models: Sequence[str]) -> Mapping[str, str]:
    """Return each model's part of an asset's id: its name without what an id cannot hold; all differ."""
    found: dict[str, str] = {}
    for model in models:
        base = "".join("-" if sign.isspace() or sign in ":[]/" else sign for sign in model) or "model"
        found[model] = next(slug for slug in numbered(base) if slug not in found.values())
    return found


def numbered(base: str) -> Iterator[str]:
    """Yield a name, then the same with the numbers from 2 on."""
    yield base
    yield from (f"{base}-{number}" for number in itertools.count(2))
