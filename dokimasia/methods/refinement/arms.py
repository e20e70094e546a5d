"""One arm of a refinement, and one arm compared with another: rates, atom scores and gains with intervals and bounds."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from dokimasia.algorithms.statistics import bootstrap_interval, difference_interval
from dokimasia.algorithms.statistics.paired import PERMUTATIONS, sign_flip_test
from dokimasia.domain.refinement import SOLVED, RefinementRow
from dokimasia.runs.reading.rates import DIGITS, limits, share
from dokimasia.storage.usage import LedgerUsage

LOWEST, HIGHEST = 1.0, 5.0

Measure = Literal["accuracy", "spoken", "atoms", "shown", "withheld"]
"""`accuracy`: 1 where the final answer is right, else 0 · the others: an answer's mean atom score, 1 to 5, over those of
its atoms that it spoke of before and after, over all of them, over those failed ones that a feedback may name, and over
those that are kept from it by chance."""

MEASURES: tuple[Measure, ...] = get_args(Measure)

Part = Callable[[RefinementRow], Sequence[int]]
"""Which atoms of an answer, by number from 1, a figure is about."""


def every_atom(row: RefinementRow) -> Sequence[int]:
    """Return the numbers of all atoms of an answer."""
    return range(1, len(row.before) + 1)


def atoms_of(row: RefinementRow, measure: Measure, part: Part = every_atom) -> list[int]:
    """Return the numbers of the atoms that a measure is about; of an arm without a judgement, those it may be about."""
    among = {"shown": row.shown, "withheld": row.withheld}.get(measure)
    if measure == "spoken":
        said = (row.stated_before, stated_after(row))
        among = [at for at in every_atom(row) if all(one[at - 1] for one in said if one)]
    return [number for number in part(row) if among is None or number in among]


def value_of(row: RefinementRow, measure: Measure, part: Part = every_atom) -> float | None:
    """Return what an arm's last round came to by a measure; None where it is not known or there is no such atom.

    Of the original answer the atom scores are those of its second judgement, since it was chosen by its first.
    """
    if measure == "accuracy":
        return None if row.answered == "unknown" else float(row.answered == "right")
    return _mean_at(scores_after(row), atoms_of(row, measure, part))


def stated_after(row: RefinementRow) -> tuple[bool, ...]:
    """Return of each atom whether the answer speaks of it after an arm; empty where unknown. The original answer is the same."""
    return row.stated_before if row.arm == "original" else row.stated


def scores_after(row: RefinementRow) -> tuple[float, ...]:
    """Return the atoms' scores after an arm, of the original answer those of its later judgements; empty where unknown."""
    if row.arm != "original":
        return row.after
    later = row.draws[1:]
    return tuple(sum(column) / len(later) for column in zip(*later, strict=True)) if later else ()


def arm_figures(
    rows: Sequence[RefinementRow], *, seed: int = 0, part: Part = every_atom, used: LedgerUsage | None = None
) -> dict[str, Any]:
    """Return what an arm came to, over its last rounds.

    Args:
        rows: the last round of each answer that failed, of one arm.
        seed: of the bootstrap.
        part: the atoms that the atom scores are about.
        used: what the arm's ledger entries used.

    Returns:
        What `shape.ArmFigures` describes; calls and cost with `used` alone.
    """
    hits = [row.answered == "right" for row in rows if row.answered != "unknown"]
    clusters = [row.cluster for row in rows if row.answered != "unknown"]
    found = share(hits, clusters, unknown=len(rows) - len(hits))
    figures: dict[str, Any] = {
        "n": len(rows),
        "n_known": len(hits),
        "coverage": _rounded(len(hits) / len(rows)) if rows else None,
        "right": sum(hits),
        "accuracy": {name: found[name] for name in ("share", "low", "high")} if hits else None,
        "bounds": found["bounds"],
        **{name: _atom_scores(rows, name, part, seed) for name in MEASURES[1:]},
        "spoilt": _moved(rows, part, solved=False),
        "failures": dict(sorted(Counter(row.failure for row in rows if row.failure).items())),
        "stopped": dict(sorted(Counter(row.stopped for row in rows if row.stopped).items())),
    }
    if used is not None:
        figures |= {
            "calls": used.calls,
            "cost": None if used.cost is None else _rounded(used.cost),
            "per_repaired": {
                "calls": _each(used.calls, len(hits), figures["accuracy"]),
                "cost": _each(used.cost, len(hits), figures["accuracy"]),
            },
        }
    return figures


