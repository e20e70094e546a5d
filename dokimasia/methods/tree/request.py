"""The growth of a capability tree: request, plan, source of its criteria, and estimated calls."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple, cast

from pydantic import Field

from dokimasia.algorithms.taxonomy import leaves
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.algorithms.trees.places import leaf_mapping
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.capability import CATEGORIES, Level
from dokimasia.domain.growth import MIN_SUPPORT, SUBSAMPLE, GrowthOptions, Placement, TreeCriterion
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.tree.criteria import Pair, file_criteria, given_criteria, hash_of, run_criteria
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Estimate, ExpectedCalls, total_estimate
from dokimasia.runs.plans import OutsideIdentity, RunPlan, prompts_used
from dokimasia.runs.requests import MOST_SAMPLES, MOST_SEED, Judge, Option, RunRequest
from dokimasia.runs.session import Session
from dokimasia.storage.home import Home
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.runs import Run, get_run, list_runs
from dokimasia.storage.trees.versions import StoredVersion, get_version, mappings, resolve_tree, versions

NAME = "tree"
"""The method's name."""

PROMPTS = ("repair", "tree_map", "tree_merge", "tree_propose")


CRITERION_TOKENS, LEAF_TOKENS, LINE_TOKENS = 60, 12, 14
TYPICAL_LEAVES = 80
"""Typical number of leaves of a tree with many criteria."""

CRITERIA_A_LEAF = (2, 10)
"""The fewest and the most criteria per leaf in trees of judges: one made 18 capabilities from 34 criteria, another 14 from
about 144.
"""

EMBEDDED = 128
"""Number of names per embedding call."""


class GrowthRequest(RunRequest):
    """Grow a tree from the criteria of RUN (the beginning of its id, or last), or of a file with --criteria.

    Capabilities are proposed for a balanced part of the samples, equal ones are merged and rare ones folded; then every
    criterion is mapped to exactly one leaf, or counted as unplaced. The same command continues an interrupted growth,
    or prints its results.
    """

    VERB: ClassVar[str] = "tree grow"

    run: Annotated[str | None, Option(argument=True, continues="evaluate")] = None
    file: Annotated[Path | None, Option(flags=("--criteria",), metavar="FILE", exists=True, file=True)] = Field(
        default=None,
        description="Grow from this file instead of a run: JSON lines, a JSON list or CSV of criterion, sample_id[, "
        "category].",
    )
    judge: Judge
    onto: Annotated[str | None, Option(metavar="TREE")] = Field(
        default=None, description="Extend this tree; propose new nodes only where nothing fits."
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
    min_support: int = Field(
        default=MIN_SUPPORT, ge=1, le=MOST_SAMPLES, description="Minimum number of criteria per leaf."
    )
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
        """Whether the growth creates a missing home; it does for criteria from a file or a program."""
        return self.run is None


class GrowthPlan(RunPlan):
    """The plan of a growth.

    `criteria` is a hash of the criteria, `source` their origin, `onto` the version to grow, and `tree` the requested
    name (empty for none).
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
        """The judge's displayed name."""
        return self.judge.ref.name


def tree_of(run: Run) -> str:
    """Return the name of a growth's tree: the requested one, or else one derived from the data and the growth."""
    plan = run.plan_as(GrowthPlan)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(run.data_name).stem).strip("-.")[:40]
    return plan.tree or f"{stem or NAME}-{run.id[:8]}"


class CriteriaSource(NamedTuple):
    """Criteria to grow from, sorted by key, with their run or file and a name."""

    criteria: list[TreeCriterion]
    origin: str
    data_name: str


def source_of(request: GrowthRequest, session: Session) -> CriteriaSource:
    """Return the criteria that a request names, or that a program passed.

    Raises:
        ConfigError: not exactly one source is given (run, file or passed criteria).
        NotFound: there is no such run.
        DataError: the criteria are unusable.
    """
    from_python = session.given
    origins = (request.run, request.file, from_python)
    if sum(origin is not None for origin in origins) != 1:
        raise ConfigError(
            "a tree grows from one of the two: name a RUN, or a file with --criteria FILE; a program may give criteria "
            "instead"
        )
    if from_python is not None:
        return CriteriaSource(given_criteria(cast("Sequence[Pair]", from_python)), "given", "criteria")
    if request.file is not None:
        return CriteriaSource(file_criteria(request.file, by=request.by), request.file.name, request.file.name)
    run = resolve_run(session.opened, str(request.run), of_method(EVALUATION.name))
    return CriteriaSource(run_criteria(session.opened, run, by=request.by), run.id, run.data_name)


def version_to_grow(home: Home, name: str) -> StoredVersion:
    """Return the version that a growth of an existing tree starts from: the newest not made by an unfinished growth.

    Raises:
        NotFound: there is no such tree.
        InputError: the tree has no such version.
    """
    tree = resolve_tree(home, name).tree
    if tree != name:
        raise NotFound(f"--onto takes a tree's name, such as {tree}; {name!r} is none")
    unfinished = {run.id for run in list_runs(home) if run.status != "done"}
    for version in reversed(versions(home, tree)):
        if version.run_id not in unfinished:
            return version
    raise InputError(
        f"the tree {tree!r} is not grown yet: finish it with dokimasia resume {versions(home, tree)[-1].run_id}"
    )


