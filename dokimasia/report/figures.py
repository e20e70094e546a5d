"""Figures as text: scores, intervals, shares, costs and p-values, each with its JSON pointer in `show --json`."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.domain.ports import Spending
from dokimasia.domain.wording import percentage
from dokimasia.report.blocks import Cell, Column, Span, Tone, spans
from dokimasia.report.fields import CountedRate, Interval, Limited, ScoredCounts, Share, StrictShare, Used, pointer

Name = TypeVar("Name", bound=str)

NOTHING = Span("–", "muted")
"""The cell of a missing measurement."""

NO_INTERVAL = "no interval: "
"""Prefix of the reason why there is no interval."""

ALLOWING = ", allowing for unseen images"
"""The text after the ends of an interval by Gaffke's method."""

LOWEST, HIGHEST = 1.0, 5.0
MINUS = "\N{MINUS SIGN}"
BAR_WIDTH = 16
SURE = 0.05
"""Adjusted p-values up to this level are marked as significant."""
NARROW = 0.1
"""The ends of an interval of a share have a decimal if they are less than this apart."""
SPEAKING = 0.8
"""The share of addressed weight below which a score also depends on how much an answer says."""


class Ends(NamedTuple):
    """The two ends of an interval or of bounds, and its method if unusual; without them, the reason."""

    low: float | None
    high: float | None
    no_interval: str | None = None
    interval_method: str | None = None


def ends_of(measured: Limited) -> Ends:
    """Return the ends of an interval, a rate or bounds."""
    reason, method = getattr(measured, "no_interval", None), getattr(measured, "interval_method", None)
    return Ends(measured.low, measured.high, reason, method)


def allowing(measured: Limited) -> Span:
    """Return the note after the ends of an interval on its method, if unusual; else empty."""
    return Span(ALLOWING if ends_of(measured).interval_method else "", "muted")


def score(value: float | None, place: str = "", *, tone: Tone = "strong", tinted: bool = False) -> Span:
    """Return a score from 1 to 5, with two decimals."""
    if value is None:
        return NOTHING
    heat = (value - LOWEST) / (HIGHEST - LOWEST) if tinted else None
    return Span(f"{value:.2f}", tone, place, value, heat)


def interval(measured: Limited | None, place: str = "", *, signed: bool = False, digits: int = 2) -> Cell:
    """Return the two ends (`low`, `high`) of an interval or of bounds, or the reason why there are none."""
    if measured is None:
        return NOTHING
    ends = ends_of(measured)
    if ends.low is None or ends.high is None:
        return no_interval(ends)
    low = Span(_end_text(ends.low, digits, signed=signed), "", f"{place}/low" if place else "", ends.low)
    high = Span(_end_text(ends.high, digits, signed=signed), "", f"{place}/high" if place else "", ends.high)
    cell = (low, " to " if signed else " – ", high)
    if ends.interval_method:
        return (*cell, allowing(ends))
    return cell


def _end_text(end: float, digits: int, *, signed: bool) -> str:
    if signed:
        return signed_text(end, digits)
    return f"{end:.{digits}f}"


def leaves_open(difference: Limited) -> bool:
    """Return whether a difference has its usual interval, and 0 lies within it."""
    ends = ends_of(difference)
    if ends.low is None or ends.high is None or ends.interval_method:
        return False
    return ends.low <= 0 <= ends.high


def no_interval(measured: Limited) -> Span:
    """Return the replacement for a missing interval: its reason, if there is one."""
    reason = ends_of(measured).no_interval
    if reason:
        return Span(f"{NO_INTERVAL}{reason}", "muted")
    return NOTHING


def limits_text(measured: Limited, write: Callable[[float], str], between: str = "–") -> str:
    """Return the ends of an interval as text, as `0.20–0.41`, or the reason why there are none."""
    ends = ends_of(measured)
    if ends.low is None or ends.high is None:
        return no_interval(ends).text
    low, high = (write(end).replace("-", MINUS) for end in (ends.low, ends.high))
    return f"{low}{between}{high}{allowing(ends).text}"


