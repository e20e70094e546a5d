"""Checks of a judge: its measured qualities compared with limits, the verdict, and the blocks of the report."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import ceil
from typing import Literal, NamedTuple

from pydantic import Field

from dokimasia.algorithms.blindspots import item_share
from dokimasia.domain.blindspots import Evaluator, Task
from dokimasia.domain.identity import Value
from dokimasia.domain.passport import ErrorRates, MeasuredDifference, MeasuredShare, Passport, ReplyRates, rates_of
from dokimasia.domain.wording import percentage
from dokimasia.errors import DataError
from dokimasia.people.passports.measuring import BINARY
from dokimasia.people.passports.options import JudgeUse, Way
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import Cost, Count, Coverage, Fraction, NoInterval
from dokimasia.report.figures import cost, in_words, percent_bracketed, several, signed_text
from dokimasia.runs.measures import mean, rounded

Suitability = Literal["suitable", "suitable with correction", "cannot tell", "not suitable"]

WithinLimit = Literal["yes", "no", "open", "not measured"]

Quality = Literal[
    "undetected errors",
    "blind spots",
    "false alarms",
    "verdict changed on repetition",
    "position bias",
    "length bias",
    "changed by length",
    "failures of form",
    "disagreement with labels",
    "disagreement with reference",
]

BIASES: tuple[Quality, ...] = ("position bias", "length bias")
"""Qualities from -1 to 1, in percentage points, where 0 means no bias."""

ONE_SIDED: tuple[Quality, ...] = ("length bias",)
"""Biases for which any value below 0 is within the limit."""

TONES: dict[Suitability, Literal["good", "bad", "strong"]] = {
    "suitable": "good",
    "suitable with correction": "strong",
    "cannot tell": "strong",
    "not suitable": "bad",
}
"""The verdicts from best to worst, each with its display tone."""

APPROVING: tuple[Suitability, ...] = ("suitable", "suitable with correction")
"""The verdicts that approve a judge; readers must first see how far such a verdict applies."""

ADVICE: Mapping[Suitability, str] = {
    "suitable": "use it with",
    "suitable with correction": "use it, corrected, with",
    "not suitable": "do not use it with",
    "cannot tell": "more data are needed for",
}
"""The meaning of each verdict on an evaluator for its use, most decisive first, as worded in the verdict on the
judge."""

LIMITS: Mapping[Quality, float] = {
    "undetected errors": 0.25,
    "blind spots": 0.0,
    "false alarms": 0.2,
    "verdict changed on repetition": 0.1,
    "position bias": 0.1,
    "length bias": 0.1,
    "changed by length": 0.1,
    "failures of form": 0.05,
    "disagreement with labels": 0.25,
    "disagreement with reference": 0.25,
}
"""The highest value of each quality that a suitable judge may have: a share from 0 to 1, or a number of blind spots.