def maker_of(home: Home, version: StoredVersion) -> Run | None:
    """Return the growth that made a version; None if a person made it or the growth was deleted."""
    try:
        run = get_run(home, version.run_id) if version.run_id else None
    except NotFound:
        return None
    if run is not None and run.method == NAME:
        return run
    return None


def placed_before(home: Home, plan: GrowthPlan, tree: str) -> dict[str, Placement]:
    """Return the placements of the criteria that have a leaf in the base version, with their provenance."""
    if not plan.onto:
        return {}
    mapping = leaf_mapping(from_version(get_version(home, plan.onto)))
    placements = {criterion: Placement(criterion, leaf) for criterion, leaf in mapping.items()}
    for placement in mappings(home, plan.onto, tree=tree):
        if placement.criterion in placements and mapping[placement.criterion] == placement.leaf:
            placements[placement.criterion] = placement
    return placements


def plan_growth(
    request: GrowthRequest, session: Session, source: CriteriaSource, base: StoredVersion | None
) -> GrowthPlan:
    """Return the plan of a growth; `base` is the version of an existing tree to grow.

    Raises:
        ConfigError: a model is unknown, a category is invalid, or the existing tree has another level.
    """
    level = request.level
    categories = tuple(dict.fromkeys(" ".join(name.split()) for name in request.categories)) or CATEGORIES
    if base is not None:
        version = get_version(session.opened, base.id)
        if level not in (version.level, "capability"):
            raise ConfigError(f"--level {level}: the leaves of {base.tree!r} are capabilities; leave the option out")
        categories, level = version.categories, version.level
    shared = request.model_dump(include=GrowthOptions.model_fields.keys() - {"categories", "embedding", "level"})
    try:
        growth = GrowthOptions(categories=categories, embedding=request.embedding or "", level=level, **shared)
    except ValueError as error:
        raise ConfigError(f"--categories: {' '.join(str(error).split())[:300]}") from None
    return GrowthPlan(
        seed=request.seed,
        criteria=hash_of(source.criteria),
        source=source.origin,
        judge=session.model(request.judge),
        embedding=session.model(request.embedding) if request.embedding else None,
        growth=growth,
        onto="" if base is None else base.id,
        tree=request.onto or request.name or "",
        prompts=prompts_used(session.library, PROMPTS),
    )


def few_criteria(home: Home | None, plan: GrowthPlan, criteria: int) -> tuple[str, ...]:
    """Return a note if there are too few criteria for the expected number of leaves.

    The expected leaves are those of the existing tree or, for a new tree, from one per ten criteria to one per two, at
    most 80. A new tree's note is given if the most leaves would have too few.
    """
    if plan.growth.level != "capability":
        return ()
    if plan.onto and home is not None:
        expected, reason = len(leaves(from_version(get_version(home, plan.onto)))), "as many as the tree has"
        capabilities = f"about {expected}"
    else:
        fewest, most = CRITERIA_A_LEAF
        least, expected = (min(TYPICAL_LEAVES, -(-criteria // number)) for number in (most, fewest))
        reason = f"one for {fewest} to {most} criteria, and at most {TYPICAL_LEAVES}"
        capabilities = f"{least} to {expected}"
    if criteria >= MIN_SUPPORT * expected:
        return ()
    offer = "" if plan.onto else "; `dokimasia tree grow --level parent` makes one whose leaves are the broader parents"
    return (
        f"{criteria:,} criteria are few for {capabilities} capabilities ({reason}): with fewer than {MIN_SUPPORT} criteria a "
        f"leaf says little of a model{offer}",
    )


def estimate_growth(plan: GrowthPlan, criteria: Mapping[str, int]) -> Estimate:
    """Return an upper estimate of a growth's calls; merging is estimated for a typical tree.

    Args:
        plan: the plan of the growth.
        criteria: number of unplaced criteria by sample.
    """
    growth, total = plan.growth, sum(criteria.values())
    samples = min(len(criteria), growth.subsample or len(criteria))
    n_drawn = round(total * samples / max(1, len(criteria)))
    prompt_tokens = INSTRUCTION_TOKENS + TYPICAL_LEAVES * LEAF_TOKENS
    proposed, mapped = min(growth.propose_batch, n_drawn), min(growth.batch, total)
    calls = [
        ExpectedCalls(
            plan.judge,
            -(-n_drawn // growth.propose_batch),
            prompt_tokens + proposed * CRITERION_TOKENS,
            proposed * LINE_TOKENS,
        ),
        ExpectedCalls(
            plan.judge, growth.rounds * (4 + len(growth.categories) + n_drawn // 50), prompt_tokens, 5 * LINE_TOKENS
        ),
        ExpectedCalls(
            plan.judge,
            -(-total // growth.batch) * (2 if plan.onto else 1),
            prompt_tokens + mapped * CRITERION_TOKENS,
            mapped * LINE_TOKENS,
        ),
    ]
    if plan.embedding is not None:
        names = min(EMBEDDED, n_drawn)
        calls.append(ExpectedCalls(plan.embedding, growth.rounds * -(-n_drawn // EMBEDDED), names * LEAF_TOKENS, 0))
    return total_estimate(calls, len(criteria), items=total)
