"""What the tables of a probe have in common: names of evaluators, shares and differences in percent."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dokimasia.domain.blindspots import EVALUATORS, Evaluator, paradigm_of
from dokimasia.prompts.dimensions import error_dimensions, error_groups
from dokimasia.report import figures
from dokimasia.report.blocks import Cell, Column, Span
from dokimasia.report.data import ReportData

PARADIGMS = {
    "single": "single",
    "pairwise": "pairwise",
    "reference": "reference",
    "checkpoints": "checkpoints",
    "gated": "gated",
    "right-or-wrong": "right or wrong",
}
STRATEGIES = {"vanilla": "V", "rubric": "R", "rules": "R", "axes": "Ax", "axes-rubric": "Ax+R", "axes-rules": "Ax+R"}
MEANING_OF_STRATEGIES = "V: vanilla; R: with a rubric or rules; Ax: with axes; Ax+R: with both"

LOWER, HIGHER = "lower is better", "higher is better"


def tasks(data: ReportData) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Yield each task with its figures and their place."""
    for task, found in data.summary["tasks"].items():
        yield task, found, figures.pointer("tasks", task)


def titled(text: str, task: str, data: ReportData) -> str:
    """Return a table's title with its task, where there are several."""
    return f"{text}, {task}" if len(data.summary["tasks"]) > 1 else text


def paradigm(evaluator: Evaluator) -> str:
    """Return the name of an evaluator's paradigm."""
    return PARADIGMS[paradigm_of(evaluator)]


def strategy(evaluator: Evaluator) -> str:
    """Return the short name of an evaluator's strategy; a dash where its paradigm has one alone."""
    return STRATEGIES.get(evaluator.partition("-")[2], "–") if evaluator not in PARADIGMS else "–"


def short(evaluator: Evaluator) -> str:
    """Return an evaluator's name in little room, as `pairwise Ax+R`."""
    own = strategy(evaluator)
    return paradigm(evaluator) if own == "–" else f"{paradigm(evaluator)} {own}"


def evaluators_of(found: Mapping[str, Any]) -> list[Evaluator]:
    """Return the evaluators that any judge of a task was asked under, in their fixed order."""
    asked = {name for judge in found["judges"].values() for name in judge["evaluators"]}
    return [name for name in EVALUATORS if name in asked]


def each(found: Mapping[str, Any], place: str) -> Iterator[tuple[str, Evaluator, Mapping[str, Any], str]]:
    """Yield every judge and evaluator with its figures and their place."""
    for judge, own in found["judges"].items():
        for evaluator in evaluators_of(found):
            if evaluator in own["evaluators"]:
                at = f"{place}{figures.pointer('judges', judge, 'evaluators', evaluator)}"
                yield judge, evaluator, own["evaluators"][evaluator], at


def dimension(task: Any, name: str) -> str:
    """Return the published title of a dimension; its name where it is none of ours."""
    known = error_dimensions(task).get(name)
    return name if known is None else known.title


def group(task: Any, name: str) -> str:
    """Return a group with its published title."""
    known = error_groups(task).get(name)
    return name if known is None else f"{known} ({name})"


def percent(one: Mapping[str, Any] | None, place: str = "", *, tone: str = "strong") -> Cell:
    """A share of `shape.ProbeShare` with its interval, as `40 % [23, 59]`; nothing where nothing was measured."""
    if one is None or one["share"] is None:
        return figures.NOTHING
    return (_number(one["share"], f"{place}/share", tone), _limits(one))


def mean_percent(one: Mapping[str, Any] | None, place: str = "") -> Cell:
    """The same of a mean with its interval."""
    if one is None:
        return figures.NOTHING
    return (_number(one["mean"], f"{place}/mean", "strong"), _limits(one))


def points(one: Mapping[str, Any] | None, place: str = "", *, sure: bool = False) -> Cell:
    """A difference of shares in percentage points with its interval; marked where it is no chance."""
    if one is None:
        return figures.NOTHING
    text = figures.signed_text(100 * one["mean"], 1)
    number = Span(text, "strong" if sure else "", f"{place}/mean", one["mean"])
    return (number, _limits(one, lambda end: figures.signed_text(100 * end, 0)))


def tinted(one: Mapping[str, Any] | None, place: str, *, marked: bool = False) -> Cell:
    """A share without its interval, tinted: what is missed seldom is good."""
    if one is None or one["share"] is None:
        return figures.NOTHING
    text = f"{100 * one['share']:.0f}"
    return Span(
        f"{text} *" if marked else text, "bad" if marked else "", f"{place}/share", one["share"], 1 - one["share"]
    )


def scored(one: Mapping[str, Any], place: str) -> Cell:
    """How many of how many items were judged."""
    return (figures.count(one["n_scored"], f"{place}/n_scored"), "/", figures.count(one["n"], f"{place}/n"))


def differing(one: Mapping[str, Any], place: str) -> list[Cell]:
    """The cells of a comparison: both shares, the difference with its interval, over how many items, its adjusted p-value."""
    sure = one["adjusted"] is not None and one["adjusted"] <= figures.SURE
    shares = [
        figures.NOTHING if one["shares"] is None else _number(one["shares"][side], f"{place}/shares/{side}", "")
        for side in (0, 1)
    ]
    return [
        *shares,
        points(one["difference"], f"{place}/difference", sure=sure),
        figures.count(one["n"], f"{place}/n"),
        figures.p_value(one["adjusted"]),
    ]


DIFFERING = (
    Column("first", meaning="undetected on the first side, in percent, over the items judged on both"),
    Column("second", meaning="undetected on the second side, in percent, over the items judged on both"),
    Column("difference", meaning="in percentage points, second less first, paired by item, with its 95 % interval"),
    Column("items", meaning="judged on both sides"),
    Column("adjusted p", meaning="two-sided, by whole images; Benjamini and Hochberg over the table"),
)


def _number(value: float, place: str, tone: Any) -> Span:
    return Span(f"{100 * value:.1f}", tone, place, value)


def _limits(one: Mapping[str, Any], write: Callable[[float], str] = lambda end: f"{100 * end:.0f}") -> Span:
    limits = figures.bracketed(one, write)
    return Span(limits if one.get("no_interval") else limits.replace(" ", "\u00a0"), "muted")
