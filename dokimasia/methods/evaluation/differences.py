"""Paired differences for all pairs of models on the samples scored for both, with significance tests."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict

from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Chart, Fold, Paragraph, Section, Span
from dokimasia.report.charts import Point, interval_chart, intervals_said
from dokimasia.report.data import ReportData
from dokimasia.report.fields import Bounds, Display, Interval, TableRow, as_json
from dokimasia.report.footnotes import disagreement
from dokimasia.report.tables import TableColumn, column, computed_column, part_column, table
from dokimasia.runs.measures import rounded
from dokimasia.runs.reading.comparison import ComparisonSide, compare

MOST_DRAWN = 28
MOST_OPEN = 28
MOST_NAMED = 6


class PairFigures(BaseModel):
    """Base of the models for what `runs.reading.comparison.compare` returns."""

    model_config = ConfigDict(frozen=True)


class TestedDifference(PairFigures):
    """A difference (second model minus first) with its p-value, plain and adjusted over all pairs."""

    difference: Interval | None
    p_value: float | None
    adjusted: Annotated[
        float | None,
        Display("adjusted p", "Benjamini and Hochberg, over all pairs of this table", write=figures.p_value),
    ] = None

    @property
    def sure(self) -> bool:
        """Whether the adjusted p-value is at most `figures.SURE`."""
        return self.adjusted is not None and self.adjusted <= figures.SURE


D = TypeVar("D", bound=TestedDifference)


class ChangedSamples(PairFigures):
    """Number of samples on which the second model scores higher, equal or lower."""

    higher: int
    equal: int
    lower: int


class UndecidedAnswers(PairFigures):
    """Number of undecided answers of each of two models."""

    first: int
    second: int


class AccuracyDifference(TestedDifference):
    """The difference of strict accuracy, on samples where neither model failed."""

    n: int
    n_undecided: UndecidedAnswers
    bounds: Bounds
    outer: Bounds | None = None


class StatedDifference(TestedDifference):
    """The difference of the shares of the criteria's weight that two models address."""

    n: int
    first: float
    second: float

    @property
    def least(self) -> float:
        """The smaller share."""
        return min(self.first, self.second)

    @property
    def apart(self) -> bool:
        """Whether the shares differ, or one is so small, that scores should not be compared directly."""
        return self.sure or self.least < figures.SPEAKING


class SharedCriteriaDifference(TestedDifference):
    """The difference of scores on the criteria that both models address."""

    n: int
    criteria: int


class ModelPair(TestedDifference):
    """Two models: `better` has the higher mean and is the second, from which the first, `worse`, is subtracted."""

    better: str
    worse: str
    n_shared: int
    n_paired: int
    changed: ChangedSamples
    strict_accuracy: AccuracyDifference | None = None
    stated: StatedDifference | None = None
    both_stated: SharedCriteriaDifference | None = None


def rival_differences(sides: Mapping[str, ComparisonSide], order: Sequence[str], *, seed: int) -> list[ModelPair]:
    """Return the paired differences for all pairs of models: the better model minus the worse one.

    Args:
        sides: each model's answers, by its displayed name.
        order: the models to compare, best first.
        seed: seed of the bootstrap and of the permutation tests.
    """

    def compare_pair(names: tuple[str, str]) -> ModelPair:
        better, worse = names
        compared = as_json(compare(sides[worse], sides[better], seed=seed, top=0, agreement=False))
        return ModelPair.model_validate({"better": better, "worse": worse, **compared})

    compared = combinations([name for name in order if name in sides], 2)
    pairs = _adjusted([compare_pair(names) for names in compared])
    for part in ("strict_accuracy", "stated", "both_stated"):
        with_part = [number for number, pair in enumerate(pairs) if getattr(pair, part) is not None]
        adjusted = _adjusted([getattr(pairs[number], part) for number in with_part])
        for number, difference in zip(with_part, adjusted, strict=True):
            pairs[number] = pairs[number].model_copy(update={part: difference})
    return pairs


def _adjusted(differences: Sequence[D]) -> list[D]:
    """Return the differences with p-values adjusted by Benjamini and Hochberg."""
    adjusted = iter(false_discovery_rate([each.p_value for each in differences if each.p_value is not None]))
    return [
        each if each.p_value is None else each.model_copy(update={"adjusted": rounded(next(adjusted))})
        for each in differences
    ]


def pairs_of(data: ReportData) -> list[ModelPair]:
    """Return the compared pairs of a report."""
    return [ModelPair.model_validate(pair) for pair in data.differences]


