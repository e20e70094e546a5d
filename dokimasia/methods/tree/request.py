"""What the growth of a tree is asked, and what decides its results."""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.capability import Level
from dokimasia.domain.growth import MIN_SUPPORT, SUBSAMPLE, GrowthOptions
from dokimasia.runs.plans import OutsideIdentity, RunPlan
from dokimasia.runs.requests import MOST_SAMPLES, MOST_SEED, SHARED_HELP, Judge, Option, RunRequest
from dokimasia.storage.runs import Run

NAME = "tree"
"""What the method is called."""

PROMPTS = ("repair", "tree_map", "tree_merge", "tree_propose")


class GrowthRequest(RunRequest):
    """Grow a tree from the criteria of RUN (the beginning of its id, or last), or of a file with --criteria.

    A balanced part of the samples is proposed for, equal capabilities are merged and rare ones folded; then every
    criterion is mapped to exactly one leaf, or counted as unplaced. The same command continues a growth that was
    interrupted, or prints what it came to.
    """

    VERB: ClassVar[str] = "tree grow"

    run: Annotated[str | None, Option(argument=True, continues="evaluate")] = None
    file: Annotated[Path | None, Option(flags=("--criteria",), metavar="FILE", exists=True, file=True)] = Field(
        default=None,
        description="Grow from this file instead of a run: JSON lines, a JSON list or CSV of criterion, sample_id[, "
        "category].",
    )
    judge: Judge = Field(description=SHARED_HELP["judge"])
    onto: Annotated[str | None, Option(metavar="TREE")] = Field(
        default=None, description="Grow this tree on: propose only where nothing fits."
    )
    name: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$",
        description="The new tree's name (default: after the data and the growth).",
    )
    categories: tuple[str, ...] = Field(
        default=(), description="The fixed anchors, separated by commas (default: the six of ATOM)."
    )
    level: Level = Field(
        default="capability",
        description="What the leaves are: capabilities, or, where criteria are few, the broader parents.",
    )
    subsample: int = Field(default=SUBSAMPLE, ge=0, le=MOST_SAMPLES, description="Samples to grow from; 0 takes all.")
    by: Literal["category", "source"] = Field(default="category", description="What the sub-sample is balanced over.")
    rounds: int = Field(default=2, ge=1, le=15, description="Rounds of propose, merge and prune.")
    min_support: int = Field(default=MIN_SUPPORT, ge=1, le=MOST_SAMPLES, description="The fewest criteria of a leaf.")
    batch: int = Field(default=25, ge=1, le=200, description="Criteria that one call maps.")
    shown: Annotated[int, Option(hidden=True)] = Field(
        default=200, ge=10, le=10_000, description="Leaves that one call shows."
    )
    embedding: Annotated[str | None, Option(metavar="MODEL", models=True)] = Field(
        default=None, description="Find equal names by this model's embeddings (default: n-grams)."
    )
    seed: int = Field(default=0, ge=0, le=MOST_SEED, description="Seed of the sub-sample.")

    @property
    def makes_home(self) -> bool:
        """A growth from a file, or from criteria that a program gives, makes the home that it needs."""
        return self.run is None


class GrowthPlan(RunPlan):
    """A growth by its content.

    `criteria` hashes those that it grows from, and `source` says where they come from; `onto` is the version that is
    grown on, `tree` the name that was asked for (empty: none).
    """

    criteria: str
    source: Annotated[str, OutsideIdentity]
    judge: ModelSpec
    embedding: ModelSpec | None = None
    growth: GrowthOptions
    onto: str = ""
    tree: str = ""

    @property
    def judge_name(self) -> str:
        """The judge's shown name."""
        return self.judge.ref.name


def tree_of(run: Run) -> str:
    """Return the name of a growth's tree: the one that was asked for, else one after the data and the growth."""
    plan = GrowthPlan.model_validate(run.options["plan"])
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(run.data_name).stem).strip("-.")[:40]
    return plan.tree or f"{stem or NAME}-{run.id[:8]}"