A position bias may be as far below 0 as above. A length bias below 0 is within the limit, since a judge that compares
or scores answers may prefer those without padding. A decision of right or wrong may not change with length at all.
"""

CORRECTABLE = 0.5
"""The highest share of undetected errors (upper end of the interval) at which right-or-wrong decisions can be corrected."""

CORRECTION: Mapping[Quality, str] = {
    "undetected errors": "correct rates for it (dokimasia correct)",
    "false alarms": "correct rates for them (dokimasia correct)",
    "position bias": "ask in both orders, as duels do",
}
"""How to remove the effect of a quality beyond its limit from a result."""


class Disagreement(NamedTuple):
    """How often a judge disagrees with labels or a judge: the share, the shared items, and those with both values."""

    share: MeasuredShare
    n: int
    n_scored: int


class JudgeQuality(Value):
    """One thing that was measured of a judge; lower is better, of a bias nearer to 0."""

    name: Quality
    value: float | None = Field(description="a share of 0 to 1, a bias of -1 to 1, or a number of blind spots")
    low: float | None = Field(default=None, description="lower end of the 95 % interval, clustered by image")
    high: float | None = Field(default=None, description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    n: Count = Field(description="items; of failures of form judgements, of blind spots kinds of error")
    n_scored: Count = Field(description="of them, those with a value")
    coverage: Coverage
    limit: float = Field(description="the most that a suitable judge may have")
    within: WithinLimit = Field(
        description="yes, or no, if the whole interval is; open: neither. Of blind spots yes if the undetected errors of every "
        "kind are surely within their limit, no if there is a blind spot"
    )
    kinds: tuple[str, ...] = Field(default=(), description="the blind spots: kinds of error; else empty")


class JudgeInUse(Value):
    """Whether a judge is good enough for one task under one evaluator."""

    task: Task
    evaluator: Evaluator
    verdict: Suitability
    reasons: tuple[str, ...] = Field(description="what decides the verdict; empty for a suitable judge")
    missing: tuple[str, ...] = Field(description="what would settle what is open")
    qualities: tuple[JudgeQuality, ...]
    cost: Cost = Field(description="mean US dollars of a judgement; null where any price is unknown")
    priced: Count = Field(description="judgements whose cost is known")
    seconds: float | None = Field(description="mean seconds of a judgement, its calls one after another; null: unknown")
    timed: Count = Field(description="judgements whose time is known")


class JudgeCheck(Value):
    """Whether a judge is good enough, by evaluator and, for its best one, in all."""

    judge: str
    reference: str = Field(description="the judge that it was compared with; empty without one")
    verdict: Suitability = Field(description="of the best evaluator")
    sentence: str = Field(description="the verdict on one line, with its reasons")
    unmeasured: tuple[Evaluator, ...] = Field(
        description="evaluators by which `evaluate` judges and which the judge was not asked by"
    )
    uses: tuple[JudgeInUse, ...]
    perturbations: Count = Field(description="planted errors and harmless changes")
    unjudged: dict[Evaluator, Count] = Field(
        default_factory=dict[Evaluator, int],
        exclude_if=operator.not_,
        description="of these, those that an evaluator is not asked about, since they change nothing that it judges: for "
        "right-or-wrong, those that leave the final answer as it is. An evaluator that is asked about no error has no use",
    )
    limits: dict[Quality, float] = Field(description="by quality, the most that a suitable judge may have")
    correctable: Fraction = Field(
        description="most undetected errors, upper end of the interval, with which a decision of right or wrong is correctable"
    )
    checked: Fraction = Field(description="share of the planted errors on which people have decided")
    runs: tuple[str, ...] = Field(description="the probes")
    passport: str = Field(description="SHA-256 of the judge's passport")
    simulated: bool


def judge_check(
    passport: Passport,
    *,
    labelled: Mapping[Way, Disagreement],
    reference: str = "",
    compared: Mapping[Way, Disagreement] | None = None,
    seconds: Mapping[Way, Sequence[float]],
    unjudged: Mapping[Evaluator, int] | None = None,
    evaluate_by: Sequence[JudgeUse] = (),
) -> JudgeCheck:
    """Return the check of a judge: its qualities, a verdict for each evaluator, and the best verdict.

    Args:
        passport: the judge's passport.
        labelled: its disagreement with people's labels, by task and evaluator.
        reference: the judge to compare it with; empty for none.
        compared: its disagreement with that judge, by task and evaluator.
        seconds: the seconds of each judgement whose time is known, by task and evaluator.
        unjudged: how many inserted errors and harmless changes an evaluator does not judge; absent if it judges all.
        evaluate_by: how `evaluate` uses a judge; the check says which of these ways were not measured.
    """
    unjudged = unjudged or {}
    uses: list[JudgeInUse] = []
    for way in passport.evaluators:
        if way[1] in unjudged and passport.rates(*way) is None:
            continue
        replies = next(rates for rates in passport.replies if rates.way == way)
        qualities = [*_measured_qualities(passport, way, replies)]
        if (disagreement := labelled.get(way)) is not None:
            qualities.append(_quality("disagreement with labels", *disagreement))
        if compared and (disagreement := compared.get(way)) is not None:
            qualities.append(_quality("disagreement with reference", *disagreement))
        verdict, reasons, missing = _verdict(way, qualities)
        times = seconds.get(way, ())
        uses.append(
            JudgeInUse(
                task=way[0],
                evaluator=way[1],
                verdict=verdict,
                reasons=tuple(reasons),
                missing=tuple(missing),
                qualities=tuple(qualities),
                cost=replies.cost,
                priced=replies.priced,
                seconds=mean(times),
                timed=len(times),
            )
        )
    best = _overall(uses)
    unmeasured: tuple[Evaluator, ...] = tuple(way.evaluators[0] for way in evaluate_by if _is_unmeasured(passport, way))
    sentence = _sentence(best, uses, passport, unmeasured)
    if unmeasured:
        evaluators = ",".join(dict.fromkeys([*(use.evaluator for use in uses), *unmeasured]))
        lacking = f"Not measured: {in_words(unmeasured)}, by which evaluations score;"
        if best in APPROVING:  # its reservations state it at the beginning
            lacking = f"To measure {in_words(unmeasured)},"
        sentence += f". {lacking} add --evaluators {evaluators} (--dry-run says what it costs)"
    items = sum(data.items for data in passport.data)
    return JudgeCheck(
        judge=passport.judge.name,
        reference=reference,
        verdict=best,
        sentence=sentence,
        unmeasured=unmeasured,
        uses=tuple(uses),
        perturbations=items,
        unjudged=dict(unjudged),
        limits=dict(LIMITS),
        correctable=CORRECTABLE,
        checked=rounded(sum(data.checked * data.items for data in passport.data) / items) if items else 0.0,
        runs=tuple(dict.fromkeys(run for data in passport.data for run in data.runs)),
        passport=passport.sha256,
        simulated=passport.judge.simulated,
    )


@cache
def images_needed(verdict: Literal["suitable", "not suitable"]) -> int:
    """Return the least number of images with planted errors on which the errors that a judge misses can give a verdict.

    With fewer, the interval of undetected errors is neither within the limit of a suitable judge that misses none, nor
    beyond that of one that misses all.
    """
    quality: Quality = "undetected errors"
    limit, missed = LIMITS[quality], float(verdict == "not suitable")
    images = 1
    while True:
        interval = item_share([(missed, image) for image in range(images)]).interval
        if interval is not None and (interval.low > limit if missed else interval.high <= limit):
            return images
        images += 1


def material_note(images: int, where: str) -> str:
    """Return what few images with planted errors leave open in the check of a judge; empty if any verdict is possible.

    Args:
        images: the number of images on which errors are planted, or are to be.
        where: the data, as named by the user.

    Raises:
        DataError: the check could not tell whatever the judge answers.
    """
    least, enough = images_needed("not suitable"), images_needed("suitable")
    if not images:
        raise DataError(
            f"{where}: there is no planted error for a judge to miss, so that its check cannot tell: give right answers of more "
            "words, or name other --dimensions"
        )
    if images < least:
        raise DataError(
            f"{where}: errors on {several(images, 'image')} cannot tell whether a judge is suitable, whatever it answers: at "
            f"least {least} are needed to find it not suitable, and {enough} to find it suitable; give more samples"
        )
    if images < enough:
        return (
            f"errors on {several(images, 'image')} can show that a judge is not suitable, and not that it is, even if it "
            f"misses none: that takes {enough} images"
        )
    return ""


def _is_unmeasured(passport: Passport, way: JudgeUse) -> bool:
    """Return whether none of the evaluators for a way of judging a task's answers was measured."""
    measured_evaluators = [evaluator for task, evaluator in passport.evaluators if task == way.task]
    return bool(measured_evaluators) and not set(measured_evaluators).intersection(way.evaluators)


