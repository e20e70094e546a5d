"""From a refinement's rows to honest gains: each arm on the same failures, against retry and again, part by part."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.domain.capability import CATEGORIES, ROOT, CapabilityPath
from dokimasia.domain.refinement import Arm, RefinementRow
from dokimasia.methods.refinement.arms import MEASURES, Measure, Part, arm_figures, every_atom, gain_figures
from dokimasia.methods.refinement.table import table_of
from dokimasia.runs.reading.rates import DIGITS
from dokimasia.storage.trees.lookup import criterion_key
from dokimasia.storage.usage import LedgerUsage

GAINS: tuple[tuple[Arm, Arm], ...] = (
    ("retry", "again"),
    ("self", "retry"),
    ("self", "again"),
    ("peer", "retry"),
    ("peer", "again"),
    ("peer", "self"),
)
"""The comparisons: each arm (first) with its controls, and hints with the questions alone."""

PART_GAINS: tuple[tuple[Arm, Arm], ...] = GAINS[:5]
"""Gains by category, and apart for questions with few possible answers: every correction over both of its controls."""

LEAF_GAINS: tuple[tuple[Arm, Arm], ...] = (("self", "retry"), ("peer", "retry"))
"""Gains at a capability: fewer, since there are many of these and all are adjusted together."""

PART_MEASURES: tuple[Measure, ...] = ("accuracy", "spoken", "atoms")
PART_FIGURES = ("n", "n_known", "coverage", "accuracy", "bounds", "spoken", "atoms", "shown", "withheld")
MIN_ANSWERS = 5
"""Fewer answers in a category or at a capability are counted, and not compared."""

Figures = dict[str, Any]


def refinement_figures(
    rows: Sequence[RefinementRow],
    *,
    models: Sequence[str],
    arms: Sequence[Arm],
    seed: int,
    threshold: float | None = None,
    usage: Mapping[tuple[str, str], LedgerUsage] | None = None,
    place_of: Mapping[str, str] | None = None,
) -> Figures:
    """Return a refinement's figures, ready for JSON; equal rows in any order give equal figures.

    What was right before, and taken up for its score, is in `apart` alone and in no other figure.

    Args:
        rows: what `refinement_rows` returns.
        models: whose failures were taken up.
        arms: in order, `original` first.
        seed: of bootstrap and permutations.
        threshold: where answers were taken up for a score below it, and not for a wrong final answer.
        usage: what each arm of each model used, by (model, arm).
        place_of: criterion (`criterion_key`) to the node of the tree that holds it, a leaf or
            the parent that kept it when its leaf was dropped; None without a tree.

    Returns:
        `models` and `table` of `shape.RefinementFigures`.
    """
    last = sorted((row for row in rows if row.last and row.selected), key=lambda row: (row.sample_id, row.repeat))
    measured: dict[str, Figures] = {}
    for name in models:
        taken = [row for row in last if row.model == name]
        mine = [row for row in taken if row.answered_before != "right"]
        used = {arm: one for (model, arm), one in (usage or {}).items() if model == name}
        measured[name] = _whole(mine, arms, seed, used) | {
            "left_out": _left_out([row for row in rows if row.model == name and row.arm == "original"]),
            "withheld_from": len({_answer(row) for row in mine if row.withheld}),
            "by_options": _by_options(mine, arms, seed),
            "by_category": {
                name: _part([row for row in mine if row.category == name], arms, seed)
                for name in sorted({row.category for row in mine if row.category})
            },
            **_with_tree(mine, arms, seed, place_of),
            **({} if threshold is None else {"apart": _apart(taken, arms, seed)}),
        }
    every = list(measured.values())
    _adjust([one["gains"] for one in every])
    for kind in ("by_options", "by_category", "by_capability", "by_branch", "apart"):
        _adjust([part["gains"] for one in every for part in one.get(kind, {}).values()])
    table = table_of(measured, arms, CATEGORIES if place_of is not None else None)
    for one in every:
        one.pop("by_branch", None)
    return {"models": measured, "table": table}


def _whole(rows: Sequence[RefinementRow], arms: Sequence[Arm], seed: int, used: Mapping[str, LedgerUsage]) -> Figures:
    by_arm = _by_arm(rows, arms)
    return {
        "failed": len(by_arm["original"]),
        "arms": {arm: arm_figures(by_arm[arm], seed=seed, used=used.get(arm)) for arm in arms},
        "gains": _gains(by_arm, GAINS, MEASURES, seed, every_atom),
    }


def _left_out(originals: Sequence[RefinementRow]) -> Figures:
    """How many answers that failed had no point to feed back, and why failed atoms of all that failed were none."""
    failed = [row for row in originals if row.failed]
    why = Counter(unused.why for row in failed for unused in row.unused)
    return {"answers": sum(not row.selected for row in failed), "atoms": dict(sorted(why.items()))}


def _by_options(rows: Sequence[RefinementRow], arms: Sequence[Arm], seed: int) -> Figures:
    """Figures apart for questions with two to five possible answers and for all others.

    `guessing` is how often one would be right who knows that an answer is wrong and picks one of the others.
    """
    few = [row for row in rows if row.options is not None]
    parts = {"two to five": few, "more": [row for row in rows if row.options is None]}
    found = {name: _part(some, arms, seed) for name, some in parts.items() if some}
    if few:
        rates = [1 / (row.options - 1) for row in few if row.arm == "original" and row.options is not None]
        found["two to five"]["guessing"] = round(sum(rates) / len(rates), DIGITS)
    return found


def _part(
    rows: Sequence[RefinementRow],
    arms: Sequence[Arm],
    seed: int,
    part: Part = every_atom,
    gains: Sequence[tuple[Arm, Arm]] = PART_GAINS,
) -> Figures:
    by_arm = _by_arm(rows, arms)
    whole = {arm: arm_figures(by_arm[arm], seed=seed, part=part) for arm in arms}
    enough = len(by_arm["original"]) >= MIN_ANSWERS
    return {
        "n": len(by_arm["original"]),
        "arms": {arm: {name: one[name] for name in PART_FIGURES} for arm, one in whole.items()},
        "gains": _gains(by_arm, gains, PART_MEASURES, seed, part) if enough else {},
    }


def _apart(rows: Sequence[RefinementRow], arms: Sequence[Arm], seed: int) -> Figures:
    kinds = sorted({row.answered_before for row in rows})
    return {kind: _whole([row for row in rows if row.answered_before == kind], arms, seed, used={}) for kind in kinds}


def _with_tree(
    rows: Sequence[RefinementRow], arms: Sequence[Arm], seed: int, place_of: Mapping[str, str] | None
) -> Figures:
    """Figures by node and by the category above: of an answer's atoms those held there, if one of them had failed."""
    if place_of is None:
        return {}
    places = {key: place for key, place in place_of.items() if place != ROOT}
    branch_of = {key: CapabilityPath.parse(place).names[0] for key, place in places.items()}
    originals = [row for row in rows if row.arm == "original"]
    failed = [criterion_key(row.criteria_id, atom) for row in originals for atom in row.failed_atoms]
    return {
        "placed": {"failed_atoms": len(failed), "on_the_tree": sum(key in places for key in failed)},
        "by_capability": _by_place(rows, arms, seed, places, LEAF_GAINS),
        "by_branch": _by_place(rows, arms, seed, branch_of, PART_GAINS),
    }


