"""How a simulated judge picks rows from a diagnosis's tables, writes reports with planted mistakes, and matches reports."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.simulation.draws import Draws
from dokimasia.simulation.matching import match_reply
from dokimasia.simulation.profiles import JudgeProfile

PROMPTS = ("diagnosis_salient", "diagnosis_report", "diagnosis_across", "fingerprint_match")

RAMBLING = 10_000
"""Words of the report of one that rambles."""

MOST_PICKS = 16
_VERDICTS = ("weak", "strong", "better", "worse")
_CELL = re.compile(r"(?P<value>-?[\d.]+(?: %)?)(?: \((?P<low>-?[\d.]+(?: %)?) to (?P<high>-?[\d.]+(?: %)?)\))?")
_SPOKEN = re.compile(r"(?<![\w.:])(?<![A-Za-z]-)\d+(?:\.\d+)?(?![^\[]*\])")
_UNIT = re.compile(r" \(points[^()]*\)$")
_OTHER = ("reasons", "ranks", "stability", "failures")
_OTHERS = {"below": "above", "above": "below", "weak": "strong", "strong": "weak", "better": "worse", "worse": "better"}
_OTHERS |= {"higher": "lower", "lower": "higher"}
_TURNING = re.compile(
    r"(?<= is )(?:weak|strong|better|worse)\b|(?<= scores )(?:higher|lower)\b|(?<= points )(?:below|above)\b"
)


class Row(NamedTuple):
    """A row of a shown table: the table's id, the row's number, and its cells by column."""

    table: str
    number: str
    cells: dict[str, str]

    def value(self, column: str) -> re.Match[str] | None:
        """Return the numbers of a cell, None where it holds none."""
        return _CELL.fullmatch(self.cells.get(column, ""))

    @property
    def verdict(self) -> str:
        """What the rule says of it."""
        return self.cells.get("verdict", "")


class Planned(NamedTuple):
    """A sentence as it is written, and what was planted in it (empty: nothing)."""

    text: str
    fault: str = ""


def diagnosis_reply(profile: JudgeProfile, prompt: str, inputs: dict[str, str], draws: Draws) -> str:
    """Return the judge's reply to one of the prompts of a diagnosis; it goes by what it is shown alone."""
    if prompt == "fingerprint_match":
        return match_reply(inputs, draws)
    if prompt == "diagnosis_salient":
        return "\n".join(f"[{row.table}:{row.number}]" for row in _picked(read_tables(inputs["tables"])))
    if draws.chance(profile.rambles, "rambles"):
        return _rambling()
    return "\n".join(one.text for one in planned(profile, inputs.get("subject", ""), inputs["tables"], draws))


def planned(profile: JudgeProfile, subject: str, tables: str, draws: Draws) -> list[Planned]:
    """Return a report's sentences with what was planted in each; `subject` is empty in a report across models."""
    found: list[Planned] = []
    for row in read_tables(tables):
        for text in _sentences(subject, row):
            key = (row.table, row.number, len(found))
            unit = draws.unit("fault", *key)
            if unit < profile.misreports:
                found.append(Planned(_misnumbered(text, draws, *key), "wrong number"))
            elif unit < profile.misreports + profile.misdirects and (turned := _turned(text)) != text:
                found.append(Planned(turned, "wrong direction"))
            elif profile.misdirects <= unit - profile.misreports < profile.misdirects + profile.invents:
                found.append(Planned(text.replace(f"[{row.table}:", "[atlantis:"), "no such asset"))
            else:
                found.append(Planned(text))
    return found or [Planned("The tables that were picked hold nothing to report.")]


def read_tables(text: str) -> list[Row]:
    """Return the rows of tables as a judge is shown them."""
    rows: list[Row] = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if len(lines) < 4 or not lines[0].startswith("asset "):
            continue
        table = lines[0].removeprefix("asset ").partition(": ")[0]
        columns = [_UNIT.sub("", name) for name in lines[2].split(" | ")[1:-1]]
        for line in lines[3:]:
            number, *cells = line.split(" | ")
            if number.isdigit() and len(cells) == len(columns) + 1:
                rows.append(Row(table, number, dict(zip(columns, cells, strict=False))))
    return rows


def _picked(rows: Sequence[Row]) -> list[Row]:
    """Return what a rule marks first, own tables before others, then the overall results."""
    marked = [row for row in rows if row.verdict in _VERDICTS]
    order = ("leaves", "pairs", "contrasts", "nodes")
    marked.sort(key=lambda row: order.index(family) if (family := row.table.partition("/")[0]) in order else len(order))
    overall = [row for row in rows if row.table == "models"]
    other = [row for row in rows if row.table in _OTHER and row.cells.get("answers") != "0"]
    return [*marked[: MOST_PICKS - 4], *overall[:3], *other][:MOST_PICKS] or list(rows[:1])


