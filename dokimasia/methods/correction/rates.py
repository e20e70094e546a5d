"""What of a passport corrects a run: sensitivity by its mix of errors, specificity, and what speaks against either."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.correction import (
    ShareEstimate,
    as_shares,
    mixed_sensitivity,
    same_kinds,
    unlike,
)
from dokimasia.algorithms.statistics import rate_interval
from dokimasia.domain.annotation import AnnotationUnit
from dokimasia.domain.blindspots import Task
from dokimasia.domain.passport import BinaryRates, Passport
from dokimasia.methods.correction.given import Labels, Mix, by_kind, check_apart, check_known, in_kinds, measured
from dokimasia.methods.correction.measures import DecidedRun, Measure
from dokimasia.report.figures import in_words

TASK: Task = "image-to-text"

SHIFTED = 0.05
"""A mix that is given as shares is warned of where so much of the errors is of other kinds than the passport's."""

LEVEL = 0.05
FEWEST = 5
"""Below so many labels of a kind, the judge's rates on labelled answers are not held against the passport's."""

SURE = 0.99
"""The level of the judge's rates on labelled answers: two of them are looked at."""

NO_MIX = (
    "the passport knows how often the judge finds errors that were planted in a mix of its own, and these answers may have "
    "another: say their mix with --mix FILE, or have people label some answers, with the kind of error, for --human FILE"
)


class JudgeRates(NamedTuple):
    """What a measure is corrected by.

    Attributes:
        sensitivity: to the mix of errors that is used; None where nothing is corrected.
        specificity: None where the passport has not measured the decision.
        by_kind: sensitivity by kind of error.
        refused: why nothing is corrected; empty where something is.
        warnings: what speaks against it, a sentence each.
    """

    sensitivity: ShareEstimate | None
    specificity: ShareEstimate | None
    by_kind: Mapping[str, ShareEstimate]
    refused: str
    warnings: tuple[str, ...] = ()


def no_rates(why: str) -> JudgeRates:
    """Return that a passport cannot correct, and why."""
    return JudgeRates(None, None, {}, why)


def observed_mix(labels: Labels, source: str, passport: Passport) -> Mix | None:
    """Return the mix of the kinds of error that people saw in a random draw of answers; None where they named none.

    Dimensions of a group that is named as well are taken for the group.
    """
    if not labels.kinds:
        return None
    groups = {one.dimension: one.group for rates in passport.binary for one in rates.by_dimension}
    named = {kind for _, kind in labels.kinds}
    kinds = Counter(groups[kind] if groups.get(kind) in named else kind for _, kind in labels.kinds)
    return Mix(dict(sorted(kinds.items())), True, source)


def rates_for(
    measure: Measure,
    passport: Passport,
    judged: DecidedRun,
    mix: Mix | None,
    labels: Labels | None,
    *,
    seed: int,
) -> JudgeRates:
    """Return what a passport says of a measure, for the mix of errors that is given or was seen.

    Args:
        measure: what was decided.
        passport: the judge's.
        judged: the run.
        mix: of kinds of error; None where none is known.
        labels: of people, held against the passport; None where there are none.
        seed: of the tests.

    Raises:
        DataError: the mix, or the labels, name kinds of error that the passport does not know.
    """
    found = None if measure.evaluator is None else passport.decisions(TASK, measure.evaluator)
    if found is None:
        return no_rates(
            f"the passport has not measured the decision {measure.evaluator}: probe the judge with it (dokimasia probe "
            f"--evaluators {measure.evaluator})"
        )
    if labels is not None:
        check_known("the labels", labels.named, found)
    if mix is not None:
        check_known(mix.source, mix.kinds, found)
        check_apart(mix.source, mix.kinds, found)
    sensitivity_by, numbers = by_kind(found, tuple(mix.kinds) if mix is not None else ())
    specificity = measured(found.specificity)
    caveat = (f"{measure.what}: {measure.caveat}",) if measure.caveat else ()
    if mix is None:
        return JudgeRates(None, specificity, sensitivity_by, NO_MIX, caveat)
    sensitivity = mixed_sensitivity(
        sensitivity_by, mix.kinds, n_errors=mix.seen, pooled=(numbers, measured(found.sensitivity))
    )
    warnings = [*caveat, *_shifted(mix, numbers, found, labels, judged, seed=seed)]
    if labels is not None:
        warnings += _unlike_labels(measure, sensitivity, specificity, labels)
    return JudgeRates(sensitivity, specificity, sensitivity_by, "", tuple(warnings))


