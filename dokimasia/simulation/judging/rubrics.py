"""How a simulated judge works with rubrics: it writes, checks and corrects them, and assesses responses by them."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import orjson
from pydantic import BaseModel, JsonValue

from dokimasia.domain.call import ChatReply
from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.candidates import REFUSED
from dokimasia.simulation.draws import Draws, text_reply
from dokimasia.simulation.panel import CHATTER, judge_slip
from dokimasia.simulation.picture_content import PictureContent, Statement, read_statements, same_value, sort_of
from dokimasia.simulation.profiles import JudgeProfile, Profile, Slip, as_judge
from dokimasia.simulation.requests import Inputs, read_json
from dokimasia.simulation.unknown_inputs import overlap_score

FORBIDDEN_SHARE = 0.3
"""The probability of forbidding a mistake that all erring responses share, instead of demanding the truth."""

MOST_EASY_WRONG = 6
"""The number of a pool's most frequent errors that become rubrics."""
ENOUGH_EASY_WRONG = 12
"""The number of rubrics up to which facts of the caption are added, unless only the errors of the
pool are requested.
"""
_ENOUGH_WORDS = 4
_PREFIX = re.compile(r"^.*?\bthe response must (?:not )?(?:say|state|mention|contain)?\s*(?:that\s+)?", re.IGNORECASE)
_FORBIDS = re.compile(r"\bmust not\b|\bdoes not\b|\bnever\b", re.IGNORECASE)
_ROW = re.compile(r"^\s*(\d{1,3})\s*[.):|]\s*(.*)$")
_FIRST_NUMBER = re.compile(r"\d{1,3}")
_TEXT_FIELDS = ("statement", "text", "response", "rubric")


class RubricRow(BaseModel):
    """A rubric as a simulated judge writes it; only what is set is written."""

    n: int | None = None
    statement: str | None = None
    polarity: str | None = None
    kind: str | None = None
    evidence: str | None = None
    responses: list[int] | None = None
    drop: bool | None = None


def answers_rubric_prompt(prompt: str) -> bool:
    """Return whether this module answers a prompt."""
    return prompt.startswith(("must_right_", "rubric_", "easy_wrong"))


def rubric_reply(
    profile: Profile, prompt: str, inputs: Inputs, picture: PictureContent | None, draws: Draws
) -> ChatReply:
    """Return the judge's reply to a prompt on rubrics."""
    judge = as_judge(profile)
    slip = judge_slip(judge, draws)
    if slip == "refuses":
        return REFUSED
    if slip == "unparsable" or draws.chance(judge.format_noise, "noise"):
        text = CHATTER
    elif prompt.startswith("rubric_assessment"):
        text = _assessment(judge, inputs, draws, slip, reasons=prompt.endswith("_reasons"))
    elif prompt == "rubric_cross_check":
        text = _cross_check(judge, inputs, draws, slip)
    else:
        rows = _written_rubrics(judge, prompt, inputs, picture)
        written = [row.model_dump(exclude_none=True) for row in rows]
        text = orjson.dumps(written[:-1] if slip == "one_short" else written).decode()
    return text_reply(text)


def meets_rubric(statement: str, response: str) -> bool:
    """Return whether a response meets a rubric: it states what is required, or does not state what is forbidden.

    A rubric not worded by a simulated judge is judged by the content words it shares with the response.
    """
    demanded = demand_of(statement)
    if demanded is None:
        is_said = overlap_score(_PREFIX.sub("", statement), response) >= _ENOUGH_WORDS
    else:
        values = {statement.key: statement.value for statement in read_statements(response)}
        is_said = same_value(values.get(demanded.key, ""), demanded.value)
    return is_said != is_forbidding(statement)


def is_forbidding(statement: str) -> bool:
    """Return whether a rubric states what a response must not say."""
    return _FORBIDS.search(statement) is not None


def demand_of(statement: str) -> Statement | None:
    """Return the single statement about the picture in a rubric, or None if it is worded differently."""
    demands = read_statements(_PREFIX.sub("", statement, count=1))
    if len(demands) == 1:
        return demands[0]
    return None


def read_list(text: str) -> list[str]:
    """Return the entries of a numbered list, as JSON objects or lines; an unnumbered line continues the previous one."""
    rows = read_json(text)
    if isinstance(rows, list):
        return [_text_of(row) for row in rows]
    entries: list[str] = []
    for line in text.splitlines():
        row = _ROW.match(line)
        if row and int(row[1]) == len(entries) + 1:
            entries.append(row[2])
        elif entries:
            entries[-1] += "\n" + line
    return entries


def _text_of(row: JsonValue) -> str:
    texts = [row.get(name) for name in _TEXT_FIELDS] if isinstance(row, dict) else [row]
    return next((text for text in texts if isinstance(text, str)), "")


_REASONS = {"true": "The response has what the rubric demands.", "false": "The response does not keep to the rubric."}


