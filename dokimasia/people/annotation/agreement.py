"""Agreement figures: people with each other, and judges with people (Creation-MMBench, appendix F)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from pydantic import Field

from dokimasia.algorithms.pairwise import CLOSE, to_category
from dokimasia.algorithms.statistics.replacement import EPSILON
from dokimasia.domain.annotation import AnnotationUnit
from dokimasia.domain.identity import Value
from dokimasia.people.annotation.rated import RatedUnit
from dokimasia.people.judgements import (
    HumanCeiling,
    ReplacementTest,
    ValuesCompared,
    beside_people,
    coefficients_of_people,
    compare_values,
    kappa_of_pairs,
)
from dokimasia.report.fields import AgreementCoefficient, Count, CountedRate, Counts, Coverage, Interval
from dokimasia.runs.measures import agreement_coefficient, counted_rate, mean_with_interval, rounded

Ends = tuple[int, int]
Judged = Mapping[str, Mapping[AnnotationUnit, float]]
"""Each judge's values by unit, by the judge's name."""

RIGHT_OR_WRONG: Ends = (0, 1)
"""The scale of right-or-wrong labels."""

ONE_PERSON = "one annotator: there is nobody to compare with"


class RatingMean(Value):
    """The mean of what holds for people."""

    n: Count
    mean: Interval | None


class RatingsCompared(Value):
    """Ratings compared with others of the same things."""

    n: Count
    mae: Interval | None = Field(description="mean absolute difference")
    consistency: CountedRate | None = Field(description="the part that is at most 1 away; null on a scale of 0 and 1")
    kappa: AgreementCoefficient = Field(description="Cohen's kappa with quadratic weights")


class RatingsComparedByModel(RatingsCompared):
    """The same, over all models and of each where there are several."""

    by_model: dict[str, RatingsCompared]


class PersonCompared(Value):
    """A person compared with the mean of the others."""

    annotations: Count
    measures: ValuesCompared = Field(description="accuracy, correlations, kappa and alpha against the others")
    n: Count
    mae: Interval | None
    consistency: CountedRate | None
    kappa: AgreementCoefficient
    by_model: dict[str, RatingsCompared]


class VerdictsCompared(Value):
    """Verdicts of right and wrong compared with people's: the confusion matrix and its rates."""

    n: Count = Field(description="things with a verdict on which more people said the same than not")
    split: Count = Field(description="things with a verdict on which as many people said right as wrong, left out")
    right_right: Count = Field(description="people say right, and the verdict does")
    right_wrong: Count = Field(description="people say right, and the verdict is wrong")
    wrong_right: Count = Field(description="people say wrong, and the verdict is right")
    wrong_wrong: Count = Field(description="people say wrong, and the verdict does")
    agreement: CountedRate = Field(description="verdicts that are people's")
    sensitivity: CountedRate = Field(description="of what people say is wrong, the part with the verdict wrong")
    specificity: CountedRate = Field(description="of what people say is right, the part with the verdict right")


class JudgeCompared(Value):
    """A judge compared with what holds for people."""

    coverage: Coverage
    measures: ValuesCompared = Field(description="accuracy, correlations, kappa and alpha against people")
    verdicts: VerdictsCompared | None = Field(
        default=None, description="on a scale of 0 and 1, where the judge says nothing but 0 and 1; else null"
    )
    n: Count
    mae: Interval | None
    consistency: CountedRate | None
    kappa: AgreementCoefficient
    by_model: dict[str, RatingsCompared]
    ceiling: HumanCeiling | None = Field(
        default=None, description="people among themselves beside the judge; left out unless two rated the same things"
    )
    replacement: ReplacementTest | None = Field(
        default=None,
        description="whether the judge can take a person's place; left out unless two rated the same things",
    )


class PairOfPeople(Value):
    """Two people compared with each other."""

    people: tuple[str, str]
    n: Count
    same: Count
    kappa: AgreementCoefficient


