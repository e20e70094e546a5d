"""The report of a refinement: corrections by arm, gains over retry and again, ATOM's Table 4, leaks, samples."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pydantic import BaseModel, ConfigDict

from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Answered
from dokimasia.domain.refinement import SOLVED, Arm, FeedbackPoint, Unused, UnusedAtom
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import is_or_are, percentage
from dokimasia.methods.refinement.figures import (
    Gains,
    GainsOfPart,
    PartFigures,
    RefinedModel,
    RefinementCell,
    RefinementFigures,
    RefinementTableRow,
    TableGain,
)
from dokimasia.methods.refinement.measures import FEEDBACK, ArmFigures, Gain, unchecked_texts
from dokimasia.methods.refinement.rows import refined_samples, refinement_rows
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Fold,
    Image,
    Only,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
    Tone,
    spans,
)
from dokimasia.report.charts import Point, interval_chart, intervals_said
from dokimasia.report.conclusions import inconclusive_sentence
from dokimasia.report.data import Cut, Drawing, Picture, ReportData, Views
from dokimasia.report.fields import CountedRate, Interval, Limited, Rate, Share, TableRow, pointer
from dokimasia.report.footnotes import disagreement
from dokimasia.report.sections import provenance
from dokimasia.report.tables import TableColumn, column, computed_column, labelled_table, part_column
from dokimasia.runs.reading.reporting import pictures_of, select_samples
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

TABLE_NOTE = (
    "Accuracy is the share of these answers that came out right; before it is 0 where answers were taken up because they "
    "were wrong. Criteria addressed are those on which the answer says anything before and after, so that what a model only "
    "says more is no gain; their score, 1 to 5, is compared on the same criteria. Gains are paired: every arm took up the same "
    "answers, in the same words but for the feedback. 95 % intervals, clustered by samples that share an image; a gain "
    "in bold: adjusted p at most 0.05 (Benjamini and Hochberg, over all models and comparisons of a measure)."
)
ARMS_NOTE = (
    "Known: answers with a verdict. Solved: of the criteria that had failed, those that are now scored 4 or above, apart for "
    "those that a feedback may name and those that were withheld from it by chance. Spoilt: of the criteria that were solved, "
    "those that now fail. In the row of the original answer nothing but the judge's second look made the difference. Calls "
    "and dollars a repair: all that the arm used, judging included, by the answers that came out right."
)
OPTIONS_NOTE = (
    "Where two to five answers are possible, being told that one is wrong leaves one to four: guessing says how often a "
    "pick among these is right. A gain over again that guessing explains is no gain of the feedback's points."
)
OVER_ORIGINAL_NOTE = (
    "Gains over retry and again are paired; by category and by capability none is shown for fewer than five answers. Over "
    "the original answer (ATOM, G.2) the criterion score is compared with the one by which the answers were chosen, so that it "
    "rises by luck alone, too: read it beside the gain over again."
)

LONGEST_TEXT = 1_500
"""Maximum number of characters of a sample's text; longer texts are cut, with a note."""

SCORES_BEFORE_AND_AFTER = (
    (("spoken", "before"), "score on addressed, before", "1 to 5, on the criteria that both answers address"),
    (("spoken", "after"), "score on addressed, after", "1 to 5, on the same criteria"),
    (("atoms", "before"), "score on all, before", "1 to 5, on all criteria"),
    (("atoms", "after"), "score on all, after", "1 to 5, on all criteria"),
)
"""Fields of an arm's figures before and after, with the titles and meanings of their columns."""

ArmRow = tuple[Sequence[Cell], TableRow[ArmFigures]]


def section(data: ReportData) -> Section:
    """Return the section with the figures of a refinement."""
    refinement = data.figures_as(RefinementFigures)
    blocks: list[Block] = []
    if refinement.failed:
        blocks.append(Paragraph(_arms_in_words(refinement), "note"))
        blocks += [*_taken_up(refinement), mended(refinement), Paragraph(TABLE_NOTE, "note")]
        blocks += disagreement(gains.accuracy for model in refinement.models.values() for gains in model.gains.values())
        blocks += [*_two_way(refinement), *_gains(refinement), *_by_options(refinement)]
        blocks += [_arms(refinement), Paragraph(ARMS_NOTE, "note"), *_by_verdict(refinement)]
        blocks += [*_by_category(refinement), Only("page", tuple(_by_capability(refinement)))]
        if data.planted is not None:
            blocks.append(planted(refinement, data.planted))
        blocks.append(Bullets(_hints_and_leaks(refinement)))
    return Section("refinement", "Corrections", blocks, menu="Refinement")


MOST_CONCLUDED = 3
"""Maximum number of models in the conclusion, those with the largest clear gains first."""


