"""How a simulated judge writes diagnosis reports with planted faults, and matches anonymous reports to two models."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import orjson

from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.scoring import RIGHT, ShownCriterion, true_score
from dokimasia.simulation.lexicon import all_capabilities, sense_of_criterion
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import Inputs

DIAGNOSIS_PROMPTS = ("diagnosis_salient", "diagnosis_report", "diagnosis_across", "fingerprint_match")

RAMBLING = 10_000
"""The number of words in a rambling report."""

MOST_PICKS = 16
_VERDICTS = ("weak", "strong", "better", "worse", "more often", "less often")
_NUMBER = re.compile(r"([+\N{MINUS SIGN}]?[\d.,]+)(?: %)?(?: \(.* to .*\))?")
_FIGURE = re.compile(r"\{(?P<ref>(?P<table>[^\s:{}]+):(?P<row>\d+)\.(?P<column>(?!verdict)[^{}]+))\}")
_UNIT = re.compile(r" \((?:points|samples|criteria)[^()]*\)$")
_OTHER = ("reasons", "ranks", "stability", "failures")


class ShownRow(NamedTuple):
    """A row of a shown table: the table's id, the row's number, and its cells by column."""

    table: str
    number: str
    cells: dict[str, str]

    def value(self, column: str) -> re.Match[str] | None:
        """Return the number in a cell, or None if there is none."""
        return _NUMBER.fullmatch(self.cells.get(column, ""))

    def place(self, column: str) -> str:
        """Return a placeholder that prints a cell."""
        return f"{{{self.table}:{self.number}.{column}}}"

    @property
    def verdict(self) -> str:
        """The verdict on the row."""
        return self.cells.get("verdict", "")


class PlannedSentence(NamedTuple):
    """A sentence as written, and the fault planted in it (empty if none)."""

    text: str
    fault: str = ""


def diagnosis_reply(profile: JudgeProfile, prompt: str, inputs: Inputs, draws: Draws) -> str:
    """Return the judge's reply to one of the diagnosis prompts, based only on what it is shown."""
    if prompt == "fingerprint_match":
        return match_reply(inputs, draws)
    if prompt == "diagnosis_salient":
        return "\n".join(f"[{row.table}:{row.number}]" for row in _pick_rows(read_tables(inputs.tables)))
    if draws.chance(profile.rambles, "rambles"):
        return _rambling_report()
    return "\n".join(sentence.text for sentence in plan_report(profile, inputs.subject, inputs.tables, draws))


def plan_report(profile: JudgeProfile, subject: str, tables: str, draws: Draws) -> list[PlannedSentence]:
    """Return the sentences of a report with the fault planted in each; `subject` is empty in a report across models."""
    report: list[PlannedSentence] = []
    rows = read_tables(tables)
    for row in rows:
        for text in _row_sentences(subject, row, rows):
            key = (row.table, row.number, len(report))
            unit = draws.unit("fault", *key)
            if unit < profile.misreports:
                report.append(PlannedSentence(_with_own_number(text, rows, draws, *key), "literal digit"))
            elif unit < profile.misreports + profile.untested:
                report.append(PlannedSentence(_with_untested_comparison(text, rows), "no test"))
            elif unit < profile.misreports + profile.untested + profile.invents:
                report.append(
                    PlannedSentence(_FIGURE.sub(r"{atlantis:\g<row>.\g<column>}", text, count=1), "no such place")
                )
            else:
                report.append(PlannedSentence(text))
    return report or [PlannedSentence("The tables that were picked hold nothing to report.")]


def read_tables(text: str) -> list[ShownRow]:
    """Return the rows of tables as shown to a judge."""
    rows: list[ShownRow] = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if len(lines) < 4 or not lines[0].startswith("asset "):
            continue
        table = lines[0].removeprefix("asset ").partition(": ")[0]
        columns = [_UNIT.sub("", name) for name in lines[2].split(" | ")[1:-1]]
        for line in lines[3:]:
            number, *cells = line.split(" | ")
            if number.isdigit() and len(cells) == len(columns) + 1:
                rows.append(ShownRow(table, number, dict(zip(columns, cells, strict=False))))
    return rows