class ChanceCorrected(Value):
    """Coefficients over all people: Fleiss' kappa, where everything was rated by as many, and Krippendorff's alpha."""

    n: Count
    fleiss: AgreementCoefficient
    alpha_nominal: AgreementCoefficient
    alpha_ordinal: AgreementCoefficient
    alpha_interval: AgreementCoefficient


class MeasureAgreement(Value):
    """How far people agree with each other, and judges with people, on one measure."""

    scale: Ends
    n: Count
    annotations: Count
    coverage: Coverage
    adjudicated: Count
    ratings: RatingMean
    by_category: dict[str, RatingMean]
    people: dict[str, PersonCompared]
    together: RatingsComparedByModel | None
    absent: str = Field(description="why there is no agreement of people; empty where there is")
    pairs: tuple[PairOfPeople, ...]
    chance_corrected: ChanceCorrected | None
    judges: dict[str, JudgeCompared]
    rules: dict[str, JudgeCompared] = Field(
        description="what rules decided in the run of a judge, by the judge's name; on a scale of 0 and 1"
    )


class AnnotationFigures(Value):
    """How far people agree with each other, and judges with people, in a file of annotations."""

    annotations: str
    annotators: tuple[str, ...]
    adjudicators: tuple[str, ...]
    simulated: tuple[str, ...]
    left_out: Counts = Field(
        default_factory=dict, description="annotations that are in no figure, by reason; absent where all are"
    )
    measures: dict[str, MeasureAgreement]


class _Pair(NamedTuple):
    """A rating, the value that it is compared with, and the unit's model and cluster."""

    value: float
    against: float
    model: str
    cluster: str


def agreement_figures(
    rated: Sequence[RatedUnit],
    judged: Judged,
    ends: Mapping[str, Ends],
    *,
    ruled: Judged = MappingProxyType({}),
    epsilon: float = EPSILON,
) -> dict[str, MeasureAgreement]:
    """Return the agreement of people with each other and of judges with people, by measure.

    A judge is compared with people's reference value: the adjudicated value, or else their mean. A person is compared
    with the mean of the others, based on the ratings before adjudication.

    Args:
        rated: people's ratings by unit.
        judged: judges' values, on the same scales.
        ends: the lowest and highest rating of each measure.
        ruled: decisions of rules in place of judges, by the judge's name.
        epsilon: margin of the replacement test: how much more often a person may be closer to the others than a judge.
    """
    return {
        measure: _measure([row for row in rated if row.unit.measure == measure], judged, ruled, scale, epsilon)
        for measure, scale in sorted(ends.items())
    }


def _measure(
    rated: Sequence[RatedUnit], judged: Judged, ruled: Judged, scale: Ends, epsilon: float
) -> MeasureAgreement:
    names = _people(rated)
    n_ratings = sum(len(row.said) for row in rated)
    multiply_rated = [row for row in rated if len(row.said) > 1]
    absent = ""
    if len(names) < 2:
        absent = ONE_PERSON
    elif not multiply_rated:
        absent = "no two annotators rated the same thing"
    together: RatingsComparedByModel | None = None
    pairs: list[PairOfPeople] = []
    chance_corrected: ChanceCorrected | None = None
    if not absent:
        ratings: list[_Pair] = []
        for name in names:
            ratings += _with_others(multiply_rated, name)
        together = _compared_by_model(ratings, scale)
        for first, second in combinations(names, 2):
            pairs.append(_pair(multiply_rated, first, second, scale))
        chance_corrected = _chance_corrected(multiply_rated, names)
    by_category: dict[str, list[RatedUnit]] = {}
    for row in rated:
        if row.place.category:
            by_category.setdefault(row.place.category, []).append(row)
    return MeasureAgreement(
        scale=scale,
        n=len(rated),
        annotations=n_ratings,
        coverage=rounded(n_ratings / (len(rated) * len(names))) if names else None,
        adjudicated=sum(row.adjudicated is not None for row in rated),
        ratings=_ratings(rated, scale),
        by_category={category: _ratings(rows, scale) for category, rows in sorted(by_category.items())},
        people={name: _person(rated, multiply_rated, name, scale) for name in names},
        together=together,
        absent=absent,
        pairs=tuple(pairs),
        chance_corrected=chance_corrected,
        judges={name: _judge(rated, values, scale, epsilon) for name, values in sorted(judged.items())},
        rules={name: _judge(rated, values, scale) for name, values in sorted(ruled.items())},
    )