def conclusion(data: ReportData) -> list[Cell]:
    """Return what was selected, which strategy corrected most of each model's answers, and by how much."""
    refinement = data.figures_as(RefinementFigures)
    if not refinement.failed:
        return [_nothing_taken_up(refinement)]
    sentences: list[Cell] = [_taken_up_sentence(refinement)]
    by_gain = sorted(refinement.models.items(), key=lambda entry: -max(_clear_gains(entry[1]).values(), default=0.0))
    for name, model in by_gain[:MOST_CONCLUDED]:
        sentences += _mended_most(name, model, refinement.arms)
    if more := len(by_gain[MOST_CONCLUDED:]):
        sentences.append(f"{figures.several(more, 'more model is', 'more models are')} in the table.")
    return sentences


def _clear_gains(model: RefinedModel) -> dict[str, float]:
    """Return a model's gains over answering again that are clear by interval and adjusted p-value, by strategy."""
    clear: dict[str, float] = {}
    for comparison, gains in model.gains.items():
        arm, _, control = comparison.partition(" over ")
        gain = gains.accuracy
        if control != "again" or gain.difference is None or not figures.is_clear(gain.difference, gain.adjusted):
            continue
        if gain.difference.mean > 0:
            clear[arm] = gain.difference.mean
    return clear


def _taken_up_sentence(refinement: RefinementFigures) -> str:
    """Return how many of the failed answers were selected, and why the others could not be."""
    left_out = sum(model.left_out.answers for model in refinement.models.values())
    answers = figures.several(refinement.failed + left_out, "answer")
    which = f"{answers} of run {refinement.source} that {is_or_are(refinement.failed + left_out)} wrong"
    if refinement.threshold is not None:
        which = f"{answers} of run {refinement.source} with a score below {refinement.threshold:g}, right or wrong"
    if not left_out:
        return f"Taken up: {which}.{_right_before(refinement)}"
    remaining = "remaining answer" if left_out == 1 else f"remaining {left_out:,} answers"
    return (
        f"Taken up: {refinement.failed:,} of {which}. The {remaining} failed only on criteria that must not be revealed: the "
        f"final answer itself, or what gives it away or repeats the question.{_right_before(refinement)}"
    )


def _right_before(refinement: RefinementFigures) -> str:
    """Return a sentence on selected answers that were already right, which the tables leave out."""
    right_groups = [model.apart.get("right") for model in refinement.models.values()]
    right = sum(part.failed for part in right_groups if part is not None)
    if not right:
        return ""
    were = "was" if right == 1 else "were"
    return f" {right:,} of these {were} right before; the tables count the others, and with --full those apart."


def _mended_most(name: str, model: RefinedModel, arms: Sequence[Arm]) -> Iterator[Cell]:
    """Yield which arm corrected most of a model's answers, and its gain over answering again."""
    shares: dict[Arm, float] = {}
    for arm in arms[1:]:
        accuracy = model.arms[arm].accuracy
        if accuracy is not None and accuracy.share is not None:
            shares[arm] = accuracy.share
    if not shares:
        return
    most = max(shares.values())
    best: list[Arm] = [arm for arm, share in shares.items() if share == most]
    if len(shares) == 1:
        says = f"{best[0]} corrects "
    elif best[0] == "again":  # The first of all arms, even if others correct as many.
        says = "no feedback did better than simply answering again, which corrected "
    else:
        says = f"{figures.in_words(best)} {'corrects' if len(best) == 1 else 'correct'} most, "
    accuracy = _accuracy_with_limits(
        model.arms[best[0]].accuracy, f"{pointer('models', name, 'arms', best[0])}/accuracy"
    )
    sentence = (Span(name, "strong"), f": {says}", *spans(accuracy), f" of {figures.several(model.failed, 'answer')}")
    gain = model.gains.get(f"{best[0]} over again")
    if gain is None or gain.accuracy.difference is None:
        yield (*sentence, ".")
    else:
        yield (*sentence, ". Against answering again without feedback that is ", *_gain_in_words(gain.accuracy))
    clear = _clear_gains(model)
    largest = max(clear, key=lambda arm: clear[arm], default=None)
    if largest is not None and largest not in best:
        words = _gain_in_words(model.gains[f"{largest} over again"].accuracy)
        yield (f"Its largest clear gain over answering again is that of {largest}: ", *words)


def _gain_in_words(gain: Gain) -> Sequence[str | Span]:
    """Return a gain in accuracy and how certain it is, as the end of a sentence."""
    return (*spans(_gain(gain, percent=True)), f" percentage points{_how_sure(gain)}")


def _how_sure(gain: Gain) -> str:
    """Return the end of a sentence: a gain's adjusted p-value, and whether it is inconclusive or may be chance."""
    p_text = f"adjusted {figures.p_text(gain.adjusted)}"
    if figures.disagree(gain.difference, gain.adjusted):
        return f". {inconclusive_sentence(p_text)}"
    sure = "" if figures.is_sure(gain.adjusted) else ", which may be chance"
    return f" ({p_text}){sure}."


def _arms_in_words(refinement: RefinementFigures) -> str:
    """Return a description of what all arms have in common."""
    rounds = "one round" if refinement.rounds == 1 else f"at most {refinement.rounds} rounds"
    visibility = "without seeing them" if refinement.hide_answer else "each model seeing its own"
    form = " Feedback has the published form." if refinement.protocol == "published" else ""
    return (
        f"The same answers were taken up in every arm, {visibility}, in {rounds}; of two failed criteria or more that can be "
        f"fed back {figures.share(refinement.withhold).text} were withheld from all feedback.{form}"
    )


