"""The comparison of two runs, or of two models of a run, as blocks: what `diff` prints."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from pydantic import Field, JsonValue

from dokimasia.domain.identity import Value
from dokimasia.domain.wording import percentage
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table, plain, spans
from dokimasia.report.conclusions import MOST_SENTENCES, as_paragraph, inconclusive_sentence
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import (
    Bounds,
    ChangeCounts,
    Count,
    Counts,
    Direction,
    Fraction,
    Interval,
    Permutations,
    Rate,
)
from dokimasia.report.figures import (
    NOTHING,
    SPEAKING,
    SURE,
    allowing,
    disagree,
    in_words,
    is_clear,
    measured_share,
    no_interval,
    rate_text,
    several,
    signed_text,
    spoken,
)
from dokimasia.report.labels import shortened_names

SCORE = "score"
SHORT = 60
"""Maximum number of displayed characters of a difference between two plans."""


class SideRun(Value):
    """The run of a side, with its judge."""

    run: str
    status: str
    judge: str | None


class CorrectedAnswers(Value):
    """What people corrected on a side: answers of the models that are compared, and samples of the run."""

    answers: Count
    left_out: Count = Field(description="samples that people left out")


class PlanDifference(Value):
    """What two runs' plans say differently, by its name, such as `judge.name` or `prompts.solver`."""

    what: str
    first: JsonValue
    second: JsonValue


class SideCounts(Value):
    """A number of each side."""

    first: Count
    second: Count


class MeanDifference(NamedTuple):
    """Two means, their difference with its interval, its p-value, and whether all sign patterns were tried."""

    first: float
    second: float
    gap: Interval
    p_value: float
    exact: bool


class ComparedMeans(Value):
    """The means of two sides over the samples that both have, and their paired difference; null without a pair."""

    first: float | None
    second: float | None
    difference: Interval | None
    p_value: Fraction | None
    permutations: Permutations | None
    changed: ChangeCounts

    @property
    def measured(self) -> MeanDifference | None:
        """The means and their difference; None without a pair."""
        if (
            self.first is None
            or self.second is None
            or self.difference is None
            or self.p_value is None
            or self.permutations is None
        ):
            return None
        return MeanDifference(self.first, self.second, self.difference, self.p_value, self.permutations.exact)


class SamplesWithShare(Value):
    """Samples for which a share is known on both sides, and by its reason how many of the others that both runs have."""

    lost: Counts
    n: Count


class ShareComparison(ComparedMeans, SamplesWithShare):
    """A share of two sides, 0 to 1."""


class AccuracyComparison(ShareComparison):
    """Strict accuracy of two sides, with the bounds of its difference whatever the undecided answers are."""

    n_undecided: SideCounts
    bounds: Bounds
    outer: Bounds | None = Field(
        default=None,
        description="from the lower end of the interval of the least difference that undecided answers allow to the upper end "
        "of that of the largest; absent where none is undecided",
    )


class SharedCriteria(Value):
    """Criteria that both sides speak to, in so many samples."""

    criteria: Count
    n: Count


class SharedCriteriaComparison(ComparedMeans, SharedCriteria):
    """The score of two sides on the criteria that both address."""


class ChangedSample(Value):
    """A sample whose score differs; `in_second` is its name in the second run where that is another."""

    sample: str
    in_second: str | None = None
    first: float
    second: float
    difference: float


class CriteriaAgreement(Value):
    """How two judges score the same answers by the same criteria."""

    answers: Count
    criteria: Count
    exact: Rate
    within_one: Fraction
    mean_absolute: float


class ComparedModels(Value):
    """Two models, the samples that both have, and why others are not paired."""

    first_model: str
    second_model: str
    n_shared: Count
    n_paired: Count
    coverage: Fraction | None
    lost: Counts
    without_scores: tuple[Literal["first", "second"], ...]


class ScoreComparison(ComparedMeans, ComparedModels):
    """The scores of two models, sample by sample."""

    bounds: Bounds | None = Field(description="of the difference, whatever failed answers would have scored")
    most_changed: tuple[ChangedSample, ...]
    same_criteria: Count | None
    same_answers: Count | None
    agreement: CriteriaAgreement | None
    strict_accuracy: AccuracyComparison | None = None
    stated: ShareComparison | None = None
    both_stated: SharedCriteriaComparison | None = None