def _shifted(
    mix: Mix, own: Mapping[str, int], rates: BinaryRates, labels: Labels | None, judged: DecidedRun, *, seed: int
) -> list[str]:
    """Return in what the errors of this run are of another mix than the passport's, or than the given one."""
    shares, there = as_shares(mix.kinds), as_shares(own)
    moved = sum(abs(shares.get(name, 0.0) - there.get(name, 0.0)) for name in {*shares, *there}) / 2
    how = "how far a rate could move with the mix stands beside those that are not cut (over mixes)"
    told: list[str] = []
    if not mix.counted and moved > SHIFTED:
        told.append(
            f"the given mix is not the passport's: {moved:.0%} of its weight would have to move to other kinds of error; {how}"
        )
    seen = [] if labels is None else labels.kinds
    if mix.counted and not seen:
        kinds = [name for name, count in mix.kinds.items() for _ in range(int(count))]
        p_value = same_kinds(kinds, own, seed=seed)
        told += _tested(p_value, len(kinds), "those of the passport", how)
    named = in_kinds([kind for _, kind in seen], own, rates)
    if seen and named is not None:
        clusters = _clusters(judged, [unit for unit, _ in seen])
        against, what = (own, "those of the passport") if mix.counted else (mix.kinds, "those of the given mix")
        told += _tested(same_kinds(named, against, clusters=clusters, seed=seed), len(named), what, how)
    return told


def _tested(p_value: float, n: int, what: str, how: str) -> list[str]:
    if p_value >= LEVEL:
        return []
    shown = "below 0.001" if p_value < 0.001 else f"{p_value:.3f}"
    return [f"the {n} errors seen are of another mix of kinds than {what} (p {shown}); {how}"]


def _clusters(judged: DecidedRun, units: Sequence[AnnotationUnit]) -> list[str]:
    known = {one.unit: one.cluster for each in judged.measures for several in each.models.values() for one in several}
    return [known[unit] for unit in units]


def _unlike_labels(
    measure: Measure, sensitivity: ShareEstimate, specificity: ShareEstimate, labels: Labels
) -> list[str]:
    """Return which of the judge's rates on labelled answers are not those that the passport makes expected."""
    decided: dict[bool, list[tuple[bool, str]]] = {True: [], False: []}
    for several in measure.models.values():
        for one in several:
            if one.decision is not None and one.decision.by_judge and not one.repeat and one.unit in labels.right:
                right = labels.right[one.unit]
                decided[right].append((one.decision.right == right, one.cluster))
    off: list[str] = []
    for name, expected, agreed in (
        ("sensitivity", sensitivity, decided[False]),
        ("specificity", specificity, decided[True]),
    ):
        if len(agreed) < FEWEST or expected.interval.reason:
            continue
        hits = [hit for hit, _ in agreed]
        interval = rate_interval(hits, clusters=[cluster for _, cluster in agreed], level=SURE)
        here = ShareEstimate(sum(hits) / len(hits), interval)
        if unlike(here, expected):
            off.append(
                f"{name} {here.share:.0%} of {len(agreed)} labelled answers, and {expected.share:.0%} by the passport"
            )
    return [f"the judge's rates differ on labelled answers: {in_words(off)}; go by the labels"] if off else []
