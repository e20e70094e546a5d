"""The report of an evaluation: sections, tables and charts, and the data that only the page shows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pydantic import JsonValue

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FAILURE_MEANINGS, OPEN_KINDS, FailureKind
from dokimasia.domain.sample import ImageRef
from dokimasia.domain.wording import has_or_have, is_or_are
from dokimasia.methods.evaluation import differences
from dokimasia.methods.evaluation.differences import pairs_of, rival_differences
from dokimasia.methods.evaluation.figures import (
    BLIND_MARK,
    AsJudged,
    EvaluationFigures,
    FaultsFound,
    HandCorrections,
    LengthAndScore,
    ModelScores,
    Scores,
    Surviving,
    UsageFigures,
)
from dokimasia.methods.evaluation.samples import SampleViews, sample_blocks
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Browser,
    Bullets,
    Cell,
    Chart,
    Column,
    Facts,
    Fold,
    Only,
    Paragraph,
    Section,
    Span,
    Table,
    plain,
    spans,
)
from dokimasia.report.browser import draw_sample
from dokimasia.report.charts import (
    SCALE,
    Point,
    cost_chart,
    grouped_chart,
    interval_chart,
    intervals_said,
    paired_chart,
    repeats_chart,
)
from dokimasia.report.conclusions import MOST_SENTENCES, inconclusive_sentence, lead_sentences, used_sentence
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.fields import Interval, StrictShare, TableRow, pointer, rows_of
from dokimasia.report.sample_view import SampleView
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import (
    TableColumn,
    column,
    computed_column,
    cost_column,
    field_columns,
    name_column,
    origin_columns,
    part_column,
    table,
)
from dokimasia.runs.measures import mean
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef, sample_refs
from dokimasia.runs.reading.reporting import pictures_of, select_samples
from dokimasia.storage.excerpts import failed_samples, failure_reasons, samples_of
from dokimasia.storage.excerpts import rows_of as rows_by_sample
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, criteria_weights, judged_criteria
from dokimasia.storage.usage import ScoredAnswer, scored_answers

ScoresRow = TableRow[ModelScores]

MOST_NAMED = 6
MOST_DRAWN = 150
MOST_ACROSS = 7

INTERVALS = (
    "Intervals are 95 % intervals clustered by samples that share an image: they speak of other samples from where these "
    "came from, not of another judge, prompt or set of criteria."
)
SHARED = (
    "Calls shared by several models, such as the judge's on two answers in the same words, appear in each model's row, "
    "but were made and paid for once. "
)
CHOSEN = (
    "The corrected answers were chosen by people and not drawn at random: how many there are does not say how often the judge "
    "errs. That is measured on a blind draw: dokimasia annotate draw RUN, then dokimasia correct RUN --human FILE."
)
FAULTS = {
    "unnecessary": "the answer does not rest on it",
    "compound": "it asks for more than one thing",
    "suggestive": "its question gives its answer away",
    "missing": "something that the answer rests on, and no criterion asked for",
    "rule": "it still broke a rule when it had been sent back, such as speaking of a solution",
}


def evaluation_of(data: ReportData) -> EvaluationFigures:
    """Return the figures of a report."""
    return data.figures_as(EvaluationFigures)


def overview(data: ReportData) -> Section:
    """Return the overview: data, models and judge, and the main results in a few sentences."""
    findings = _findings(data)
    blocks: list[Block] = [Facts(_facts(data))]
    if findings:
        blocks.insert(0, Bullets(findings))
    return Section("overview", "Overview", blocks)


def _facts(data: ReportData) -> list[tuple[str, Cell]]:
    facts, evaluation = data.facts, evaluation_of(data)
    names = [name for name in evaluation.models if name not in data.blind_arms]
    models = ", ".join(names[:MOST_NAMED]) or "none yet"
    if len(names) > MOST_NAMED:
        models += f" and {len(names) - MOST_NAMED} more"
    if data.blind_arms:
        models += " · each also without the image"
    judges: list[str] = []
    for model in facts.models:
        if model.role == "judge":
            judges.append(f"{model.name} ({', '.join(model.steps)})" if model.steps else model.name)
    rows: list[tuple[str, Cell]] = [
        ("Data", (facts.data_name, " · ", figures.count(evaluation.samples, "/samples"), " samples")),
        ("Models", models),
        ("Judge", ", ".join(judges) or "none: rules alone say whether an answer is right"),
        ("Run", (Span(facts.run, "code"), f" · seed {facts.seed} · Dokimasia {facts.accepted_by or facts.written_by}")),
    ]
    origin = evaluation.forked_from
    if origin is not None:
        rows.append(("Forked from", (Span(origin.run, "code"), f" at {origin.node}: what comes before was taken over")))
    return rows


def conclusion(data: ReportData) -> list[Cell]:
    """Return which model answers best, its lead and how certain that is, what is undecided or failed, and the usage."""
    evaluation = evaluation_of(data)
    if not evaluation.models:
        return []
    strict = strict_accuracy_lines(data)
    first, *undecided = strict or _highest_scores(data) or ["Nothing was scored: there is no figure to report."]
    lead = lead_sentences(evaluation.lead, unit="points of 5", measure="mean score", digits=2)
    if strict:
        lead = lead_sentences(evaluation.lead, unit="percentage points", measure="strict accuracy")
    if _is_tied(evaluation):
        lead = []  # The first sentence states it.
    lines = [first, *lead[:1]]
    incomplete = _coverage_line(data) if data.judged else ""
    if incomplete:
        lines.append(incomplete)
    lines += undecided
    if evaluation.corrections is not None:
        lines.append(corrections_notice(evaluation.corrections))
    if not data.judged and _has_undecided(evaluation.models):
        lines.append("With --judge, a judge decides the undecided answers.")
    lines += lead[1:]
    return [*lines[: MOST_SENTENCES - 1], used_sentence(evaluation.together, data.paid)]


def _mean_scores(data: ReportData) -> dict[str, Interval]:
    """Return the mean scores of the models that see the image."""
    models = evaluation_of(data).models
    scores: dict[str, Interval] = {}
    for name in data.ranked():
        score = models[name].score
        if score is not None and name not in data.blind_arms:
            scores[name] = score
    return scores


def _highest_scores(data: ReportData) -> list[Cell]:
    scores = _mean_scores(data)
    if not scores:
        return []
    best = _best(scores)
    values = _joined([_mean(scores[name], pointer("models", name, "score")) for name in best])
    verb = " score highest, and alike: "
    if len(scores) == 1:
        verb = " scores "
    elif len(best) == 1:
        verb = " scores highest: "
    return [(*_name_list(best), verb, *values, ".")]


def _best(scores: Mapping[str, Interval]) -> list[str]:
    return _highest({name: score.mean for name, score in scores.items()})


def _findings(data: ReportData) -> list[Cell]:
    """Return the page's additions to the conclusion: the highest score, its lead, and what survives without images."""
    lines: list[Cell] = []
    scores = _mean_scores(data)
    if scores and strict_accuracy_lines(data):
        lines += _highest_scores(data)
        best = _best(scores)
        if len(best) == 1:
            lines += _lead(data, best[0])
    shares: dict[str, float] = {}
    for name, surviving in evaluation_of(data).blind.items():
        if surviving.share is not None:
            shares[name] = surviving.share
    if shares:
        most = _highest(shares)
        survives = figures.share(shares[most[0]], pointer("blind", most[0], "share"))
        end = ", more than for any other model." if len(shares) > len(most) else "."
        lines.append(
            ("Without the image ", survives, " of the score above the floor survives for ", *_name_list(most), end)
        )
    return lines


