"""Warnings of a passport about a use of its judge: errors that it misses, and rates that were not measured."""

from collections.abc import Iterator

from dokimasia.algorithms.correction import LEAST_APART
from dokimasia.algorithms.statistics import ConfidenceInterval
from dokimasia.algorithms.statistics.contrasts import contrast_interval
from dokimasia.domain.blindspots import IN_USE, Evaluator
from dokimasia.domain.call import ModelSpec, Sampling
from dokimasia.domain.passport import ErrorRates, MeasuredDifference, MeasuredShare, Passport
from dokimasia.domain.wording import percentage
from dokimasia.people.passports.options import PAIRWISE, JudgeUse
from dokimasia.people.passports.shares import limits_of
from dokimasia.prompts.dimensions import error_groups
from dokimasia.report.figures import bracketed, in_words, several, signed_text

FEW_IMAGES = 10
"""The fewest images of a rate that is not marked as thin."""

ALARMS_ABOVE = 0.2
"""False alarms are called high if the whole interval of their rate is above this."""


def evaluator_for(passport: Passport, way: JudgeUse) -> Evaluator | None:
    """Return the evaluator that represents a way of judging: the first with a judged error, or None."""
    for one in way.evaluators:
        rates = passport.rates(way.task, one)
        if rates is not None and rates.n_scored:
            return one
    return None


def worth_of(passport: Passport, way: JudgeUse) -> float | None:
    """Return detection rate minus false-alarm rate in a way of judging; None if either was not measured."""
    evaluator = evaluator_for(passport, way)
    if evaluator is None:
        return None
    rates, alarms = passport.rates(way.task, evaluator), alarms_of(passport, way, evaluator)
    if rates is None or rates.detection.share is None or alarms.share is None:
        return None
    return rates.detection.share - alarms.share


def alarms_of(passport: Passport, way: JudgeUse, evaluator: Evaluator) -> MeasuredShare:
    """Return the judge's false-alarm rate on harmless changes; without figures if it was not measured."""
    found = (one.false_alarms for one in passport.neutral if (one.task, one.evaluator) == (way.task, evaluator))
    return next(found, MeasuredShare())


def is_blind(rates: ErrorRates | None, below: float) -> bool:
    """Return whether the whole interval of a detection rate is below a bound; an unknown rate is not blind."""
    return rates is not None and rates.detection.high is not None and rates.detection.high < below


def warnings_of(passport: Passport, way: JudgeUse, spec: ModelSpec, *, below: float) -> Iterator[str]:
    """Yield warnings about a use of a judge, one sentence each.

    Args:
        passport: the judge's passport.
        way: how the judge is used.
        spec: the judge as configured in the run.
        below: the bound of blindness.
    """
    evaluator = evaluator_for(passport, way)
    if evaluator is None:
        known = ", ".join(dict.fromkeys(one for task, one in passport.evaluators if task == way.task))
        yield f"{way.what} was not measured{f' (its passport knows {known})' if known else ''}"
        return
    yield from _telling(passport, way, evaluator, below)
    groups = error_groups(way.task)
    found = {name: passport.rates(way.task, evaluator, level="group", name=name) for name in groups}
    unknown = [name for name, one in found.items() if one is None or not one.n_scored]
    if unknown:
        yield f"{way.what} was not measured for errors of {in_words([_named(name, groups[name]) for name in unknown])}"
    for name, one in found.items():
        if one is not None and is_blind(one, below):
            yield (
                f"{way.what} is blind to errors of {_named(name, groups[name])}: it detects "
                f"{percent(one.detection)} of {one.n_scored}, which is surely below {percentage(below)}"
                f"{_better(passport, way, name, evaluator, below)}"
            )
    spots = [
        one.name for one in passport.errors if (one.task, one.evaluator) == (way.task, evaluator) and one.blind_spot
    ]
    if spots:
        yield f"{way.what} has blind spots, errors missed more often than the judge's others: {in_words(spots)}"
    thin = [f"{name} ({one.images})" for name, one in found.items() if one and 0 < one.images < FEW_IMAGES]
    if thin:
        yield f"{way.what} was measured on few images, of {in_words(thin)}: its rates say little"
    if way.one_order:
        yield from _places(passport, way, evaluator)


def asked_otherwise(passport: Passport, way: JudgeUse, spec: ModelSpec) -> Iterator[str]:
    """Yield the sampling and prompts that a way of judging was measured with, if they differ from the run's."""
    evaluator = evaluator_for(passport, way)
    if evaluator is None:
        return
    sampling = passport.judge.sampled(evaluator)
    if sampling is not None and sampling != spec.sampling:
        way_out = "" if evaluator in IN_USE else "; to measure it as runs ask: dokimasia probe --sampling own"
        yield f"{way.what} was measured with {_sampled(sampling)}, and is asked for here with {_sampled(spec.sampling)}{way_out}"
    if way.prompt not in passport.prompts:
        yield f"{way.what} was measured as {evaluator}, by the prompts of probes and not by {way.prompt}"