def _measured_qualities(passport: Passport, way: Way, replies: ReplyRates) -> Iterator[JudgeQuality]:
    """Yield a passport's qualities of one evaluator."""
    errors = passport.rates(*way)
    if errors is None:
        yield _quality("undetected errors", MeasuredShare(), 0, 0)
    else:
        yield _quality("undetected errors", _less(errors.detection), errors.n, errors.n_scored)
    yield from _blind_spots([rates for rates in passport.errors if rates.way == way and rates.level == "dimension"])
    if (neutral := rates_of(way, passport.neutral)) is not None:
        yield _quality("false alarms", neutral.false_alarms, neutral.n, neutral.n_scored)
    if (retest := rates_of(way, passport.retests)) is not None:
        yield _quality("verdict changed on repetition", retest.changed, retest.n, retest.n_scored)
    if (place := rates_of(way, passport.places)) is not None:
        yield _quality("position bias", place.bias, place.n, place.n_scored)
    if (length := rates_of(way, passport.lengths)) is not None:
        if way[1] in BINARY:
            yield _quality("changed by length", length.changed, length.n, length.n_scored)
        else:
            yield _quality("length bias", length.bias, length.n, length.n_scored)
    yield _quality("failures of form", replies.unparsable, replies.n, replies.n)


def _blind_spots(kinds: Sequence[ErrorRates]) -> Iterator[JudgeQuality]:
    """Yield the number of blind spots among kinds of error; nothing if none was tested."""
    tested = [rates for rates in kinds if rates.blind_spot is not None]
    if not tested:
        return
    blind = tuple(rates.name for rates in tested if rates.blind_spot)
    within: WithinLimit = "open"
    if blind:
        within = "no"
    elif all(map(_surely_within, kinds)):
        within = "yes"
    quality = _quality("blind spots", MeasuredShare(), len(kinds), len(tested))
    yield quality.model_copy(update={"value": float(len(blind)), "within": within, "kinds": blind})