def _people(rated: Iterable[RatedUnit]) -> list[str]:
    names: set[str] = set()
    return sorted(names.union(*(row.said for row in rated)))


def _ratings(rated: Sequence[RatedUnit], scale: Ends) -> RatingMean:
    """Return the mean of people's reference values."""
    values, clusters = [row.reference for row in rated], [row.place.cluster for row in rated]
    return RatingMean(n=len(rated), mean=mean_with_interval(values, clusters, seed=0, bounds=scale))


def _person(rated: Sequence[RatedUnit], multiply_rated: Sequence[RatedUnit], name: str, scale: Ends) -> PersonCompared:
    values = {row.unit: row.said[name] for row in multiply_rated if name in row.said}
    others = [row._replace(adjudicated=_others_mean(row, name)) for row in multiply_rated]
    return PersonCompared(
        annotations=sum(name in row.said for row in rated),
        measures=_measures(others, values, scale),
        **dict(_compared_by_model(_with_others(multiply_rated, name), scale)),
    )


def _others_mean(row: RatedUnit, name: str) -> float:
    """Return the mean of the other people's ratings of a unit that several people rated."""
    others = [value for person, value in row.said.items() if person != name]
    return sum(others) / len(others)


def _measures(rated: Sequence[RatedUnit], values: Mapping[AnnotationUnit, float], scale: Ends) -> ValuesCompared:
    """Return accuracy, correlations, kappa and alpha of values against the reference values of units."""
    judged: dict[str, float] = {}
    references: dict[str, float | None] = {}
    clusters: dict[str, str] = {}
    for number, row in enumerate(rated):
        split = scale == RIGHT_OR_WRONG and row.reference == 0.5
        references[str(number)] = None if split else row.reference
        clusters[str(number)] = row.place.cluster
        if row.unit in values:
            judged[str(number)] = values[row.unit]
    return compare_values(judged, references, clusters, categories=range(scale[0], scale[1] + 1))


def _judge(
    rated: Sequence[RatedUnit], values: Mapping[AnnotationUnit, float], scale: Ends, epsilon: float | None = None
) -> JudgeCompared:
    """Return a judge compared with people's reference values and, given epsilon, with each person."""
    pairs = [
        _Pair(values[row.unit], row.reference, row.unit.model, row.place.cluster) for row in rated if row.unit in values
    ]
    coverage = rounded(len(pairs) / len(rated)) if rated else None
    verdicts = None
    if scale == RIGHT_OR_WRONG and all(pair.value in scale for pair in pairs):
        verdicts = _verdicts(pairs)
    compared = JudgeCompared(
        coverage=coverage,
        measures=_measures(rated, values, scale),
        verdicts=verdicts,
        **dict(_compared_by_model(pairs, scale)),
    )
    if epsilon is None:
        return compared
    people: dict[str, dict[str, float]] = {name: {} for name in _people(rated)}
    judged: dict[str, float] = {}
    clusters: dict[str, str] = {}
    for number, row in enumerate(rated):
        item = str(number)
        clusters[item] = row.place.cluster
        for name, value in row.said.items():
            people[name][item] = value
        if row.unit in values:
            judged[item] = values[row.unit]
    alignment = "same" if scale == RIGHT_OR_WRONG else "distance"
    comparison = beside_people(people, judged, clusters, alignment=alignment, epsilon=epsilon)
    return compared.model_copy(update=comparison._asdict())