def _assessment(judge: JudgeProfile, inputs: Inputs, draws: Draws, slip: Slip | None, *, reasons: bool) -> str:
    groups: list[list[str]] = []
    for name, rubric_list in (("group_a", inputs.group_a), ("group_b", inputs.group_b)):
        results: list[str] = []
        for number, rubric in enumerate(read_list(rubric_list)):
            passes = _passes(judge, rubric, inputs.response, draws, f"{name}-{number}")
            results.append("true" if passes else "false")
        groups.append(results)
    longer = max(groups, key=len)
    if slip == "one_short" and longer:
        longer.pop()
    elif slip == "partially" and longer:
        longer[0] = "partially"
    elif slip == "wrong_group" and longer:
        min(groups, key=len).append(longer.pop())
    elif slip == "out_of_range" and longer:
        longer.append("true")
    lines = ["<Assessment>"]
    for letter, results in zip("AB", groups, strict=True):
        lines.append(f"<Group{letter}>")
        for result in results:
            lines.append(f"<Result>{result}</Result>")
            lines += [f"<Reason>{_REASONS.get(result, result)}</Reason>"] * reasons
        lines.append(f"</Group{letter}>")
    return "\n".join([*lines, "</Assessment>"])


def _passes(judge: JudgeProfile, rubric: str, response: str, draws: Draws, name: str) -> bool:
    if meets_rubric(rubric, response):
        return not draws.chance(judge.false_alarm, "false-alarm", name)
    return not draws.chance(sensitivity_of(judge, rubric), "detects", name)


def sensitivity_of(judge: JudgeProfile, rubric: str) -> float:
    """Return the probability that a judge notices that a response fails a rubric, by the rubric's kind of error."""
    demanded = demand_of(rubric)
    kind = sort_of(demanded.key[0], demanded.value) if demanded else ""
    return judge.sensitivity.get(kind, judge.detects_missing)


def _cross_check(judge: JudgeProfile, inputs: Inputs, draws: Draws, slip: Slip | None) -> str:
    lines: list[str] = []
    for number, rubric in enumerate(read_list(inputs.rubrics), 1):
        true = meets_rubric(rubric, inputs.caption)
        if true:
            true = not draws.chance(judge.false_alarm, "false-alarm", number)
        else:
            true = not draws.chance(judge.detects_missing, "detects", number)
        atomic = len(read_statements(_PREFIX.sub("", rubric, count=1))) < 2
        lines.append(f"{number} | passes: {_word(true)} | atomic: {_word(atomic)} | decidable: yes")
    if slip == "one_short":
        lines = lines[:-1]
    elif slip == "partially" and lines:
        lines[0] = lines[0].replace("passes: yes", "passes: partially").replace("passes: no", "passes: partially")
    elif slip == "out_of_range" and lines:
        lines.append(f"{len(lines) + 4} | passes: yes | atomic: yes | decidable: yes")
    if slip != "wrong_group":
        return "\n".join(lines)
    return CHATTER


def _word(yes: bool) -> str:
    return "yes" if yes else "no"


def _written_rubrics(
    judge: JudgeProfile, prompt: str, inputs: Inputs, picture: PictureContent | None
) -> list[RubricRow]:
    if prompt.startswith("easy_wrong"):
        mined = _easy_wrong(inputs.caption, read_list(inputs.responses))
        if prompt.endswith("_published"):
            return mined
        statements = [row.statement or "" for row in mined] + read_list(inputs.rubrics)
        return [*mined, *_facts_of_caption(inputs.caption, statements, ENOUGH_EASY_WRONG - len(mined))]
    if prompt == "rubric_repair":
        return _repaired_rubrics(inputs)
    rows = _must_right(inputs.caption, picture)
    for row in rows:
        statement = row.statement or ""
        demanded = demand_of(statement)
        if demanded is not None and unit_interval("vague", statement) < judge.vague:
            row.statement = f"The response must mention the {demanded.key[1]}."
    return rows


def _rubric_row(statement: Statement, evidence: str, *, forbidden: bool = False) -> RubricRow:
    sentence = statement.sentence
    return RubricRow(
        statement=f"The response must {'not ' if forbidden else ''}say that {sentence[0].lower()}{sentence[1:]}",
        polarity="negative" if forbidden else "positive",
        kind=sort_of(statement.key[0], statement.value),
        evidence=evidence,
    )


def _must_right(caption: str, picture: PictureContent | None) -> list[RubricRow]:
    """Return three to five statements of the caption confirmed by the picture, hard facts last."""
    facts = picture.by_key if picture else {}
    name = picture.id if picture else ""
    usable = [
        statement
        for statement in read_statements(caption)
        if picture is None
        or (
            statement.key in facts
            and not facts[statement.key].readings
            and same_value(statement.value, facts[statement.key].value)
        )
    ]
    usable.sort(
        key=lambda statement: (
            statement.key in facts and facts[statement.key].hard,
            unit_interval("must-right", name, *statement.key),
        )
    )
    count = 3 + int(3 * unit_interval("must-rights", name))
    return [_rubric_row(statement, _sentence_in(caption, statement)) for statement in usable[:count]]


