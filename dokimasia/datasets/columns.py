"""Mapping of a table's columns to a sample's fields (VLMEvalKit, Hugging Face, own names)."""

import ast
import json
import re
import string
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.lines import Problem, Row, RowFault, problem_at
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.wording import is_or_are

_LETTER = re.compile(r"[A-Z]")
_NUMBERED_IMAGE = re.compile(r"image_(\d{1,3})")

OTHER_NAMES: Mapping[str, str] = {
    "id": "identifier index idx key uid uuid sample_id image_id question_id number name",
    "image": "picture pictures img image_path image_file photo file_name filename file path",
    "prompt": "question query instruction task text",
    "reference_answer": "answer reference gold label ground_truth solution target",
}
"""Common other names for the fields of a sample."""

MOST_SHOWN = 8
CLOSE = 0.8
"""The similarity from which a name counts as a misspelling of a field."""


class Columns(NamedTuple):
    """The column for each field of a sample; None or empty if there is none. All other columns become `meta`."""

    id: str | None
    prompt: str | None
    hint: str | None
    answer: str | None
    answers: str | None
    choices: str | None
    letters: tuple[str, ...]
    category: str | None
    images: tuple[str, ...]
    answer_is_text: bool
    """Whether the answer is always a text (`reference_answer`), or may name an option (`answer`)."""

    @property
    def names(self) -> dict[str, str]:
        """The file's names for the fields that messages may mention."""
        choices = self.choices or "choices"
        if self.letters:
            choices = f"{self.letters[0]} to {self.letters[-1]}"
        names = {
            "id": self.id,
            "prompt": self.prompt,
            "reference_answer": self.answer,
            "choices": choices,
            "reference_answers": self.answers,
        }
        return {field: name for field, name in names.items() if name is not None}

    def used(self) -> set[str]:
        """The columns that do not become `meta`."""
        single = (self.id, self.prompt, self.hint, self.answer, self.answers, self.choices, self.category)
        return {name for name in single if name is not None}.union(self.letters, self.images)


def id_column(header: Collection[str], *names: str) -> str | None:
    """Return the column of the ids: the first of the names in the header, else the first in any case; None without any.

    Examples:
        >>> id_column(["ID", "question"], "id", "index"), id_column(["ID", "index"], "id", "index")
        ('ID', 'index')
    """
    for name in names:
        if name in header:
            return name
    return next((column for name in names for column in header if column.casefold() == name), None)


def columns_of(header: Sequence[str], *, own_names: bool, images: Sequence[str] | None = None) -> Columns:
    """Return the column of each field.

    Args:
        header: the columns' names.
        own_names: whether `prompt`, `reference_answer`, `choices` and `options` are recognised, and these and `id` have
            precedence over VLMEvalKit's `index`, `question` and `answer`.
        images: the columns that contain images; by default recognised by name.
    """

    def first(*names: str, own_format: tuple[str, ...] = ()) -> str | None:
        for name in (*own_format, *names) if own_names else names:
            if name in header:
                return name
        return None

    prompt = first("question", own_format=("prompt",))
    choices = first(own_format=("choices", "options"))
    letters = tuple(letter for letter in string.ascii_uppercase if letter in header)
    if choices is not None or letters[:2] != ("A", "B"):
        letters = ()
    return Columns(
        id=id_column(header, *(("id", "index") if own_names else ("index", "id"))),
        prompt=prompt,
        hint=first("hint") if prompt == "question" else None,
        answer=first("answer", own_format=("reference_answer",)),
        answers=first("reference_answers"),
        choices=choices,
        letters=letters,
        category=first("category"),
        images=_image_columns(header) if images is None else tuple(images),
        answer_is_text=own_names and "reference_answer" in header,
    )