def _nothing_taken_up(refinement: RefinementFigures) -> str:
    """Return why no answer was selected, and which option would select some."""
    answers = n_left_out = 0
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for model in refinement.models.values():
        answers += model.answers
        n_left_out += model.left_out.answers
        verdicts.update(model.answered)
        reasons.update(model.left_out.atoms)
    final = (
        f"of {figures.several(answers, 'answer')} {figures.counts(dict(sorted(verdicts.items())))} by the final answer"
    )
    if not n_left_out:
        advice = "" if refinement.threshold is not None else ". --threshold 4 takes up answers by their score"
        return f"No answer failed: there was nothing to refine ({final}){advice}."
    which = "the wrong answer" if n_left_out == 1 else f"all {n_left_out:,} wrong answers"
    if refinement.threshold is not None:
        which = "the answer" if n_left_out == 1 else f"all {n_left_out:,} answers"
        which += f" with a score below {refinement.threshold:g}"
    if not reasons:
        why = f"no criterion of {which} failed"
    elif set(reasons) == {"final answer"}:
        why = f"in {which} the failed criteria are the final answer itself, which feedback must not reveal"
    else:
        counts_text = figures.counts(dict(sorted(reasons.items())))
        why = f"in {which} the failed criteria give the answer away or repeat the question ({counts_text})"
    return (
        f"Nothing to refine: {why} ({final}). --strategy retry and --strategy again, which name no criterion, take up such "
        "answers; the other strategies leave them out, also of their retry and again."
    )


def _taken_up(refinement: RefinementFigures) -> Iterator[Block]:
    """Yield, for each model, the number of selected answers, and of those without a point to feed back."""
    for name, model in refinement.models.items():
        left_out = model.left_out
        final = figures.counts(model.answered)
        text = f": {figures.several(model.answers, 'answer')}, {final}; {model.failed:,} taken up"
        if left_out.answers:
            text += f"; {left_out.answers:,} not, since their failed criteria must not be revealed"
        if left_out.atoms:
            text += f". Withheld because they give the answer away: {_withheld(left_out.atoms)}"
        if model.withheld_from:
            text += f". In {model.withheld_from:,} some failed criteria are withheld from the feedback"
        yield Paragraph((Span(name, "strong"), f"{text}."))


def _withheld(reasons: Mapping[Unused, int]) -> str:
    """Return how many failed criteria must not be revealed, by reason if there are others than the final answer."""
    if set(reasons) == {"final answer"}:
        return f"{reasons['final answer']:,}"
    return figures.counts(reasons)


def mended(refinement: RefinementFigures) -> Table:
    """Return the table of arms: accuracy before and after, gains over retry and again, and atom scores."""
    rows: list[ArmRow] = []
    for name, model in refinement.models.items():
        before = model.arms["original"].accuracy
        for arm in refinement.arms[1:]:
            arm_figures = model.arms[arm]
            cells: list[Cell] = [
                Span(name, "strong"),
                arm,
                _count_text(arm_figures.n_known, arm_figures.n),
                figures.NOTHING if before is None else figures.measured_share(before.share),
                _accuracy_with_limits(arm_figures.accuracy, f"{pointer('models', name, 'arms', arm)}/accuracy"),
                *_accuracy_gains(model.gains, arm),
            ]
            rows.append((cells, TableRow("", arm_figures, pointer("models", name, "arms", arm))))
    heads = [
        *_text_columns("model", "strategy"),
        Column("answers", meaning="that were taken up; where some have no verdict, those that have one of all"),
        Column("right before"),
        Column("right after", meaning="accuracy with its 95 % interval"),
        Column("gain over retry", meaning="in percentage points, on the same answers, with its 95 % interval"),
        Column("gain over again", meaning="in percentage points, on the same answers, with its 95 % interval"),
    ]
    columns = [
        column(*path, "mean", title=title, meaning=meaning, write=figures.score)
        for path, title, meaning in SCORES_BEFORE_AND_AFTER
    ]
    return labelled_table(ArmFigures, heads, rows, columns, "Corrections in each arm")


def _accuracy_with_limits(accuracy: Rate | None, place: str) -> Cell:
    if accuracy is None:
        return figures.NOTHING
    return (_share(accuracy, place), Span(figures.percent_bracketed(accuracy), "muted"))


def _accuracy_gains(gains: Mapping[str, GainsOfPart], arm: str) -> Iterator[Cell]:
    """Yield an arm's gains in accuracy over retry and over again, with intervals."""
    for control in ("retry", "again"):
        gain = gains.get(f"{arm} over {control}")
        yield figures.NOTHING if gain is None else _gain(gain.accuracy, percent=True)