def section(data: ReportData) -> Section | None:
    """Return the section on paired differences; None with fewer than two models."""
    pairs = pairs_of(data)
    if not pairs:
        return None
    measured = [pair for pair in pairs if pair.difference is not None]
    charted = measured if len(measured) <= MOST_DRAWN else _neighbours(measured, data.by_score())
    blocks = _share_blocks(pairs)
    if charted:
        points = [_point(pair) for pair in charted]
        extent = "all" if len(charted) == len(measured) else "neighbouring"
        blocks.append(
            Chart(
                interval_chart(points, title="difference of scores, points", scale=None, zero=True),
                f"Paired differences {intervals_said(points)} of {extent} pairs of models; "
                f"filled: adjusted p at most {figures.SURE}",
            )
        )
    if measured:
        by_pair = table(ModelPair, _rows(pairs), COLUMNS, "Paired differences of every two models")
        blocks.append(by_pair if len(pairs) <= MOST_OPEN else Fold(f"All {len(pairs)} pairs", (by_pair,)))
    lost = sum(pair.n_shared - pair.n_paired for pair in pairs)
    blocks.append(
        Paragraph(
            "Differences are taken sample by sample, since a hard sample is hard for both; what failed on either side "
            f"is left out{'' if lost else ' (here nothing was)'}. p-values are adjusted for multiple comparisons "
            "(false discovery rate).",
            "note",
        )
    )
    blocks += disagreement(tested for pair in pairs for tested in (pair, pair.strict_accuracy, pair.both_stated))
    return Section("differences", "Differences between models", blocks, menu="Differences")


def _rows(pairs: Iterable[ModelPair]) -> list[TableRow[ModelPair]]:
    return [TableRow("", pair) for pair in pairs]


def _mean(row: TableRow[ModelPair]) -> Cell:
    difference = row.figures.difference
    if difference is None:
        return figures.NOTHING
    return Span(figures.signed_text(difference.mean), "strong" if row.figures.sure else "")


def _change_cell(row: TableRow[ModelPair]) -> Cell:
    changes = row.figures.changed
    return f"{changes.higher} / {changes.equal} / {changes.lower}"


COLUMNS: list[TableColumn[ModelPair]] = [
    computed_column("higher", lambda row: Span(row.figures.better, "strong"), numeric=False),
    computed_column("lower", lambda row: row.figures.worse, numeric=False),
    part_column("paired", "n_paired", "n_shared", meaning="samples scored for both, of those that both were asked"),
    computed_column("difference", _mean, meaning="mean of the differences by sample, in points from 1 to 5"),
    column(
        "difference",
        title="95 % interval",
        meaning="bootstrap, clustered by samples that share an image",
        write=partial(figures.interval, signed=True),
    ),
    column("p_value", title="p", meaning="two-sided sign flips of whole clusters", write=figures.p_value),
    column("adjusted"),
    computed_column(
        "higher / equal / lower",
        _change_cell,
        meaning="samples on which the model with the higher mean scores higher, equal, lower",
    ),
]


def _share_blocks(pairs: Sequence[ModelPair]) -> list[Block]:
    """Return the blocks before the differences: shares addressed, strict accuracy, and scores on shared criteria."""
    blocks: list[Block] = []
    low_share_pairs: list[ModelPair] = []
    unequal_share_pairs: list[ModelPair] = []
    for pair in pairs:
        if pair.stated is not None and pair.stated.apart:
            (low_share_pairs if pair.stated.least < figures.SPEAKING else unequal_share_pairs).append(pair)
    if low_share_pairs:
        warning = (
            f"One of two models addresses less than {figures.share(figures.SPEAKING).text} of the criteria's weight, on the "
            "samples scored for both, so their scores also say how much each says. Go by strict accuracy, and by the criteria "
            "that both address."
        )
        blocks.append(Bullets(_shares(low_share_pairs), warning))
    if unequal_share_pairs:
        shares = "; ".join(_shares(unequal_share_pairs))
        text = f"The models address different, though large, shares of the criteria weight: {shares}."
        blocks.append(Paragraph(text, "note"))
    comparable_pairs = [pair for pair in pairs if pair.strict_accuracy is not None or pair.both_stated is not None]
    if comparable_pairs:
        if any(pair.both_stated is not None for pair in comparable_pairs):
            about = "Strict accuracy, and scores on the criteria that both models address"
            spoken = table(ModelPair, _rows(comparable_pairs), [*ACCURACY_COLUMNS, *SPOKEN_COLUMNS], about)
        else:
            spoken = table(ModelPair, _rows(comparable_pairs), [*ACCURACY_COLUMNS, UNDECIDED_COLUMN], "Strict accuracy")
        folded = len(comparable_pairs) > MOST_OPEN
        blocks.append(Fold(f"All {len(comparable_pairs)} pairs, by what they address", (spoken,)) if folded else spoken)
    return blocks


