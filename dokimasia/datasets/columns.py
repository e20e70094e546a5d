"""A table's columns as the fields of a sample: the names that VLMEvalKit and Hugging Face data sets use, and ours."""

import ast
import json
import re
import string
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.datasets.lines import Row

_LETTER = re.compile(r"[A-Z]")
_NUMBERED_IMAGE = re.compile(r"image_(\d{1,3})")

OTHERWISE_CALLED: Mapping[str, tuple[str, ...]] = {
    "id": (
        "identifier",
        "index",
        "idx",
        "key",
        "uid",
        "uuid",
        "sample_id",
        "image_id",
        "question_id",
        "number",
        "name",
    ),
    "image": (
        "picture",
        "pictures",
        "img",
        "image_path",
        "image_file",
        "photo",
        "file_name",
        "filename",
        "file",
        "path",
    ),
    "prompt": ("question", "query", "instruction", "task", "text"),
    "reference_answer": ("answer", "reference", "gold", "label", "ground_truth", "solution", "target"),
}
"""What others call the fields of a sample."""

MOST_SHOWN = 8


class Columns(NamedTuple):
    """Which column of a table holds what; None or empty where there is none. All others become `meta`."""

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
    """Whether the answer is a text as it stands (`reference_answer`), or may name an option (`answer`)."""

    @property
    def names(self) -> dict[str, str]:
        """The file's names for the fields that messages may speak of."""
        choices = self.choices or (f"{self.letters[0]} to {self.letters[-1]}" if self.letters else "choices")
        given = {"id": self.id, "prompt": self.prompt, "reference_answer": self.answer, "choices": choices}
        given["reference_answers"] = self.answers
        return {field: name for field, name in given.items() if name is not None}

    def used(self) -> set[str]:
        """The columns that are no `meta`."""
        single = (self.id, self.prompt, self.hint, self.answer, self.answers, self.choices, self.category)
        return {name for name in single if name is not None}.union(self.letters, self.images)


def columns_of(header: Sequence[str], *, own_names: bool, images: Sequence[str] | None = None) -> Columns:
    """Return which column holds what.

    Args:
        header: the columns' names.
        own_names: whether `id`, `prompt`, `reference_answer`, `choices` and `options` are known beside VLMEvalKit's
            `index`, `question` and `answer`, and come first.
        images: the columns that are known to hold images; by default they are found by name.
    """

    def first(*names: str) -> str | None:
        return next((name for name in names if name in header), None)

    own = ("id", "prompt", "reference_answer", "choices", "options") if own_names else ()
    prompt = first(*own[1:2], "question")
    choices = first(*own[3:])
    letters = tuple(letter for letter in string.ascii_uppercase if letter in header)
    return Columns(
        id=first(*own[:1], "index"),
        prompt=prompt,
        hint="hint" if "hint" in header and prompt == "question" else None,
        answer=first(*own[2:3], "answer"),
        answers=first("reference_answers"),
        choices=choices,
        letters=letters if choices is None and letters[:2] == ("A", "B") else (),
        category=first("category"),
        images=tuple(images) if images is not None else _image_columns(header),
        answer_is_text=own_names and "reference_answer" in header,
    )


def row_of(line: int, values: Mapping[str, Any], columns: Columns, *, unit: str, images: list[Any]) -> Row:
    """Return a table's row as a sample's fields; cells that are empty are not among `values`.

    Args:
        line: its number.
        values: the cells by column.
        columns: which column holds what.
        unit: what messages call a row.
        images: what was found in the image columns, in order.
    """
    faults: list[tuple[str, str]] = []
    if images:
        values = {name: value for name, value in values.items() if name != "image_path"}
    choices = _choices(values, columns, faults)
    fields: dict[str, Any] = {
        "id": values.get(columns.id or ""),
        "reference_answer": _answer(values.get(columns.answer or ""), choices, columns, faults),
        "category": values.get(columns.category or ""),
        "meta": _meta(values, columns, faults),
    }
    prompt = _prompt(values, columns)
    if prompt is not None:
        fields["prompt"] = prompt
    if choices:
        fields["choices"] = choices
    accepted = values.get(columns.answers or "")
    if accepted is not None:
        fields["reference_answers"] = as_list(accepted) if isinstance(accepted, str) else accepted
    if images:
        fields["images"] = images
    return Row(line, fields, unit, columns.names, tuple(faults))


def with_hint(question: str, hint: str) -> str:
    """Return a question with its hint, laid out as VLMEvalKit asks multiple-choice questions.

    Examples:
        >>> with_hint("Which one?", "Look left.")
        'Hint: Look left.\\nQuestion: Which one?'
    """
    return f"Hint: {hint}\nQuestion: {question}"


