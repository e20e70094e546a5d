"""Warnings of a passport about a use of its judge: errors that it misses, and unmeasured rates."""

from collections.abc import Iterator

from dokimasia.algorithms.correction import LEAST_APART
from dokimasia.domain.blindspots import IN_USE, Evaluator
from dokimasia.domain.call import ModelSpec, Sampling
from dokimasia.domain.passport import (
    MeasuredDifference,
    MeasuredShare,
    Passport,
    PlaceRates,
    rates_of,
)
from dokimasia.domain.wording import percentage
from dokimasia.people.passports.options import PAIRWISE, JudgeUse, Way
from dokimasia.people.passports.shares import difference_interval, limits_of
from dokimasia.prompts.dimensions import error_groups
from dokimasia.report.figures import bracketed, in_words, rate_text, several, signed_text

FEW_IMAGES = 10
"""Minimum number of images of a rate that is not marked as thin."""

ALARMS_ABOVE = 0.2
"""False alarms are called high if the whole interval of their rate exceeds this value."""


def evaluator_for(passport: Passport, way: JudgeUse) -> Evaluator | None:
    """Return the evaluator that represents a way of judging: the first with a judged error, or None."""
    for evaluator in way.evaluators:
        rates = passport.rates(way.task, evaluator)
        if rates is not None and rates.n_scored:
            return evaluator
    return None


def detection_of(passport: Passport, way: JudgeUse) -> MeasuredShare:
    """Return the judge's detection rate in a way of judging; without figures if unmeasured."""
    evaluator = evaluator_for(passport, way)
    rates = evaluator and passport.rates(way.task, evaluator)
    if rates:
        return rates.detection
    return MeasuredShare()


def worth_of(passport: Passport, way: JudgeUse) -> float | None:
    """Return detection rate minus false-alarm rate in a way of judging; None if either was not measured."""
    detection, alarms = detection_of(passport, way), alarms_of(passport, way)
    if detection.share is None or alarms.share is None:
        return None
    return detection.share - alarms.share


def alarms_of(passport: Passport, way: JudgeUse) -> MeasuredShare:
    """Return the judge's false-alarm rate on harmless changes; without figures if unmeasured."""
    evaluator = evaluator_for(passport, way)
    rates = evaluator and rates_of((way.task, evaluator), passport.neutral)
    if rates:
        return rates.false_alarms
    return MeasuredShare()


def is_blind(detection: MeasuredShare, below: float) -> bool:
    """Return whether the whole interval of a detection rate is below a bound; an unknown rate is not blind."""
    return detection.high is not None and detection.high < below


def warnings_of(passport: Passport, way: JudgeUse, *, below: float) -> Iterator[str]:
    """Yield warnings about a use of a judge, one sentence each.

    Args:
        passport: the judge's passport.
        way: how the judge is used.
        below: the bound of blindness.
    """
    evaluator = evaluator_for(passport, way)
    if evaluator is None:
        known = ", ".join(evaluator for task, evaluator in passport.evaluators if task == way.task)
        yield f"{way.what} was not measured{f' (its passport knows {known})' if known else ''}"
        return
    measured = (way.task, evaluator)
    yield from _telling(passport, way, measured, below)
    unknown: list[str] = []
    thin: list[str] = []
    blind: list[str] = []
    for name, title in error_groups(way.task).items():
        rates = passport.rates(*measured, level="group", name=name)
        if rates is None or not rates.n_scored:
            unknown.append(f"{name} ({title})")
        if rates is None:
            continue
        if 0 < rates.images < FEW_IMAGES:
            thin.append(f"{name} ({rates.images})")
        if is_blind(rates.detection, below):
            blind.append(
                f"{way.what} is blind to errors of {name} ({title}): it detects "
                f"{percent(rates.detection)} of {rates.n_scored}, which is surely below {percentage(below)}"
                f"{_better(passport, way, name, evaluator, below)}"
            )
    if unknown:
        yield f"{way.what} was not measured for errors of {in_words(unknown)}"
    yield from blind
    spots = [rates.name for rates in passport.errors if rates.way == measured and rates.blind_spot]
    if spots:
        yield f"{way.what} has blind spots, errors missed more often than the judge's others: {in_words(spots)}"
    if thin:
        yield f"{way.what} was measured on few images, of {in_words(thin)}: its rates say little"
    if way.one_order:
        yield from _places(rates_of(measured, passport.places))