def _shares(pairs: Sequence[ModelPair]) -> list[str]:
    """Return a line per pair with the shares that both models address, and a line that counts the omitted pairs."""
    lines: list[str] = []
    for pair in pairs[:MOST_NAMED]:
        if pair.stated is not None:
            better, worse = figures.spoken(pair.stated.second).text, figures.spoken(pair.stated.first).text
            lines.append(f"{pair.better} {better}, {pair.worse} {worse}")
    if len(pairs) > MOST_NAMED:
        lines.append(f"and {figures.several(len(pairs) - MOST_NAMED, 'more pair')}")
    return lines


def _gap(tested: TestedDifference | None, *, unit: int, digits: int) -> Cell:
    """Return a paired difference with its interval."""
    if tested is None or tested.difference is None:
        return figures.NOTHING

    def write(value: float) -> str:
        return figures.signed_text(unit * value, digits)

    mean = Span(write(tested.difference.mean), "strong" if tested.sure else "")
    return mean, Span(figures.bracketed(tested.difference, write), "muted")


def _gap_p(tested: TestedDifference | None) -> Cell:
    if tested is None or tested.difference is None:
        return figures.NOTHING
    return figures.p_value(tested.adjusted)


def _stated_shares(row: TableRow[ModelPair]) -> Cell:
    shares = row.figures.stated
    if shares is None:
        return figures.NOTHING
    return figures.share(shares.first), " / ", figures.share(shares.second)


def _shared_criteria(row: TableRow[ModelPair]) -> Cell:
    shared = row.figures.both_stated
    if shared is None:
        return figures.NOTHING
    return f"{shared.criteria:,} in {shared.n:,}"


def _undecided(row: TableRow[ModelPair]) -> Cell:
    """Return both models' undecided answers, and the bounds of the difference over all their outcomes."""
    accuracy = row.figures.strict_accuracy
    if accuracy is None:
        return figures.NOTHING
    undecided, bounds = accuracy.n_undecided, accuracy.bounds
    low, high = figures.signed_text(100 * bounds.low, 1), figures.signed_text(100 * bounds.high, 1)
    cell = f"{undecided.first:,} and {undecided.second:,}: {low} to {high}"
    if accuracy.outer is None:
        return cell
    low, high = figures.signed_text(100 * accuracy.outer.low, 1), figures.signed_text(100 * accuracy.outer.high, 1)
    return f"{cell} ({low} to {high})"


ACCURACY_COLUMNS: list[TableColumn[ModelPair]] = [
    computed_column("first", lambda row: row.figures.worse, numeric=False),
    computed_column("second", lambda row: Span(row.figures.better, "strong"), numeric=False),
    computed_column(
        "strict accuracy",
        lambda row: _gap(row.figures.strict_accuracy, unit=100, digits=1),
        meaning="second minus first, in percentage points, on samples where neither failed, undecided answers counted as not "
        "right; 95 % interval",
    ),
    computed_column(
        "adjusted p",
        lambda row: _gap_p(row.figures.strict_accuracy),
        meaning="two-sided sign flips of whole clusters; Benjamini and Hochberg over all pairs",
    ),
]
SPOKEN_COLUMNS: list[TableColumn[ModelPair]] = [
    computed_column(
        "addressed",
        _stated_shares,
        meaning="share of the criteria's weight that first and second address, on samples scored for both",
    ),
    computed_column(
        "criteria", _shared_criteria, meaning="criteria that both address, and the samples that these belong to"
    ),
    computed_column(
        "score on these",
        lambda row: _gap(row.figures.both_stated, unit=1, digits=2),
        meaning="second minus first, in points from 1 to 5, paired by sample; 95 % interval; a model that is silent just "
        "where it errs looks better here than it is",
    ),
    computed_column("adjusted p", lambda row: _gap_p(row.figures.both_stated), meaning="as before"),
]
UNDECIDED_COLUMN: TableColumn[ModelPair] = computed_column(
    "undecided",
    _undecided,
    meaning="answers of first and second, and where the difference of strict accuracy lies whatever they are; in brackets "
    "with its sampling error",
)


def _neighbours(pairs: Sequence[ModelPair], ranked: Sequence[str]) -> list[ModelPair]:
    """Return, for each model, its pair with the next lower-ranked model it was compared with."""
    rank = {name: number for number, name in enumerate(ranked)}
    nearest: dict[str, ModelPair] = {}
    for pair in pairs:
        best = nearest.get(pair.better)
        if best is None or rank[pair.worse] < rank[best.worse]:
            nearest[pair.better] = pair
    return list(nearest.values())


def _point(pair: ModelPair) -> Point:
    name = f"{pair.better} − {pair.worse}"
    if pair.difference is None:
        return Point(name, 0.0, None, None, hollow=True)
    return Point(name, pair.difference.mean, pair.difference.low, pair.difference.high, hollow=not pair.sure)
