"""The comparison of result files, of other harnesses or of runs: figures, conclusion, tables and sections of a page."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Section, Span, Table
from dokimasia.report.comparison import ChangedSample, ComparedMeans, difference_cells, direction_of
from dokimasia.report.conclusions import MOST_SENTENCES, as_paragraph, inconclusive_sentence
from dokimasia.report.data import SIMULATED_NOTE, Drawing, ReportData
from dokimasia.report.fields import Bounds, Count, Counts, Coverage, Display, Fraction, Interval
from dokimasia.report.figures import NOTHING, bracketed, count, disagree, in_words, p_value, several, signed_text
from dokimasia.report.footnotes import disagreement

FAILURE_TITLES = {
    "refused": "refused",
    "empty": "empty",
    "unparsed": "unparsed",
    "api_error": "API error",
    "unscored": "unscored",
}
"""The kinds of failure of results, each with its title."""

MOST_NOTED = 6
"""The maximum number of pairs with notes on bounds and excluded items."""

SHARES = (0.0, 1.0)
"""The scale of scores drawn in percent."""


class ResultsSource(Value):
    """A file of results, or a run: what wrote it, the scorer that was read, and how many items it has."""

    file: str
    format: str
    harness: str
    version: str | None
    scorer: str = Field(description="the scorer, the metric or the column of scores; empty without any")
    items: Count
    models: tuple[str, ...]
    notes: tuple[str, ...] = ()


class ModelResults(Value):
    """A model's results in one file; failed answers are no part of its score."""

    file: str
    model: str
    n: Annotated[Count, Display("items")]
    n_scored: Count = Field(description="items with a score")
    answers: Count = Field(description="answers, all repeats")
    answers_scored: Count
    coverage: Coverage
    score: Interval | None = Field(description="mean over the items with a score; null without any")
    recorded: float | None = Field(description="the mean of what the file has as scores, also of failures")
    failures: Counts = Field(description="failed answers by kind")
    bounds: Bounds | None = Field(description="of the mean over all items, if all failures were wrong, or all right")


class ResultsPair(ComparedMeans):
    """Two models on the items that both files have; `first` and `second` are the means over items with both scores."""

    first_model: str
    second_model: str
    n_shared: Count
    n_paired: Count
    only_first: Count = Field(description="items that only the first has")
    only_second: Count = Field(description="items that only the second has")
    other_content: Count = Field(description="items of one id that ask something else in the second")
    lost: Counts = Field(description="items of both without a score on one side, by reason")
    adjusted: Fraction | None = Field(description="the p-value by Benjamini and Hochberg, over all pairs")
    samples_needed: Count | None = Field(
        description="items that show a difference of this size with 80 % power; null where nothing can be said of it"
    )
    bounds: Bounds | None = Field(description="of the difference, whatever failed answers would have scored")
    most_changed: tuple[ChangedSample, ...] = ()


class ResultsComparison(Value):
    """Models in files of results, compared by item: every difference is the second minus the first."""

    sources: tuple[ResultsSource, ...]
    models: dict[str, ModelResults]
    pairs: tuple[ResultsPair, ...]
    direction: Literal["second minus first"]
    scale: tuple[float, float] = Field(description="the lowest and the highest score")
    clusters: Literal["images", "items"] = Field(
        description="what is resampled whole: items that share an image, or items, where no image is known"
    )
    n_clusters: Count
    by_id_alone: str = Field(
        default="", description="why items are paired by their ids alone; empty where their questions are compared, too"
    )
    simulated: tuple[str, ...] = Field(description="the models that are simulated")
    seed: Count

    @property
    def percent(self) -> bool:
        """Whether scores are shares, drawn in percent."""
        return self.scale == SHARES

    @property
    def unit(self) -> str:
        """The unit of differences, in words."""
        if self.percent:
            return "percentage points"
        return "points"

    def text(self, value: float, *, signed: bool = False) -> str:
        """Return a score, or a signed difference, as text without its unit."""
        number, digits = (100 * value, 1) if self.percent else (value, 2)
        if signed:
            return signed_text(number, digits)
        return f"{number:.{digits}f}"