def as_list(text: str) -> list[str]:
    """Return the texts of a cell that may hold a list: JSON or a Python literal of strings, else the cell itself."""
    if not (text.startswith("[") and text.endswith("]")):
        return [text]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = _literal(text)
    if isinstance(found, list) and all(type(one) in (str, int, float) for one in found):
        return [str(one) for one in found]
    return [text]


def _literal(text: str) -> Any:
    """Read a Python literal, which is never evaluated; None if it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of backslashes in the file's strings
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
    return ("image_path",) if "image_path" in names else ()


def _prompt(values: Mapping[str, Any], columns: Columns) -> Any:
    question = values.get(columns.prompt or "")
    hint = values.get(columns.hint or "")
    if isinstance(question, str) and isinstance(hint, str) and question.strip() and hint.strip():
        return with_hint(question, hint)
    return question


def _choices(values: Mapping[str, Any], columns: Columns, faults: list[tuple[str, str]]) -> list[Any]:
    if columns.choices is not None:
        found = values.get(columns.choices)
        if isinstance(found, str):
            found = as_list(found)
        if found is None:
            return []
        if not isinstance(found, list):
            return [found]
        return [str(one) if type(one) in (int, float) else one for one in found]
    found = []
    for place, letter in enumerate(columns.letters):
        value = values.get(letter)
        if value is None:
            continue
        if len(found) < place or letter != string.ascii_uppercase[place]:
            previous = string.ascii_uppercase[len(found)]
            faults.append(("choices", f"there is an option {letter} but none {previous}; options follow without a gap"))
            return []
        found.append(str(value) if type(value) in (int, float) else value)
    return found


def _answer(answer: Any, choices: list[Any], columns: Columns, faults: list[tuple[str, str]]) -> Any:
    """Return an answer as a text: an option's letter, or its number from 0, becomes the option's text."""
    if columns.answer_is_text or answer is None:
        return answer
    name = columns.answer or "answer"
    if isinstance(answer, str) and choices and _LETTER.fullmatch(answer.strip()):
        number = ord(answer.strip()) - ord("A")
        if number < len(choices):
            return choices[number]
        faults.append(("answer", f"the field '{name}' is {answer.strip()}, and there are {len(choices)} options"))
        return None
    if type(answer) is int and choices:
        return _numbered(answer, choices, name, faults)
    return str(answer) if type(answer) is float else answer


def _numbered(answer: int, choices: list[Any], name: str, faults: list[tuple[str, str]]) -> Any:
    named = choices[answer] if 0 <= answer < len(choices) else None
    if str(answer) in choices and named != str(answer):
        if named is None:
            return str(answer)
        faults.append(
            (
                "answer",
                f"the field '{name}' is {answer}, which is one option's text and another's number from 0; write the text "
                "into a column 'reference_answer'",
            )
        )
        return None
    if named is None:
        faults.append(("answer", f"the field '{name}' is {answer}, and the {len(choices)} options count from 0"))
    return named


def _meta(values: Mapping[str, Any], columns: Columns, faults: list[tuple[str, str]]) -> dict[str, Any]:
    used = columns.used()
    others = {name: value for name, value in values.items() if name not in used}
    if not isinstance(others.get("meta"), dict):
        return others
    meta = {name: value for name, value in others.pop("meta").items() if value is not None}
    if twice := sorted(meta.keys() & others.keys()):
        faults.append(("field", f"{twice[0]!r} stands both in 'meta' and beside it; keep one"))
        return {}
    return {**meta, **others}


def may_be_meant(fields: Mapping[str, Any], own: Collection[str]) -> str:
    """Return what a row has that is no field of a sample, and for which field it may be meant; empty where it has nothing.

    Examples:
        >>> may_be_meant({"identifier": "a", "question": "Who?"}, ("id", "prompt"))
        "; there are 'identifier', 'question': did you mean id by 'identifier', prompt by 'question'?"
        >>> may_be_meant({"x": 1}, ("id", "prompt"))
        "; there is 'x'"
    """
    meta = fields.get("meta")
    inside = meta if isinstance(meta, dict) else {}
    others = sorted({*map(str, fields), *map(str, inside)} - {*own})
    if not others:
        return ""
    spoken = {name.casefold().replace(" ", "_").replace("-", "_"): name for name in reversed(others)}
    lacking = {name: known for name, known in OTHERWISE_CALLED.items() if fields.get(name) is None}
    if fields.get("images") is not None:
        lacking.pop("image", None)
    meant: dict[str, str] = {}
    for field, known in lacking.items():
        found = next((spoken[name] for name in (field, *known) if name in spoken), None)
        if found is not None and found not in meant.values():
            meant[field] = found
    asked = ", ".join(f"{field} by {name!r}" for field, name in meant.items())
    shown = ", ".join(map(repr, others[:MOST_SHOWN]))
    return f"; there {'is' if len(others) == 1 else 'are'} {shown}" + (f": did you mean {asked}?" if asked else "")