def _by_place(
    rows: Sequence[RefinementRow],
    arms: Sequence[Arm],
    seed: int,
    place_of: Mapping[str, str],
    gains: Sequence[tuple[Arm, Arm]],
) -> Figures:
    placed: dict[str, dict[str, list[int]]] = {}
    for criteria, row in {row.criteria_id: row for row in rows}.items():
        for number in every_atom(row):
            place = place_of.get(criterion_key(criteria, number))
            if place is not None:
                placed.setdefault(place, {}).setdefault(criteria, []).append(number)
    found: Figures = {}
    for place, held in sorted(placed.items()):

        def part(row: RefinementRow, held: Mapping[str, list[int]] = held) -> Sequence[int]:
            return held.get(row.criteria_id, ())

        here = [row for row in rows if set(part(row)) & set(row.failed_atoms)]
        if here:
            found[place] = _part(here, arms, seed, part, gains)
    return found


def _answer(row: RefinementRow) -> tuple[str, int]:
    return row.sample_id, row.repeat


def _by_arm(rows: Sequence[RefinementRow], arms: Sequence[Arm]) -> dict[Arm, list[RefinementRow]]:
    return {arm: [row for row in rows if row.arm == arm] for arm in arms}


def _gains(
    by_arm: Mapping[Arm, Sequence[RefinementRow]],
    pairs: Sequence[tuple[Arm, Arm]],
    measures: Sequence[Measure],
    seed: int,
    part: Part,
) -> Figures:
    return {
        f"{arm} over {control}": {
            measure: gain_figures(by_arm[control], by_arm[arm], measure, seed=seed, part=part) for measure in measures
        }
        for arm, control in pairs
        if arm in by_arm and control in by_arm
    }


def _adjust(families: Sequence[Figures]) -> None:
    """Add to every gain its adjusted p-value, over all gains of the families of one measure."""
    gains = [gain for family in families for gain in family.values()]
    for measure in sorted({measure for gain in gains for measure in gain}):
        asked = [gain[measure] for gain in gains if measure in gain]
        tested = [one for one in asked if one["p_value"] is not None]
        adjusted = false_discovery_rate([one["p_value"] for one in tested])
        for one in asked:
            one["adjusted"] = None
        for one, value in zip(tested, adjusted, strict=True):
            one["adjusted"] = round(value, DIGITS)