def differences_of(passport: Passport, spec: ModelSpec, *, tools: bool) -> Iterator[str]:
    """Yield the differences between a judge's use and its measurement, one sentence each."""
    judge = passport.judge
    if judge.tools != tools:
        yield f"it was measured {'with' if judge.tools else 'without'} tools, and judges here {'with' if tools else 'without'}"
    if judge.max_image_side != spec.max_image_side:
        yield "images are sent to it in another size than when it was measured"


def percent(one: MeasuredShare) -> str:
    """Return a share with its interval, in percent."""
    if one.share is None:
        return "–"
    return f"{percentage(one.share)}{bracketed(one, lambda end: f'{100 * end:.0f}')}"


def _telling(passport: Passport, way: JudgeUse, evaluator: Evaluator, below: float) -> Iterator[str]:
    """Yield warnings about a way of judging as a whole: blindness, high false alarms, or no discrimination."""
    rates, alarms = passport.rates(way.task, evaluator), alarms_of(passport, way, evaluator)
    if rates is not None and is_blind(rates, below):
        yield (
            f"{way.what} is blind to errors as a whole: it detects {percent(rates.detection)} of all {rates.n_scored}, "
            f"which is surely below {percentage(below)}"
        )
    if alarms.low is not None and alarms.low > ALARMS_ABOVE:
        yield (
            f"{way.what} finds fault with {percent(alarms)} of what is not worse, which is surely above "
            f"{percentage(ALARMS_ABOVE)}"
        )
    apart = apart_of(passport, way)
    if apart is None:
        yield f"{way.what} was not measured on answers without an error: how often it raises false alarms is not known"
    elif apart.mean is not None and (apart.mean < LEAST_APART or apart.low is None or apart.low <= 0):
        interval = bracketed(apart, signed_text)
        yield (
            f"{way.what} hardly tells right from wrong: detection less false alarms (sensitivity + specificity - 1) is "
            f"{signed_text(apart.mean)}{interval}, and 0 is chance"
        )


def apart_of(passport: Passport, way: JudgeUse) -> MeasuredDifference | None:
    """Return detection rate minus false-alarm rate with its interval; None if either was not measured."""
    worth, evaluator = worth_of(passport, way), evaluator_for(passport, way)
    rates = None if evaluator is None else passport.rates(way.task, evaluator)
    if worth is None or evaluator is None or rates is None:
        return None
    one, other = rates.detection, alarms_of(passport, way, evaluator)
    if one.share is None or one.low is None or one.high is None:
        return MeasuredDifference(mean=worth, no_interval=one.no_interval)
    if other.share is None or other.low is None or other.high is None:
        return MeasuredDifference(mean=worth, no_interval=other.no_interval)
    interval = contrast_interval(
        one.share, ConfidenceInterval(one.low, one.high), other.share, ConfidenceInterval(other.low, other.high)
    )
    return MeasuredDifference(mean=worth, **limits_of(interval))


def _better(passport: Passport, way: JudgeUse, group: str, evaluator: Evaluator, below: float) -> str:
    """Return the passport's recommendation for a group, if a command can use it and it is not blind either."""
    for one in passport.recommended:
        rates = one.estimated
        if (one.task, one.group) != (way.task, group) or one.evaluator in (None, evaluator) or rates is None:
            continue
        if rates.detection.low is None or rates.detection.low < below:
            continue
        told = f"{percent(rates.detection)}, false alarms {percent(rates.false_alarms)}{thin_mark(rates.images)}"
        if one.evaluator in way.evaluators:
            return f"; {one.evaluator} is recommended for them ({told})"
        if one.evaluator in PAIRWISE:
            return f"; in a duel, {one.evaluator} is recommended for them ({told})"
    return ""


def thin_mark(images: int) -> str:
    """Return the mark of a rate on few images; empty for others."""
    return f" (thin: {several(images, 'image')})" if images < FEW_IMAGES else ""


def _places(passport: Passport, way: JudgeUse, evaluator: Evaluator) -> Iterator[str]:
    found = next((one for one in passport.places if (one.task, one.evaluator) == (way.task, evaluator)), None)
    if found is None or found.bias.mean is None:
        yield "its position bias was not measured, and pairs are judged in one order alone"
    elif found.bias.low is not None and found.bias.high is not None and not found.bias.low <= 0 <= found.bias.high:
        yield (
            f"it favours the answer shown {'first' if found.bias.mean > 0 else 'second'} (bias "
            f"{signed_text(found.bias.mean)}{bracketed(found.bias, signed_text)}), and pairs are judged in one "
            "order alone: leave --single out"
        )


def _named(group: str, title: str) -> str:
    return f"{group} ({title})"


def _sampled(sampling: Sampling) -> str:
    said = sampling.model_dump(mode="json", exclude_none=True, exclude={"extra"}) | sampling.extra
    return ", ".join(f"{name} {value}" for name, value in said.items()) or "the provider's defaults"