def bracketed(measured: Limited, write: Callable[[float], str]) -> str:
    """Return the ends of an interval in brackets, as ` [0.20, 0.41]`; empty without ends and reason."""
    if _has_limits(measured):
        return f" [{limits_text(measured, write, ', ')}]"
    return ""


def _has_limits(measured: Limited) -> bool:
    ends = ends_of(measured)
    return ends.low is not None or bool(ends.no_interval)


def signed_text(value: float, digits: int = 2) -> str:
    """Return a difference with its sign; one that rounds to zero has no sign."""
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        return f"{0:.{digits}f}"
    return text.replace("-", MINUS)


def number(value: float | None, place: str = "", *, digits: int = 2) -> Span:
    """Return a number with the given number of decimals."""
    if value is None:
        return NOTHING
    return Span(f"{value:.{digits}f}".replace("-", MINUS), "", place, value)


def signed(value: float | None, place: str = "", *, digits: int = 2) -> Span:
    """Return a difference with its sign."""
    if value is None:
        return NOTHING
    return Span(signed_text(value, digits), "", place, value)


def count(value: int | None, place: str = "", *, tone: Tone = "") -> Span:
    """Return a whole number with thousands separators; None is shown as unknown."""
    if value is None:
        return Span("unknown", "muted")
    return Span(f"{value:,}", tone, place, value)


def share(value: float | None, place: str = "", *, digits: int = 0) -> Span:
    """Return a share in percent; only 1 is shown as 100 %, and only 0 as 0 %."""
    if value is None:
        return NOTHING
    text = percentage(value, digits)
    if 0 < value < 1 and text in (percentage(0, digits), percentage(1, digits)):
        text = percentage(value, 1)
        if value > 0.999:
            text = "> 99.9 %"
        elif value < 0.001:
            text = "< 0.1 %"
    return Span(text, "", place, value)


def measured_share(value: float | None, place: str = "") -> Span:
    """Return a share that has an interval, with a decimal."""
    return share(value, place, digits=1)


def percent_limits(measured: Limited, between: str = ", ") -> str:
    """Return the ends of an interval of a share in percent, as `23, 59`, or the reason why there are none.

    They are whole numbers, and have a decimal where they are less than `NARROW` apart.
    """
    low, high = measured.low, measured.high
    digits = 1 if low is not None and high is not None and high - low < NARROW else 0
    return limits_text(measured, lambda end: percentage(end, digits).removesuffix(" %"), between)


def percent_bracketed(measured: Limited) -> str:
    """Return the ends of an interval of a share in percent and in brackets, as ` [23, 59]`; empty without ends and reason."""
    if _has_limits(measured):
        return f" [{percent_limits(measured)}]"
    return ""


def rate_text(value: float | None, measured: Limited) -> str:
    """Return a share with its interval as text, as `40.0 % [23, 59]`."""
    if value is None:
        return "–"
    return f"{measured_share(value).text}{percent_bracketed(measured)}"


def spoken(value: float | None, place: str = "") -> Span:
    """Return a share of addressed weight, with enough digits that values below `SPEAKING` do not round up to it."""
    if value is None or value >= SPEAKING:
        return share(value, place)
    digits = next((decimals for decimals in range(3) if round(value, decimals + 2) < SPEAKING), None)
    text = f"< {percentage(SPEAKING)}" if digits is None else percentage(value, digits)
    if digits != 0:
        return Span(text, "", place, value)
    return share(value, place)


def cost(value: float | None, place: str = "", *, known: float | None = None) -> Span:
    """Return a cost in US dollars; if part of it is unknown, at least the `known` part."""
    if value is None:
        return Span(f"at least {cost(known).text}" if known else "unknown", "muted")
    return Span(f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:,.4f}", "", place, value)


def cost_of(results: Used, place: str = "") -> Span:
    """Return the cost of results."""
    return cost(results.cost, f"{place}/cost" if place else "", known=results.cost_known)


def cost_text(value: float | None, known: float | None = None) -> str:
    """Return a cost in US dollars as plain text."""
    return cost(value, known=known).text


