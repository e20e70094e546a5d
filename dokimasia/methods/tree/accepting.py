"""How a growth is accepted: its plan made from what is asked and what is grown on, and what it will ask at most."""

from collections.abc import Mapping

from dokimasia.domain.capability import CATEGORIES
from dokimasia.domain.growth import GrowthOptions
from dokimasia.domain.identity import digest
from dokimasia.errors import ConfigError
from dokimasia.methods.tree.criteria import Source
from dokimasia.methods.tree.request import PROMPTS, GrowthPlan, GrowthRequest
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, added_up
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Session
from dokimasia.storage.trees.versions import StoredVersion, get_version

CRITERION_TOKENS, LEAF_TOKENS, LINE_TOKENS = 60, 12, 14
TYPICAL_LEAVES = 80
EMBEDDED = 128
"""Names that one embedding call takes."""


def plan_growth(request: GrowthRequest, session: Session, source: Source, base: StoredVersion | None) -> GrowthPlan:
    """Return the plan of a growth from some criteria, on the version `base` of a tree where there is one.

    Raises:
        ConfigError: a model is not known, or a category cannot be one.
    """
    if base is not None:
        anchors = get_version(session.opened, base.id).categories
    else:
        anchors = tuple(dict.fromkeys(" ".join(name.split()) for name in request.categories)) or CATEGORIES
    try:
        growth = GrowthOptions(
            categories=anchors,
            subsample=request.subsample,
            rounds=request.rounds,
            min_support=request.min_support,
            batch=request.batch,
            shown=request.shown,
            embedding=request.embedding or "",
            seed=request.seed,
        )
    except ValueError as error:
        raise ConfigError(f"--categories: {' '.join(str(error).split())[:300]}") from None
    return GrowthPlan(
        seed=request.seed,
        criteria=digest("criteria", [list(one) for one in source.criteria]),
        source=source.origin,
        judge=session.model(request.judge),
        embedding=session.model(request.embedding) if request.embedding else None,
        growth=growth,
        onto="" if base is None else base.id,
        tree=request.onto or request.name or "",
        prompts=prompts_used(session.library, PROMPTS),
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
        Asking(plan.judge, growth.rounds * (4 + drawn // 50), shown, 5 * LINE_TOKENS),
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
    return added_up(asked, len(criteria))