def asked_otherwise(passport: Passport, way: JudgeUse, spec: ModelSpec) -> Iterator[str]:
    """Yield the sampling and prompts used to measure a way of judging, if they differ from the run's."""
    evaluator = evaluator_for(passport, way)
    if evaluator is None:
        return
    sampling = passport.judge.sampled(evaluator)
    if sampling is not None and sampling != spec.sampling:
        way_out = "" if evaluator in IN_USE else "; to measure it as runs ask: dokimasia probe --sampling own"
        yield f"{way.what} was measured with {_text_of(sampling)}, and is asked for here with {_text_of(spec.sampling)}{way_out}"
    if way.prompt not in passport.prompts:
        yield f"{way.what} was measured as {evaluator}, by the prompts of probes and not by {way.prompt}"


def differences_of(passport: Passport, spec: ModelSpec, *, tools: bool) -> Iterator[str]:
    """Yield the differences between a judge's use and its measurement, one sentence each."""
    judge = passport.judge
    if judge.tools != tools:
        yield f"it was measured {'with' if judge.tools else 'without'} tools, and judges here {'with' if tools else 'without'}"
    if judge.max_image_side != spec.max_image_side:
        yield "images are sent to it in another size than when it was measured"


def percent(measured: MeasuredShare) -> str:
    """Return a share with its interval, in percent."""
    return rate_text(measured.share, measured)


def _telling(passport: Passport, way: JudgeUse, measured: Way, below: float) -> Iterator[str]:
    """Yield warnings about a way of judging as a whole: blindness, high false alarms, or no discrimination."""
    rates, alarms = passport.rates(*measured), alarms_of(passport, way)
    if rates is not None and is_blind(rates.detection, below):
        yield (
            f"{way.what} is blind to errors as a whole: it detects {percent(rates.detection)} of all {rates.n_scored}, "
            f"which is surely below {percentage(below)}"
        )
    if alarms.low is not None and alarms.low > ALARMS_ABOVE:
        yield (
            f"{way.what} finds fault with {percent(alarms)} of what is not worse, which is surely above "
            f"{percentage(ALARMS_ABOVE)}"
        )
    difference = apart_of(passport, way)
    if difference is None:
        yield f"{way.what} was not measured on answers without an error: how often it raises false alarms is not known"
    elif difference.mean is not None and (
        difference.mean < LEAST_APART or difference.low is None or difference.low <= 0
    ):
        interval = bracketed(difference, signed_text)
        yield (
            f"{way.what} hardly tells right from wrong: detection less false alarms (sensitivity + specificity - 1) is "
            f"{signed_text(difference.mean)}{interval}, and 0 is chance"
        )


def apart_of(passport: Passport, way: JudgeUse) -> MeasuredDifference | None:
    """Return detection rate minus false-alarm rate with its interval; None if either was not measured."""
    worth = worth_of(passport, way)
    if worth is None:
        return None
    detection, alarms = detection_of(passport, way), alarms_of(passport, way)
    if (interval := difference_interval(detection, alarms)) is not None:
        return MeasuredDifference(mean=worth, **limits_of(interval))
    return MeasuredDifference(mean=worth, no_interval=detection.no_interval or alarms.no_interval)


def _better(passport: Passport, way: JudgeUse, group: str, evaluator: Evaluator, below: float) -> str:
    """Return the passport's recommendation for a group, if a command can use it and it is not blind as well."""
    for recommended in passport.recommended:
        name, rates = recommended.evaluator, recommended.estimated
        if (recommended.task, recommended.group) != (way.task, group) or name in (None, evaluator) or rates is None:
            continue
        if rates.detection.low is None or rates.detection.low < below:
            continue
        text = f"{percent(rates.detection)}, false alarms {percent(rates.false_alarms)}{thin_mark(rates.images)}"
        if name in way.evaluators:
            return f"; {name} is recommended for them ({text})"
        if name in PAIRWISE:
            return f"; in a duel, {name} is recommended for them ({text})"
    return ""


def thin_mark(images: int) -> str:
    """Return the mark of a rate that rests on few images; empty for others."""
    if images < FEW_IMAGES:
        return f" (thin: {several(images, 'image')})"
    return ""


def _places(places: PlaceRates | None) -> Iterator[str]:
    if places is None or places.bias.mean is None:
        yield "its position bias was not measured, and pairs are judged in one order alone"
        return
    bias, place = places.bias, "second"
    if places.bias.mean > 0:
        place = "first"
    if bias.low is not None and bias.high is not None and not bias.low <= 0 <= bias.high:
        yield (
            f"it favours the answer shown {place} (bias {signed_text(places.bias.mean)}{bracketed(bias, signed_text)}), and "
            "pairs are judged in one order alone: leave --single out"
        )


def _text_of(sampling: Sampling) -> str:
    settings = sampling.model_dump(mode="json", exclude_none=True, exclude={"extra"}) | sampling.extra
    return ", ".join(f"{name} {value}" for name, value in settings.items()) or "the provider's defaults"