def _mean(score: Interval, place: str) -> Cell:
    return figures.score(score.mean, f"{place}/mean"), f" of 5{figures.bracketed(score, '{:.2f}'.format)}"


def _is_tied(evaluation: EvaluationFigures) -> bool:
    """Return whether the best and the next best tie in strict accuracy, over all answers and over shared ones."""
    lead = evaluation.lead
    if lead is None or lead.difference.mean != 0:
        return False
    first, second = (evaluation.models[name].strict_accuracy for name in (lead.best, lead.next_best))
    return first is not None and second is not None and first.share == second.share


def strict_accuracy_lines(data: ReportData) -> list[Cell]:
    """Return the models with the highest strict accuracy, and those that undecided answers could put first."""
    accuracies: dict[str, StrictShare] = {}
    shares: dict[str, float] = {}
    for name, model in evaluation_of(data).models.items():
        accuracy = model.strict_accuracy
        if accuracy is not None and accuracy.share is not None and name not in data.blind_arms:
            accuracies[name], shares[name] = accuracy, accuracy.share
    if not accuracies:
        return []
    best = _highest(shares)
    measured = [_accuracy(accuracies[name], pointer("models", name, "strict_accuracy")) for name in best]
    if len(accuracies) == 1:
        return [(*_name_list(best), ": strict accuracy ", *spans(measured[0]), ".")]
    if len(best) == 1:
        verb = " has the highest strict accuracy: "
    elif len(best) == len(accuracies):
        verb = " have the same strict accuracy: "
    else:
        verb = " share the highest strict accuracy: "
    lines: list[Cell] = [(*_name_list(best), verb, *_joined(measured), ".")]
    highest = shares[best[0]]
    ahead: list[str] = []
    for name, accuracy in sorted(accuracies.items()):
        if name not in best and accuracy.upper is not None and accuracy.upper > highest:
            ahead.append(name)
    if ahead:
        lines.append(("Undecided answers could put ", *_name_list(ahead), " ahead, if they are right."))
    return lines


def _accuracy(accuracy: StrictShare, place: str) -> Cell:
    """Return a strict accuracy with its interval, and the range that undecided and failed answers allow."""
    pieces = [*spans(figures.right_of(accuracy, place)), f" of {figures.several(accuracy.n, 'answer')}"]
    undecided, failures = accuracy.n_undecided, accuracy.answers - accuracy.n
    if undecided:
        condition = "the undecided answer is" if undecided == 1 else f"the {undecided:,} undecided answers are"
        pieces += [", up to ", figures.upper_of(accuracy, place), f" if {condition} right"]
        if accuracy.outer is not None:
            pieces.append(f" ({figures.percent_limits(accuracy.outer, ' to ')} % with sampling error)")
    if failures:
        pieces.append(
            f"; {failures:,} of {accuracy.answers:,} answers {has_or_have(failures)} no verdict, and over all answers it is "
        )
        pieces += spans(figures.percent_bounds(accuracy))
    return tuple(pieces)


def _highest(values: Mapping[str, float]) -> list[str]:
    """Return the names with the highest value; several if they tie."""
    highest = max(values.values())
    return sorted(name for name, value in values.items() if value == highest)


def _name_list(names: Sequence[str]) -> tuple[str | Span, ...]:
    """Return names as part of a sentence: `a, b and c`."""
    pieces: list[str | Span] = []
    for index, name in enumerate(names):
        if index:
            pieces.append(" and " if index == len(names) - 1 else ", ")
        pieces.append(Span(name, "strong"))
    return tuple(pieces)


def _joined(cells: Sequence[Cell]) -> tuple[str | Span, ...]:
    """Return the cells joined by semicolons, or a single cell if all are the same."""
    if len(set(map(plain, cells))) == 1:
        return spans(cells[0])
    pieces: list[str | Span] = []
    for cell in cells:
        pieces += ["; ", *spans(cell)]
    return tuple(pieces[1:])


