"""Figures as text: how scores, intervals, shares, costs and p-values are written, each with its place in `show --json`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.report.blocks import Cell, Column, Span, Tone
from dokimasia.report.fields import CountedRate, Interval, Limited, ScoredCounts, Share, StrictShare, Used, pointer

Figures = Mapping[str, Any]
"""Figures as plain JSON, of methods whose figures are no models."""

M = TypeVar("M", bound=BaseModel)
Name = TypeVar("Name", bound=str)

NOTHING = Span("–", "muted")
"""Stands where nothing was measured."""

NO_INTERVAL = "no interval: "
"""Begins the reason that stands in the place of an interval."""

LOWEST, HIGHEST = 1.0, 5.0
MINUS = "\N{MINUS SIGN}"
BAR_WIDTH = 16
SURE = 0.05
"""An adjusted p-value at or below this is marked."""
SPEAKING = 0.8
"""Below this share of weight spoken to, a score is said to speak of how much is said."""


class Ends(NamedTuple):
    """The two ends of an interval or of bounds; where there are none, why."""

    low: float | None
    high: float | None
    no_interval: str | None = None


def ends_of(measured: Limited | Figures) -> Ends:
    """Return the ends of anything that has two."""
    if isinstance(measured, Mapping):
        return Ends(measured["low"], measured["high"], measured.get("no_interval"))
    return Ends(measured.low, measured.high, getattr(measured, "no_interval", None))


def _typed(model: type[M], figures: M | Figures) -> M:
    """Return figures as their model, without a check of what is JSON."""
    return model.model_construct(**figures) if isinstance(figures, Mapping) else figures


def score(value: float | None, place: str = "", *, tone: Tone = "strong", tinted: bool = False) -> Span:
    """A score from 1 to 5, with two decimals."""
    if value is None:
        return NOTHING
    heat = (value - LOWEST) / (HIGHEST - LOWEST) if tinted else None
    return Span(f"{value:.2f}", tone, place, value, heat)


def interval(measured: Limited | Figures | None, place: str = "", *, signed: bool = False, digits: int = 2) -> Cell:
    """The two ends of an interval or of bounds (`low`, `high`), or why there are none."""
    if measured is None:
        return NOTHING
    ends = ends_of(measured)
    if ends.low is None or ends.high is None:
        return no_interval(ends)
    low = Span(_end_text(ends.low, digits, signed=signed), "", f"{place}/low" if place else "", ends.low)
    high = Span(_end_text(ends.high, digits, signed=signed), "", f"{place}/high" if place else "", ends.high)
    return (low, " to " if signed else " – ", high)


def _end_text(end: float, digits: int, *, signed: bool) -> str:
    return signed_text(end, digits) if signed else f"{end:.{digits}f}"


def no_interval(measured: Limited | Figures) -> Span:
    """What stands in the place of an interval that is not given: its reason, where it has one."""
    reason = ends_of(measured).no_interval
    return Span(f"{NO_INTERVAL}{reason}", "muted") if reason else NOTHING


def limits_text(measured: Limited | Figures, write: Callable[[float], str], between: str = "–") -> str:
    """The ends of an interval as text, as `0.20–0.41`, or why there are none."""
    ends = ends_of(measured)
    if ends.low is None or ends.high is None:
        return no_interval(ends).text
    return f"{write(ends.low).replace('-', MINUS)}{between}{write(ends.high).replace('-', MINUS)}"


def bracketed(measured: Limited | Figures, write: Callable[[float], str]) -> str:
    """The same in brackets, as ` [0.20, 0.41]`; empty where nothing is known."""
    ends = ends_of(measured)
    unknown = ends.low is None and not ends.no_interval
    return "" if unknown else f" [{limits_text(ends, write, ', ')}]"


def signed_text(value: float, digits: int = 2) -> str:
    """A difference with its sign; what rounds to nothing has none."""
    text = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", MINUS)


def number(value: float | None, place: str = "", *, digits: int = 2) -> Span:
    """A number with so many digits behind the point."""
    if value is None:
        return NOTHING
    return Span(f"{value:.{digits}f}".replace("-", MINUS), "", place, value)


def signed(value: float | None, place: str = "", *, digits: int = 2) -> Span:
    """A difference with its sign."""
    return NOTHING if value is None else Span(signed_text(value, digits), "", place, value)


def count(value: int | None, place: str = "", *, tone: Tone = "") -> Span:
    """A whole number with thin groups; unknown is said to be so."""
    return Span("unknown", "muted") if value is None else Span(f"{value:,}", tone, place, value)


def share(value: float | None, place: str = "") -> Span:
    """A share in percent; what is not all is never rounded to 100 %, nor what is not nothing to 0 %."""
    if value is None:
        return NOTHING
    text = f"{value:.0%}"
    if (text == "100%" and value < 1) or (text == "0%" and value > 0):
        text = f"{value:.1%}" if 0.001 <= value <= 0.999 else ("> 99.9%" if value > 0.5 else "< 0.1%")
    return Span(text.replace("%", " %"), "", place, value)


def spoken(value: float | None, place: str = "") -> Span:
    """A share of weight spoken to, with the digits that keep what is below `SPEAKING` below it."""
    if value is None or value >= SPEAKING:
        return share(value, place)
    digits = next((many for many in range(3) if round(value, many + 2) < SPEAKING), None)
    text = f"< {SPEAKING:.0%}" if digits is None else f"{value:.{digits}%}"
    return Span(text.replace("%", " %"), "", place, value) if digits != 0 else share(value, place)


def cost(value: float | None, place: str = "", *, known: float | None = None) -> Span:
    """US dollars; what is only in part `known` is at least that part, and unknown is said to be so."""
    if value is None:
        return Span(f"at least {cost(known).text}" if known else "unknown", "muted")
    return Span(f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:,.4f}", "", place, value)


def cost_of(results: Used | Figures, place: str = "") -> Span:
    """The cost of what results used."""
    spent = _typed(Used, results)
    return cost(spent.cost, f"{place}/cost" if place else "", known=spent.cost_known)


def cost_text(value: float | None, known: float | None = None) -> str:
    """US dollars where no value's place is needed."""
    return cost(value, known=known).text