def _easy_wrong(caption: str, responses: Sequence[str]) -> list[RubricRow]:
    """Return the caption's statements that most responses get wrong, as requirements or as forbidden mistakes."""
    right = {statement.key: statement for statement in read_statements(caption)}
    erring: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for number, response in enumerate(responses, 1):
        for statement in read_statements(response):
            if statement.key in right and not same_value(statement.value, right[statement.key].value):
                erring[statement.key][number] = statement.value
    frequent = {key: wrong for key, wrong in erring.items() if len(wrong) > 1} or dict(erring)
    chosen = sorted(frequent, key=lambda key: (-len(frequent[key]), key))[:MOST_EASY_WRONG]
    rubrics: list[RubricRow] = []
    for key in chosen:
        wrong = frequent[key]
        values = Counter(value.casefold() for value in wrong.values())
        forbidden = len(values) == 1 and unit_interval("forbidden", *key, caption[:200]) < FORBIDDEN_SHARE
        statement = Statement(key, next(iter(wrong.values()))) if forbidden else right[key]
        row = _rubric_row(statement, _sentence_in(caption, right[key]), forbidden=forbidden)
        row.responses = sorted(wrong)
        rubrics.append(row)
    return rubrics


def _facts_of_caption(caption: str, statements: Sequence[str], count: int) -> list[RubricRow]:
    """Return up to `count` statements of the caption without a rubric, as requirements that no response fails."""
    keys = {demanded.key for rubric in statements if (demanded := demand_of(rubric))}
    free = [statement for statement in read_statements(caption) if statement.key not in keys]
    free.sort(key=lambda statement: unit_interval("fact", caption[:200], *statement.key))
    rows = [_rubric_row(statement, _sentence_in(caption, statement)) for statement in free[:count]]
    for row in rows:
        row.responses = []
    return rows


def _repaired_rubrics(inputs: Inputs) -> list[RubricRow]:
    """Return repaired rubrics: the first true requirement of several, and replacements for rubrics that test nothing."""
    rubrics = read_list(inputs.rubrics)
    fresh = _FreshRubrics(inputs, rubrics)
    rows: dict[int, RubricRow] = {}
    for line in inputs.problems.splitlines():
        match = _FIRST_NUMBER.search(line)
        number = int(match[0]) if match else 0
        if not 1 <= number <= len(rubrics):
            continue
        if "tests nothing" in line:
            row = fresh.rubric(number) or RubricRow(drop=True)
            row.n = number
            rows[number] = row
            continue
        demands = read_statements(_PREFIX.sub("", rubrics[number - 1], count=1))
        true_demands = [demand for demand in demands if same_value(demand.value, _value_in(inputs.caption, demand))]
        if len(demands) > 1 and true_demands:
            row = _rubric_row(
                true_demands[0],
                _sentence_in(inputs.caption, true_demands[0]),
                forbidden=is_forbidding(rubrics[number - 1]),
            )
            row.n = number
            rows[number] = row
        else:
            rows[number] = RubricRow(n=number, drop=True)
    return list(rows.values())


class _FreshRubrics:
    """Rubrics on content not covered by listed ones: from the caption for the gate, else from the
    errors of the pool.
    """

    def __init__(self, inputs: Inputs, rubrics: Sequence[str]) -> None:
        rows = read_json(inputs.rubrics)
        row_list = rows if isinstance(rows, list) else []
        self._streams = [row.get("stream") if isinstance(row, dict) else None for row in row_list]
        self._caption = inputs.caption
        self._mined = _easy_wrong(self._caption, read_list(inputs.responses))
        self._taken = {demanded.key for rubric in rubrics if (demanded := demand_of(rubric))}

    def rubric(self, number: int) -> RubricRow | None:
        """Return a rubric that replaces the one with this number, or None if there is none left."""
        if self._streams[number - 1] == "easy-wrong":
            rows = self._mined
        else:
            by_chance = sorted(
                read_statements(self._caption), key=lambda statement: unit_interval("instead", *statement.key)
            )
            rows = [_rubric_row(statement, _sentence_in(self._caption, statement)) for statement in by_chance]
        for row in rows:
            demanded = demand_of(row.statement or "")
            if demanded is not None and demanded.key not in self._taken:
                self._taken.add(demanded.key)
                return row
        return None


def _value_in(caption: str, statement: Statement) -> str:
    return next((candidate.value for candidate in read_statements(caption) if candidate.key == statement.key), "")


def _sentence_in(caption: str, statement: Statement) -> str:
    """Return the sentence of the caption that contains a statement."""
    attribute, subject = (re.escape(part) for part in statement.key)
    value = re.escape(statement.value)
    match = re.search(rf'\bThe {attribute} of the {subject} is "{value}"', caption, re.IGNORECASE)
    if match is None:
        return ""
    if caption[match.end() :].startswith("."):
        return f"{match[0]}."
    return match[0]