def _lead(data: ReportData, best: str) -> list[Cell]:
    """Return how the best model compares with the next best one."""
    for pair in pairs_of(data):
        if pair.better == best and pair.difference is not None:
            break
    else:
        return []
    lines: list[Cell] = []
    worse, gap, shares = Span(pair.worse, "strong"), pair.difference, pair.stated
    if shares is not None and shares.apart:
        lines.append(
            (
                "On the ",
                figures.count(shares.n),
                " samples scored for both, ",
                Span(best, "strong"),
                " addresses ",
                figures.spoken(shares.second),
                " of the criteria's weight and ",
                worse,
                " ",
                figures.spoken(shares.first),
                ": part of the difference below is how much each says, not how correct it is.",
            )
        )
    p_text = f"adjusted {figures.p_text(pair.adjusted)}"
    opening, where, verb = "Its lead over ", " is not significant: on the ", " the difference is "
    end = f" ({p_text})."
    if figures.disagree(gap, pair.adjusted):
        where, end = ": on the ", f". {inconclusive_sentence(p_text)}"
    elif pair.sure:
        opening, where, verb = "It is ahead of ", " on the ", " by "
    lines.append(
        (
            opening,
            worse,
            where,
            figures.count(pair.n_paired),
            " samples scored for both",
            verb,
            Span(figures.signed_text(gap.mean), "strong"),
            figures.bracketed(gap, figures.signed_text),
            end,
        )
    )
    return lines


def _coverage_line(data: ReportData) -> Cell:
    """Return which model has the fewest scored answers; empty if every answer was scored."""
    models = evaluation_of(data).models
    incomplete: dict[str, float] = {}
    for name, model in models.items():
        if model.answers_scored < model.answers:
            incomplete[name] = -(model.coverage or 0)
    if not incomplete:
        return ""
    if not any(model.answers_scored for model in models.values()):
        return _none_scored(models)
    n_failed = sum(sum(model.failed_answers.values()) for model in models.values())
    n_open = sum(model.answers - model.answers_scored for model in models.values()) - n_failed
    end = ")."
    if n_failed:
        end += " Failed answers are excluded from the mean; the bounds show how much they could change it."
    if n_open > 0:
        end += f" {figures.several(n_open, 'answer')} {is_or_are(n_open)} not yet scored."
    worst = _highest(incomplete)
    counts = [figures.scored_of(models[name], pointer("models", name)) for name in worst]
    return (
        "Some answers have no score; the least covered ",
        "model is " if len(worst) == 1 else "models are ",
        *_name_list(worst),
        ": ",
        *_joined(counts),
        " scored (",
        figures.share(models[worst[0]].coverage, pointer("models", worst[0], "coverage")),
        end,
    )


def _none_scored(models: Mapping[str, ModelScores]) -> str:
    """Return a sentence that no answer has a score, with the numbers of open and failed ones, by kind."""
    kinds: Counter[str] = Counter()
    for model in models.values():
        kinds.update(model.left_open)
        kinds.update(without_undecided(model.failed_answers))
    answers = figures.several(sum(model.answers for model in models.values()), "answer")
    why = f" ({figures.counts(dict(sorted(kinds.items())))})" if kinds else ""
    return f"None of {answers} has a score{why}."


def corrected(data: ReportData) -> Section | None:
    """Return the section on corrections by hand, with the figures as judged; None if nothing was corrected."""
    evaluation = evaluation_of(data)
    corrections = evaluation.corrections
    if corrections is None:
        return None
    blocks: list[Block] = [Paragraph(corrections_notice(corrections), "warning")]
    if corrections.left_out:
        lines: list[Cell] = []
        for left_out in corrections.left_out:
            lines.append((Span(left_out.sample, "strong"), f": {left_out.reason} ({left_out.who})"))
        blocks.append(Bullets(lines))
    nothing = AsJudged(n=0, n_scored=0, strict_accuracy=None, score=None)
    ranked = [name for name in data.ranked() if name in corrections.as_judged]
    ranked += [name for name in corrections.as_judged if name not in ranked]
    rows: list[TableRow[AsJudged]] = rows_of(corrections.as_judged, order=ranked)
    corrected_scores = {name: evaluation.models.get(name, nothing) for name in corrections.as_judged}
    columns: list[TableColumn[AsJudged]] = [
        name_column("model"),
        computed_column(
            "samples",
            lambda row: f"{corrected_scores[row.name].n:,}/{row.figures.n:,}",
            meaning="answers that count, and as judged; a score is over those of them that have one",
        ),
        computed_column(
            "strict accuracy, corrected", lambda row: figures.strict_of(corrected_scores[row.name].strict_accuracy)
        ),
        computed_column("strict accuracy, as judged", lambda row: figures.strict_of(row.figures.strict_accuracy)),
        computed_column("score, corrected", lambda row: figures.measured(corrected_scores[row.name].score, ends=2)),
        computed_column("score, as judged", lambda row: figures.measured(row.figures.score, ends=2)),
    ]
    blocks += [table(AsJudged, rows, columns, "With corrections, and as judged"), Paragraph(CHOSEN, "note")]
    return Section("corrected", "Corrected by hand", blocks, menu="Corrected")


def corrections_notice(corrections: HandCorrections) -> str:
    """Return a sentence with the number of corrections and the names of their authors."""
    by = ", ".join(f"{person} ({count:,})" for person, count in corrections.by.items())
    left_out = len(corrections.left_out)
    exclusions = f", and left {figures.several(left_out, 'sample')} out of all figures" if left_out else ""
    of = figures.several(corrections.of, "answer")
    notice = f"People corrected {corrections.answers:,} of {of}{exclusions}: {by}. "
    if not corrections.answers:
        return f"{notice}The figures as judged stand beside them."
    return (
        f"{notice}The figures count what they said in the place of what the judge or a rule had said; the figures as "
        "judged stand beside them."
    )