def results_blocks(comparison: ResultsComparison) -> Iterator[Block]:
    """Yield the blocks of a comparison: its conclusion, then scores, failures and differences."""
    if comparison.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    yield Paragraph(as_paragraph(conclusion(comparison)), "lead")
    for section in sections(comparison):
        yield from section.blocks


def sections(comparison: ResultsComparison) -> Iterator[Section]:
    """Yield the sections of a comparison."""
    yield Section("scores", "Scores", [*_scores(comparison)])
    if any(model.failures for model in comparison.models.values()):
        yield Section("failures", "What of this score is failure", [_failures(comparison)], menu="Failures")
    if comparison.pairs:
        yield Section("differences", "Differences", [*_differences(comparison)])
    yield Section("files", "Files", [*_files(comparison)])


def results_drawing(comparison: ResultsComparison) -> Drawing:
    """Return how a page or a document of a comparison is drawn."""

    def maker(section: Section) -> Callable[[ReportData], Section]:
        return lambda data: section

    return Drawing(
        "results",
        tuple(map(maker, sections(comparison))),
        conclusion=lambda data: conclusion(comparison),
        figures=ResultsComparison,
    )


def conclusion(comparison: ResultsComparison) -> list[Cell]:
    """Return at most five sentences: who is better, by how much and how surely, and what failures leave open."""
    sentences: list[Cell] = []
    pair = _leading(comparison)
    if pair is not None:
        sentences += _lead(comparison, pair)
    sentences += _failed(comparison)
    if pair is not None and pair.bounds is not None and pair.n_paired < pair.n_shared:
        low, high = (comparison.text(end, signed=True) for end in (pair.bounds.low, pair.bounds.high))
        turn = ", so that they could reverse it" if _is_sure(pair) and pair.bounds.low <= 0 <= pair.bounds.high else ""
        sentences.append(
            f"Whatever the failures would have scored, the difference over all {several(pair.n_shared, 'item')} in both lies "
            f"from {low} to {high}{turn}."
        )
    if pair is not None and (pair.only_first or pair.only_second or pair.other_content):
        sentences.append(f"{_left_out(pair)}.")
    return sentences[:MOST_SENTENCES]


def _leading(comparison: ResultsComparison) -> ResultsPair | None:
    """Return the pair of the two models with the highest scores; None without a pair."""
    if len(comparison.pairs) == 1:
        return comparison.pairs[0]

    def height(pair: ResultsPair) -> tuple[float, float]:
        means = [comparison.models[name].score for name in (pair.first_model, pair.second_model)]
        values = sorted((mean.mean for mean in means if mean is not None), reverse=True)
        if len(values) == 2:
            return (values[0], values[-1])
        return (float("-inf"), float("-inf"))

    return max(comparison.pairs, key=height, default=None)


def _is_sure(pair: ResultsPair) -> bool:
    """Return whether a difference is beyond chance, as the table of pairs marks it."""
    measured = pair.measured
    return measured is not None and pair.adjusted is not None and direction_of(measured, pair.adjusted) is not None


def _lead(comparison: ResultsComparison, pair: ResultsPair) -> Iterator[Cell]:
    measured = pair.measured
    names = Span(pair.second_model, "strong"), Span(pair.first_model, "strong")
    if measured is None:
        yield (names[0], " and ", names[1], ": no item has a score of both.")
        return
    gap, adjusted = measured.gap, pair.adjusted
    limits = bracketed(gap, lambda end: comparison.text(end, signed=True))
    chance = p_value(adjusted).text
    chance = f"p {chance}" if chance.startswith("<") else f"p = {chance}"
    if len(comparison.pairs) > 1:
        chance = f"adjusted {chance}"
    size = (
        f": {comparison.text(gap.mean, signed=True)} {comparison.unit}{limits} on "
        f"{several(pair.n_paired, 'item')} scored for both"
    )
    if disagree(gap, adjusted):
        start = ("It is not clear whether ", names[0], " differs from ", names[1])
        yield (*start, f"{size}. {inconclusive_sentence(chance)}")
        return
    size += f" ({chance})."
    if _is_sure(pair):
        yield (names[0], f" is {'better' if gap.mean > 0 else 'worse'} than ", names[1], size)
        return
    yield ("It is not clear whether ", names[0], " differs from ", names[1], size)
    if pair.samples_needed is not None and pair.samples_needed > pair.n_paired:
        yield (
            f"If the true difference is this large, about {several(pair.samples_needed, 'item')} are needed to show it "
            "(80 % power)."
        )


