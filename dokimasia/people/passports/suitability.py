"""Whether a judge is good enough: what a check measured of it, held against limits; figures, verdict, and report blocks."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Literal, NamedTuple

from pydantic import Field

from dokimasia.domain.blindspots import Evaluator, Task
from dokimasia.domain.identity import Value
from dokimasia.domain.passport import MeasuredDifference, MeasuredShare, Passport, ReplyRates
from dokimasia.people.passports.measuring import BINARY
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import Cost, Count, Coverage, Fraction, NoInterval
from dokimasia.report.figures import bracketed, cost, in_words
from dokimasia.runs.measures import rounded

Suitability = Literal["suitable", "suitable with correction", "cannot tell", "not suitable"]

WithinLimit = Literal["yes", "no", "open", "not measured"]

Quality = Literal[
    "undetected errors",
    "blind spots",
    "false alarms",
    "judged otherwise again",
    "position bias",
    "failures of form",
    "disagreement with labels",
    "disagreement with reference",
]

TONES: dict[Suitability, Literal["good", "bad", "strong"]] = {
    "suitable": "good",
    "suitable with correction": "strong",
    "cannot tell": "strong",
    "not suitable": "bad",
}
"""The verdicts from best to worst, and how they are shown."""

LIMITS: Mapping[Quality, float] = {
    "undetected errors": 0.25,
    "blind spots": 0.0,
    "false alarms": 0.2,
    "judged otherwise again": 0.1,
    "position bias": 0.1,
    "failures of form": 0.05,
    "disagreement with labels": 0.25,
    "disagreement with reference": 0.25,
}
"""The most that a suitable judge may have, by quality: a share of 0 to 1, of blind spots their number."""

CORRECTABLE = 0.5
"""The most undetected errors, upper end of the interval, with which a decision of right or wrong can be corrected."""

CORRECTION: Mapping[Quality, str] = {
    "undetected errors": "correct rates for it (dokimasia correct)",
    "false alarms": "correct rates for them (dokimasia correct)",
    "position bias": "ask in both orders, as duels do",
}
"""What takes the effect of a quality beyond its limit out of a result."""

Way = tuple[Task, Evaluator]
"""A task and how the judge was asked: what a verdict is about."""


class Disagreement(NamedTuple):
    """How often a judge says otherwise than labels or another judge: the share, items in common, and those with both values."""

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
    within: WithinLimit = Field(description="yes, or no, if the whole interval is; open: neither")
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
    uses: tuple[JudgeInUse, ...]
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
) -> JudgeCheck:
    """Return whether a judge is good enough.

    Args:
        passport: what probes measured of it.
        labelled: by task and evaluator, how it disagrees with people's labels.
        reference: the judge that it is compared with; empty without one.
        compared: how it disagrees with that judge.
        seconds: the seconds of each judgement whose time is known.
    """
    uses: list[JudgeInUse] = []
    for way in passport.evaluators:
        replies = next(one for one in passport.replies if (one.task, one.evaluator) == way)
        qualities = [*_measured(passport, way, replies)]
        others: dict[Quality, Mapping[Way, Disagreement]] = {
            "disagreement with labels": labelled,
            "disagreement with reference": compared or {},
        }
        for name, found in others.items():
            if (one := found.get(way)) is not None:
                qualities.append(_share(name, one.share, one.n, one.n_scored))
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
                seconds=rounded(sum(times) / len(times)) if times else None,
                timed=len(times),
            )
        )
    best = _best(uses)
    items = sum(data.items for data in passport.data)
    return JudgeCheck(
        judge=passport.judge.name,
        reference=reference,
        verdict=best,
        sentence=_sentence(best, uses),
        uses=tuple(uses),
        limits=dict(LIMITS),
        correctable=CORRECTABLE,
        checked=rounded(sum(data.checked * data.items for data in passport.data) / items) if items else 0.0,
        runs=tuple(dict.fromkeys(run for data in passport.data for run in data.runs)),
        passport=passport.sha256,
        simulated=passport.judge.simulated,
    )


def _measured(passport: Passport, way: Way, replies: ReplyRates) -> Iterator[JudgeQuality]:
    """Yield the qualities that a passport tells of one evaluator."""
    errors = passport.rates(*way)
    if errors is None:
        yield _share("undetected errors", MeasuredShare(), 0, 0)
    else:
        yield _share("undetected errors", _less(errors.detection), errors.n, errors.n_scored)
    kinds = [one for one in passport.errors if (one.task, one.evaluator) == way and one.level == "dimension"]
    tested = [one for one in kinds if one.blind_spot is not None]
    if tested:
        blind = tuple(one.name for one in tested if one.blind_spot)
        within: WithinLimit = "no" if blind else "yes"
        quality = _quality("blind spots", float(len(blind)), len(kinds), len(tested), within)
        yield quality.model_copy(update={"kinds": blind})
    for one in passport.neutral:
        if (one.task, one.evaluator) == way:
            yield _share("false alarms", one.false_alarms, one.n, one.n_scored)
    for one in passport.retests:
        if (one.task, one.evaluator) == way:
            yield _share("judged otherwise again", one.changed, one.n, one.n_scored)
    for one in passport.places:
        if (one.task, one.evaluator) == way:
            yield _bias(one.bias, one.n, one.n_scored)
    yield _share("failures of form", replies.unparsable, replies.n, replies.n)


def _less(one: MeasuredShare) -> MeasuredShare:
    """Return one minus a share."""
    if one.share is None:
        return one
    low, high = (None if end is None else rounded(1 - end) for end in (one.high, one.low))
    return MeasuredShare(share=rounded(1 - one.share), low=low, high=high, no_interval=one.no_interval)


def _share(name: Quality, one: MeasuredShare, n: int, n_scored: int) -> JudgeQuality:
    limit = LIMITS[name]
    within: WithinLimit = "open"
    if one.share is None:
        within = "not measured"
    elif one.high is not None and one.high <= limit:
        within = "yes"
    elif one.low is not None and one.low > limit:
        within = "no"
    return _quality(name, one.share, n, n_scored, within, one.low, one.high, one.no_interval)


def _bias(one: MeasuredDifference, n: int, n_scored: int) -> JudgeQuality:
    limit = LIMITS["position bias"]
    within: WithinLimit = "open"
    if one.mean is None:
        within = "not measured"
    elif one.low is not None and one.high is not None:
        if max(abs(one.low), abs(one.high)) <= limit:
            within = "yes"
        elif one.low > limit or one.high < -limit:
            within = "no"
    return _quality("position bias", one.mean, n, n_scored, within, one.low, one.high, one.no_interval)


def _quality(
    name: Quality,
    value: float | None,
    n: int,
    n_scored: int,
    within: WithinLimit,
    low: float | None = None,
    high: float | None = None,
    no_interval: str = "",
) -> JudgeQuality:
    return JudgeQuality(
        name=name,
        value=value,
        low=low,
        high=high,
        no_interval=no_interval or None,
        n=n,
        n_scored=n_scored,
        coverage=rounded(n_scored / n) if n else None,
        limit=LIMITS[name],
        within=within,
    )


def _verdict(way: Way, qualities: Sequence[JudgeQuality]) -> tuple[Suitability, list[str], list[str]]:
    """Return the verdict on one evaluator, its reasons, and what would settle what is open.

    Undetected errors have to be within their limit by the whole interval; the others hold as long as their value is.
    """
    beyond = [one for one in qualities if one.within == "no"]
    unsettled = [one for one in qualities if _is_unsettled(one)]
    missing = [_missing(one) for one in unsettled]
    corrections = [_correction(way, one) for one in beyond]
    reasons = [_reason(one) for one in beyond]
    if not all(corrections):
        return "not suitable", reasons, []
    if unsettled:
        return "cannot tell", [*reasons, *(_reason(one) for one in unsettled)], missing
    if beyond:
        pairs = zip(reasons, corrections, strict=True)
        return "suitable with correction", [f"{reason}: {correction}" for reason, correction in pairs], []
    return "suitable", [], []


def _is_unsettled(one: JudgeQuality) -> bool:
    if one.name == "undetected errors":
        return one.within in ("open", "not measured")
    return one.within == "open" and abs(one.value or 0.0) > one.limit


def _correction(way: Way, one: JudgeQuality) -> str:
    """Return what takes a quality's effect out of a result; empty where nothing does."""
    if one.name == "position bias":
        return CORRECTION[one.name]
    decides = way[1] in BINARY and one.high is not None and one.high <= CORRECTABLE
    return CORRECTION.get(one.name, "") if decides else ""