def table_rows(
    path: Path,
    records: Iterable[tuple[int, list[str]] | Problem],
    begin: Callable[[list[str]], Columns | str],
    read: Callable[[int, list[str], list[str], Columns], Row | Problem],
    *,
    unit: str = "line",
) -> Iterator[Row | Problem]:
    """Yield the rows of a table whose first record names the columns.

    Args:
        path: the file.
        records: numbers and cells, or problems; one before the header ends the reading.
        begin: returns the columns of a header, which it may shorten, or its fault.
        read: returns the row of a number and its cells, given the header and its columns.
        unit: the word for a row in messages.
    """
    header: list[str] = []
    columns: Columns | None = None
    for record in records:
        if isinstance(record, Problem):
            yield record
            if columns is None:
                return
            continue
        number, cells = record
        if columns is not None:
            yield read(number, cells, header, columns)
            continue
        header = [cell.strip() for cell in cells]
        begun = begin(header)
        if isinstance(begun, str):
            yield problem_at(path, number, begun, "columns", unit=unit)
            return
        columns = begun


def row_of(line: int, values: Mapping[str, object], columns: Columns, *, unit: str, images: Sequence[object]) -> Row:
    """Return a table's row as a sample's fields.

    Args:
        line: the row's number.
        values: the cells by column, without empty ones.
        columns: the column of each field.
        unit: the word for a row in messages.
        images: the values of the image columns, in order.
    """

    def cell(column: str | None) -> object:
        return values.get(column or "")

    faults: list[RowFault] = []
    if images:
        values = {name: value for name, value in values.items() if name != "image_path"}
    choices = _choices(values, columns, faults)
    fields: JsonObject = {
        "id": cell(columns.id),
        "reference_answer": _answer(cell(columns.answer), choices, columns, faults),
        "category": cell(columns.category),
        "meta": _meta(values, columns, faults),
    }
    prompt, hint, accepted = cell(columns.prompt), cell(columns.hint), cell(columns.answers)
    if isinstance(prompt, str) and isinstance(hint, str) and prompt.strip() and hint.strip():
        prompt = with_hint(prompt, hint)
    if isinstance(accepted, str):
        accepted = as_list(accepted)
    optional = {
        "prompt": prompt,
        "choices": choices or None,
        "reference_answers": accepted,
        "images": images or None,
    }
    fields |= {name: value for name, value in optional.items() if value is not None}
    return Row(line, fields, unit, columns.names, tuple(faults))


def with_hint(question: str, hint: str) -> str:
    """Return a question with its hint, laid out as VLMEvalKit asks multiple-choice questions.

    Examples:
        >>> with_hint("Which one?", "Look left.")
        'Hint: Look left.\\nQuestion: Which one?'
    """
    return f"Hint: {hint}\nQuestion: {question}"


def as_list(text: str) -> list[str]:
    """Return the texts of a cell that may contain a list: JSON or a Python literal of strings, else the cell itself."""
    if not (text.startswith("[") and text.endswith("]")):
        return [text]
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = _literal(text)
    if isinstance(values, list) and all(type(value) in (str, int, float) for value in values):
        return [str(value) for value in values]
    return [text]