def _two_way(refinement: RefinementFigures) -> Iterator[Block]:
    """Yield a note on answers excluded from gains because the verdict alone reveals the right answer."""
    two_way = sum(model.two_way for model in refinement.models.values())
    if two_way and refinement.protocol != "published":
        yield Paragraph(
            f"Gains leave out {figures.several(two_way, 'answer')} to questions with two possible answers: whoever is told that "
            "the one is wrong knows the other.",
            "note",
        )


def _by_options(refinement: RefinementFigures) -> Iterator[Block]:
    """Yield accuracies and gains by number of possible answers."""
    rows: list[list[Cell]] = []
    for name, model in refinement.models.items():
        for kind, part in model.by_options.items():
            for arm in refinement.arms[1:]:
                arm_figures = part.arms[arm]
                place = pointer("models", name, "by_options", kind, "arms", arm)
                rows.append(
                    [
                        Span(name, "strong"),
                        kind,
                        arm,
                        _count_text(arm_figures.n_known, arm_figures.n),
                        _share(arm_figures.accuracy, f"{place}/accuracy"),
                        *_accuracy_gains(part.gains, arm),
                        percentage(part.guessing),
                    ]
                )
    if any("two to five" in model.by_options for model in refinement.models.values()):
        columns = [
            *_text_columns("model", "possible answers", "strategy"),
            Column("answers"),
            Column("right after"),
            Column("gain over retry"),
            Column("gain over again"),
            Column("guessing", meaning="how often a pick among the answers that are left is right"),
        ]
        yield Paragraph(OPTIONS_NOTE, "note")
        yield Table(columns, rows, "Accuracy by how many answers are possible")


def planted(refinement: RefinementFigures, expected: Mapping[str, Mapping[str, float]]) -> Table:
    """Return accuracies and gains next to the planted values, and whether the intervals contain them."""
    rows: list[list[Cell]] = []
    for name, rates in expected.items():
        model = refinement.models.get(name)
        if model is None or not model.failed:
            continue
        arms: Mapping[str, ArmFigures] = {**model.arms}
        for arm, rate in rates.items():
            if arm in arms:
                accuracy = arms[arm].accuracy
                value = accuracy and accuracy.share
                rows.append([Span(name, "strong"), arm, *_compared_with_planted(accuracy, value, rate, signed=False)])
        for title, gains in model.gains.items():
            arm, _, control = title.partition(" over ")
            gain = gains.accuracy.difference
            truth = rates[arm] - rates[control]
            value = gain and gain.mean
            rows.append([Span(name, "strong"), title, *_compared_with_planted(gain, value, truth, signed=True)])
    columns = (
        *_text_columns("model", "figure"),
        Column("accuracy, measured"),
        Column("true value"),
        Column("in interval"),
    )
    return Table(columns, rows, "Accuracy on failed answers, measured and planted")


def _compared_with_planted(
    measured: Limited | None, value: float | None, truth: float, *, signed: bool
) -> Iterator[Cell]:
    write = partial(_percent, signed=signed)
    if measured is None or value is None:
        yield from (figures.NOTHING, figures.NOTHING, figures.NOTHING)
    else:
        yield (Span(write(value), "strong"), Span(f" {figures.bracketed(measured, write)}", "muted"))
        yield from figures.within(truth, measured.low, measured.high, write(truth))


def _percent(value: float, *, signed: bool) -> str:
    if signed:
        return figures.signed_text(100 * value, 1)
    return percentage(value, 1)


def _gains(refinement: RefinementFigures) -> Iterator[Block]:
    """Yield a chart and a table of every arm's gains over its controls."""
    rows: list[tuple[Sequence[Cell], TableRow[Gains]]] = []
    points: list[Point] = []
    for name, model in refinement.models.items():
        for title, gains in model.gains.items():
            if gains.accuracy.difference is not None:
                points.append(_point(f"{name}: {title}", gains.accuracy, gains.accuracy.difference))
            rows.append(((Span(name, "strong"), title), TableRow("", gains, pointer("models", name, "gains", title))))
    if not rows:
        return
    if points:
        chart = interval_chart(points, title="gain in accuracy, percentage points", scale=None, zero=True)
        signs = f"dotted: what failures leave open; filled: adjusted p at most {figures.SURE}"
        yield Chart(chart, f"Gains in accuracy {intervals_said(points)}; {signs}")
    columns: list[TableColumn[Gains]] = [
        column("accuracy", title="pairs", write=_pairs),
        column("accuracy", write=partial(_gain, percent=True)),
        column("accuracy", title="adjusted p", meaning="of accuracy", write=_adjusted_p),
        column("spoken", title="criteria addressed", write=_gain),
        column("shown", title="shown criteria", write=_gain),
        column("withheld", title="withheld criteria", write=_gain),
        column(
            "withheld",
            title="pairs with withheld",
            meaning="of how many answers criteria are withheld",
            write=_pairs,
        ),
    ]
    heads = _text_columns("model", "gain")
    about = "Gains of every arm over its controls, with 95 % intervals"
    yield labelled_table(Gains, heads, rows, columns, about)