def scores(data: ReportData) -> Section:
    """Return the section on strict accuracy and scores by model, ordered by strict accuracy if it is known."""
    evaluation, has_judge = evaluation_of(data), data.judged
    models, ranked = evaluation.models, data.ranked()
    title = "Scores" if has_judge else "Strict accuracy"
    if not models:
        return Section("scores", title, [_nothing_yet(evaluation)], menu="Scores")
    failing = any(without_undecided(model.failed_answers) or model.left_open for model in models.values())
    blocks: list[Block] = []
    silence = _silence(models) if has_judge else ""
    if silence:
        blocks.append(Paragraph(silence, "warning"))
    points = _points(data)
    if points:
        dotted = "; dotted: what failures leave open" if failing else ""
        has_references = any(model.strict_accuracy is not None for model in models.values())
        order = "the most right answers first" if has_references else "best first"
        about = f"Mean scores {intervals_said(points)} of {figures.several(len(points), 'model')}, {order}{dotted}"
        blocks.append(Chart(interval_chart(points, title="mean score, 1 to 5", scale=SCALE), about))
    columns = _score_columns(data, failing=failing)
    about = "Answers and scores by model" if has_judge else "Strict accuracy by model"
    blocks.append(table(ModelScores, rows_of(models, "models", order=ranked), columns, about))
    blocks += _notes(data)
    return Section("scores", title, blocks, menu="Scores" if has_judge else "Accuracy")


def _nothing_yet(evaluation: EvaluationFigures) -> Block:
    """Return a notice that no answer has a result yet, and what has been made so far."""
    samples = figures.several(evaluation.samples, "sample")
    criteria = f" to {samples}"
    if evaluation.criteria is not None:
        criteria = f"; criteria of {evaluation.criteria.sets:,} of {samples} are there"
    return Paragraph(
        (
            f"Nothing is scored yet: 0 answers have a result{criteria}. ",
            Span(f"dokimasia resume {evaluation.run}", "code"),
            " goes on, and asks for no answer again that the ledger has.",
        )
    )


def _points(data: ReportData) -> list[Point]:
    models = evaluation_of(data).models
    points: list[Point] = []
    for name in data.ranked():
        model = models[name]
        if model.score is None:
            continue
        open_ends = None
        if model.bounds is not None and model.answers_scored < model.answers:
            open_ends = (model.bounds.low, model.bounds.high)
        hollow = name in data.blind_arms
        points.append(Point(name, model.score.mean, model.score.low, model.score.high, open_ends, hollow=hollow))
    return points


def _has_undecided(models: Mapping[str, ModelScores]) -> bool:
    accuracies = [model.strict_accuracy for model in models.values()]
    return any(accuracy is not None and accuracy.n_undecided for accuracy in accuracies)


def _score_columns(data: ReportData, *, failing: bool) -> list[TableColumn[ModelScores]]:
    has_judge = data.judged
    columns: list[TableColumn[ModelScores]] = [
        name_column("model"),
        *origin_columns(ModelScores, data.stored),
        column(
            "strict_accuracy",
            title="strict accuracy",
            meaning="share of final answers that agree with the reference, undecided ones counted as not right; 95 % interval",
            write=figures.right_of,
        ),
        part_column(
            "right",
            "k",
            "n",
            path=("strict_accuracy",),
            meaning="right answers, and all that did not fail",
            detail=True,
            only="page" if has_judge and data.facts.status == "done" else None,
        ),
    ]
    if not has_judge or _has_undecided(evaluation_of(data).models):
        columns.append(
            column(
                "strict_accuracy",
                title="undecided",
                meaning="answers of which no rule and no judge says whether they are right, and the strict accuracy if "
                "all of them were; in brackets the range with its sampling error",
                write=figures.undecided_of,
            )
        )
    if has_judge:
        columns += _judged_columns(data, failing=failing)
    if any(without_undecided(model.failed_answers) for model in evaluation_of(data).models.values()):
        columns.append(computed_column("failed", _failure_cell, meaning="answers", numeric=False, only="terminal"))
    if any(model.left_open for model in evaluation_of(data).models.values()):
        columns.append(column("left_open", title="open", meaning="answers still to be made or judged", numeric=False))
    columns += [
        column("calls", title="calls", only="terminal", detail=True),
        cost_column(only="terminal"),
    ]
    return columns


def _judged_columns(data: ReportData, *, failing: bool) -> list[TableColumn[ModelScores]]:
    bar = figures.BAR
    columns: list[TableColumn[ModelScores]] = [
        column(
            "score",
            "mean",
            title="score",
            meaning="mean over scored samples, 1 to 5, higher is better; silence on a criterion counts 1",
            write=figures.score,
        ),
        column(
            "score",
            title="95 % interval",
            meaning="bootstrap, clustered by samples that share an image",
            write=figures.interval,
        ),
        computed_column(
            bar.title, lambda row: figures.bar(row.figures.score), numeric=bar.numeric, only=bar.only, detail=True
        ),
    ]
    if data.planted is not None:
        for index, head in enumerate(figures.PLANTED):
            columns.append(computed_column(head.title, partial(_planted_cell, data.planted, index), only=head.only))
    columns += [
        computed_column(
            "score (0–100)",
            _of_100,
            meaning="(score − 1) / 4 × 100, a mean over samples; on capabilities it is a mean over criteria",
            only="page",
        ),
        column(
            "stated",
            "mean",
            title="addressed",
            meaning="share of the criteria's weight that the answers address, mean over samples",
            write=figures.spoken,
        ),
        computed_column(
            "score on those",
            _stated_score,
            meaning="mean score on the criteria addressed, which differ by model",
            only="page",
        ),
        part_column(
            "scored", "answers_scored", "answers", meaning="answers that were scored, and all answers", detail=True
        ),
    ]
    if failing:
        columns.append(column("bounds", title="bounds", meaning="if every failed answer had scored 1, or 5"))
    return columns


def _planted_cell(planted: Mapping[str, float], index: int, row: ScoresRow) -> Cell:
    score = row.figures.score
    low, high = (None, None) if score is None else (score.low, score.high)
    return figures.within(planted.get(row.name), low, high)[index]


def _of_100(row: ScoresRow) -> Cell:
    score = row.figures.score
    if score is None:
        return figures.NOTHING
    return f"{(score.mean - 1) * 25:.1f}"


def _stated_score(row: ScoresRow) -> Cell:
    stated_score = row.figures.stated_score
    if stated_score.mean is None:
        return figures.NOTHING
    interval = Interval(
        mean=stated_score.mean, low=stated_score.low, high=stated_score.high, no_interval=stated_score.no_interval
    )
    return figures.measured(interval, f"{row.pointer}/stated_score", ends=2)