def gain_figures(
    control: Sequence[RefinementRow],
    treated: Sequence[RefinementRow],
    measure: Measure,
    *,
    seed: int,
    part: Part = every_atom,
    permutations: int = PERMUTATIONS,
) -> dict[str, Any]:
    """Return what an arm gains over another on the same answers.

    Args:
        control: the last rounds of the arm to compare with.
        treated: those of the arm whose gain it is, of the same answers in any order.
        measure: what is compared.
        seed: of the bootstrap and of the permutations.
        part: the atoms that the atom scores are about.
        permutations: how many random sign patterns the test draws.

    Returns:
        What `shape.Gain` describes, less the adjusted p-value.
    """
    others = {_key(row): row for row in control}
    pairs = [(others[_key(row)], row) for row in treated if _key(row) in others]
    if measure == "accuracy":
        values = [(value_of(one, measure), value_of(other, measure)) for one, other in pairs]
    else:
        # Atoms that both arms are about: what one of them did not speak of is compared with nothing.
        shared = [
            [at for at in atoms_of(row, measure, part) if at in atoms_of(one, measure, part)] for one, row in pairs
        ]
        pairs = [pair for pair, atoms in zip(pairs, shared, strict=True) if atoms]
        shared = [atoms for atoms in shared if atoms]
        values = [
            (_mean_at(scores_after(one), atoms), _mean_at(scores_after(other), atoms))
            for (one, other), atoms in zip(pairs, shared, strict=True)
        ]
    known = [
        (first, second, row.cluster)
        for (first, second), (row, _) in zip(values, pairs, strict=True)
        if first is not None and second is not None
    ]
    low, high = (0.0, 1.0) if measure == "accuracy" else (LOWEST, HIGHEST)
    figures: dict[str, Any] = {
        "n": len(pairs),
        "n_paired": len(known),
        "coverage": _rounded(len(known) / len(pairs)) if pairs else None,
        "difference": None,
        "bounds": None,
        "p_value": None,
    }
    if pairs:
        lowest = _mean([_or(two, low) - _or(one, high) for one, two in values])
        highest = _mean([_or(two, high) - _or(one, low) for one, two in values])
        figures["bounds"] = {"low": _rounded(lowest), "high": _rounded(highest)}
    if known:
        first, second, clusters = (list(column) for column in zip(*known, strict=True))
        gaps = [after - before for before, after in zip(first, second, strict=True)]
        interval = difference_interval(first, second, clusters=clusters, seed=seed, bounds=(low, high))
        test = sign_flip_test(gaps, clusters=clusters, seed=seed, permutations=permutations)
        figures["difference"] = {"mean": _rounded(_mean(gaps)), **limits(interval)}
        figures["p_value"] = _rounded(test.p_value)
    return figures


def _atom_scores(rows: Sequence[RefinementRow], measure: Measure, part: Part, seed: int) -> dict[str, Any]:
    about = [row for row in rows if atoms_of(row, measure, part)]
    scored = [(value, row.cluster) for row in about if (value := value_of(row, measure, part)) is not None]
    before = [
        _mean([row.before[number - 1] for number in atoms_of(row, measure, part)]) if row.before else LOWEST
        for row in about
    ]
    total, unknown = sum(value for value, _ in scored), len(about) - len(scored)
    return {
        "n": len(about),
        "n_scored": len(scored),
        "before": _interval(before, [row.cluster for row in about], seed),
        "after": _interval([value for value, _ in scored], [cluster for _, cluster in scored], seed),
        "gained": _gained(about, measure, part, seed),
        "bounds": {
            "low": _rounded((total + LOWEST * unknown) / len(about)),
            "high": _rounded((total + HIGHEST * unknown) / len(about)),
        }
        if about
        else None,
        "solved": _moved(about, lambda row: atoms_of(row, measure, part), solved=True),
    }


def _gained(rows: Sequence[RefinementRow], measure: Measure, part: Part, seed: int) -> dict[str, Any] | None:
    """What the atoms of the scored answers gained over the judgement that the answers were chosen by."""
    pairs = [
        (_mean([row.before[number - 1] for number in atoms_of(row, measure, part)]), value, row.cluster)
        for row in rows
        if row.before and (value := value_of(row, measure, part)) is not None
    ]
    if not pairs:
        return None
    before, after, clusters = (list(column) for column in zip(*pairs, strict=True))
    interval = difference_interval(before, after, clusters=clusters, seed=seed, bounds=(LOWEST, HIGHEST))
    return {"mean": _rounded(_mean(after) - _mean(before)), **limits(interval)}


def _moved(rows: Sequence[RefinementRow], part: Part, *, solved: bool) -> dict[str, Any]:
    """Of the atoms that had failed the share that is solved after, or, if not `solved`, the other way round."""
    hits: list[bool] = []
    clusters: list[str] = []
    unknown = 0
    for row in rows:
        numbers = [number for number in part(row) if (row.before[number - 1] < SOLVED) is solved]
        scores = scores_after(row)
        if not scores:
            unknown += len(numbers)
            continue
        hits += [(scores[number - 1] >= SOLVED) is solved for number in numbers]
        clusters += [row.cluster] * len(numbers)
    return share(hits, clusters, unknown=unknown)


def _interval(values: Sequence[float], clusters: Sequence[str], seed: int) -> dict[str, Any] | None:
    if not values:
        return None
    interval = bootstrap_interval(values, clusters=clusters, seed=seed, bounds=(LOWEST, HIGHEST))
    return {"mean": _rounded(_mean(values)), **limits(interval)}


def _each(used: float | None, n: int, accuracy: Mapping[str, float] | None) -> dict[str, float | None] | None:
    """What each repaired answer used; the more of them, the less. None where unknown or none was repaired."""
    if used is None or accuracy is None or not accuracy["share"]:
        return None
    limits = {"mean": accuracy["share"], "low": accuracy["high"], "high": accuracy["low"]}
    return {name: _rounded(used / (n * rate)) if rate else None for name, rate in limits.items()}


def _mean_at(scores: Sequence[float], atoms: Sequence[int]) -> float | None:
    """The mean score of some atoms; None where there is none, or no scores."""
    return _mean([scores[atom - 1] for atom in atoms]) if scores and atoms else None


def _key(row: RefinementRow) -> tuple[str, str, int]:
    return row.sample_id, row.model, row.repeat


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _rounded(value: float) -> float:
    return round(value, DIGITS) + 0.0