def _reason(one: JudgeQuality) -> str:
    if one.within == "not measured":
        return f"{one.name} not measured"
    if one.kinds:
        return f"blind to {in_words(one.kinds)}"
    comparison = "beyond" if one.within == "no" else "not surely within"
    return f"{one.name} {_value_text(one)}, {comparison} {_limit_text(one)}"


def _missing(one: JudgeQuality) -> str:
    """Return what would settle an open quality: about so many items, where the value alone lies on one side of the limit."""
    if one.value is None or not one.n_scored:
        return f"{one.name}: items that the judge judges"
    distance = abs(one.limit - abs(one.value))
    end = one.high if abs(one.value) <= one.limit else one.low
    if end is None or not distance:
        return f"{one.name}: more items on more images"
    needed = ceil(one.n_scored * (abs(end - one.value) / distance) ** 2)
    return f"{one.name}: about {max(needed, one.n_scored + 1):,} items in place of {one.n_scored:,}, on as many more images"


def _best(uses: Sequence[JudgeInUse]) -> Suitability:
    """Return the best verdict of all evaluators."""
    for verdict in TONES:
        if any(use.verdict == verdict for use in uses):
            return verdict
    return "cannot tell"


def _sentence(verdict: Suitability, uses: Sequence[JudgeInUse]) -> str:
    """Return the verdict on one line: by which evaluators it holds, and why others fall short."""
    if not uses:
        return f"{verdict}: nothing was judged"
    parts: list[str] = []
    for one in TONES:
        names = [
            f"{use.evaluator} ({'; '.join(use.reasons)})" if use.reasons else use.evaluator
            for use in uses
            if use.verdict == one
        ]
        if names:
            parts.append(f"{one} by {in_words(names)}")
    return "; ".join(parts)


