"""Figures as text: how scores, intervals, shares, costs and p-values are written, each with its place in `show --json`."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report.blocks import Cell, Span, Tone

NOTHING = Span("–", "muted")
"""Stands where nothing was measured."""

LOWEST, HIGHEST = 1.0, 5.0
MINUS = "\N{MINUS SIGN}"
SURE = 0.05
"""An adjusted p-value at or below this is marked."""


def pointer(*parts: str) -> str:
    """Return the JSON pointer (RFC 6901) of a place in the figures."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def score(value: float | None, place: str = "", *, tone: Tone = "strong", tinted: bool = False) -> Span:
    """A score from 1 to 5, with two decimals."""
    if value is None:
        return NOTHING
    heat = (value - LOWEST) / (HIGHEST - LOWEST) if tinted else None
    return Span(f"{value:.2f}", tone, place, value, heat)


def interval(measured: Mapping[str, float] | None, place: str = "", *, signed: bool = False, digits: int = 2) -> Cell:
    """The two ends of an interval or of bounds (`low`, `high`)."""
    if measured is None:
        return NOTHING
    ends = [
        Span(
            signed_text(measured[end], digits) if signed else f"{measured[end]:.{digits}f}",
            "",
            f"{place}/{end}" if place else "",
            measured[end],
        )
        for end in ("low", "high")
    ]
    return (ends[0], " to " if signed else " – ", ends[1])


def signed_text(value: float, digits: int = 2) -> str:
    """A difference with its sign; what rounds to nothing has none."""
    text = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", MINUS)


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


def cost(value: float | None, place: str = "") -> Span:
    """US dollars; unknown is said to be so."""
    if value is None:
        return Span("unknown", "muted")
    return Span(f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:,.4f}", "", place, value)


def p_value(value: float | None) -> Span:
    """A p-value; a small one by its bound."""
    if value is None:
        return NOTHING
    text = "< 0.001" if value < 0.001 else f"{value:.3f}"
    return Span(text, "strong" if value <= SURE else "", "", value)


def scored_of(model: Mapping[str, Any], place: str) -> Cell:
    """How many of how many were scored."""
    return (count(model["n_scored"], f"{place}/n_scored"), "/", count(model["n"], f"{place}/n"))


def failures(kinds: Mapping[str, int], place: str) -> Cell:
    """Counts by kind of failure."""
    if not kinds:
        return NOTHING
    pieces: list[str | Span] = []
    for kind, number in kinds.items():
        pieces += [", " if pieces else "", count(number, f"{place}{pointer(kind)}", tone="bad"), f" {kind}"]
    return tuple(pieces)