def _failure_cell(row: ScoresRow) -> Cell:
    return figures.failures(without_undecided(row.figures.failed_answers), f"{row.pointer}/failed_answers")


def without_undecided(failures: Mapping[FailureKind, int]) -> dict[FailureKind, int]:
    """Return failures by kind without undecided answers, which are counted separately."""
    return {kind: number for kind, number in failures.items() if kind != "undecided"}


def _notes(data: ReportData) -> list[Block]:
    evaluation, has_judge = evaluation_of(data), data.judged
    models = evaluation.models
    total_usage = figures.used(evaluation.together, data.paid)
    right = "An answer is right if its final answer matches the reference. Rules decide where they can; "
    right += "otherwise the judge does. " if has_judge else "what they cannot is undecided. "
    if _has_undecided(models):
        right += (
            "Strict accuracy counts undecided answers as not right, as benchmarks by exact match do; the figure after “up to” "
            "counts them as right. That range has no sampling error in it, and comes beside the interval. "
        )
        if not has_judge:
            right += "To decide them, give the command again with --judge. "
    if evaluation.ask == "plain":
        right += (
            "The models were sent the bare question and not asked to show what their answers rest on: what an answer "
            "does not address says nothing of what the model can do. "
        )
    if not has_judge:
        total = f"All together: {total_usage}. {_shared_calls(data)}".rstrip()
        return [Paragraph(right + INTERVALS, "note"), Only("terminal", (Paragraph(total, "note"),))]
    how = (
        "A judge scores each criterion of a sample from 1 to 5; an answer's score is their mean by weight, a sample's the "
        "mean over its scored repeats, a model's the mean over its scored samples. A criterion that an answer does not "
        "address scores 1, as in the paper; the share addressed, and the score on it, stand beside it. "
    )
    criteria = (
        "Scores 1 to 5, higher is better; a criterion that is not addressed scores 1, and addressed is the share of "
        f"the criteria's weight that answers address. {evaluation.preparation.calls:,} calls of {_criteria_made(data)}. "
        f"Their cost: {figures.cost_of(evaluation.preparation).text}. All together: {total_usage}. {_shared_calls(data)}"
    )
    return [
        Only("page", (Paragraph(right + how + INTERVALS, "note"), _lengths(evaluation))),
        Only("terminal", (Paragraph(right + criteria + INTERVALS, "note"),)),
    ]


def _criteria_made(data: ReportData) -> str:
    """Return who made the criteria; in a fork that reuses them, this is the judge of the parent run."""
    origin = evaluation_of(data).forked_from
    for model in data.facts.models:
        if "extract_criteria" in model.steps and model.name and origin is not None:
            return f"{model.name} made the criteria, which were taken over from run {origin.run}"
    return "the judge made the criteria"


def _silence(models: Mapping[str, ModelScores]) -> str:
    """Return a warning about models that address too few criteria for a fair comparison; empty if there are none."""
    names: list[str] = []
    for name, model in models.items():
        share = model.stated.mean
        if share is not None and share < figures.SPEAKING:
            names.append(f"{name} ({figures.spoken(share).text})")
    if not names:
        return ""
    advice = ""
    if len(models) > 1:
        advice = ", and on the criteria that both models address (dokimasia diff RUN --models A,B)"
    return (
        f"These address less than {figures.share(figures.SPEAKING).text} of the criteria's weight: {', '.join(names)}. "
        f"Their scores fall for what they do not say, right or wrong: compare them by strict accuracy{advice}."
    )


def _lengths(evaluation: EvaluationFigures) -> Block:
    """Return the table of answer length and score, over all models and by model."""
    parts = {"all models": evaluation.length}
    parts |= {name: model.length for name, model in evaluation.models.items()}
    columns: list[TableColumn[LengthAndScore]] = [
        name_column("model"),
        column("n"),
        column("characters", write=lambda value, place: "–" if value is None else f"{value:,.0f}"),
        column("correlation", write=figures.signed),
        computed_column(
            "95 % interval",
            lambda row: figures.interval(row.figures, signed=True),
            meaning="jackknife over samples that share an image",
        ),
    ]
    lengths = table(LengthAndScore, rows_of(parts), columns, "Length of answers and score")
    return Fold("Length of answers against their score", (lengths,))


def categories(data: ReportData) -> Section | None:
    """Return the section on the data's own categories; None if the data have no categories."""
    models, has_judge, ranked = evaluation_of(data).models, data.judged, data.ranked()
    names = sorted({category for model in models.values() for category in model.by_category})
    if not names:
        return None
    blocks: list[Block] = []
    if has_judge and len(names) * len(ranked) <= MOST_DRAWN:
        series = {name: [_category_point(models[name], category) for category in names] for name in ranked}
        points = [point for row in series.values() for point in row if point is not None]
        blocks.append(
            Chart(
                grouped_chart(series, names, title="mean score, 1 to 5"),
                f"Mean scores {intervals_said(points)} by {figures.several(len(names), 'category', 'categories')} "
                f"and {figures.several(len(ranked), 'model')}",
            )
        )
    blocks.append(_categories_table(models, ranked, names, judged=has_judge))
    contents = "Mean, 95 % interval and number of scored samples"
    if not has_judge:
        contents = "Strict accuracy with 95 % intervals, and up to what if all undecided answers were right"
    blocks.append(
        Paragraph(
            f"{contents}. A category has fewer samples than the whole, so its "
            "intervals are wider; with many categories some will differ by chance alone.",
            "note",
        )
    )
    title = "Scores by category" if has_judge else "Strict accuracy by category"
    return Section("categories", title, blocks, menu="Categories")