def _pick_rows(rows: Sequence[ShownRow]) -> list[ShownRow]:
    """Return the rows with a verdict, the model's own tables before others, then the overall results."""
    marked = [row for row in rows if row.verdict in _VERDICTS]
    order = ("leaves", "pairs", "contrasts", "nodes")
    marked.sort(key=lambda row: order.index(family) if (family := row.table.partition("/")[0]) in order else len(order))
    overall = [row for row in rows if row.table == "models"]
    other = [row for row in rows if row.table in _OTHER and row.cells.get("answers") != "0"]
    return [*marked[: MOST_PICKS - 4], *overall[:3], *other][:MOST_PICKS] or list(rows[:1])


def _row_sentences(subject: str, row: ShownRow, rows: Sequence[ShownRow]) -> list[str]:
    """Return the sentences about a row; each contains at least one placeholder for a figure."""
    family = row.table.partition("/")[0]
    name = next(iter(row.cells.values()), "")
    model = row.cells.get("model", subject)
    if family in ("leaves", "nodes") and subject and row.verdict in ("weak", "strong"):
        return [
            f"{subject} is {row.place('verdict')} at {name}, where it scores {row.place('score')}.",
            f"At {name} its difference from its other capabilities is {row.place('against the rest')}.",
        ]
    if family == "contrasts" and row.verdict in ("better", "worse"):
        leaf, gap = list(row.cells.values())[1], row.place("against the others")
        return [f"At {leaf}, {model} is {row.place('verdict')} than the other models, with a difference of {gap}."]
    if family == "modes" and row.value("share of failed atoms"):
        whose = f"of {subject}" if subject else "of all models"
        form = f"{row.place('share of failed atoms')} fall under {{quote {row.table}:{row.number}.mode}}"
        if bool(subject) == (row.table != family):
            return [f"Of the failed atoms {whose}, {form}."]
        return []
    if family == "pairs" and row.value("difference"):
        return _pair_sentence(row, rows)
    column, form = {
        "models": ("criteria score", "{model} has a mean of {place} over all its criteria."),
        "ranks": ("mean rank", "The mean rank of {model} is {place}."),
        "failures": ("share of answers", "Of the answers of {model}, {place} have no score."),
        "stability": ("same score", "From one repeat to the next, {model} keeps its score on {place} of samples."),
        "reasons": (
            "of these, wrong reason",
            "Of the right answers of {model} that state reasons, {place} get one wrong.",
        ),
    }.get(family, ("", ""))
    if row.value(column):
        return [form.format(model=model, place=row.place(column))]
    return []


def _pair_sentence(pair: ShownRow, rows: Sequence[ShownRow]) -> list[str]:
    """Return how two models compare, if both have a row among the overall results."""
    first, second = pair.cells.get("first", ""), pair.cells.get("second", "")
    overall = {row.cells.get("model", ""): row for row in rows if row.table == "models"}
    if first not in overall or second not in overall:
        return []
    cells = " ".join(overall[name].place("score").strip("{}") for name in (second, first))
    return [
        f"The score of {second} is {{compare {cells}}} that of {first}, a difference of {pair.place('difference')}."
    ]


def _with_own_number(text: str, rows: Sequence[ShownRow], draws: Draws, *key: str | int) -> str:
    """Return the sentence with a figure replaced by a literal number: the table's own, or one near it."""
    match = draws.pick(list(_FIGURE.finditer(text)), "which", *key)
    _, table, row_number, column = match.groups()
    row = next(row for row in rows if (row.table, row.number) == (table, row_number))
    value = row.value(column)
    number = float(value[1].replace(",", "").replace("\N{MINUS SIGN}", "-")) if value else 0.0
    off = draws.pick((0.0, 0.2, 1.0, 2.5, 10.0), "off", *key)
    return f"{text[: match.start()]}{number + off:.1f}{text[match.end() :]}"


def _with_untested_comparison(text: str, rows: Sequence[ShownRow]) -> str:
    """Return the sentence with its figure compared with that of another row, although no test compares them."""
    reference, table, number, column = next(_FIGURE.finditer(text)).groups()
    same = (row for row in rows if row.table == table and row.value(column))
    other_rows = [row.number for row in same if row.number != number]
    other = f"{table}:{other_rows[0] if other_rows else number}.{column}"
    return f"{text[:-1]}, {{compare {reference} {other}}} elsewhere."