class ChangedItem(Value):
    """An item that came to something else: how it ended on each side."""

    sample: str
    first: str
    second: str


class ContentComparison(Value):
    """What two models came to in runs without scores."""

    first_model: str
    second_model: str
    n_shared: Count
    same: Count
    different: Count
    failed: SideCounts
    items: tuple[ChangedItem, ...]


class UnpairedModels(Value):
    """Models of each run that are not compared."""

    first: tuple[str, ...]
    second: tuple[str, ...]


class RunComparison(Value):
    """Two runs, or two models of one, compared: second minus first."""

    first: SideRun
    second: SideRun
    corrected: dict[str, CorrectedAnswers] | None = None
    simulated: tuple[str, ...]
    seed: Count
    direction: Direction
    scored_by: Literal["criteria", "rubrics"] | None
    scale: tuple[int | float, int | float] | None
    differs: tuple[PlanDifference, ...]
    pairs: tuple[ScoreComparison | ContentComparison, ...]
    unpaired: UnpairedModels

    @property
    def within_a_run(self) -> bool:
        """Whether two models of one run are compared, rather than two runs."""
        return self.first.run == self.second.run

    @property
    def scores(self) -> list[ScoreComparison]:
        """The pairs whose scores are compared."""
        return [pair for pair in self.pairs if isinstance(pair, ScoreComparison)]


class PartCounts(Value):
    """A part of the samples: how deep it lies among the parts before it, what is compared on it, and its pairs."""

    title: str
    depth: Count
    measure: Literal["score", "strict_accuracy"]
    n: Count
    n_shared: Count


class PartComparison(ComparedMeans, PartCounts):
    """Two sides on a part of their samples, with the p-value adjusted over all parts."""

    adjusted: Fraction


def comparison_blocks(comparison: RunComparison, *, changed: bool = True) -> Iterator[Block]:
    """Yield the blocks of a comparison: settings that differ, figures, and what could not be compared.

    Args:
        comparison: the result of `dokimasia.runs.reading.comparison.compare_runs`.
        changed: whether to list the samples that changed most.
    """
    same_run, pairs = comparison.within_a_run, comparison.scores
    if comparison.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    sides = (("first", comparison.first),) if same_run else (("first", comparison.first), ("second", comparison.second))
    for name, side in sides:
        state = () if side.status == "done" else (" · ", Span(side.status, "bad"))
        judge = f"judge {side.judge}" if side.judge else "no judge"
        called = [f"run {side.run}"] if same_run else [f"{name:<6}", f" run {side.run}"]
        if same_run and comparison.pairs:
            judge = f"{judge} · first {comparison.pairs[0].first_model}, second {comparison.pairs[0].second_model}"
        yield Paragraph((Span(called[0], "strong"), *called[1:], f" · {judge}", *state))
    if corrected := comparison.corrected:
        by_hand = "; ".join(
            f"{name}: {several(counts.answers, 'answer')}, {several(counts.left_out, 'sample')} left out"
            for name, counts in corrected.items()
        )
        yield Paragraph(
            f"corrected by hand: {by_hand}. A corrected answer counts as the person said, also where judges are compared.",
            "warning",
        )
    for setting in comparison.differs:
        first, second = shortened_names([_plain(setting.first), _plain(setting.second)], SHORT)
        yield Paragraph(f"differs: {_setting_in_words(setting, first, second)}", "note")
    if comparison.scale is not None:
        yield Paragraph(as_paragraph([*_conclusions(comparison, comparison.scale)]), "lead")
        yield from (
            Paragraph(text, "warning") for text in (*_scoreless(comparison), *filter(None, map(_silence, pairs)))
        )
        yield _table(pairs)
    same = comparison.first.judge == comparison.second.judge
    judges = "both times the judge says the same" if same else "the judges agree"
    for pair in comparison.pairs:
        if isinstance(pair, ContentComparison):
            yield from _contents(pair, changed=changed)
    for pair in pairs:
        blocks: list[Block] = list(_remarks(pair, judges=judges, by=comparison.scored_by or "criteria"))
        if changed and pair.most_changed:
            blocks.append(_most_changed(pair.most_changed, sides_of(pair, own=same_run)))
        if len(pairs) > 1 and blocks:
            yield Paragraph(Span(pair_name(pair), "strong"))
        yield from blocks
    for where, names in _unpaired(comparison):
        yield Paragraph(f"{where}: {', '.join(names)}", "note")
    if comparison.scale is not None:
        yield Paragraph(_meaning(comparison), "note")
        compared = [(f"{row.name} of {pair_name(pair)}", row.compared) for pair in pairs for row in _rows(pair)]
        yield from (Paragraph(text, "note") for text in interval_and_test(compared))


