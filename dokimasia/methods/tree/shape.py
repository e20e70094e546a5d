"""The figures of the growth of a capability tree, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.capability import Level
from dokimasia.domain.growth import FailedBatch, Phase, Rejection
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Count, Counts, Coverage
from dokimasia.runs.figure_models import Heading, Judge, Seed


class PhaseFigures(Value):
    """What one phase of a growth did; the version that it ended in."""

    version: str = Field(description="the version's id")
    position: Count = Field(description="the version's number in the tree")
    phase: Phase
    round: Count
    calls: Count = Field(description="calls of the judge")
    asked: Count = Field(description="criteria or leaves that the judge was asked about")
    added: Count = Field(description="leaves and parents added")
    merged: Count = Field(description="leaves and parents merged into others")
    renamed: Count = Field(default=0, description="vague leaves and parents that got a better name")
    pruned: Count = Field(description="leaves and parents taken away")
    placed: Count = Field(description="criteria that got a leaf")
    unplaced: Counts = Field(description="criteria without a leaf, by why")
    rejected: Count = Field(description="parts of replies that were not taken up")
    failures: tuple[FailedBatch, ...] = Field(description="calls that brought nothing")


class Leaf(Value):
    """A leaf of the tree."""

    leaf: str = Field(description="its path, such as <Understanding><Layout Sense><Spatial Relations>")
    support: Count = Field(description="criteria that it rests on")


class Moved(Value):
    """A criterion that is elsewhere than in the tree that was grown on."""

    criterion: str = Field(description="its key")
    text: str
    before: str | None = Field(alias="from", description="the leaf that it had; null: none")
    to: str | None = Field(description="the leaf that it has; null: none")


class TreeFigures(Heading):
    """The figures of the growth of a tree."""

    tree: str = Field(description="the tree's name")
    source: str = Field(description="where the criteria are from: a run's id, or a file's name")
    judge: Judge
    embedding: str | None = Field(description="the model by whose embeddings equal names are found; null: by n-grams")
    seed: Seed
    level: Level = Field(
        description="what the leaves are: capabilities, or the parents that are right above them elsewhere"
    )
    notes: tuple[str, ...] = Field(description="what was said before it started, such as that criteria are few")
    grown_on: str | None = Field(description="the version that was grown on; null for a new tree")
    phases: tuple[PhaseFigures, ...]
    calls: Count = Field(description="calls of the judge in all phases")
    rejected: Count = Field(description="parts of replies that were not taken up")
    rejections: tuple[Rejection, ...] = Field(description="the first of them")
    version: str | None = Field(description="the newest version that the growth made; null before there is one")
    position: Count = Field(default=0, description="its number in the tree; absent before there is a version")
    n: Count = Field(description="criteria that were to be mapped; 0 before they are")
    mapped: Count = Field(description="criteria that have a leaf")
    coverage: Coverage = Field(description="mapped of n, 0 to 1; null before criteria are mapped")
    unplaced: Counts = Field(description="criteria without a leaf, by why")
    calls_per_criterion: float | None = Field(
        default=None, ge=0, description="null before criteria are mapped; absent before there is a version"
    )
    parents: Count = Field(default=0, description="nodes right below categories; absent before there is a version")
    leaves: tuple[Leaf, ...]
    new_criteria: Count = Field(default=0, description="criteria that are new; only where a tree was grown on")
    new_leaves: tuple[str, ...] = Field(default=(), description="leaves that are new; only where a tree was grown on")
    moved_count: Count = Field(default=0, description="criteria that are elsewhere now; only where a tree was grown on")
    moved: tuple[Moved, ...] = Field(default=(), description="the first of them; only where a tree was grown on")