def _rambling_report() -> str:
    line = "It may be said, and has been said before, that there is much to say about this and little to add."
    return "\n".join([line] * (RAMBLING // len(line.split()) + 1))


_ESTIMATE = r"([\d.]+) points of 100(?: \[95 % interval ([\d.]+) to ([\d.]+)\])?"
_REPORTED = re.compile(
    rf"\bat ([^.;,\n]+?), where it scores {_ESTIMATE}"
    rf"|\bmean of {_ESTIMATE}(?= .*over all its criteria)"
)
_NODE = re.compile(r"<[^<>]+>")
_NARROW = 1.96
"""Half the width of a 95 % interval, in standard errors."""


class ReportedScore(NamedTuple):
    """A report's statement on some of the points: the share that is right, and its standard error."""

    share: float
    error: float


def match_reply(inputs: Inputs, draws: Draws) -> str:
    """Return which model the first report is about, by how well each report fits the parts that each
    model gets right.
    """
    shares_of_a, shares_of_b = (_observed_shares(inputs.answers, letter) for letter in "AB")
    first_report, second_report = _reported_scores(inputs.report_one), _reported_scores(inputs.report_two)
    straight = _fit(first_report, shares_of_a) + _fit(second_report, shares_of_b)
    crossed = _fit(first_report, shares_of_b) + _fit(second_report, shares_of_a)
    first = "A" if straight > crossed or (straight == crossed and draws.chance(0.5, "tie")) else "B"
    return f"What the answers get wrong was held against both reports.\n\nReport 1: [[{first}]]"


def _reported_scores(report: str) -> dict[str, ReportedScore]:
    """Return the scores that a report states, by the path of the leaf or node; the empty path stands for all points."""
    scores: dict[str, ReportedScore] = {}
    for match in _REPORTED.finditer(report):
        name, value, low, high, mean, mean_low, mean_high = match.groups()
        path = "" if mean else _paths_by_name().get(name.casefold().strip())
        if mean:
            value, low, high = mean, mean_low, mean_high
        if path is not None:
            error = (float(high) - float(low)) / 200 / _NARROW if low and high else 0.0
            scores[path] = ReportedScore(float(value) / 100, error)
    return scores


def _observed_shares(answers: str, letter: str) -> dict[str, tuple[float, int]]:
    """Return the share of a model's points that is right and their number, by path; the empty path stands for all points."""
    sums: dict[str, list[float]] = {}
    for line in answers.splitlines():
        try:
            sample = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        for point in map(ShownCriterion.model_validate, sample.get("points", ())):
            right = float(true_score(point.question, point.ground_truth, sample[letter]) >= RIGHT)
            capability = sense_of_criterion(point.question, point.ground_truth).planted or ""
            for path in ("", *_path_and_ancestors(capability)):
                sums.setdefault(path, []).append(right)
    return {path: (sum(each) / len(each), len(each)) for path, each in sums.items()}


def _fit(reported: Mapping[str, ReportedScore], observed: Mapping[str, tuple[float, int]]) -> float:
    """Return how well the reported scores fit the observed ones: minus the squared gaps, each divided by its variance."""
    total = 0.0
    for path, score in reported.items():
        if path in observed:
            right, n = observed[path]
            expected = min(0.95, max(0.05, score.share))
            total -= (right - expected) ** 2 / (expected * (1 - expected) / n + score.error**2)
    return total


@cache
def _paths_by_name() -> dict[str, str]:
    """Return the paths of all capabilities and their ancestors, by each of their names."""
    paths: dict[str, str] = {}
    for path, capability in all_capabilities().items():
        for above in _path_and_ancestors(path):
            paths.setdefault(above.rpartition("<")[2].rstrip(">").casefold(), above)
        for name in capability.names:
            paths[name.casefold()] = path
    return paths


def _path_and_ancestors(path: str) -> list[str]:
    """Return a path and its ancestors, topmost first."""
    nodes = _NODE.findall(path)
    return ["".join(nodes[: at + 1]) for at in range(len(nodes))]