def several(count: int, thing: str, things: str = "") -> str:
    """Return a count with its noun; `things` is the plural, by default with an s."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def in_words(names: Sequence[str]) -> str:
    """Return names joined for a sentence: `a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def used(results: Used, paid: Spending | None = None) -> str:
    """Return the usage of results in words: calls, US dollars and, if the ledger had replies, what the run itself paid."""
    text = f"{several(results.calls, 'call')}, cost {cost_of(results).text}"
    if paid is None or not results.calls:
        return text
    if not paid.calls:
        return f"{text}, all from the ledger"
    paid_text = cost_text(paid.cost)
    if results.cost is None or paid.cost >= results.cost or paid_text == cost_text(results.cost):
        return text
    return f"{text}, of which this run paid {paid_text}"


def is_sure(p_value: float | None) -> bool:
    """Return whether a p-value marks a difference as significant; false without a test."""
    return p_value is not None and p_value <= SURE


def disagree(difference: Limited | None, p_value: float | None) -> bool:
    """Return whether the interval of a difference holds 0 although its p-value is at most `SURE`, or the reverse."""
    if difference is None or difference.low is None or difference.high is None or p_value is None:
        return False
    return (difference.low <= 0 <= difference.high) == is_sure(p_value)


def is_clear(difference: Limited | None, p_value: float | None) -> bool:
    """Return whether a difference is beyond chance: by its p-value, with which its interval, if any, must agree."""
    return is_sure(p_value) and not disagree(difference, p_value)


def p_value(value: float | None, place: str = "") -> Span:
    """Return a p-value; small ones as `< 0.001`."""
    if value is None:
        return NOTHING
    text = "< 0.001" if value < 0.001 else f"{value:.3f}"
    return Span(text, "strong" if value <= SURE else "", place, value)


def p_text(value: float | None) -> str:
    """Return a p-value in words, as `p = 0.017` or `p < 0.001`."""
    text = p_value(value).text
    if text.startswith("<"):
        return f"p {text}"
    return f"p = {text}"


def scored_of(counts: ScoredCounts, place: str) -> Cell:
    """Return the number of scored answers, of all answers."""
    return (count(counts.answers_scored, f"{place}/answers_scored"), "/", count(counts.answers, f"{place}/answers"))


def failures(kinds: Mapping[Name, int], place: str) -> Cell:
    """Return failures as counts by kind."""
    if not kinds:
        return NOTHING
    pieces: list[str | Span] = []
    for kind, number in kinds.items():
        pieces += [", " if pieces else "", count(number, f"{place}{pointer(kind)}", tone="bad"), f" {kind}"]
    return tuple(pieces)


def counts(counted: Mapping[Name, int], before: str = "") -> str:
    """Return counts in words, as `3 refused, 1 truncated`; `none` without any."""
    return ", ".join(f"{number:,} {before}{name}" for name, number in counted.items()) or "none"


def kinds_of_failures(models: Mapping[str, Mapping[FailureKind, int]], things: str) -> str:
    """Return a sentence with the kinds of failures of each model, with open items listed separately; empty without any."""
    failed: list[str] = []
    unpaid: list[str] = []
    waiting: list[str] = []
    for name, kinds in models.items():
        closed = {kind: number for kind, number in kinds.items() if kind not in OPEN_KINDS}
        if closed:
            failed.append(f"{name} {counts(closed)}")
        if n_unpaid := kinds.get("budget"):
            unpaid.append(f"{name} {n_unpaid:,}")
        if n_waiting := kinds.get("waiting"):
            waiting.append(f"{name} {n_waiting:,}")
    sentences: list[str] = []
    if failed:
        sentences.append(f"Failed {things}: {'; '.join(failed)}.")
    if unpaid:
        sentences.append(
            f"Open {things}, which the budget did not reach: {'; '.join(unpaid)}. "
            "A resume with a larger one asks for them."
        )
    if waiting:
        sentences.append(f"Open {things}, for which people have not answered yet: {'; '.join(waiting)}.")
    return " ".join(sentences)


def measured(figure: Interval | None, place: str = "", *, digits: int = 2, ends: int = 0, signed: bool = False) -> Cell:
    """Return a mean with its interval in brackets (with `ends` decimals); a difference is `signed`."""
    if figure is None:
        return NOTHING
    mean = figure.mean
    text = _end_text(mean, digits, signed=signed).replace("-", MINUS)
    limits = bracketed(figure, lambda end: _end_text(end, ends, signed=signed))
    return (Span(text, "strong", f"{place}/mean" if place else "", mean), Span(limits, "muted"))


def share_of(figure: CountedRate, place: str = "") -> Cell:
    """Return a share of trials with its interval, as `12 of 30, 40.0 % [23, 59]`."""
    if figure.share is None:
        return f"{figure.k} of {figure.n}"
    rate = measured_share(figure.share, place and f"{place}/share")
    return (f"{figure.k} of {figure.n}, ", rate, Span(percent_bracketed(figure), "muted"))


def right_of(figure: CountedRate | None, place: str = "") -> Cell:
    """Return a share of trials in short form, as `40.0 % [23, 59]`."""
    if figure is None or figure.share is None:
        return NOTHING
    limits = percent_bracketed(figure).replace(" ", "\u00a0")
    return (measured_share(figure.share, place and f"{place}/share"), Span(limits, "muted"))


def strict_of(figure: StrictShare | None, place: str = "") -> Cell:
    """Return a strict accuracy in short form, as `70.0 % [48, 85], up to 100.0 %`."""
    right = right_of(figure, place)
    if figure is None or not figure.n_undecided:
        return right
    return (*spans(right), ", up to\u00a0", upper_of(figure, place))


def upper_of(figure: StrictShare, place: str = "") -> Span:
    """Return the strict accuracy if all undecided answers were right."""
    return measured_share(figure.upper, place and f"{place}/upper")


def undecided_of(figure: StrictShare | None, place: str = "") -> Cell:
    """Return the number of undecided answers, and the strict accuracy if they were right, as `6, up to 100.0 % (46–100)`."""
    if figure is None:
        return NOTHING
    undecided = figure.n_undecided
    cell = count(undecided, place and f"{place}/n_undecided")
    if undecided:
        return (cell, ", up to\u00a0", upper_of(figure, place), outer_of(figure))
    return cell


def outer_of(figure: StrictShare) -> str:
    """Return the 95 % interval of the range that undecided answers leave open, in percent, as ` (46–100)`."""
    if figure.outer is None:
        return ""
    return f" ({percent_limits(figure.outer, '–')})"


def percent_bounds(figure: Share | StrictShare | None) -> Cell:
    """Return the bounds of a share: if none, or all, of the unknown trials were hits."""
    if figure is None:
        return NOTHING
    return percent_ends(figure.bounds)


def percent_ends(measured: Limited | None) -> Cell:
    """Return the ends of an interval or of bounds of a share in percent, as `46 – 70 %`."""
    if measured is None:
        return NOTHING
    if measured.low is None or measured.high is None:
        return no_interval(measured)
    return f"{percent_limits(measured, ' – ')} %"


def bar(score: Interval | None) -> Cell:
    """Return an interval and its mean on the scale from 1 to 5, drawn with characters."""
    if score is None:
        return ""

    def column(value: float) -> int:
        share = (value - LOWEST) / (HIGHEST - LOWEST)
        return min(BAR_WIDTH - 1, max(0, round(share * (BAR_WIDTH - 1))))

    ends = ends_of(score)
    mean = column(score.mean)
    low = mean if ends.low is None else column(ends.low)
    high = mean if ends.high is None else column(ends.high)
    before, after = "━" * (mean - low), "━" * (high - mean)
    return ("·" * low, Span(before, "cited"), Span("●", "strong"), Span(after, "cited"), "·" * (BAR_WIDTH - 1 - high))


BAR = Column("1" + "\u00a0" * (BAR_WIDTH - 2) + "5", numeric=False, only="terminal")
"""The column of `bar`."""

PLANTED = (Column("true score", only="terminal"), Column("in interval", only="terminal"))
"""The columns of `within`: the planted value, and whether the interval contains it."""


def within(expected: float | None, low: float | None, high: float | None, text: str = "") -> list[Cell]:
    """Return a planted value, and whether an interval contains it, as two cells."""
    if expected is None or low is None or high is None:
        return [NOTHING, NOTHING]
    inside = low <= expected <= high
    return [text or f"{expected:.2f}", Span("yes", "good") if inside else Span("NO", "bad")]