def _surely_within(rates: ErrorRates) -> bool:
    """Return whether the whole interval of undetected errors of a kind is within the limit."""
    undetected = _less(rates.detection)
    return undetected.high is not None and undetected.high <= LIMITS["undetected errors"]


def _less(rate: MeasuredShare) -> MeasuredShare:
    """Return 1 minus a share, with its interval."""
    if rate.share is None:
        return rate
    low, high = (None if end is None else rounded(1 - end) for end in (rate.high, rate.low))
    return MeasuredShare(share=rounded(1 - rate.share), low=low, high=high, no_interval=rate.no_interval)


def _quality(name: Quality, measured: MeasuredShare | MeasuredDifference, n: int, n_scored: int) -> JudgeQuality:
    """Return a quality compared with its limit; only a position bias may not be too far below 0 either."""
    value = measured.share if isinstance(measured, MeasuredShare) else measured.mean
    limit = LIMITS[name]
    least = -limit if name == "position bias" else -1.0
    within: WithinLimit = "open"
    if value is None:
        within = "not measured"
    elif measured.low is not None and measured.high is not None:
        if least <= measured.low and measured.high <= limit:
            within = "yes"
        elif measured.low > limit or measured.high < least:
            within = "no"
    return JudgeQuality(
        name=name,
        value=value,
        low=measured.low,
        high=measured.high,
        no_interval=measured.no_interval or None,
        n=n,
        n_scored=n_scored,
        coverage=rounded(n_scored / n) if n else None,
        limit=limit,
        within=within,
    )