def pair_name(pair: ScoreComparison | ContentComparison) -> str:
    """Return the name of a pair: the model, or both models in the order of the comparison."""
    return " → ".join(dict.fromkeys((pair.first_model, pair.second_model)))


def sides_of(pair: ScoreComparison, *, own: bool) -> tuple[str, str]:
    """Return the names of the two sides of a pair: the models if both are of one run, else `first` and `second`."""
    if own:
        return (pair.first_model, pair.second_model)
    return ("first", "second")


def interval_and_test(compared: Iterable[tuple[str, ComparedMeans]]) -> Iterator[str]:
    """Yield notes for comparisons, each with its name, whose interval and p-value disagree or whose samples are all equal."""
    disagreeing: list[str] = []
    allowing_unseen: list[str] = []
    unchanged = False
    for name, means in compared:
        measured, changed = means.measured, means.changed
        if measured is None or measured.gap.low is None or measured.gap.high is None:
            continue
        if not changed.higher and not changed.lower:
            unchanged = True
        elif disagree(measured.gap, measured.p_value):
            if measured.gap.interval_method and measured.p_value <= SURE:
                allowing_unseen.append(name)
            else:
                disagreeing.append(name)
    if disagreeing:
        yield (
            "The interval (a bootstrap) and the p-value (sign flips) use different methods and disagree on "
            f"{in_words(disagreeing)}: treat such a difference as inconclusive."
        )
    if allowing_unseen:
        yield (
            f"The interval holds 0 although p is at most {SURE:g} on {in_words(allowing_unseen)}: it allows for images that were "
            "not drawn, and the test asks only whether the differences on the drawn ones are chance. Treat such a difference "
            "as inconclusive."
        )
    if unchanged:
        yield (
            "Where no sample differs the interval is not made of differences: it says how far other samples could still "
            "differ when none of so many did, and grows narrower with more images."
        )


def _meaning(comparison: RunComparison) -> str:
    """Return a sentence on units, direction, intervals and tests of the table."""
    scale = comparison.scale
    several = " The p-values are not adjusted for the number of pairs." if len(comparison.pairs) > 1 else ""
    parts: list[str] = []
    if scale is not None and not _scoreless(comparison):
        parts.append(f"{SCORE}: in points of the scale from {scale[0]:g} to {scale[1]:g}")
    if any(pair.stated is not None for pair in comparison.scores):
        parts.insert(0, "addressed: share of the criteria's weight, in percentage points")
    if any(pair.strict_accuracy is not None for pair in comparison.scores):
        parts.insert(
            0,
            "strict accuracy: final answers that agree with the reference, undecided ones counted as not right, in percentage "
            "points",
        )
    return (
        f"{'; '.join(parts)}. difference: {comparison.direction} on the samples that have it in both; 95 % bootstrap interval "
        f"and two-sided sign-flip test, both clustered by samples that share an image.{several}"
    )


def _scoreless(comparison: RunComparison) -> list[str]:
    """Return a warning if a side has no judge, so that no scores can be compared; empty otherwise."""
    sides = dict.fromkeys(name for pair in comparison.scores for name in pair.without_scores)
    runs = " and ".join(dict.fromkeys(f"run {getattr(comparison, name).run}" for name in sides))
    if sides:
        return [f"no judge scored in {runs}: there are no scores to compare"]
    return []


def _unpaired(comparison: RunComparison) -> Iterator[tuple[str, list[str]]]:
    """Yield the models in only one run, and those in both runs that were not requested, each with a title."""
    first, second = comparison.unpaired.first, comparison.unpaired.second
    in_first = {*first, *(pair.first_model for pair in comparison.pairs)}
    in_second = {*second, *(pair.second_model for pair in comparison.pairs)}
    models = {
        "only in first": [model for model in first if model not in in_second],
        "only in second": [model for model in second if model not in in_first],
        "not compared": [model for model in first if model in second],
    }
    yield from ((title, names) for title, names in models.items() if names)