def _point(label: str, gain: Gain, difference: Interval) -> Point:
    open_ends = None
    if gain.n_paired < gain.n and gain.bounds is not None:
        open_ends = (100 * gain.bounds.low, 100 * gain.bounds.high)
    low = None if difference.low is None else 100 * difference.low
    high = None if difference.high is None else 100 * difference.high
    return Point(label, 100 * difference.mean, low, high, open_ends, hollow=not figures.is_sure(gain.adjusted))


def _arms(refinement: RefinementFigures) -> Table:
    rows: list[ArmRow] = []
    for name, model in refinement.models.items():
        rows += _arm_rows([Span(name, "strong")], model.arms, "models", name)
    columns: list[TableColumn[ArmFigures]] = [
        part_column("known", "n_known", "n"),
        column(
            "bounds",
            title="accuracy bounds",
            meaning="if every answer without a verdict were wrong, or right",
            only="page",
            write=lambda bounds, _: figures.percent_ends(bounds),
        ),
        column("shown", "solved", title="solved, shown", write=_share_of),
        column("withheld", "solved", title="solved, withheld", write=_share_of),
        column("spoilt", write=_share_of),
        computed_column("calls", _calls, only="page"),
        column(
            "per_repaired",
            "calls",
            "mean",
            title="calls a repair",
            write=partial(figures.number, digits=1),
            linked=False,
        ),
        column("per_repaired", "cost", "mean", title="cost a repair", write=_cost_a_repair, linked=False),
        column("failures", title="failed", numeric=False),
    ]
    heads = _text_columns("model", "strategy")
    return labelled_table(ArmFigures, heads, rows, columns, "What each arm mended, spoilt and used")


def _arm_rows(labels: Sequence[Cell], arms: Mapping[Arm, ArmFigures], *path: str) -> Iterator[ArmRow]:
    """Yield a row for each arm of some answers; `labels` are its first cells."""
    for arm, arm_figures in arms.items():
        yield (*labels, arm), TableRow("", arm_figures, pointer(*path, "arms", arm))


def _calls(row: TableRow[ArmFigures]) -> Cell:
    if "calls" not in row.figures.model_fields_set:
        return figures.NOTHING
    return figures.count(row.figures.calls, f"{row.pointer}/calls")


def _cost_a_repair(cost: float | None, place: str) -> Cell:
    if cost is None:
        return figures.NOTHING
    return figures.cost(cost)


def _by_verdict(refinement: RefinementFigures) -> list[Block]:
    rows: list[ArmRow] = []
    for name, model in refinement.models.items():
        for before, part in model.apart.items():
            rows += _arm_rows([Span(name, "strong"), before], part.arms, "models", name, "apart", before)
    if not rows:
        return []
    heads = _text_columns("model", "before", "strategy")
    columns: list[TableColumn[ArmFigures]] = [
        computed_column("known", lambda row: f"{row.figures.n_known}/{row.figures.n}"),
        column("accuracy", title="right after", write=_share),
        column("accuracy", title="95 % interval", write=lambda accuracy, _: figures.percent_ends(accuracy)),
    ]
    return [
        Paragraph(
            "Answers that were taken up for their score, apart by what their final answer was before; what was right is "
            "counted here alone:"
        ),
        labelled_table(ArmFigures, heads, rows, columns, "Accuracy by what the final answer was before"),
    ]


def _by_capability(refinement: RefinementFigures) -> Iterator[Block]:
    """Yield the table of tree leaves with failed atoms, folded because of its length."""
    rows: list[list[Cell]] = []
    on_the_tree = failed_atoms = 0
    for name, model in refinement.models.items():
        if model.placed is not None:
            on_the_tree += model.placed.on_the_tree
            failed_atoms += model.placed.failed_atoms
        for leaf, part in model.by_capability.items():
            names = leaf.strip("<>").split("><")
            place = pointer("models", name, "by_capability", leaf)
            row: list[Cell] = [Span(name, "strong"), f"{names[-1]} ({names[0]})"]
            row.append(figures.count(part.n, f"{place}/n"))
            for arm in refinement.arms[1:]:
                row.append(_share_of(part.arms[arm].atoms.solved, f"{place}/arms/{arm}/atoms/solved"))
            for arm in FEEDBACK:
                row += _atom_gain(part, arm, place)
            rows.append(row)
    if not rows:
        return
    columns = [*_text_columns("model", "capability"), Column("answers")]
    columns += [Column(f"solved, {arm}") for arm in refinement.arms[1:]]
    for arm in FEEDBACK:
        columns += [Column(f"{arm} over retry", meaning="with its 95 % interval"), Column("adjusted p")]
    title = f"By capability, on the tree {refinement.tree} ({figures.several(len(rows), 'row')})"
    note = (
        f"The tree has a place for {on_the_tree} of the {failed_atoms} criteria that had failed; its categories, in the table "
        "above, are about these. Solved: of those at the node. Gains are of the mean criterion score there, in points."
    )
    yield Fold(title, (Paragraph(note, "note"), Table(columns, rows, "Criteria mended by capability")))


