"""How a growth is accepted: the version that it is grown on, its plan, and what it will ask at most."""

from collections.abc import Mapping

from dokimasia.algorithms.taxonomy import leaves
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.algorithms.trees.places import leaf_mapping
from dokimasia.domain.capability import CATEGORIES
from dokimasia.domain.growth import MIN_SUPPORT, GrowthOptions, Placement
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.methods.tree.criteria import CriteriaSource, hash_of
from dokimasia.methods.tree.request import NAME, PROMPTS, GrowthPlan, GrowthRequest
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, added_up
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Session
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run, list_runs
from dokimasia.storage.trees.versions import StoredVersion, get_version, mappings, resolve_tree, versions

CRITERION_TOKENS, LEAF_TOKENS, LINE_TOKENS = 60, 12, 14
TYPICAL_LEAVES = 80
"""Leaves that a tree of many criteria comes to."""

CRITERIA_A_LEAF = 2
"""Criteria for which a judge makes one capability where there are few of them: 18 of 34 were made."""

EMBEDDED = 128
"""Names that one embedding call takes."""


def version_to_grow(home: Home, name: str) -> StoredVersion:
    """Return the version that a growth on a tree begins with: the newest that no unfinished growth made.

    Raises:
        NotFound: there is no such tree.
        InputError: it has no such version.
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
    """Return the growth that made a version; None where a person did, or where its run was deleted."""
    try:
        run = get_run(home, version.run_id) if version.run_id else None
    except NotFound:
        return None
    return run if run is not None and run.method == NAME else None


def placed_before(home: Home, plan: GrowthPlan, tree: str) -> dict[str, Placement]:
    """Return the criteria that have a leaf in the version that is grown on, with whose word that is where it is known."""
    if not plan.onto:
        return {}
    held = leaf_mapping(from_version(get_version(home, plan.onto)))
    placed = {criterion: Placement(criterion, leaf) for criterion, leaf in held.items()}
    for one in mappings(home, plan.onto, tree=tree):
        if one.criterion in placed and placed[one.criterion].leaf == one.leaf:
            placed[one.criterion] = one
    return placed


def plan_growth(
    request: GrowthRequest, session: Session, source: CriteriaSource, base: StoredVersion | None
) -> GrowthPlan:
    """Return the plan of a growth from some criteria, on the version `base` of a tree where there is one.

    Raises:
        ConfigError: a model is not known, a category cannot be one, or the tree that is grown on is at another level.
    """
    level = request.level
    if base is not None:
        version = get_version(session.opened, base.id)
        anchors = version.categories
        if level not in (version.level, "capability"):
            raise ConfigError(f"--level {level}: the leaves of {base.tree!r} are capabilities; leave the option out")
        level = version.level
    else:
        anchors = tuple(dict.fromkeys(" ".join(name.split()) for name in request.categories)) or CATEGORIES
    shared = request.model_dump(include=GrowthOptions.model_fields.keys() - {"categories", "embedding", "level"})
    try:
        growth = GrowthOptions(categories=anchors, embedding=request.embedding or "", level=level, **shared)
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
    """Return what is to be said before a growth from so many criteria: that they are too few for the leaves to come.

    The leaves to come are those of the tree that is grown on; of a new tree one for two criteria, and at most 80.
    """
    if plan.growth.level != "capability":
        return ()
    if plan.onto and home is not None:
        expected, why = len(leaves(from_version(get_version(home, plan.onto)))), "as many as the tree has"
    else:
        expected = min(TYPICAL_LEAVES, -(-criteria // CRITERIA_A_LEAF))
        why = f"one for {CRITERIA_A_LEAF} criteria, and at most {TYPICAL_LEAVES}"
    if criteria >= MIN_SUPPORT * expected:
        return ()
    offer = "" if plan.onto else "; `dokimasia tree grow --level parent` makes one whose leaves are the broader parents"
    return (
        f"{criteria:,} criteria are few for about {expected} capabilities ({why}): with fewer than {MIN_SUPPORT} criteria a "
        f"leaf says little of a model{offer}",
    )


def estimate_growth(plan: GrowthPlan, criteria: Mapping[str, int]) -> Estimate:
    """Return what a growth will ask about at most, by rule of thumb; merging is counted for a typical tree.

    Args:
        plan: the growth.
        criteria: sample to how many criteria it has without a place.
    """
    growth, total = plan.growth, sum(criteria.values())
    samples = min(len(criteria), growth.subsample or len(criteria))
    drawn = round(total * samples / max(1, len(criteria)))
    shown = INSTRUCTION_TOKENS + TYPICAL_LEAVES * LEAF_TOKENS
    proposed, mapped = min(growth.propose_batch, drawn), min(growth.batch, total)
    asked = [
        Asking(
            plan.judge,
            -(-drawn // growth.propose_batch),
            shown + proposed * CRITERION_TOKENS,
            proposed * LINE_TOKENS,
        ),
        Asking(plan.judge, growth.rounds * (4 + len(growth.categories) + drawn // 50), shown, 5 * LINE_TOKENS),
        Asking(
            plan.judge,
            -(-total // growth.batch) * (2 if plan.onto else 1),
            shown + mapped * CRITERION_TOKENS,
            mapped * LINE_TOKENS,
        ),
    ]
    if plan.embedding is not None:
        names = min(EMBEDDED, drawn)
        asked.append(Asking(plan.embedding, growth.rounds * -(-drawn // EMBEDDED), names * LEAF_TOKENS, 0))
    return added_up(asked, len(criteria), items=total)