def _contents(pair: ContentComparison, *, changed: bool) -> Iterator[Block]:
    """Yield the numbers of equal and different items of two runs without scores, and the different items."""
    models = f"{pair_name(pair)}: " if pair.first_model else ""
    failed = ", ".join(f"{count} in {name}" for name, count in pair.failed)
    yield Paragraph(
        f"{models}{pair.n_shared} items in both runs, {pair.same} came to the same, {pair.different} did not; "
        f"failed: {failed}"
    )
    if changed and pair.items:
        columns = [Column(title, numeric=False) for title in ("came to something else", "first", "second")]
        rows = [[item.sample, item.first, item.second] for item in pair.items]
        yield Table(columns, rows, "Items that came to something else")


class _Row(NamedTuple):
    """A measure of a pair: its name, number of samples, and comparison (of shares if `percent`, else of points)."""

    name: str
    n: str
    compared: ComparedMeans
    percent: bool = False


def _rows(pair: ScoreComparison) -> Iterator[_Row]:
    """Yield the measures of a pair: strict accuracy and share addressed, then scores."""
    if (right := pair.strict_accuracy) is not None:
        yield _Row("strict accuracy", _of(right, pair), right, percent=True)
    if (coverage := pair.stated) is not None:
        yield _Row("addressed", _of(coverage, pair), coverage, percent=True)
    if (shared_score := pair.both_stated) is not None and shared_score.difference is not None:
        yield _Row("score, both address", f"{shared_score.n}", shared_score)
    if pair.n_paired or right is None:
        yield _Row(SCORE, f"{pair.n_paired}/{pair.n_shared}", pair)


def _of(compared: ShareComparison, pair: ScoreComparison) -> str:
    """Return the number of compared samples, with the number of shared ones if some are left out."""
    if compared.lost:
        return f"{compared.n}/{pair.n_shared}"
    return f"{compared.n}"


def _conclusions(comparison: RunComparison, scale: tuple[float, float]) -> Iterator[Cell]:
    """Yield the conclusions of a comparison, at most `MOST_SENTENCES`, each of a pair.

    Pairs with two judges of the same answers and equal strict accuracy share one sentence, placed before the largest
    difference of scores beyond chance.
    """
    pairs = comparison.scores
    right = [(pair.first_model, row) for pair in pairs if (row := pair.strict_accuracy) is not None]
    if _judged_anew(comparison) and not any(row.changed.higher or row.changed.lower for _, row in right):
        what_differs = "only the judge differs"
        if any(not setting.what.startswith("judge.") for setting in comparison.differs):
            what_differs = "the judge differs"
        yield f"The same answers; {what_differs}."
        shares = [f"{name} {measured_share(row.first).text} of {row.n}" for name, row in right if row.first is not None]
        if shares:
            if len(shares) > MOST_SENTENCES:
                shares[MOST_SENTENCES:] = [f"{len(shares) - MOST_SENTENCES} more"]
            yield f"Strict accuracy is unchanged: {in_words(shares)}."
        clear: list[tuple[float, ScoreComparison, _Row]] = []
        for pair in pairs:
            for row in _rows(pair):
                measured = row.compared.measured
                if not row.percent and measured is not None and direction_of(measured) is not None:
                    clear.append((abs(measured.gap.mean), pair, row))
        if clear:
            _, pair, row = max(clear, key=lambda found: found[0])
            yield ("The largest clear difference of scores: ", *spans(_conclusion(pair, row, scale)))
        else:
            yield "No difference of scores is beyond chance."
        return
    for pair in pairs[: MOST_SENTENCES - 1]:
        yield _conclusion(pair, next(_rows(pair)), scale)
    if more := len(pairs[MOST_SENTENCES - 1 :]):
        yield f"{several(more, 'more pair is', 'more pairs are')} in the table."


def _judged_anew(comparison: RunComparison) -> bool:
    """Return whether two judges scored the same answers of the same models."""
    if not comparison.scores or comparison.first.judge == comparison.second.judge:
        return False
    return all(
        pair.first_model == pair.second_model and pair.n_paired and pair.same_answers == pair.n_paired
        for pair in comparison.scores
    )