def _categories_table(
    models: Mapping[str, ModelScores], ranked: Sequence[str], names: Sequence[str], *, judged: bool
) -> Table:
    """Return the table of models and categories, with the fewer of the two as columns to keep it narrow."""
    by_model = len(names) <= MOST_ACROSS or len(names) <= len(ranked)
    across, down = (names, ranked) if by_model else (ranked, names)
    rows: list[list[Cell]] = []
    for side in down:
        row: list[Cell] = [Span(side, "strong")]
        for head in across:
            model, category = (side, head) if by_model else (head, side)
            place = pointer("models", model, "by_category", category)
            row.append(_category_cell(models[model].by_category.get(category), place, judged=judged))
        rows.append(row)
    columns = [Column("model" if by_model else "category", numeric=False), *map(Column, across)]
    return Table(columns, rows, "Scores by category" if judged else "Strict accuracy by category")


def _category_cell(category: Scores | None, place: str, *, judged: bool) -> Cell:
    if category is None:
        return figures.NOTHING
    if not judged:
        return figures.strict_of(category.strict_accuracy, f"{place}/strict_accuracy")
    score = category.score
    if score is None:
        return figures.NOTHING
    return (
        figures.score(score.mean, f"{place}/score/mean", tinted=True),
        Span(figures.bracketed(score, "{:.1f}".format), "muted"),
        Span(" (", "muted"),
        figures.count(category.n_scored, f"{place}/n_scored", tone="muted"),
        Span(")", "muted"),
    )


def _category_point(model: ModelScores, category: str) -> Point | None:
    scores = model.by_category.get(category)
    if scores is None or scores.score is None:
        return None
    return Point(category, scores.score.mean, scores.score.low, scores.score.high)


def coverage(data: ReportData) -> Section:
    """Return the section on coverage: failures by kind with an example, and the bounds that allow for them."""
    has_judge = data.judged
    figure = "mean" if has_judge else "strict accuracy"
    blocks = _coverage_of_scores(data) if has_judge else [_coverage_of_verdicts(data)]
    text = "No failures, so the best and worst case are the same."
    if data.facts.status != "done":
        text = "No item has failed so far."
        if any(kind in OPEN_KINDS for kind in data.reasons):
            text += " Open items are not yet scored."
    if data.reasons:
        rows: list[list[Cell]] = []
        for kind, reason in sorted(data.reasons.items()):
            rows.append([Span(kind, "bad"), FAILURE_MEANINGS.get(kind, ""), Span(reason, "code")])
        columns = [Column(title, numeric=False) for title in ("kind", "what it means", "an example")]
        about = "Kinds of failure" if has_judge else "Kinds of failure, and what is undecided"
        blocks.append(Table(columns, rows, f"{about}, with an example of each"))
    if any(kind not in OPEN_KINDS for kind in data.reasons):
        stays = "" if has_judge else "An undecided answer stays in it, as not right. "
        text = (
            f"Failed answers are excluded from the {figure} and counted by kind; the bounds show how much they could change "
            f"it. {stays}The interval shows how much other samples could change it."
        )
    blocks.append(Paragraph(text, "note"))
    corrections = evaluation_of(data).corrections
    if corrections is not None and corrections.left_out:
        names = ", ".join(left_out.sample for left_out in corrections.left_out)
        blocks.append(Paragraph(f"In none of these numbers, since people left them out: {names}.", "warning"))
    return Section("coverage", "Coverage and failures", blocks, menu="Coverage")


def _coverage_of_scores(data: ReportData) -> list[Block]:
    """Return the share of answers with a score and, if samples have several answers, the share of samples."""
    models = evaluation_of(data).models
    rows = rows_of(models, "models", order=data.ranked())
    columns: list[TableColumn[ModelScores]] = [
        name_column("model"),
        part_column("answers", "answers_scored", "answers", meaning="scored, and all"),
        column("coverage"),
        column("failed_answers", title="failed answers", meaning="by kind of failure", numeric=False),
        column("bounds", title="worst- to best-case mean", meaning="if every failed answer had scored 1, or 5"),
    ]
    blocks: list[Block] = [table(ModelScores, rows, columns, "Coverage and failures by model, in answers")]
    if any(model.answers != model.n for model in models.values()):
        columns = [
            name_column("model"),
            part_column("samples", "n_scored", "n", meaning="with a scored answer, and all"),
            column(
                "failures",
                title="samples without a score",
                meaning="by the kind of their first failure",
                numeric=False,
            ),
        ]
        about = "The same in samples: one scored answer gives a sample its score"
        blocks.append(table(ModelScores, rows, columns, about))
    return blocks


def _coverage_of_verdicts(data: ReportData) -> Block:
    """Return the table of answers decided by rules, by model."""
    columns: list[TableColumn[ModelScores]] = [
        name_column("model"),
        column("strict_accuracy", "answers", title="answers", meaning="to samples with a reference answer"),
        computed_column("decided", _decided, meaning="to be right or wrong"),
        column("strict_accuracy", "n_undecided", title="undecided", meaning="no rule says whether they are right"),
        computed_column("failed answers", _failure_cell, numeric=False),
        column(
            "strict_accuracy",
            "coverage",
            title="coverage",
            meaning="share of answers that did not fail",
            write=figures.share,
        ),
        column(
            "strict_accuracy",
            title="bounds",
            meaning="of the share of right answers, if every undecided or failed one were wrong, or right",
            write=lambda accuracy, _: figures.percent_bounds(accuracy),
        ),
    ]
    rows = rows_of(evaluation_of(data).models, "models", order=data.ranked())
    return table(ModelScores, rows, columns, "Answers that were decided, by model")


def _decided(row: ScoresRow) -> Cell:
    accuracy = row.figures.strict_accuracy
    if accuracy is None:
        return figures.NOTHING
    return figures.count(accuracy.n - accuracy.n_undecided)