def _verdict(way: Way, qualities: Sequence[JudgeQuality]) -> tuple[Suitability, list[str], list[str]]:
    """Return the verdict on one evaluator, the reasons for it, and the data that are missing for a clear one.

    The whole interval of undetected errors must be within its limit; for other qualities, only the value must.
    """
    beyond = [quality for quality in qualities if quality.within == "no"]
    unsettled = [quality for quality in qualities if _is_unsettled(quality)]
    missing = [_missing_data(quality) for quality in unsettled]
    corrections = [_correction(way, quality) for quality in beyond]
    reasons = [_reason(quality) for quality in beyond]
    if not all(corrections):
        return "not suitable", reasons, []
    if unsettled:
        return "cannot tell", [*reasons, *(_reason(quality) for quality in unsettled)], missing
    if beyond:
        pairs = zip(reasons, corrections, strict=True)
        return "suitable with correction", [f"{reason}: {correction}" for reason, correction in pairs], []
    return "suitable", [], []


def _is_unsettled(quality: JudgeQuality) -> bool:
    if quality.name == "undetected errors":
        return quality.within in ("open", "not measured")
    return quality.within == "open" and _size(quality) > quality.limit


def _size(quality: JudgeQuality) -> float:
    """Return the value to compare with the limit: a bias's absolute value, or the value itself if it is one-sided."""
    value = quality.value or 0.0
    if quality.name in ONE_SIDED:
        return value
    return abs(value)


def _correction(way: Way, quality: JudgeQuality) -> str:
    """Return how to remove a quality's effect from a result; empty if nothing does."""
    if quality.name == "position bias":
        return CORRECTION[quality.name]
    decides = way[1] in BINARY and quality.high is not None and quality.high <= CORRECTABLE
    if decides:
        return CORRECTION.get(quality.name, "")
    return ""


def _reason(quality: JudgeQuality) -> str:
    if not quality.n:
        return "no planted error was put to the judge"
    if quality.within == "not measured":
        return f"{quality.name} not measured"
    if quality.kinds:
        return f"blind to {in_words([kind.replace('_', ' ') for kind in quality.kinds])}"
    comparison = "beyond" if quality.within == "no" else "not surely within"
    return f"{quality.name} {_value_text(quality)}, {comparison} {_limit_text(quality)}"


def _missing_data(quality: JudgeQuality) -> str:
    """Return the data that would settle an open quality, with an estimate of the number of items if possible."""
    if not quality.n:
        return (
            f"{quality.name}: planted errors. Plant some (--perturber, with --dimensions beside score_neutral), in right answers "
            "of enough words, or take planted errors that people did not find harmless"
        )
    if quality.value is None or not quality.n_scored:
        return f"{quality.name}: items that the judge judges"
    distance = abs(quality.limit - _size(quality))
    end = quality.high if _size(quality) <= quality.limit else quality.low
    if end is None or not distance:
        return f"{quality.name}: more items on more images"
    needed = ceil(quality.n_scored * (abs(end - quality.value) / distance) ** 2)
    count = max(needed, quality.n_scored + 1)
    unit = "errors" if quality.name == "undetected errors" else "items"
    return f"{quality.name}: about {count:,} {unit} instead of {quality.n_scored:,}, on proportionally more images"


def _overall(uses: Sequence[JudgeInUse]) -> Suitability:
    """Return the best verdict of the decided evaluators; `cannot tell` if none was decided."""
    reached = {use.verdict for use in uses}
    for verdict in TONES:
        if verdict in reached and verdict != "cannot tell":
            return verdict
    return "cannot tell"


def _sentence(
    verdict: Suitability, uses: Sequence[JudgeInUse], passport: Passport, unmeasured: Sequence[Evaluator]
) -> str:
    """Return the verdict as one line: its scope, the errors a suitable judge misses, what to use, and why."""
    if not uses:
        return f"{verdict}. Nothing was judged"
    parts: list[str] = []
    for suitability, advice in ADVICE.items():
        names: list[str] = []
        for use in uses:
            if use.verdict == suitability:
                reasons = f" ({'; '.join(use.reasons)})" if use.reasons else ""
                names.append(f"{use.evaluator}{reasons}")
        if names:
            parts.append(f"{advice} {in_words(names)}")
    advice = "; ".join(parts)
    figure = ""
    if verdict == "suitable":
        figure = f": {_most_missed(uses, passport)}"
    reservations = _reservations(uses, unmeasured) if verdict in APPROVING else ""
    return f"{verdict}{_scope(uses)}{reservations}{figure}. {advice[0].upper()}{advice[1:]}"