def _conclusion(pair: ScoreComparison, row: _Row, scale: tuple[float, float]) -> Cell:
    """Return by how much a pair differs in a measure, and whether that may be chance."""
    name = Span(pair_name(pair), "strong")
    measured = row.compared.measured
    if measured is None:
        return (name, ": no sample has a figure on both sides.")
    first, second, difference, limits, p_value = difference_cells(row.compared, row.percent)
    unit = "percentage points" if row.percent else f"points of the scale from {scale[0]:g} to {scale[1]:g}"
    outer = row.compared.outer if isinstance(row.compared, AccuracyComparison) else None
    p_text = plain(p_value)
    p_text = f"p {p_text}" if p_text.startswith("<") else f"p = {p_text}"
    chance = f"This may be chance ({p_text})."
    if not row.compared.changed.higher and not row.compared.changed.lower:
        chance = "No sample differs."
    elif disagree(measured.gap, measured.p_value):
        chance = inconclusive_sentence(p_text)
    elif direction_of(measured) is not None:
        chance = f"This is beyond chance ({p_text})."
        if outer is not None and outer.low <= 0 <= outer.high:
            chance = f"This is beyond chance ({p_text}), but undecided answers could reverse it."
    return (
        *(name, f": {row.name} {plain(first)} → {plain(second)}, a difference of ", *spans(difference)),
        f" {unit} [{plain(limits)}] on {row.n.partition('/')[0]} samples. {chance}",
    )


def _table(pairs: Sequence[ScoreComparison]) -> Table:
    rows: list[list[Cell]] = []
    for pair in pairs:
        for index, row in enumerate(_rows(pair)):
            first, second, difference, limits, p_value = difference_cells(row.compared, row.percent)
            changed = row.compared.changed
            rows.append(
                [
                    "" if index else pair_name(pair),
                    row.name,
                    row.n,
                    (*spans(first), " → ", *spans(second)),
                    (*spans(difference), Span(f"  [{plain(limits)}]", "muted")),
                    p_value,
                    f"{changed.higher} / {changed.equal} / {changed.lower}",
                ]
            )
    figures = ("paired", "first → second", "difference", "p", "↑ / = / ↓")
    table = Table(
        [Column("model", numeric=False), Column("what", numeric=False), *map(Column, figures)], rows, "Differences"
    )
    if any(row[1] != SCORE for row in rows):
        return table
    return Table([table.columns[0], *table.columns[2:]], [[row[0], *row[2:]] for row in rows], table.about)


def direction_of(difference: MeanDifference, adjusted: float | None = None) -> Literal["higher", "lower"] | None:
    """Return the direction of a difference beyond chance; None if it may be chance, or interval and p-value disagree.

    With a p-value that is adjusted for several comparisons, that too must be small.
    """
    p_value = max(difference.p_value, adjusted or 0.0)
    if not is_clear(difference.gap, p_value):
        return None
    if difference.gap.mean > 0:
        return "higher"
    return "lower"


def difference_cells(means: ComparedMeans, percent: bool = False, *, adjusted: float | None = None) -> list[Cell]:
    """Return both means, their difference, its interval and its p-value as cells; five empty cells without a pair.

    Shares have a decimal, so that the difference matches the shown means. It is marked by `direction_of`, which takes
    the `adjusted` p-value of the table, if any.
    """
    measured = means.measured
    if measured is None:
        return [NOTHING] * 5
    gap = measured.gap

    def mean(value: float) -> str:
        if percent:
            return percentage(value, 1)
        return f"{value:.2f}"

    def signed(value: float) -> str:
        if percent:
            return signed_text(100 * value, 1)
        return signed_text(value)

    tone, limits = direction_of(measured, adjusted) or "strong", no_interval(gap)
    if gap.low is not None and gap.high is not None:
        limits = f"{signed(gap.low)}, {signed(gap.high)}{allowing(gap).text}"
    p_value = _p_text(measured.p_value, measured.exact)
    return [mean(measured.first), mean(measured.second), Span(signed(gap.mean), tone), limits, p_value]


def _silence(pair: ScoreComparison) -> str:
    """Return a warning if the sides address different or small shares of the criteria; empty otherwise."""
    coverage = None if pair.stated is None else pair.stated.measured
    if coverage is None or (min(coverage.first, coverage.second) >= SPEAKING and coverage.p_value > SURE):
        return ""
    names = [pair.first_model, pair.second_model]
    if names[0] == names[1]:
        names = [f"{name} in the {side} run" for name, side in zip(names, ("first", "second"), strict=True)]
    return (
        f"{names[0]} addresses {spoken(coverage.first).text} of the criteria's weight and {names[1]} "
        f"{spoken(coverage.second).text}, so their scores also say how much each says: go by strict accuracy, and by the score "
        "on the criteria that both address."
    )