def _sentences(subject: str, row: Row) -> list[str]:
    family = row.table.partition("/")[0]
    name = next(iter(row.cells.values()), "")
    model = row.cells.get("model", subject)
    if family in ("leaves", "nodes") and row.verdict in ("weak", "strong"):
        return _marked(subject, name, row)
    if family == "contrasts" and row.verdict in ("better", "worse"):
        gap = row.value("against the others")
        leaf = list(row.cells.values())[1]
        said = f"At {leaf}, {model} is {row.verdict} than the other models by {{}} points {{}}."
        return [said.format(gap["value"].lstrip("-"), _ref(row, "against the others"))] if gap else []
    if family == "pairs" and (gap := row.value("difference")):
        return [_pair_sentence(row, gap)]
    said = {
        "models": ("criteria score", "{model} has a mean of {value} points {ref} over all its criteria."),
        "ranks": ("mean rank", "The mean rank of {model} is {value} {ref}."),
        "failures": ("share of answers", "Of the answers of {model}, {value} have no score {ref}."),
        "stability": (
            "same score",
            "From one repeat to the next, {model} keeps its score on {value} {ref} of samples.",
        ),
        "reasons": (
            "of these, wrong reason",
            "Of the right answers of {model}, {value} {ref} rest on failed atoms.",
        ),
    }.get(family)
    if said is None or (cell := row.value(said[0])) is None:
        return []
    text = said[1].format(model=model, value=_spoken(cell), ref=_ref(row, said[0]), kind=row.cells.get("kind", ""))
    return [text]


def _marked(subject: str, name: str, row: Row) -> list[str]:
    score, gap = row.value("score"), row.value("against the rest")
    found: list[str] = []
    if score:
        found.append(
            f"{subject} is {row.verdict} at {name}, where it scores {_spoken(score)} points {_ref(row, 'score')}."
        )
    if gap:
        side = "below" if gap["value"].startswith("-") else "above"
        value = _one_digit(gap["value"].lstrip("-"))
        found.append(f"At {name} it lies {value} points {side} its other capabilities {_ref(row, 'against the rest')}.")
    return found


def _pair_sentence(row: Row, gap: re.Match[str]) -> str:
    first, second = row.cells.get("first", ""), row.cells.get("second", "")
    ref = _ref(row, "difference")
    if row.verdict not in ("better", "worse"):
        return f"{first} and {second} cannot be told apart; the gap of {gap['value']} points {ref} is no evident difference."
    way = "lower" if gap["value"].startswith("-") else "higher"
    return f"{first} scores {way} than {second} by {gap['value'].lstrip('-')} points {ref}."


def _ref(row: Row, column: str) -> str:
    return f"[{row.table}:{row.number}.{column}]"


def _spoken(cell: re.Match[str]) -> str:
    """Return a value, to one digit after the point, with its interval where it has one."""
    value = _one_digit(cell["value"])
    return value if cell["low"] is None else f"{value} ({_one_digit(cell['low'])} to {_one_digit(cell['high'])})"


def _one_digit(text: str) -> str:
    number, percent, _ = text.partition(" %")
    return f"{float(number):.1f}{percent}"


def _misnumbered(text: str, draws: Draws, *key: str | int) -> str:
    """Return the sentence with one of its numbers off: by a little, by much, or with its digits the wrong way round."""
    places = list(_SPOKEN.finditer(text))
    match = draws.pick(places, "which", *key)
    digits = len(match[0].partition(".")[2])
    off = draws.pick((0.2, 0.3, 1.0, 2.5, 7.0, 10.0, 31.0), "off", *key)
    step = max(off, 10.0**-digits * 2)
    wrong = float(match[0]) + (step if draws.chance(0.5, "side", *key) or float(match[0]) < step else -step)
    return f"{text[: match.start()]}{wrong:.{digits}f}{text[match.end() :]}"


def _turned(text: str) -> str:
    """Return the sentence with its first word of comparison turned round."""
    return _TURNING.sub(lambda match: _OTHERS[match[0]], text, count=1)


def _rambling() -> str:
    line = "It may be said, and has been said before, that there is much to say about this and little to add."
    return "\n".join([line] * (RAMBLING // len(line.split()) + 1))
