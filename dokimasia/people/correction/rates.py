"""Rates of a passport for a correction: sensitivity to a mix of errors, specificity, and warnings."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from dokimasia.algorithms.correction import (
    JudgeRate,
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
from dokimasia.domain.wording import percentage
from dokimasia.people.correction.given import Labels, Mix, by_kind, check_apart, check_known, in_kinds, measured
from dokimasia.report.figures import in_words
from dokimasia.runs.decisions import DecidedRun, Measure

TASK: Task = "image-to-text"

SHIFTED = 0.05
"""The distance between a mix of shares and the passport's mix above which a warning is given."""

LEVEL = 0.05
FEWEST = 5
"""Minimum number of labels for comparing the judge's rates on labelled answers with the passport's."""

SURE = 0.99
"""The confidence level for the judge's rates on labelled answers, raised because two rates are tested."""

NO_MIX = (
    "the passport knows how often the judge finds errors that were planted in a mix of its own, and these answers may have "
    "another: say their mix with --mix FILE, or have people label some answers, with the kind of error, for --human FILE"
)


class JudgeRates(NamedTuple):
    """The judge's rates by which a measure is corrected.

    Attributes:
        sensitivity: the sensitivity to the mix of errors; None without a correction.
        specificity: the specificity; None if the passport has not measured the decision.
        by_kind: the sensitivity by kind of error.
        refused: why there is no correction; empty if there is.
        warnings: objections to the correction, one sentence each.
    """

    sensitivity: ShareEstimate | None
    specificity: ShareEstimate | None
    by_kind: Mapping[str, ShareEstimate]
    refused: str
    warnings: tuple[str, ...] = ()

    @property
    def both(self) -> dict[JudgeRate, ShareEstimate] | None:
        """Sensitivity and specificity, as arguments of a correction; None without one."""
        if self.sensitivity is None or self.specificity is None or self.refused:
            return None
        return {"sensitivity": self.sensitivity, "specificity": self.specificity}


def no_rates(why: str) -> JudgeRates:
    """Return empty rates with the reason why a passport cannot correct a measure."""
    return JudgeRates(None, None, {}, why)


def observed_mix(labels: Labels, source: str, passport: Passport) -> Mix | None:
    """Return the mix of kinds of error that people named in a random draw of answers; None if they named none.

    Dimensions of a group that is also named count for the group.
    """
    if not labels.kinds:
        return None
    groups: dict[str, str] = {}
    for rates in passport.binary:
        groups |= {count.dimension: count.group for count in rates.by_dimension}
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
    """Return the rates of a passport for a measure and a mix of errors.

    Args:
        measure: the measure.
        passport: the judge's passport.
        judged: the run's decisions.
        mix: the mix of kinds of error; None if unknown.
        labels: people's labels, compared with the passport; None without any.
        seed: the seed of the tests.

    Raises:
        DataError: the mix or the labels name kinds of error that the passport has not measured.
    """
    rates = None if measure.evaluator is None else passport.decisions(TASK, measure.evaluator)
    if rates is None:
        return no_rates(
            f"the passport has not measured the decision {measure.evaluator}: probe the judge with it (dokimasia probe "
            f"--evaluators {measure.evaluator})"
        )
    if labels is not None:
        check_known("the labels", labels.named, rates)
    if mix is not None:
        check_known(mix.source, mix.kinds, rates)
        check_apart(mix.source, mix.kinds, rates)
    sensitivity_by, numbers = by_kind(rates, tuple(mix.kinds) if mix is not None else ())
    specificity = measured(rates.specificity)
    caveat = (f"{measure.what}: {measure.caveat}",) if measure.caveat else ()
    if mix is None:
        return JudgeRates(None, specificity, sensitivity_by, NO_MIX, caveat)
    sensitivity = mixed_sensitivity(
        sensitivity_by, mix.kinds, n_errors=mix.seen, pooled=(numbers, measured(rates.sensitivity))
    )
    warnings = [*caveat, *_mix_warnings(mix, numbers, rates, labels, judged, seed=seed)]
    if labels is not None:
        warnings += _rate_warnings(measure, sensitivity, specificity, labels)
    return JudgeRates(sensitivity, specificity, sensitivity_by, "", tuple(warnings))


def _mix_warnings(
    mix: Mix, own: Mapping[str, int], rates: BinaryRates, labels: Labels | None, judged: DecidedRun, *, seed: int
) -> list[str]:
    """Return warnings that this run's errors have a different mix from the passport's or the given one."""
    shares, own_shares = as_shares(mix.kinds), as_shares(own)
    moved = sum(abs(shares.get(name, 0.0) - own_shares.get(name, 0.0)) for name in {*shares, *own_shares}) / 2
    how = "how far a rate could move with the mix stands beside those that are not cut (over mixes)"
    warnings: list[str] = []
    if not mix.counted and moved > SHIFTED:
        warnings.append(
            f"the given mix is not the passport's: {percentage(moved)} of its weight would have to move to other "
            f"kinds of error; {how}"
        )
    observed_kinds = [] if labels is None else labels.kinds
    if mix.counted and not observed_kinds:
        kinds = list(Counter({name: int(count) for name, count in mix.kinds.items()}).elements())
        p_value = same_kinds(kinds, own, seed=seed)
        warnings += _tested(p_value, len(kinds), "those of the passport", how)
    named = in_kinds([kind for _, kind in observed_kinds], own, rates)
    if observed_kinds and named is not None:
        cluster_of: dict[AnnotationUnit, str] = {}
        for measure in judged.measures:
            for answers in measure.models.values():
                cluster_of |= {answer.unit: answer.cluster for answer in answers}
        clusters = [cluster_of[unit] for unit, _ in observed_kinds]
        against, what = (own, "those of the passport") if mix.counted else (mix.kinds, "those of the given mix")
        warnings += _tested(same_kinds(named, against, clusters=clusters, seed=seed), len(named), what, how)
    return warnings


def _tested(p_value: float, n: int, what: str, how: str) -> list[str]:
    if p_value >= LEVEL:
        return []
    shown = "below 0.001" if p_value < 0.001 else f"{p_value:.3f}"
    return [f"the {n} errors seen are of another mix of kinds than {what} (p {shown}); {how}"]


def _rate_warnings(
    measure: Measure, sensitivity: ShareEstimate, specificity: ShareEstimate, labels: Labels
) -> list[str]:
    """Return a warning if the judge's rates on labelled answers differ from the passport's."""
    decided: dict[bool, list[tuple[bool, str]]] = {True: [], False: []}
    for answers in measure.models.values():
        for answer in answers:
            right, decision = labels.right.get(answer.unit), answer.decision
            if decision is not None and decision.by_judge and right is not None and not answer.repeat:
                decided[right].append((decision.right == right, answer.cluster))
    differences: list[str] = []
    for name, expected, agreed in (
        ("sensitivity", sensitivity, decided[False]),
        ("specificity", specificity, decided[True]),
    ):
        if len(agreed) < FEWEST or expected.interval.reason:
            continue
        hits = [hit for hit, _ in agreed]
        interval = rate_interval(hits, clusters=[cluster for _, cluster in agreed], level=SURE)
        observed = ShareEstimate(sum(hits) / len(hits), interval)
        if unlike(observed, expected):
            differences.append(
                f"{name} {percentage(observed.share)} of {len(agreed)} labelled answers, and "
                f"{percentage(expected.share)} by the passport"
            )
    if not differences:
        return []
    return [f"the judge's rates differ on labelled answers: {in_words(differences)}; go by the labels"]