def _failed(comparison: ResultsComparison) -> Iterator[Cell]:
    """Yield a sentence on the models with the most failures, and their scores with and without them."""
    failing = sorted(
        ((name, model) for name, model in comparison.models.items() if model.failures),
        key=lambda entry: -sum(entry[1].failures.values()),
    )
    if not failing:
        yield "No answer failed."
        return
    parts: list[str] = []
    for name, model in failing[:2]:
        kinds = ", ".join(f"{number:,} {FAILURE_TITLES[kind]}" for kind, number in model.failures.items())
        part = f"{name} failed on {sum(model.failures.values()):,} of {several(model.answers, 'answer')} ({kinds})"
        if model.bounds is not None and model.score is not None:
            ends = [_with_unit(comparison, end) for end in (model.bounds.low, model.bounds.high)]
            score = _with_unit(comparison, model.score.mean)
            these, they = "these were", "they were"
            if sum(model.failures.values()) == 1:
                these, they = "this answer was", "it was"
            part += f": its {score} would be {ends[0]} if {these} wrong and {ends[1]} if {they} right"
        parts.append(part)
    yield f"{'; '.join(parts)}."


def _with_unit(comparison: ResultsComparison, value: float) -> str:
    if comparison.percent:
        return f"{comparison.text(value)} %"
    return comparison.text(value)


def _left_out(pair: ResultsPair) -> str:
    parts: list[str] = []
    for number, where in ((pair.only_first, pair.first_model), (pair.only_second, pair.second_model)):
        if number:
            parts.append(f"{several(number, 'item')} only of {where}")
    if pair.other_content:
        parts.append(f"{several(pair.other_content, 'item')} of one id that ask something else")
    return f"Left out: {in_words(parts)}"


def _scores(comparison: ResultsComparison) -> Iterator[Block]:
    rows: list[list[Cell]] = []
    for name, model in comparison.models.items():
        score: Cell = NOTHING
        if model.score is not None:
            limits = bracketed(model.score, comparison.text)
            score = (Span(_with_unit(comparison, model.score.mean), "strong"), Span(limits, "muted"))
        recorded = NOTHING if model.recorded is None else _with_unit(comparison, model.recorded)
        bounds: Cell = NOTHING
        if model.bounds is not None:
            bounds = " – ".join(comparison.text(end) for end in (model.bounds.low, model.bounds.high))
        scored = (count(model.answers_scored), "/", count(model.answers))
        rows.append([Span(name, "strong"), count(model.n), scored, score, bounds, recorded])
    columns = [
        Column("model", numeric=False),
        Column("items"),
        Column("scored", meaning="answers with a score, of all answers"),
        Column("score", meaning=f"mean over items with a score, 95 % interval over {comparison.clusters}"),
        Column("wrong – right", meaning="the mean over all items if every failure were wrong, or right"),
        Column("recorded", meaning="the mean of what the file has as scores, failures as the harness counted them"),
    ]
    yield Table(columns, rows, "Scores of the models")
    if comparison.clusters == "items":
        yield Paragraph(
            "No image is known of any item, so that each item counts by itself; where items share images, intervals are too "
            "narrow: name the column with --map image=COLUMN.",
            "warning",
        )


def _failures(comparison: ResultsComparison) -> Table:
    rows: list[list[Cell]] = []
    for name, model in comparison.models.items():
        counts = [model.failures.get(kind, 0) for kind in FAILURE_TITLES]
        rows.append([Span(name, "strong"), *map(count, counts), count(sum(counts))])
    columns = [Column("model", numeric=False), *map(Column, FAILURE_TITLES.values()), Column("all")]
    return Table(columns, rows, "Failed answers by kind")