def _atom_gain(part: PartFigures, arm: Arm, place: str) -> tuple[Cell, Cell]:
    gains = part.gains.get(f"{arm} over retry")
    if gains is None:
        return figures.NOTHING, figures.NOTHING
    return _gain(gains.atoms, f"{place}/gains/{arm} over retry/atoms"), _adjusted_p(gains.atoms)


def _by_category(refinement: RefinementFigures) -> Iterator[Block]:
    """Yield the paper's table for each model, with a row per strategy and measure and a column per category."""
    table = refinement.table
    of_columns = [Column(name) for name in table.columns]
    measure = Column("measure", numeric=False, meaning="accuracy, or the mean criterion score from 1 to 5")
    average = Column("average", meaning="with its 95 % interval")
    columns = [
        *_text_columns("strategy"),
        measure,
        *of_columns,
        average,
        Column("n", meaning="answers; where some have no verdict or score, those that have one of all"),
        Column("gain over retry", meaning="on the same answers, with its 95 % interval"),
    ]
    for name, model in refinement.models.items():
        if not model.failed:
            continue
        rows: list[list[Cell]] = []
        gains: list[list[Cell]] = []
        for number, row in enumerate(table.rows):
            if row.model == name:
                rows.append(_strategy(row, f"/table/rows/{number}"))
                gains += _strategy_gains(row, f"/table/rows/{number}/gains")
        yield Table(columns, rows, f"Correction of {name}'s initially failed answers by strategy and category")
        if gains:
            heads = [*_text_columns("gain"), measure, *of_columns, average]
            yield Table(heads, gains, f"What {name}'s strategies gain by category, with 95 % intervals")
            yield Paragraph(OVER_ORIGINAL_NOTE, "note")


def _strategy(row: RefinementTableRow, place: str) -> list[Cell]:
    percent = row.measure == "accuracy"
    cells: list[Cell] = []
    for name, cell in row.cells.items():
        cells.append(_value(cell, f"{place}/cells{pointer(name)}", percent=percent))
    average = row.average
    value = _value(average, f"{place}/average", percent=percent)
    limits = ""
    if average is not None:
        limits = figures.percent_bracketed(average) if percent else figures.bracketed(average, "{:.2f}".format)
    return [
        row.strategy if percent else Span(row.strategy, "muted"),
        "accuracy" if percent else Span("criteria", "muted"),
        *cells,
        (value, Span(limits, "muted")),
        figures.NOTHING if average is None else _count_text(average.n_known, average.n),
        _table_gain(row.gain, f"{place}/gain", percent=percent),
    ]


def _strategy_gains(row: RefinementTableRow, place: str) -> Iterator[list[Cell]]:
    """Yield a row for each control."""
    percent = row.measure == "accuracy"
    for control, gains in row.gains.items():
        cells: list[Cell] = [f"{row.strategy} over {control}", row.measure.replace("atom", "criterion")]
        for name, gain in gains.cells.items():
            cells.append(_table_gain(gain, f"{place}/{control}/cells{pointer(name)}", percent=percent))
        cells.append(_table_gain(gains.average, f"{place}/{control}/average", percent=percent))
        yield cells


def _hints_and_leaks(refinement: RefinementFigures) -> list[Cell]:
    lines: list[Cell] = []
    for arm, hints in refinement.hints.items():
        text = f": {figures.several(hints.points, 'point')}"
        if arm == "peer":
            text += f", {hints.hinted} with a hint"
            text += "".join(f", {count} without a hint ({kind})" for kind, count in hints.fallbacks.items())
        lines.append((Span(arm, "strong"), text))
    leaks = refinement.leaks
    by_kind: dict[str, CountedRate] = {
        "questions": leaks.questions,
        "hints": leaks.hints,
        "rewritings": leaks.rewritings,
    }
    for kind, rate in by_kind.items():
        if rate.n:
            place = pointer("leaks", kind)
            lines.append(
                (
                    f"{kind.capitalize()} found to leak before they were sent: ",
                    figures.count(rate.k, f"{place}/k"),
                    " of ",
                    figures.count(rate.n, f"{place}/n"),
                    ", ",
                    figures.measured_share(rate.share, f"{place}/share"),
                    "; at most ",
                    figures.measured_share(rate.high, f"{place}/high"),
                    " (95 %, Clopper and Pearson).",
                )
            )
    lines += unchecked_texts(leaks)
    steady = refinement.judge_steadiness
    if steady.share is not None:
        lines.append(
            (
                "Asked again about the same answer, the judge turned ",
                figures.count(steady.turned, "/judge_steadiness/turned"),
                " of ",
                figures.count(steady.n, "/judge_steadiness/n"),
                " criteria between solved and failed, ",
                figures.measured_share(steady.share.share, "/judge_steadiness/share/share"),
                f" ({figures.percent_limits(steady.share, ' to ')} %): so much of what moves is the judge's own doing.",
            )
        )
    return lines


def _text_columns(*titles: str) -> list[Column]:
    return [Column(title, numeric=False) for title in titles]