def _number(name: Quality, value: float) -> str:
    if name == "blind spots":
        return f"{value:.0f}"
    if name == "position bias":
        return f"{value:+.2f}"
    return f"{100 * value:.1f} %"


def _value_text(one: JudgeQuality) -> str:
    if one.value is None:
        return "–"
    text = _number(one.name, one.value)
    if one.low is None and not one.no_interval:
        return text
    scale, digits = (1, 2) if one.name == "position bias" else (100, 0)
    return text + bracketed(one, lambda end: f"{scale * end:.{digits}f}")


def _limit_text(one: JudgeQuality) -> str:
    return _number(one.name, one.limit).replace("+", "±").replace(".0 %", " %")


def check_blocks(check: JudgeCheck) -> Iterator[Block]:
    """Yield the blocks of a check: its verdict, the qualities by evaluator, reasons, and what is missing."""
    if check.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    rest = check.sentence.removeprefix(check.verdict)
    yield Paragraph((f"{check.judge}: ", Span(check.verdict, TONES[check.verdict]), f"{rest}."), "lead")
    if not check.checked:
        yield Paragraph(
            "Nobody has decided on the planted errors: they are taken as they were meant. Have people label them "
            "(dokimasia decide), and check again with --labels.",
            "warning",
        )
    columns = [Column("evaluator", numeric=False), Column("measured", numeric=False), Column("value")]
    columns += [Column("limit"), Column("n"), Column("within", numeric=False)]
    yield Table(columns, list(_rows(check)), "What was measured")
    columns = [Column("evaluator", numeric=False), Column("verdict", numeric=False)]
    columns += [Column("cost each"), Column("seconds each")]
    yield Table(columns, [_use(use) for use in check.uses], "Verdicts, and what a judgement costs")
    if missing := [f"{use.evaluator}: {one}" for use in check.uses for one in use.missing]:
        yield Paragraph("Missing:")
        yield Bullets(missing)
    yield Paragraph(
        "Shares with 95 % intervals, clustered by image; lower is better. Within the limit, or not, is what the whole interval "
        "is; else it is open. Undetected errors have to be within; what else is open counts only if its value is beyond the "
        "limit.",
        "note",
    )


def _rows(check: JudgeCheck) -> Iterator[list[Cell]]:
    for use in check.uses:
        for number, one in enumerate(use.qualities):
            name = one.name.replace("reference", check.reference or "reference")
            scored = f"{one.n_scored}" if one.n_scored == one.n else f"{one.n_scored} of {one.n}"
            evaluator = "" if number else use.evaluator
            yield [evaluator, name, _value_text(one), _limit_text(one), scored, one.within]


def _use(use: JudgeInUse) -> list[Cell]:
    seconds = "–" if use.seconds is None else f"{use.seconds:.2f}"
    return [use.evaluator, Span(use.verdict, TONES[use.verdict]), cost(use.cost), seconds]