def several(count: int, thing: str, things: str = "") -> str:
    """So many things in words; `things` is what several are called, by default with an s."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def in_words(names: Sequence[str]) -> str:
    """Names in a sentence: `a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def used(results: Used | Figures) -> str:
    """What a run came to: calls and US dollars, in words."""
    return f"{several(_typed(Used, results).calls, 'call')}, cost {cost_of(results).text}"


def p_value(value: float | None, place: str = "") -> Span:
    """A p-value; a small one by its bound."""
    if value is None:
        return NOTHING
    text = "< 0.001" if value < 0.001 else f"{value:.3f}"
    return Span(text, "strong" if value <= SURE else "", place, value)


def scored_of(counts: ScoredCounts | Figures, place: str) -> Cell:
    """How many of how many answers were scored."""
    if isinstance(counts, Mapping):
        scored, answers = counts["answers_scored"], counts["answers"]
    else:
        scored, answers = counts.answers_scored, counts.answers
    return (count(scored, f"{place}/answers_scored"), "/", count(answers, f"{place}/answers"))


def failures(kinds: Mapping[Name, int], place: str) -> Cell:
    """Counts by kind of failure."""
    if not kinds:
        return NOTHING
    pieces: list[str | Span] = []
    for kind, number in kinds.items():
        pieces += [", " if pieces else "", count(number, f"{place}{pointer(kind)}", tone="bad"), f" {kind}"]
    return tuple(pieces)


def counts(counted: Mapping[Name, int], before: str = "") -> str:
    """Counts in words, as `3 refused, 1 truncated`; nothing is `none`."""
    return ", ".join(f"{number:,} {before}{name}" for name, number in counted.items()) or "none"


def kinds_of_failures(models: Mapping[str, Mapping[FailureKind, int]], things: str) -> str:
    """Return a sentence with the kinds of failures of each model, what is open apart; empty without any."""
    failed: list[str] = []
    unpaid: list[str] = []
    waiting: list[str] = []
    for name, kinds in models.items():
        closed = {kind: number for kind, number in kinds.items() if kind not in OPEN_KINDS}
        if closed:
            failed.append(f"{name} {counts(closed)}")
        if kinds.get("budget"):
            unpaid.append(f"{name} {kinds['budget']:,}")
        if kinds.get("waiting"):
            waiting.append(f"{name} {kinds['waiting']:,}")
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


def measured(
    figure: Interval | Figures | None, place: str = "", *, digits: int = 2, ends: int = 0, signed: bool = False
) -> Cell:
    """A mean with its interval in brackets, which has `ends` digits behind the point; a difference is `signed`."""
    if figure is None:
        return NOTHING
    mean = _typed(Interval, figure).mean
    text = _end_text(mean, digits, signed=signed).replace("-", MINUS)
    limits = bracketed(figure, lambda end: _end_text(end, ends, signed=signed))
    return (Span(text, "strong", f"{place}/mean" if place else "", mean), Span(limits, "muted"))


def share_of(figure: CountedRate | Figures, place: str = "") -> Cell:
    """A share of trials, as `12 of 30, 40 % [23, 59]`."""
    trials = _typed(CountedRate, figure)
    if trials.share is None:
        return f"{trials.k} of {trials.n}"
    limits = bracketed(figure, lambda end: f"{100 * end:.0f}")
    return (f"{trials.k} of {trials.n}, ", share(trials.share, place and f"{place}/share"), Span(limits, "muted"))


def right_of(figure: CountedRate | Figures, place: str = "") -> Cell:
    """A share of trials in little room, as `40 % [23, 59]`."""
    trials = _typed(CountedRate, figure)
    if trials.share is None:
        return NOTHING
    limits = bracketed(figure, lambda end: f"{100 * end:.0f}").replace(" ", "\u00a0")
    return (share(trials.share, place and f"{place}/share"), Span(limits, "muted"))


def strict_of(figure: StrictShare | Figures, place: str = "") -> Cell:
    """A strict accuracy in little room, as `70 % [48, 85], up to 100 %`."""
    if not _typed(StrictShare, figure).n_undecided:
        return right_of(figure, place)
    pieces = right_of(figure, place)
    return (*(pieces if isinstance(pieces, tuple) else (pieces,)), ", up to\u00a0", upper_of(figure, place))


def upper_of(figure: StrictShare | Figures, place: str = "") -> Span:
    """The strict accuracy if all undecided answers were right."""
    return share(_typed(StrictShare, figure).upper, place and f"{place}/upper")


def undecided_of(figure: StrictShare | Figures, place: str = "") -> Cell:
    """How many answers are undecided, and the strict accuracy if they were right, as `6, up to 100 %`."""
    undecided = _typed(StrictShare, figure).n_undecided
    counted = count(undecided, place and f"{place}/n_undecided")
    return (counted, ", up to\u00a0", upper_of(figure, place)) if undecided else counted


def percent_bounds(figure: Share | StrictShare | Figures | None) -> Cell:
    """The bounds of a share: were none, or all, of the unknown ones so."""
    bounds = figure["bounds"] if isinstance(figure, Mapping) else figure and figure.bounds
    if bounds is None:
        return NOTHING
    ends = ends_of(bounds)
    return f"{100 * (ends.low or 0):.0f} – {100 * (ends.high or 0):.0f} %"


def bar(score: Interval | Figures | None) -> Cell:
    """An interval and its mean on the scale from 1 to 5, drawn with characters."""
    if score is None:
        return ""

    def column(value: float) -> int:
        share = (value - LOWEST) / (HIGHEST - LOWEST)
        return min(BAR_WIDTH - 1, max(0, round(share * (BAR_WIDTH - 1))))

    ends = ends_of(score)
    mean = column(_typed(Interval, score).mean)
    low = mean if ends.low is None else column(ends.low)
    high = mean if ends.high is None else column(ends.high)
    before, after = "━" * (mean - low), "━" * (high - mean)
    return ("·" * low, Span(before, "cited"), Span("●", "strong"), Span(after, "cited"), "·" * (BAR_WIDTH - 1 - high))


BAR = Column("1" + "\u00a0" * (BAR_WIDTH - 2) + "5", numeric=False, only="terminal")
"""The column of such bars."""

PLANTED = (Column("planted", only="terminal"), Column("within", only="terminal"))
"""The columns of what is planted, and whether the interval contains it."""


def within(expected: float | None, low: float | None, high: float | None, text: str = "") -> list[Cell]:
    """What is planted, and whether an interval contains it."""
    if expected is None or low is None or high is None:
        return [NOTHING, NOTHING]
    inside = low <= expected <= high
    return [text or f"{expected:.2f}", Span("yes", "good") if inside else Span("NO", "bad")]