def _differences(comparison: ResultsComparison) -> Iterator[Block]:
    rows: list[list[Cell]] = []
    for pair in comparison.pairs:
        _, _, difference, _, _ = difference_cells(pair, comparison.percent, adjusted=pair.adjusted)
        scores: Cell = NOTHING
        if pair.measured is not None:
            gap = pair.measured.gap
            scores = " → ".join(comparison.text(mean) for mean in (pair.measured.first, pair.measured.second))
            tone = difference.tone if isinstance(difference, Span) else ""
            limits = bracketed(gap, lambda end: comparison.text(end, signed=True))
            difference = (Span(comparison.text(gap.mean, signed=True), tone), Span(limits, "muted"))
        rows.append(
            [
                f"{pair.first_model} → {pair.second_model}",
                f"{pair.n_paired}/{pair.n_shared}",
                scores,
                difference,
                p_value(pair.adjusted),
                f"{pair.changed.higher} / {pair.changed.equal} / {pair.changed.lower}",
                NOTHING if pair.samples_needed is None else count(pair.samples_needed),
            ]
        )
    columns = [
        Column("first → second", numeric=False),
        Column("paired", meaning="items scored for both, of those that both files have"),
        Column("scores"),
        Column("difference", meaning=f"second minus first, in {comparison.unit}, with its 95 % interval"),
        Column("p", meaning="two-sided sign flips of whole clusters; by Benjamini and Hochberg over all pairs"),
        Column("↑ / = / ↓", meaning="items on which the second is higher, equal, lower"),
        Column("needed", meaning="items that show a difference of this size with 80 % power"),
    ]
    yield Table(columns, rows, "Differences of every two models")
    if comparison.by_id_alone:
        yield Paragraph(f"Items are paired by ID alone: {comparison.by_id_alone}.", "warning")
    yield from disagreement(comparison.pairs)
    for pair in comparison.pairs[:MOST_NOTED]:
        yield from _notes(comparison, pair)
    if len(comparison.pairs) == 1 and comparison.pairs[0].most_changed:
        yield _most_changed(comparison, comparison.pairs[0])


def _in_title(reason: str, pair: ResultsPair) -> str:
    """Return why items are not paired, with the models of the two sides, and kinds of failure by their titles."""
    for side, name in (("first", pair.first_model), ("second", pair.second_model)):
        reason = reason.replace(f"{side}: ", f"without a score of {name}: ")
    for kind, title in FAILURE_TITLES.items():
        reason = reason.replace(kind, title)
    return reason


def _notes(comparison: ResultsComparison, pair: ResultsPair) -> Iterator[Block]:
    parts: list[str] = []
    if pair.lost:
        parts.append(
            "not paired: " + ", ".join(f"{number:,} {_in_title(reason, pair)}" for reason, number in pair.lost.items())
        )
    if pair.only_first or pair.only_second or pair.other_content:
        parts.append(_left_out(pair).replace("Left out: ", "left out: "))
    if pair.bounds is not None and pair.n_paired < pair.n_shared:
        low, high = (comparison.text(end, signed=True) for end in (pair.bounds.low, pair.bounds.high))
        parts.append(f"whatever the failures would have scored, from {low} to {high}")
    if parts:
        yield Paragraph(f"{pair.first_model} → {pair.second_model}: {'; '.join(parts)}", "note")


def _most_changed(comparison: ResultsComparison, pair: ResultsPair) -> Table:
    rows: list[Sequence[Cell]] = []
    for item in pair.most_changed:
        values = [comparison.text(value) for value in (item.first, item.second)]
        rows.append([item.sample, *values, comparison.text(item.difference, signed=True)])
    titles = (pair.first_model, pair.second_model, "difference")
    return Table(
        [Column("largest differences", numeric=False), *map(Column, titles)],
        rows,
        "The items with the largest differences",
    )


def _files(comparison: ResultsComparison) -> Iterator[Block]:
    rows: list[list[Cell]] = []
    for source in comparison.sources:
        written = f"{source.harness} {source.version}" if source.version else source.harness
        rows.append([source.file, written, source.scorer or "no score", count(source.items)])
    columns = [Column(title, numeric=False) for title in ("file", "written by", "scorer")]
    yield Table([*columns, Column("items")], rows, "Files of results")
    for source in comparison.sources:
        yield from (Paragraph(f"{source.file}: {note}", "note") for note in source.notes)
