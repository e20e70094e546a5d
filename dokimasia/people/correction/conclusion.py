"""The conclusion of a correction: which model is better and how certain that is, what is open, and missing labels."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dokimasia.domain.wording import is_or_are
from dokimasia.people.correction.shape import Compared, CorrectedMeasure, CorrectedModel, CorrectedRate, RateDifference
from dokimasia.report.conclusions import MOST_SENTENCES
from dokimasia.report.fields import Limited
from dokimasia.report.figures import bracketed, rate_text, several, signed_text

Basis = Literal["labels", "passport", "judge"]
"""The basis of rates: people's labels, or else the judge's passport, or else the judge's decisions as they are."""

_SAID = {
    "labels": "Corrected by labels",
    "passport": "Corrected by passport",
    "judge": "Nothing could be corrected; as judged",
}
_NOT_COMPARED = {
    "labels": "No pair can be compared by labels yet; as judged, ",
    "passport": "No pair can be compared by passport; as judged, ",
    "judge": "",
}


def conclusion(measures: Sequence[CorrectedMeasure]) -> tuple[str, ...]:
    """Return at most five sentences: the best model by measure, then open pairs, open answers and missing labels."""
    sentences = [_lead(measure) for measure in measures]
    for measure in measures[:1]:
        sentences += [*_open_pairs(measure), *_undecided_answers(measure), *_missing_labels(measure)]
    return tuple(sentences[:MOST_SENTENCES])


def _basis(models: Mapping[str, CorrectedModel]) -> Basis:
    """Return the most informative basis; labels precede a passport, since they need no mix of errors."""
    bases: tuple[Basis, ...] = ("labels", "passport")
    for basis in bases:
        if any(_rate(model, basis) is not None for model in models.values()):
            return basis
    return "judge"


def _rate(model: CorrectedModel, basis: Basis) -> tuple[float, Limited] | None:
    """Return a model's rate, 0 to 1, with its interval; None if it is refused or nothing was decided."""
    if basis == "judge":
        if model.raw.share is None:
            return None
        return (model.raw.share, model.raw)
    corrected: dict[Basis, CorrectedRate | None] = {"labels": model.by_labels, "passport": model.by_passport}
    rate = corrected[basis]
    if rate is None or rate.rate is None:
        return None
    return (rate.rate, rate)


def _difference(pair: Compared, basis: Basis) -> RateDifference | None:
    difference = {"labels": pair.by_labels, "passport": pair.by_passport, "judge": pair.raw}[basis]
    if difference is None or difference.difference is None:
        return None
    return difference


def _lead(measure: CorrectedMeasure) -> str:
    """Return how the best model compares with the next, on the best available basis, or why nothing is corrected."""
    models = {name: model for name, model in measure.models.items() if "#" not in name} or measure.models
    basis = _basis(models)
    start = _SAID[basis]
    rates = {name: rate for name, model in models.items() if (rate := _rate(model, basis)) is not None}
    best, *others = sorted(rates, key=lambda name: (-rates[name][0], name)) or [""]
    if not best:
        return f"{start}, no model has a rate of {measure.what}."
    if not others:
        return f"{start}, {best} has {_percent(*rates[best])} of {measure.what}{_comparison_note(models, rates)}."
    pair = next(pair for pair in measure.pairs if {pair.first, pair.second} == {best, others[0]})
    both = f"{measure.what}: {_percent(*rates[pair.second])} and {_percent(*rates[pair.first])}"
    difference = _difference(pair, basis)
    if difference is None or difference.difference is None:
        return f"{start}, {best} and {others[0]} cannot be compared ({both})."
    size = f"{signed_text(100 * difference.difference, 1)} points"
    ends = bracketed(difference, lambda end: signed_text(100 * end, 0))
    direction = f"{pair.second} − {pair.first}"
    if _beyond_chance(difference):
        better, worse = (pair.second, pair.first) if difference.difference > 0 else (pair.first, pair.second)
        return f"{start}, {better} is better than {worse}: {direction} is {size}{ends} ({both})."
    return f"{start}, it is not clear whether {best} is better than {others[0]}: {direction} is {size}{ends} ({both})."


def _comparison_note(models: Mapping[str, CorrectedModel], rates: Mapping[str, object]) -> str:
    without = [name for name in models if name not in rates]
    if without:
        return f", and {', '.join(without)} no rate"
    return ""


def _beyond_chance(difference: RateDifference) -> bool:
    """Return whether the interval of a difference excludes 0."""
    return difference.low is not None and difference.high is not None and not difference.low <= 0 <= difference.high


def _open_pairs(measure: CorrectedMeasure) -> Iterator[str]:
    """Yield how many pairs of models differ beyond chance; as judged, if no pair can be compared otherwise."""
    if len(measure.pairs) < 2:
        return
    basis = _basis(measure.models)
    start = ""
    if not any(_difference(pair, basis) for pair in measure.pairs):
        start, basis = _NOT_COMPARED[basis], "judge"
    differences = [_difference(pair, basis) for pair in measure.pairs]
    sure = sum(difference is not None and _beyond_chance(difference) for difference in differences)
    undecided = len(differences) - sure
    end = f"{undecided} {is_or_are(undecided)} undecided"
    if not_compared := differences.count(None):
        end += f", {not_compared} of them without a comparison"
    yield (
        f"{start}{sure} of {len(differences)} pairs of models differ beyond chance (95 % intervals, each for itself); {end}."
    )


def _undecided_answers(measure: CorrectedMeasure) -> Iterator[str]:
    counts = {name: model.raw.n_undecided for name, model in measure.models.items() if model.raw.n_undecided}
    if counts:
        total = several(sum(counts.values()), "undecided answer counts", "undecided answers count")
        yield f"As judged, {total} as not right ({_by_model(counts)})."


def _missing_labels(measure: CorrectedMeasure) -> Iterator[str]:
    """Yield how many labels are missing, if labels were given."""
    labelled = {name: model.by_labels for name, model in measure.models.items() if model.by_labels is not None}
    if not labelled:
        return
    counts = {name: by_labels.missing for name, by_labels in labelled.items() if by_labels.missing}
    if not counts:
        yield "No label is missing."
        return
    missing = several(sum(counts.values()), "label is", "labels are")
    yield f"At least {missing} missing ({_by_model(counts)})."


def _by_model(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _percent(rate: float, ends: Limited) -> str:
    return rate_text(rate, ends)