def _count_text(n_known: int, n: int) -> str:
    if n_known == n:
        return str(n)
    return f"{n_known}/{n}"


def _share(rate: Rate | None, place: str) -> Span:
    if rate is None:
        return figures.NOTHING
    return figures.measured_share(rate.share, f"{place}/share")


def _share_of(share: Share, place: str) -> Cell:
    if share.share is None:
        return figures.NOTHING
    return (_share(share, place), Span(f" of {share.n}", "muted"))


def _value(cell: RefinementCell | None, place: str, *, percent: bool) -> Span:
    if cell is None or cell.value is None:
        return figures.NOTHING
    if percent:
        return Span(percentage(cell.value, 1), "", f"{place}/value", cell.value)
    return figures.score(cell.value, f"{place}/value", tone="", tinted=True)


def _gain(gain: Gain, place: str = "", *, percent: bool = False) -> Cell:
    """Return a gain with its interval; strong if it is significant."""
    if gain.difference is None:
        return figures.NOTHING
    return _difference(gain.difference, gain.adjusted, f"{place}/difference", percent=percent)


def _pairs(gain: Gain, place: str) -> Cell:
    return _count_text(gain.n_paired, gain.n)


def _table_gain(gain: TableGain | None, place: str, *, percent: bool) -> Cell:
    if gain is None:
        return figures.NOTHING
    return _difference(gain, gain.adjusted, place, percent=percent)


def _difference(difference: Interval, adjusted: float | None, place: str, *, percent: bool) -> Cell:
    def span(value: float, name: str, tone: Tone = "") -> Span:
        text = figures.signed_text(100 * value, 1) if percent else figures.signed_text(value, 2)
        return Span(text, tone, "" if percent else f"{place}/{name}", value)

    mean = span(difference.mean, "mean", "strong" if figures.is_sure(adjusted) else "")
    if difference.low is None or difference.high is None:
        return (mean, *_bracketed(figures.no_interval(difference)))
    return (mean, *_bracketed((span(difference.low, "low"), ", ", span(difference.high, "high"))))


def _adjusted_p(gain: Gain, place: str = "") -> Span:
    if gain.difference is None:
        return figures.NOTHING
    return figures.p_value(gain.adjusted)


def _bracketed(limits: Cell) -> tuple[str | Span, ...]:
    """Return an interval in brackets; empty without an interval."""
    if limits is figures.NOTHING:
        return ()
    spans: list[Span] = []
    for piece in limits if isinstance(limits, tuple) else (limits,):
        spans.append(replace(piece, tone="muted") if isinstance(piece, Span) else Span(piece, "muted"))
    return (Span(" [", "muted"), *spans, Span("]", "muted"))


class RefinedRound(BaseModel):
    """The fields of an arm's round that the report shows."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    arm: Arm
    round: int
    model: str
    repeat: int
    last: bool
    answered: Answered
    rule: str
    failure: str | None
    reason: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    shown: tuple[int, ...]
    withheld: tuple[int, ...]
    unused: tuple[UnusedAtom, ...]
    points: tuple[FeedbackPoint, ...]
    text: str | None

    @property
    def answer_name(self) -> str:
        """The model and, from the second repeat on, the repeat's number."""
        if self.repeat:
            return f"{self.model} · repeat {self.repeat + 1}"
        return self.model

    @property
    def title(self) -> str:
        """The arm's title in columns and above answers."""
        if self.arm == "original":
            return "before"
        return self.arm


def samples_section(data: ReportData) -> Section | None:
    """Return the section of failed answers before and after; None if the report shows none."""
    if not data.samples:
        return None
    selection = data.selection
    note = f"{selection.failed_shown} of the {selection.failed} samples with a failed answer"
    if selection.failed_shown < selection.failed:
        note += f", drawn by seed {selection.seed}; the figures above count all of them"
    blocks: list[Block] = [
        Paragraph(
            f"{note}. A criterion marked ✗ is failed (3 or below), the others are solved. Shown: a feedback may name it; "
            "withheld: none does; not fed back: it cannot be. Each arm is shown as it ended.",
            "note",
        )
    ]
    for refined in map(RefinedSample.model_validate, data.samples):
        blocks.append(Fold(_sample_title(refined), tuple(_sample(refined, data.pictures))))
    return Section("before-and-after", "Before and after", blocks, only="page")


class RefinedSample(BaseModel):
    """A displayed sample: its criteria, and the rounds of all its answers."""

    sample: Sample
    criteria: CriteriaSet
    rounds: list[RefinedRound]


def _rounds(refined: RefinedSample) -> dict[str, list[RefinedRound]]:
    """Return the rounds of a sample by answer."""
    by_answer: dict[str, list[RefinedRound]] = {}
    for round in refined.rounds:
        by_answer.setdefault(round.answer_name, []).append(round)
    return by_answer