def _setting_in_words(setting: PlanDifference, first: str, second: str) -> str:
    """Return a setting that differs, with its values; of a prompt that only one run uses, which run that is."""
    section, _, prompt = setting.what.partition(".")
    if section != "prompts" or not prompt:
        return f"{setting.what}: {first} → {second}"
    if setting.first is None or setting.second is None:
        user = "second" if setting.first is None else "first"
        return f"the prompt {prompt}, which only the {user} run uses"
    return f"the prompt {prompt}: {first} → {second}"


def _undecided(pair: ScoreComparison, right: AccuracyComparison) -> str:
    """Return the numbers of undecided answers, and the bounds of the difference of strict accuracy over all their outcomes."""
    sides = sides_of(pair, own=pair.first_model != pair.second_model)
    counts = [
        f"{getattr(right.n_undecided, name):,} of {side}" for name, side in zip(("first", "second"), sides, strict=True)
    ]
    low, high = (signed_text(100 * end, 1) for end in (right.bounds.low, right.bounds.high))
    return (
        f"undecided answers, counted as not right: {in_words(counts)}; whatever they are, the difference on these samples "
        f"lies between {low} and {high}{_with_error(right.outer)}"
    )


def _with_error(outer: Bounds | None) -> str:
    if outer is None:
        return ""
    low, high = (signed_text(100 * end, 1) for end in (outer.low, outer.high))
    return f", with sampling error from {low} to {high}"


def _most_changed(samples: Sequence[ChangedSample], sides: tuple[str, str]) -> Table:
    rows: list[list[Cell]] = [
        [
            sample.sample + (f" ({sample.in_second})" if sample.in_second is not None else ""),
            f"{sample.first:.2f}",
            f"{sample.second:.2f}",
            signed_text(sample.difference),
        ]
        for sample in samples
    ]
    columns = [Column("largest differences", numeric=False), *map(Column, (*sides, "difference"))]
    return Table(columns, rows, "Largest differences by sample")


def _remarks(pair: ScoreComparison, *, judges: str, by: str) -> Iterator[Block]:
    """Yield notes on a pair: what could not be paired, equal criteria and answers, and agreement of the judges.

    `by` names what answers were scored by.
    """
    if (right := pair.strict_accuracy) is not None and right.lost:
        lost = ", ".join(f"{count} {why}" for why, count in right.lost.items())
        yield Paragraph(("left out of strict accuracy: ", Span(lost, "bad")))
    if right is not None and (right.n_undecided.first or right.n_undecided.second):
        yield Paragraph(_undecided(pair, right))
    if pair.lost and (pair.n_paired or right is None or pair.without_scores):
        lost = ", ".join(f"{count} {why}" for why, count in pair.lost.items())
        yield Paragraph(("not paired: ", Span(lost, "bad")))
        if pair.bounds is not None and pair.n_paired < pair.n_shared:
            bounds = pair.bounds
            yield Paragraph(
                f"whatever the failed ones would have scored, the difference over all {pair.n_shared} lies between "
                f"{signed_text(bounds.low)} and {signed_text(bounds.high)}",
                "note",
            )
    if pair.n_paired and pair.same_answers is not None:
        of_samples, answers = f"of {pair.n_paired} samples", f"the same answers in {pair.same_answers}"
        if pair.same_criteria is None:
            yield Paragraph(f"{answers} {of_samples}", "note")
        else:
            yield Paragraph(f"the same {by} on both sides in {pair.same_criteria} {of_samples}, {answers}", "note")
    agreement = pair.agreement
    if agreement is not None:
        exact = agreement.exact
        yield Paragraph(
            f"{judges} exactly on {rate_text(exact.share, exact)} of {agreement.criteria} criteria scores, within one point "
            f"on {measured_share(agreement.within_one).text}"
        )


def _p_text(value: float, exact: bool) -> str:
    if value < 0.001 and not exact:
        return "< 0.001"
    if value >= 0.001:
        return f"{value:.3f}"
    return f"{value:.1g}"


def _plain(value: object) -> str:
    return "–" if value is None else str(value)