def _literal(text: str) -> object:
    """Return the value of a Python literal (no code is evaluated), or None if the text is not one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from backslashes in the file's strings
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None


def _image_columns(header: Iterable[str]) -> tuple[str, ...]:
    names = set(header)
    for name in ("images", "image"):
        if name in names:
            return (name,)
    numbered = sorted((int(match[1]), match[0]) for name in names if (match := _NUMBERED_IMAGE.fullmatch(name)))
    if numbered:
        return tuple(name for _, name in numbered)
    if "image_path" in names:
        return ("image_path",)
    return ()


def _number_as_text(value: object) -> object:
    if type(value) in (int, float):
        return str(value)
    return value


def _choices(values: Mapping[str, object], columns: Columns, faults: list[RowFault]) -> list[object]:
    if columns.choices is not None:
        value = values.get(columns.choices)
        if isinstance(value, str):
            value = as_list(value)
        if value is None:
            return []
        if not isinstance(value, list):
            return [value]
        return [_number_as_text(option) for option in value]
    options: list[object] = []
    for position, letter in enumerate(columns.letters):
        value = values.get(letter)
        if value is None:
            continue
        if len(options) < position or letter != string.ascii_uppercase[position]:
            lacking = string.ascii_uppercase[len(options)]
            text = f"there is an option {letter} but none {lacking}; options follow without a gap"
            faults.append(RowFault("choices", text))
            return []
        options.append(_number_as_text(value))
    return options


def _answer(answer: object, choices: list[object], columns: Columns, faults: list[RowFault]) -> object:
    """Return an answer as a text: an option's letter, or its number from 0, becomes the option's text."""
    if columns.answer_is_text or answer is None:
        return answer
    wrong = ""
    if isinstance(answer, str) and choices and _LETTER.fullmatch(answer.strip()):
        number = ord(answer.strip()) - ord("A")
        if number < len(choices):
            return choices[number]
        wrong = f"is {answer.strip()}, and there are {len(choices)} options"
    elif type(answer) is int and choices:
        text = str(answer)
        option = choices[answer] if 0 <= answer < len(choices) else None
        if option is None and text not in choices:
            wrong = f"is {answer}, and the {len(choices)} options count from 0"
        elif option is None or option == text:
            return text
        elif text not in choices:
            return option
        else:
            wrong = (
                f"is {answer}, which is one option's text and another's number from 0; write the text into a column "
                "'reference_answer'"
            )
    else:
        if type(answer) is float:
            return str(answer)
        return answer
    faults.append(RowFault("answer", f"the field '{columns.answer or 'answer'}' {wrong}"))
    return None


def _meta(values: Mapping[str, object], columns: Columns, faults: list[RowFault]) -> JsonObject:
    used = columns.used()
    others = {name: value for name, value in values.items() if name not in used}
    own = others.get("meta")
    if not isinstance(own, dict):
        return others
    del others["meta"]
    meta = {name: value for name, value in own.items() if value is not None}
    if repeated := sorted(meta.keys() & others.keys()):
        faults.append(RowFault("field", f"{repeated[0]!r} stands both in 'meta' and beside it; keep one"))
        return {}
    return {**meta, **others}


@lru_cache
def intended_field(name: str, missing: tuple[str, ...]) -> str | None:
    """Return the missing field of a sample for which a column's name is a misspelling or another common name.

    Examples:
        >>> intended_field("refrence_answer", ("reference_answer", "category"))
        'reference_answer'
        >>> intended_field("Label", ("reference_answer",)), intended_field("source", ("reference_answer",))
        ('reference_answer', None)
    """
    spelling = _spelling(name)
    for field in missing:
        if spelling in OTHER_NAMES.get(field, "").split():
            return field
    return next(iter(get_close_matches(spelling, missing, n=1, cutoff=CLOSE)), None)


def _spelling(name: str) -> str:
    return name.casefold().replace(" ", "_").replace("-", "_")


def suggestion(fields: Mapping[str, object], known: Collection[str], header: Sequence[str] = ()) -> str:
    """Return a hint on a row's unknown fields, and the fields they may stand for; empty if there are none.

    With the header of a table, the hint lists all its columns.

    Examples:
        >>> suggestion({"identifier": "a", "question": "Who?"}, ("id", "prompt"))
        "; there are 'identifier', 'question': did you mean id by 'identifier', prompt by 'question'?"
        >>> suggestion({"x": 1}, ("id", "prompt"))
        "; there is 'x'"
        >>> suggestion({"x": 1}, (), ["prompt", "x"])
        "; there are 'prompt', 'x'"
    """
    meta = fields.get("meta")
    inside = meta if isinstance(meta, dict) else {}
    others = sorted({*map(str, fields), *map(str, inside)} - {*known})
    shown = header or others[:MOST_SHOWN]
    if not shown:
        return ""
    spellings = {_spelling(name): name for name in reversed(others)}
    intended: dict[str, str] = {}
    for field, names in OTHER_NAMES.items():
        if fields.get(field) is not None or (field == "image" and fields.get("images") is not None):
            continue
        for name in (field, *names.split()):
            if name in spellings:
                if spellings[name] not in intended.values():
                    intended[field] = spellings[name]
                break
    question = ", ".join(f"{field} by {name!r}" for field, name in intended.items())
    hint = f"; there {is_or_are(len(shown))} {', '.join(map(repr, shown))}"
    if question:
        return f"{hint}: did you mean {question}?"
    return hint