def _scope(uses: Sequence[JudgeInUse]) -> str:
    """Return by which evaluators alone a judge is suitable, if it is suitable by some and not by others; else empty."""
    approved = [use.evaluator for use in uses if use.verdict in APPROVING]
    rejected = [use.evaluator for use in uses if use.verdict == "not suitable"]
    if approved and rejected:
        return f" for {in_words(approved)} alone, not for {in_words(rejected)}"
    return ""


def _reservations(uses: Sequence[JudgeInUse], unmeasured: Sequence[Evaluator]) -> str:
    """Return in brackets the open checks of the approved evaluators and what was not measured; empty without any."""
    parts: list[str] = []
    approved = [use for use in uses if use.verdict in APPROVING]
    checks = [quality for use in approved for quality in use.qualities]
    n_open = sum(quality.within == "open" for quality in checks)
    if n_open:
        parts.append(f"{n_open} of {several(len(checks), 'check')} still open")
    if unmeasured:
        parts.append(f"{in_words(unmeasured)}, by which evaluations score, not measured")
    if parts:
        return f" ({'; '.join(parts)})"
    return ""


def _most_missed(uses: Sequence[JudgeInUse], passport: Passport) -> str:
    """Return how many inserted errors a suitable judge misses under the suitable evaluator that misses most."""
    suitable = [use for use in uses if use.verdict == "suitable"]
    missed = [next(quality for quality in use.qualities if quality.name == "undetected errors") for use in suitable]
    quality, use = max(zip(missed, suitable, strict=True), key=lambda pair: (pair[0].value or 0.0, pair[0].high or 0.0))
    way = "way of judging"
    if len(suitable) < len(uses):
        way = f"worst suitable {way}"
    elif len(uses) > 1:
        way = f"worst {way}"
    rates = passport.rates(use.task, use.evaluator)
    images = "" if rates is None else f" on {several(rates.images, 'image')}"
    errors = several(quality.n_scored, "planted error")
    return f"it misses {_value_text(quality)} of {errors}{images} ({way}: {use.evaluator})"


def _number(name: Quality, value: float) -> str:
    if name == "blind spots":
        return f"{value:.0f}"
    if name in BIASES:
        return f"{signed_text(100 * value, 1)} points"
    return percentage(value, 1)


def _value_text(quality: JudgeQuality) -> str:
    if quality.value is None:
        return "–"
    text = _number(quality.name, quality.value)
    if quality.low is None and not quality.no_interval:
        return text
    return text + percent_bracketed(quality)


def _limit_text(quality: JudgeQuality) -> str:
    sign = "+" if quality.name in ONE_SIDED else "±"
    return _number(quality.name, quality.limit).replace("+", sign).replace(".0 ", " ")