def _sample_title(refined: RefinedSample) -> str:
    """Return the sample's id and, by answer, the arms that ended with a right answer."""
    parts: list[str] = []
    for name, rounds in _rounds(refined).items():
        right: list[str] = []
        for round in rounds:
            if round.last and round.answered == "right" and round.arm != "original":
                right.append(round.arm)
        parts.append(f"{name}: right in {', '.join(right)}" if right else f"{name}: not mended")
    return f"{refined.sample.id} · {' · '.join(parts)}"


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the blocks of a sample."""
    yield from _sample(RefinedSample.model_validate(views[0]), {})


def _sample(refined: RefinedSample, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the blocks of a sample: question, atoms before and after, feedback in each arm, and answers."""
    question, criteria = refined.sample, refined.criteria
    for image in question.images:
        picture = pictures.get(image.sha256)
        about = f"image, {image.width} × {image.height}"
        if picture and picture.problem:
            about += f": {picture.problem}"
        yield Image(picture.uri if picture else "", about, sha256=image.sha256)
    yield Paragraph(Span(_cut(question.prompt), "strong"))
    if question.choices:
        letters = map(chr, range(ord("A"), ord("A") + len(question.choices)))
        yield Bullets([f"{letter}. {_cut(choice)}" for letter, choice in zip(letters, question.choices, strict=True)])
    if question.reference_answer is not None:
        yield Paragraph((Span("Reference: ", "muted"), _cut(question.reference_answer)))
    for name, rounds in _rounds(refined).items():
        ends = [round for round in rounds if round.last]
        yield Paragraph(Span(name, "strong"))
        yield _atoms(criteria, ends)
        feedback = list(_feedback(rounds))
        if feedback:
            yield Bullets(feedback)
        texts = [(_verdict(end), _cut(end.text or "") or end.reason or "no answer") for end in ends]
        yield Texts(texts, prose=True)


def _atoms(criteria: CriteriaSet, ends: Sequence[RefinedRound]) -> Table:
    first = ends[0]
    marks = dict.fromkeys(first.shown, "shown")
    marks |= dict.fromkeys(first.withheld, "withheld")
    marks |= {unused.atom: f"not fed back: {unused.why}" for unused in first.unused}
    columns = [
        Column("criterion", numeric=False),
        Column("ground truth", numeric=False, meaning="never shown to the model"),
        Column("feedback", numeric=False),
        *(Column(end.title) for end in ends),
    ]
    rows: list[list[Cell]] = []
    for atom, criterion in enumerate(criteria.criteria, start=1):
        mark = Span(marks[atom]) if atom in marks else Span("solved", "muted")
        row: list[Cell] = [f"{atom}. {_cut(criterion.question)}", _cut(criterion.ground_truth), mark]
        for end in ends:
            scores = end.before if end.arm == "original" else end.after
            row.append(_score(scores[atom - 1]) if scores else figures.NOTHING)
        rows.append(row)
    return Table(columns, rows, "Scores by criterion, before and after")


def _score(value: float) -> Span:
    heat = (value - 1) / 4
    if value >= SOLVED:
        return Span(f"{value:g}", "good", "", value, heat)
    return Span(f"✗ {value:g}", "bad", "", value, heat)


def _feedback(rounds: Iterable[RefinedRound]) -> Iterator[Cell]:
    """Yield the feedback in every round of every arm: points, hints, and removed leaks."""
    for round in rounds:
        for point in round.points:
            lead = f"{round.arm}, round {round.round}, criterion {point.atom}: "
            if point.hint:
                rewritten = ", in its second wording" if len(point.wordings) > 1 else ""
                hint = f"its question, and a hint of {point.peer}{rewritten}: "
                yield (Span(lead, "strong"), hint, Span(_cut(point.hint), "muted"))
            else:
                why = f", without a hint ({point.fallback})" if point.fallback else ""
                yield (Span(lead, "strong"), f"its question{why}")
            for wording in point.wordings:
                for leak in wording.leaks:
                    title = f"{lead}found to leak before it was sent ({leak.form}): "
                    yield (Span(title, "bad"), _cut(leak.excerpt))


def _verdict(end: RefinedRound) -> Cell:
    title = Span(end.title, "strong")
    if end.failure:
        return (title, " · ", Span(end.failure, "bad"))
    tones: dict[Answered, Tone] = {"right": "good", "wrong": "bad"}
    return (title, " · ", Span(f"{end.answered} ({end.rule})", tones.get(end.answered, "muted")))


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]} … {len(text) - LONGEST_TEXT:,} more characters"


async def with_refined(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the report data with the failed answers that only the page shows."""
    failed_ids = list(dict.fromkeys(row.sample_id for row in refinement_rows(home, run) if row.selected))
    chosen_ids, selection = select_samples(run, failed_ids, failed_ids, samples)
    images = {
        image.sha256: image for sample in samples_of(home, run.id, chosen_ids).values() for image in sample.images
    }
    views = refined_samples(home, run, chosen_ids, only_failed=True)
    return replace(data, selection=selection, samples=views, pictures=pictures_of(home, images))


DRAWING = Drawing(
    "refinement",
    (section, samples_section, provenance.section),
    sample=sample,
    asks=True,
    figures=RefinementFigures,
    conclusion=conclusion,
)
