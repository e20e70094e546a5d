"""Capability trees: growing from criteria with a judge, reading, editing and measuring (ATOM, section 3.2)."""

from collections import Counter
from collections.abc import Sequence

from dokimasia.algorithms.trees.places import in_order, mapping_of, members_below
from dokimasia.errors import ConfigError, InputError
from dokimasia.graphs.versions import versions_of
from dokimasia.methods.tree.criteria import Pair, hash_of
from dokimasia.methods.tree.figures import TreeFigures, growth_json, growth_rows
from dokimasia.methods.tree.node_scores import (
    BEST,
    LEVEL,
    WORST,
    MeasuredRun,
    kept_leaves,
    measured_of,
    report_tree,
    tree_figures,
    weaknesses_of,
)
from dokimasia.methods.tree.request import (
    NAME,
    GrowthPlan,
    GrowthRequest,
    estimate_growth,
    few_criteria,
    maker_of,
    placed_before,
    plan_growth,
    source_of,
    tree_of,
    version_to_grow,
)
from dokimasia.methods.tree.stored_trees import (
    Grouping,
    LoadedTree,
    criteria_groups,
    evaluation_of,
    find_tree_of_run,
    load_stored,
    load_tree,
    sample_groups,
)
from dokimasia.methods.tree.validity import validity_of
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.method import (
    Addition,
    ExportParts,
    Method,
    ReportParts,
    RerunParts,
    ResultParts,
    ScoreParts,
    lazy_function,
    lazy_value,
)
from dokimasia.runs.plans import run_id
from dokimasia.runs.session import Accepted, Session
from dokimasia.runs.verbs import describe, sync, verb
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run
from dokimasia.storage.trees.versions import StoredVersion, create_tree, keep_criteria, list_trees, tree_criteria


async def accept(request: GrowthRequest, session: Session) -> Accepted[GrowthPlan]:
    """Validate a request, and return the plan and estimate of the growth; `keep` stores its criteria.

    Raises:
        InputError: there are no criteria, no such tree, or an option is unusable.
    """
    if request.onto is not None and (request.name is not None or request.categories):
        raise ConfigError("--onto keeps the tree's name and categories: leave --name and --categories out")
    source = source_of(request, session)
    base = None if request.onto is None else version_to_grow(session.opened, request.onto)
    plan = plan_growth(request, session, source, base)
    by_key = {criterion.key: criterion for criterion in source.criteria}
    placed_keys: set[str] = set()
    if base is None:
        _check_name(request, session, plan)
    else:
        earlier = _growth_of_base(request, session.opened, base, plan)
        if earlier is not None:
            return earlier
        by_key |= {criterion.key: criterion for criterion in tree_criteria(session.opened, base.tree)}
        placed_keys.update(placed_before(session.opened, plan, base.tree))
    criteria = sorted(by_key.values())

    async def keep(home: Home, run: Run) -> None:
        if base is None:
            await create_tree(home, tree_of(run), run_id=run.id, source=plan.source)
        await keep_criteria(home, tree_of(run), criteria)

    estimate = estimate_growth(
        plan, Counter(criterion.sample_id for criterion in criteria if criterion.key not in placed_keys)
    )
    return Accepted(
        plan=plan,
        estimate=estimate.model_copy(update={"notes": few_criteria(session.home, plan, len(criteria))}),
        data_name=source.data_name,
        data_hash=hash_of(criteria),
        keep=keep,
        request=request if request.run is None else request.model_copy(update={"run": source.origin}),
    )


def resumable(session: Session, run: Run, plan: GrowthPlan, request: GrowthRequest) -> None:
    """Check that the tree of an unfinished growth has the criteria that it was accepted with.

    Raises:
        InputError: the tree has other criteria than when the growth was accepted.
    """
    tree = tree_of(run)
    if run.status != "done" and hash_of(tree_criteria(session.opened, tree)) != run.data_hash:
        raise InputError(
            f"the tree {tree!r} does not have the criteria any more that run {run.id} was accepted with: give the command "
            "that began it once more"
        )


def _growth_of_base(
    request: GrowthRequest, home: Home, base: StoredVersion, plan: GrowthPlan
) -> Accepted[GrowthPlan] | None:
    """Return the growth that made the base version, if its plan equals the requested plan."""
    maker = maker_of(home, base)
    if maker is None or request.fresh:
        return None
    base_plan = plan.model_copy(update={"onto": METHOD.read(maker)[0].onto})
    if not base_plan.onto or run_id(METHOD, base_plan) != maker.id:
        return None
    return Accepted(
        plan=base_plan,
        estimate=Estimate.of_run(maker),
        data_name=maker.data_name,
        data_hash=maker.data_hash,
    )


def _check_name(request: GrowthRequest, session: Session, plan: GrowthPlan) -> None:
    """Check that no tree of another growth has the requested name."""
    trees = [] if session.home is None else list_trees(session.home)
    own_id = "" if request.fresh else run_id(METHOD, plan)
    if any(tree.name == request.name and tree.run_id != own_id for tree in trees):
        raise ConfigError(
            f"there is a tree {request.name!r} already, of other criteria or options: take another --name, or grow it on "
            f"with --onto {request.name}"
        )


METHOD: Method[GrowthRequest, GrowthPlan] = Method(
    name=NAME,
    title="tree growth",
    request=GrowthRequest,
    plan=GrowthPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.tree.work", "stages"),
    figures=growth_json,
    shape=lambda: TreeFigures,
    graphs=versions_of("taxonomy_growth"),
    results=ResultParts(name="criteria"),
    scores=ScoreParts(
        no_diff="compare the trees with dokimasia tree diff A B, or their mappings with dokimasia tree agreement A B"
    ),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.tree.report", "DRAWING"),
        adds=Addition(
            report_tree,
            lazy_value("dokimasia.methods.tree.report", "section"),
            "capability",
            sample_groups,
        ),
    ),
    export=ExportParts(table=growth_rows),
    reruns=RerunParts(
        check=resumable,
        no_retry="grow the tree on with dokimasia tree grow RUN --onto TREE, which asks again what has no place",
        no_fork=(
            "grow another tree with dokimasia tree grow RUN --judge OTHER --name NAME, and compare the two with dokimasia tree "
            "agreement"
        ),
    ),
)


_grow = verb(METHOD, "grow_tree")


async def grow_tree(criteria: Sequence[Pair] | GrowthRequest | None = None, **fields: object) -> RunResult:
    """Grow a capability tree from criteria; `help` shows the fields, which are those of `GrowthRequest` and services."""
    if isinstance(criteria, GrowthRequest):
        return await _grow(criteria, **fields)
    return await _grow(None, given=criteria, **fields)


describe(
    grow_tree,
    GrowthRequest,
    "grow_tree",
    first="criteria: tuples of text, sample id and optionally a category; or a `GrowthRequest`, or give `run` or `file`.",
)

grow_tree_sync = sync(grow_tree)
"""Like `grow_tree`, for scripts and notebooks without an event loop."""


__all__ = [
    "BEST",
    "LEVEL",
    "METHOD",
    "WORST",
    "Grouping",
    "GrowthPlan",
    "GrowthRequest",
    "LoadedTree",
    "MeasuredRun",
    "criteria_groups",
    "evaluation_of",
    "find_tree_of_run",
    "grow_tree",
    "grow_tree_sync",
    "in_order",
    "kept_leaves",
    "load_stored",
    "load_tree",
    "mapping_of",
    "measured_of",
    "members_below",
    "tree_figures",
    "validity_of",
    "weaknesses_of",
]