def _verdicts(pairs: Sequence[_Pair]) -> VerdictsCompared:
    """Return verdicts compared with the majority of people."""
    decided = [pair for pair in pairs if pair.against != 0.5]
    right = [pair for pair in decided if pair.against > 0.5]
    wrong = [pair for pair in decided if pair.against < 0.5]

    def agreement(compared: Sequence[_Pair]) -> CountedRate:
        agreeing = [(pair.value == 1) == (pair.against > 0.5) for pair in compared]
        return counted_rate(agreeing, [pair.cluster for pair in compared])

    sensitivity, specificity = agreement(wrong), agreement(right)
    return VerdictsCompared(
        n=len(decided),
        split=len(pairs) - len(decided),
        right_right=specificity.k,
        right_wrong=specificity.n - specificity.k,
        wrong_right=sensitivity.n - sensitivity.k,
        wrong_wrong=sensitivity.k,
        agreement=agreement(decided),
        sensitivity=sensitivity,
        specificity=specificity,
    )


def _with_others(rated: Sequence[RatedUnit], name: str) -> list[_Pair]:
    """Return a person's ratings, each paired with the mean of the others' ratings."""
    pairs: list[_Pair] = []
    for row in rated:
        if name in row.said and len(row.said) > 1:
            pairs.append(_Pair(row.said[name], _others_mean(row, name), row.unit.model, row.place.cluster))
    return pairs


def _compared_by_model(pairs: Sequence[_Pair], scale: Ends) -> RatingsComparedByModel:
    models = sorted({pair.model for pair in pairs if pair.model})
    by_model: dict[str, RatingsCompared] = {}
    if len(models) > 1:
        for model in models:
            by_model[model] = _compare_ratings([pair for pair in pairs if pair.model == model], scale)
    return RatingsComparedByModel(**dict(_compare_ratings(pairs, scale)), by_model=by_model)


def _compare_ratings(pairs: Sequence[_Pair], scale: Ends) -> RatingsCompared:
    """Return mean absolute error, consistency and Cohen's kappa with quadratic weights, each with its interval."""
    differences = [abs(pair.value - pair.against) for pair in pairs]
    clusters = [pair.cluster for pair in pairs]
    near = None
    if scale != RIGHT_OR_WRONG:
        near = counted_rate([difference <= CLOSE + 1e-9 for difference in differences], clusters)
    return RatingsCompared(
        n=len(pairs),
        mae=mean_with_interval(differences, clusters, seed=0, bounds=(0.0, float(scale[1] - scale[0]))),
        consistency=near,
        kappa=_kappa([(pair.value, pair.against) for pair in pairs], clusters, scale),
    )


def _kappa(values: Sequence[tuple[float, float]], clusters: Sequence[str], scale: Ends) -> AgreementCoefficient:
    """Return Cohen's kappa of two ratings, each rounded to the nearest category."""
    categories = range(scale[0], scale[1] + 1)
    rounded_pairs = [(to_category(first, *scale), to_category(second, *scale)) for first, second in values]
    kappa = partial(kappa_of_pairs, weights="quadratic", categories=categories)
    return agreement_coefficient(kappa, rounded_pairs, clusters)


def _pair(rated: Sequence[RatedUnit], first: str, second: str, scale: Ends) -> PairOfPeople:
    both = [row for row in rated if first in row.said and second in row.said]
    values = [(row.said[first], row.said[second]) for row in both]
    kappa = _kappa(values, [row.place.cluster for row in both], scale)
    return PairOfPeople(people=(first, second), n=len(both), same=sum(a == b for a, b in values), kappa=kappa)


def _chance_corrected(rated: Sequence[RatedUnit], names: Sequence[str]) -> ChanceCorrected:
    clusters = [row.place.cluster for row in rated]
    ratings = [[row.said.get(name) for name in names] for row in rated]
    return ChanceCorrected(n=len(rated), **coefficients_of_people(ratings, ratings, clusters))
