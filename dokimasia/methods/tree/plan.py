"""What the growth of a tree is: criteria, judge, options, prompts and the version that is grown on, hashed into its id."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from dokimasia.domain.call import ModelSpec, Usage
from dokimasia.domain.capability import CATEGORIES
from dokimasia.domain.growth import MIN_SUPPORT, SUBSAMPLE, GrowthOptions, TreeCriterion
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.options import GraphOptions
from dokimasia.errors import ConfigError
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.pricing import cost_of, known_price
from dokimasia.graphs.tree import taxonomy_growth
from dokimasia.methods.evaluation.plan import RUN_ID_LENGTH, model_identity
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Estimate, ModelEstimate
from dokimasia.runs.services import with_known_price
from dokimasia.settings import Settings, resolve_model

KIND = "tree"
"""What a run's options say of a growth."""

PROMPTS = ("repair", "tree_map", "tree_merge", "tree_propose")
CRITERION_TOKENS, LEAF_TOKENS, LINE_TOKENS = 60, 12, 14
TYPICAL_LEAVES = 80


class GrowthRequest(Value):
    """What the user asks of a growth.

    `run` names the run whose criteria the tree grows from (by the beginning of its id), `file` a file of criteria;
    neither where they are given from Python. `onto` names the tree that is grown on, `name` a new tree. `by` is what the
    sub-sample is balanced over.
    """

    judge: str
    run: str | None = None
    file: Path | None = None
    onto: str | None = None
    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    categories: tuple[str, ...] = CATEGORIES
    subsample: int = Field(default=SUBSAMPLE, ge=0)
    by: str = Field(default="category", pattern="^(category|source)$")
    rounds: int = Field(default=2, ge=1, le=15)
    min_support: int = Field(default=MIN_SUPPORT, ge=1)
    batch: int = Field(default=25, ge=1, le=200)
    shown: int = Field(default=200, ge=10)
    embedding: str | None = None
    seed: int = Field(default=0, ge=0)
    prompts: tuple[Path, ...] = ()
    fresh: bool = False
    max_cost: float | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)

    @property
    def budget(self) -> Budget:
        """The limits on what this sitting may spend; no part of the growth's identity."""
        return Budget(max_cost=self.max_cost, max_calls=self.max_calls, max_tokens=self.max_tokens)

    @property
    def command(self) -> str:
        """The command as a person would repeat it."""
        words = ["tree grow"]
        words += [self.run] if self.run else ["--criteria", self.file.name] if self.file else []
        words += ["--judge", self.judge]
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in {"run", "file", "judge"} or value == field.default:
                continue
            option = f"--{name.replace('_', '-')}"
            if name == "prompts":
                words += [word for one in value for word in (option, one.name)]
            else:
                words += (
                    [option] if value is True else [option, ",".join(value) if name == "categories" else str(value)]
                )
        return " ".join(words)


class GrowthPlan(Value):
    """A growth by its content. `criteria` hashes those that are new to the tree, `onto` is the version grown on."""

    criteria: str
    source: str
    judge: ModelSpec
    embedding: ModelSpec | None = None
    growth: GrowthOptions
    onto: str = ""
    tree: str = ""
    prompts: dict[str, str]
    fresh: int = 0

    @property
    def specs(self) -> dict[str, ModelSpec]:
        """The models that are asked, by name."""
        both = (self.judge, *((self.embedding,) if self.embedding else ()))
        return {spec.ref.name: spec for spec in both}

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return GraphOptions(judge=self.judge.ref.name, models=self.specs)

    @property
    def run_id(self) -> str:
        """The growth's id: 16 hexadecimal digits over everything that decides its result."""
        identity: dict[str, Any] = {
            "command": "tree grow",
            "criteria": self.criteria,
            "judge": model_identity(self.judge),
            "embedding": None if self.embedding is None else model_identity(self.embedding),
            "growth": self.growth.model_dump(mode="json"),
            "onto": self.onto,
            "tree": self.tree,
            "prompts": dict(self.prompts),
            "graph": taxonomy_growth.VERSION,
            "fresh": self.fresh,
        }
        return digest("run", identity)[:RUN_ID_LENGTH]


def growth_plan(
    request: GrowthRequest,
    settings: Settings,
    criteria: Iterable[TreeCriterion],
    *,
    source: str,
    onto: str = "",
    categories: tuple[str, ...] | None = None,
    library: PromptLibrary | None = None,
) -> GrowthPlan:
    """Return the plan of a request.

    Args:
        request: what is asked.
        settings: where models are configured.
        criteria: those that are new, sorted by key.
        source: the run or the file that they come from.
        onto: the version that is grown on.
        categories: the anchors of the tree that is grown on.
        library: prompts that replace the package's own.

    Raises:
        ConfigError: a model is not known, two are called the same, or a category cannot be one.
    """
    judge = with_known_price(resolve_model(settings, request.judge))
    embedding = with_known_price(resolve_model(settings, request.embedding)) if request.embedding else None
    if embedding is not None and embedding.ref.name == judge.ref.name and embedding != judge:
        raise ConfigError(f"judge and embedding model are both called {judge.ref.name!r}: give one another name")
    fields: dict[str, Any] = {
        name: getattr(request, name) for name in ("subsample", "rounds", "min_support", "batch", "shown", "seed")
    }
    anchors = categories or tuple(dict.fromkeys(" ".join(name.split()) for name in request.categories))
    if not anchors:
        raise ConfigError("a tree needs at least one category: give --categories A,B,...")
    try:
        growth = GrowthOptions(categories=anchors, embedding=request.embedding or "", **fields)
    except ValueError as error:
        raise ConfigError(f"--categories: {' '.join(str(error).split())[:300]}") from None
    known = (library or default_library()).identity()
    return GrowthPlan(
        criteria=digest("criteria", [list(one) for one in criteria]),
        source=source,
        judge=judge,
        embedding=embedding,
        growth=growth,
        onto=onto,
        tree=request.onto or request.name or "",
        prompts={name: known[name] for name in PROMPTS},
    )


def tree_name(request: GrowthRequest, source: str, run_id: str) -> str:
    """Return the name of a growth's tree: the one that was asked for, else one after the data and the growth."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(source).stem).strip("-.")[:40]
    return request.onto or request.name or f"{stem or 'tree'}-{run_id[:8]}"


def estimate_growth(plan: GrowthPlan, criteria: Mapping[str, int]) -> Estimate:
    """Return what a growth will ask about at most, by rule of thumb; merging is counted for a typical tree.

    Args:
        plan: the growth.
        criteria: sample to how many criteria it has without a place.
    """
    growth, total = plan.growth, sum(criteria.values())
    samples = min(len(criteria), growth.subsample or len(criteria))
    sub = round(total * samples / max(1, len(criteria)))
    proposing = -(-sub // growth.propose_batch)
    merging = growth.rounds * (4 + sub // 50)
    mapping = -(-total // growth.batch) * (2 if plan.onto else 1)
    calls = proposing + merging + mapping
    sent = calls * (INSTRUCTION_TOKENS + TYPICAL_LEAVES * LEAF_TOKENS) + (sub + total) * CRITERION_TOKENS
    received = (sub + total) * LINE_TOKENS + merging * LINE_TOKENS * 5
    cost = cost_of(Usage(input_tokens=sent, output_tokens=received), known_price(plan.judge))
    asked = ModelEstimate(calls=calls, input_tokens=sent, output_tokens=received, cost=cost)
    return Estimate(samples=len(criteria), models={plan.judge.ref.name: asked})