def criteria(data: ReportData) -> Section | None:
    """Return the section on criteria: their number, the faults found in review, and answer-only samples."""
    criteria_figures = evaluation_of(data).criteria
    if criteria_figures is None or not criteria_figures.sets:
        return None
    facts: list[tuple[str, Cell]] = [
        ("Samples with criteria", figures.count(criteria_figures.sets, "/criteria/sets")),
        ("Criteria a sample", figures.score(criteria_figures.points, "/criteria/points", tone="")),
        ("Only the final answer", figures.share_of(criteria_figures.only_final, "/criteria/only_final")),
        ("Looked at again", figures.count(criteria_figures.checked, "/criteria/checked")),
    ]
    if criteria_figures.contradicting:
        count = figures.count(criteria_figures.contradicting, "/criteria/contradicting")
        facts.append(("From a chain that contradicts the reference", count))
    reasons = evaluation_of(data).reasons
    if reasons is not None:
        facts.append(("Scores of a criterion", figures.count(reasons.scores, "/reasons/scores")))
        facts.append(("… without a reason", figures.count(reasons.missing, "/reasons/missing")))
    blocks: list[Block] = [Facts(facts)]
    if criteria_figures.faults:
        columns: list[TableColumn[FaultsFound]] = [
            name_column("found"),
            computed_column("what it means", lambda row: FAULTS[row.name], numeric=False),
            *field_columns("mended", "dropped", "left"),
        ]
        rows: list[TableRow[FaultsFound]] = rows_of({**criteria_figures.faults}, "criteria", "faults")
        about = "What was found to be wrong with criteria, and what became of it"
        blocks.append(table(FaultsFound, rows, columns, about))
    blocks.append(
        Paragraph(
            "Before answers are scored by them the judge takes a second look at the criteria of each sample: whether the "
            "answer rests on each, whether it asks for one thing, whether its question gives the answer away. What is "
            "wrong is sent back once and mended, or left out. A sample of which the final answer is the only criterion "
            "says nothing about how the answer was reached.",
            "note",
        )
    )
    return Section("criteria", "Criteria", blocks)


class RepeatMean(Value):
    """The mean over the scored answers of one repeat, 1 to 5; None if there are none."""

    repeat: int
    n: int
    n_scored: int
    mean: float | None


def means_by_repeat(rows: Iterable[ScoredAnswer]) -> dict[str, list[RepeatMean]]:
    """Return the mean score of each repeat, by model."""
    scores: dict[str, dict[int, list[float | None]]] = {}
    for row in rows:
        scores.setdefault(row.model, {}).setdefault(row.repeat, []).append(row.score)
    means: dict[str, list[RepeatMean]] = {}
    for model, repeats in scores.items():
        means[model] = []
        for repeat, values in sorted(repeats.items()):
            valid = [value for value in values if value is not None]
            means[model].append(RepeatMean(repeat=repeat, n=len(values), n_scored=len(valid), mean=mean(valid)))
    return means


def repeats(data: ReportData) -> Section | None:
    """Return the section on the spread over repeats; None without repeats."""
    most = max((len(means) for means in data.repeats.values()), default=0)
    if most < 2:
        return None
    means: dict[str, list[float | None]] = {}
    for name in data.ranked():
        if name in data.repeats:
            means[name] = [None] * most
            for repeat in map(RepeatMean.model_validate, data.repeats[name]):
                means[name][repeat.repeat] = repeat.mean
    columns: list[TableColumn[ModelScores]] = [
        name_column("model"),
        column(
            "spread",
            title="spread",
            meaning="mean over samples of the standard deviation over scored repeats, in points",
            write=figures.score,
        ),
    ]
    for number in range(most):
        columns.append(computed_column(f"repeat {number + 1}", partial(_repeat_mean, means, number)))
    rows = rows_of(evaluation_of(data).models, "models", order=means)
    chart = repeats_chart(means, title="mean score of each repeat, 1 to 5")
    blocks: list[Block] = [
        Chart(chart, "The mean score of each repeat, by model"),
        table(ModelScores, rows, columns, "Spread over repeats, and the mean of each repeat"),
        Paragraph(
            "The spread is the standard deviation of a sample's score over its repeats, averaged over samples. It holds "
            "the model's chance and the judge's together. A repeat's mean is over the answers scored in it.",
            "note",
        ),
    ]
    return Section("repeats", "Spread over repeats", blocks, menu="Repeats")


def _repeat_mean(means: Mapping[str, Sequence[float | None]], number: int, row: ScoresRow) -> Cell:
    return figures.score(means[row.name][number], tone="")


def blind(data: ReportData) -> Section | None:
    """Return the section on scores without the image; None without a blind arm."""
    evaluation = evaluation_of(data)
    if not evaluation.blind:
        return None
    models = evaluation.models
    names = [name for name in data.ranked() if name in evaluation.blind]
    pairs: dict[str, tuple[float, float]] = {}
    for name in names:
        with_image, without_image = models[name].score, models[name + BLIND_MARK].score
        if with_image is not None and without_image is not None:
            pairs[name] = (with_image.mean, without_image.mean)
    blocks: list[Block] = []
    if pairs:
        chart = paired_chart(pairs, ("with the image", "without"), title="mean score, 1 to 5")
        blocks.append(Chart(chart, "Mean scores with and without the image, by model"))
    columns: list[TableColumn[Surviving]] = [
        name_column("model"),
        computed_column("with the image", partial(_arm_mean, models, ""), meaning="mean over all its scored samples"),
        computed_column("without", partial(_arm_mean, models, BLIND_MARK), meaning="mean over all its scored samples"),
        column("share"),
        column("difference", "mean", title="lost", meaning="with minus without, in points", write=figures.signed),
        column("difference", title="95 % interval", write=partial(figures.interval, signed=True)),
        column("n"),
    ]
    rows = rows_of(evaluation.blind, "blind", order=names)
    blocks += [
        table(Surviving, rows, columns, "Scores with and without the image"),
        Paragraph(
            "A large share that survives means that the data do not need sight of the image to be solved.", "note"
        ),
    ]
    return Section("blind", "Without the image", blocks, menu="Blind arm")


def _arm_mean(models: Mapping[str, ModelScores], mark: str, row: TableRow[Surviving]) -> Cell:
    name = row.name + mark
    score = models[name].score
    return figures.score(score and score.mean, pointer("models", name, "score", "mean"))