def check_blocks(check: JudgeCheck) -> Iterator[Block]:
    """Yield the blocks of a check: the verdict, verdicts with costs and qualities by evaluator, and missing data."""
    if check.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    yield Paragraph(verdict_on(check), "lead")
    yield from (Paragraph(note, "warning") for note in _notes(check))
    evaluator = Column("evaluator", numeric=False)
    columns = [evaluator, Column("verdict", numeric=False), Column("cost each"), Column("seconds each")]
    yield Table(columns, [_use(use) for use in check.uses], "Verdicts, and what a judgement costs")
    measured = (Column("measured", numeric=False), Column("value"), Column("limit"), Column("n"))
    yield Table([evaluator, *measured, Column("within", numeric=False)], list(_rows(check)), "What was measured")
    if missing := [f"{use.evaluator}: {need}" for use in check.uses for need in use.missing]:
        yield Paragraph("Data that are missing for a clear verdict:")
        yield Bullets(missing)
    yield Paragraph("What the tables mean:")
    yield Bullets(
        [
            "Each evaluator is a way of asking the judge, with a verdict of its own.",
            "value: shares with 95 % intervals, clustered by image; lower is better, of a bias nearer to 0 percentage points.",
            "n: planted errors; of blind spots kinds of error (those that can be compared with others, of all), of false alarms "
            "harmless changes, of position bias both, of verdict changed on repetition right answers, of failures of form "
            "judgements.",
            "length bias: how much more often an answer is judged better behind sentences that say nothing than worse, over "
            "right answers and errors. Values below 0 count as within the limit.",
            "within: yes or no if the whole interval is within the limit or beyond it, else open; of blind spots yes if the "
            "whole interval of the undetected errors of every kind is within.",
            "An open row affects the verdict only for undetected errors, or if its value exceeds the limit.",
        ]
    )


def verdict_on(check: JudgeCheck) -> tuple[str | Span, ...]:
    """Return the sentences that say whether a judge is suitable."""
    is_verdict = ": " if check.verdict == "cannot tell" else " is "
    rest = check.sentence.removeprefix(check.verdict)
    return f"{check.judge}{is_verdict}", Span(check.verdict, TONES[check.verdict]), f"{rest}."


def _notes(check: JudgeCheck) -> Iterator[str]:
    """Yield limits of the verdict: errors that an evaluator does not judge, and unlabelled ones."""
    for evaluator, count in check.unjudged.items():
        unjudged = f"{count:,} of {check.perturbations:,} perturbations leave the final answer as it is"
        if all(use.evaluator != evaluator for use in check.uses):
            yield (
                f"{evaluator} is left out, without a verdict: it judges final answers alone, and no planted error changes one "
                f"({unjudged})."
            )
        else:
            yield (
                f"{evaluator} judges final answers alone: {unjudged}, are no errors to it, and it is not asked about them."
            )
    unmeasured = [
        use.evaluator for use in check.uses if all(quality.name != "false alarms" for quality in use.qualities)
    ]
    if unmeasured:
        by = f" by {in_words(unmeasured)}" if len(unmeasured) < len(check.uses) else ""
        yield (
            f"False alarms were not measured{by}: no harmless change was put to the judge. A judge that finds an error in every "
            "answer misses none; plant harmless changes (--perturber, with score_neutral among --dimensions) to see it."
        )
    if check.checked < 1:
        decided = "Nobody has decided on the planted errors: they"
        if check.checked:
            decided = f"People have decided on {percentage(check.checked)} of the planted errors: the others"
        yield (
            f"{decided} are taken as they were meant. Have people label them (dokimasia decide), and check again with --labels."
        )


def _rows(check: JudgeCheck) -> Iterator[list[Cell]]:
    for use in check.uses:
        for quality in use.qualities:
            name = quality.name.replace("reference", check.reference or "reference")
            scored = f"{quality.n_scored}" if quality.n_scored == quality.n else f"{quality.n_scored} of {quality.n}"
            yield [use.evaluator, name, _value_text(quality), _limit_text(quality), scored, _within_text(quality)]


def _within_text(quality: JudgeQuality) -> str:
    """Return whether a quality is within its limit and, for an open quality, whether that decides anything."""
    if quality.within == "open" and not _is_unsettled(quality):
        return "open (does not count)"
    return quality.within


def _use(use: JudgeInUse) -> list[Cell]:
    seconds = "–" if use.seconds is None else f"{use.seconds:.2f}"
    return [use.evaluator, Span(use.verdict, TONES[use.verdict]), cost(use.cost), seconds]