def cost(data: ReportData) -> Section:
    """Return the section on calls, tokens and cost, by model and for the criteria."""
    evaluation, has_judge = evaluation_of(data), data.judged
    models, ranked = evaluation.models, data.ranked()
    sample_costs = {name: _cost_of_sample(models[name]) for name in ranked}
    rows: list[TableRow[UsageFigures]] = []
    if has_judge:
        rows.append(TableRow("chains and criteria", evaluation.preparation, "/preparation"))
    used_by: dict[str, UsageFigures] = {**models}
    rows += rows_of(used_by, "models", order=ranked)
    columns: list[TableColumn[UsageFigures]] = [
        computed_column(
            "used for",
            lambda row: Span(row.name, "strong") if row.name in models else row.name,
            numeric=False,
        ),
        column(
            "calls",
            title="calls",
            meaning="entries of the ledger, each counted once; the candidate's and the judge's",
        ),
        column("tokens", "input"),
        column("tokens", "output"),
        column("tokens", "unknown"),
        cost_column(meaning="US dollars"),
    ]
    if has_judge:
        columns.append(
            computed_column("a scored sample", lambda row: _dollars(sample_costs.get(row.name)), meaning="US dollars")
        )
    usage_table = table(UsageFigures, rows, columns, "Calls, tokens and cost")
    total = _total(evaluation.together)
    blocks: list[Block] = [replace(usage_table, rows=[*usage_table.rows, total[: len(columns)]])]
    points: dict[str, tuple[float, float]] = {}
    for name in ranked:
        dollars, score = sample_costs[name], models[name].score
        if name not in data.blind_arms and dollars and score is not None:
            points[name] = (dollars, score.mean)
    if len(points) > 1:
        chart = cost_chart(points, title="US dollars a scored sample, answering and judging")
        blocks.append(Chart(chart, "Mean score over the cost of a scored sample, by model"))
    whose = ""
    if has_judge:
        whose = (
            "A model's calls are those that answered and those that judged its answers. Chains and criteria belong to the data "
            "and are made once: another candidate does not pay for them again. "
        )
    unknown = "Totals with unknown costs show the known part only."
    blocks.append(Paragraph(whose + _shared_calls(data) + unknown + _cached(evaluation.together), "note"))
    return Section("cost", "Cost and calls", blocks, menu="Cost")


def _shared_calls(data: ReportData) -> str:
    """Return a note that models may share calls; empty with a single model."""
    if len(evaluation_of(data).models) > 1:
        return SHARED
    return ""


def _cached(together: UsageFigures) -> str:
    """Return the number of input tokens read from providers' caches; empty if there are none."""
    cached = together.tokens.cached
    if cached:
        return f" Of the tokens in, {cached:,} were read from a provider's cache of prompts."
    return ""


def _cost_of_sample(model: ModelScores) -> float | None:
    """Return the cost per scored sample; None if it is unknown or nothing was scored."""
    if model.cost is None or not model.n_scored:
        return None
    return model.cost / model.n_scored


def _dollars(value: float | None) -> Span:
    if value is None:
        return figures.NOTHING
    return Span(f"${value:,.4f}" if value else "$0.00")


def _total(together: UsageFigures) -> list[Cell]:
    return [
        Span("together", "strong"),
        figures.count(together.calls, tone="strong"),
        figures.count(together.tokens.input, tone="strong"),
        figures.count(together.tokens.output, tone="strong"),
        figures.count(together.tokens.unknown, tone="strong"),
        figures.cost_of(together),
        figures.NOTHING,
    ]


def samples(data: ReportData) -> Section | None:
    """Return the browser of samples; None if no sample is displayed."""
    if data.selection.total:
        return Section("samples", "Samples", (Browser(data.selection.text),))
    return None


async def with_samples(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the report data with what only the page shows: differences, repeats, and some samples, failures first."""
    refs = sample_refs(home, run)
    rows = list(scored_answers(home, run.id))
    sides = _sides(home, run, rows, refs)
    sides = {name: sides[name] for name in data.by_score() if name in sides}
    ids, selection = select_samples(run, [ref.sample_id for ref in refs], failed_samples(home, run.id), samples)
    views, images = await _views(home, run, ids)
    return replace(
        data,
        differences=rival_differences(sides, list(sides), seed=run.seed),
        repeats=means_by_repeat(rows),
        reasons=failure_reasons(home, run.id),
        selection=selection,
        samples=views,
        pictures=pictures_of(home, images),
    )


def _sides(
    home: Home, run: Run, rows: Iterable[ScoredAnswer], places: Sequence[SampleRef]
) -> dict[str, ComparisonSide]:
    """Return the answers of each model to the run's samples, without those of arms without images."""
    judgements, weights = judged_criteria(home, run.id), criteria_weights(home, run.id)
    answers: dict[str, list[ComparedAnswer]] = {}
    for row in rows:
        if "#" in row.model:
            continue
        answers.setdefault(row.model, []).append(ComparedAnswer.of(row, judgements, weights))
    return {name: ComparisonSide.of(places, model_answers) for name, model_answers in answers.items()}


async def _views(home: Home, run: Run, ids: Sequence[str]) -> tuple[list[dict[str, JsonValue]], dict[str, ImageRef]]:
    page_samples, rows = samples_of(home, run.id, ids), rows_by_sample(home, run.id, ids)
    views_of_run = SampleViews(home, run)
    images: dict[str, ImageRef] = {}
    views: list[dict[str, JsonValue]] = []
    for id in ids:
        images |= {image.sha256: image for image in page_samples[id].images}
        view = await views_of_run.view(page_samples[id], rows.get(id, []))
        views.append(view.model_dump(mode="json"))
    return views, images


DRAWING = Drawing(
    "evaluation",
    (
        overview,
        corrected,
        scores,
        differences.section,
        categories,
        coverage,
        criteria,
        repeats,
        blind,
        cost,
        samples,
        skipped.section,
        provenance.section,
    ),
    terminal=(scores, corrected, categories, blind, skipped.section),
    sample=lambda views, cut: sample_blocks(SampleView.model_validate(views[0]), cut),
    card=lambda view, pictures, clip: draw_sample(SampleView.model_validate(view), pictures, clip),
    added_after=categories,
    figures=EvaluationFigures,
    conclusion=conclusion,
)
