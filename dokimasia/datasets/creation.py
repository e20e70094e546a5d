"""Creation-MMBench's fields as those of a sample: criteria read as a literal and never evaluated, task, category, reference."""

import ast
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.datasets.creative_tasks import category_of
from dokimasia.datasets.lines import Fault
from dokimasia.domain.duel import criteria_in, ground_truth_in, task_in
from dokimasia.errors import DataError

REFERENCE = "reference_answer_by_gpt4o"
COLUMNS = ("question", "task_name", "criteria", REFERENCE)
"""Columns that a table of creative cases has, beside `index` and its images."""

MAX_CRITERIA = 200_000
"""Characters of a `criteria` cell that is read; those that are published have some thousand."""


class Case(NamedTuple):
    """What a creative case adds to a sample: its `meta` with the criteria in one form, its category, its reference answer."""

    meta: dict[str, Any]
    category: str | None = None
    reference: str | None = None


def creative_fault(header: Sequence[str]) -> str | None:
    """Return what a table of creative cases lacks; None where it lacks nothing, or is none."""
    if len({"task_name", "criteria", REFERENCE}.intersection(header)) < 2:
        return None
    missing = [name for name in COLUMNS if name not in header]
    if not {"image", "image_path"}.intersection(header):
        missing.append("image")
    if not missing:
        return None
    return f"the header has no column {' and no column '.join(map(repr, missing))}, which a Creation-MMBench table has"


def as_case(meta: Mapping[str, Any], where: str) -> Case:
    """Return what the fields of a creative case say; those of any other sample stay as they are.

    A case has `criteria` and, beside it, `task_name` or `reference_answer_by_gpt4o`.

    Raises:
        Fault: the criteria cannot be read; the message begins with `where`.
    """
    if not isinstance(meta.get("criteria"), str | dict) or not {"task_name", REFERENCE} & meta.keys():
        return Case(dict(meta))
    read = {**meta, "criteria": _criteria(meta["criteria"], where)}
    reference = read.pop(REFERENCE, None)
    if reference is not None and not isinstance(reference, str):
        raise Fault("field", f"{where}: the field '{REFERENCE}' is no text")
    task = meta.get("task_name")
    return Case(read, category_of(task) if isinstance(task, str) else None, reference or None)


def check_case(meta: Mapping[str, Any], where: str) -> None:
    """Check what is read of a case that has criteria, as they stand in `meta`: these, its task, and what is true of it.

    Raises:
        Fault: one of them cannot be used; the message begins with `where`.
    """
    if meta.get("criteria") is None:
        return
    for read in (criteria_in, task_in, ground_truth_in):
        try:
            read(meta)
        except DataError as problem:
            raise Fault("criteria" if read is criteria_in else "field", f"{where}: {problem}") from None


def _criteria(value: str | dict[str, Any], where: str) -> dict[str, str]:
    """Return criteria as `subjective` and `factuality`; what is blank, or holds no letter or digit, is left out."""
    found = _literal(value.strip(), where) if isinstance(value, str) else value
    if isinstance(found, str):
        found = {"subjective": found}
    texts: dict[str, list[str]] = {"subjective": [], "factuality": []}
    for name, one in found.items():
        lines = one if isinstance(one, list) else [one]
        if not isinstance(name, str) or not all(isinstance(line, str) for line in lines):
            raise Fault("criteria", f"{where}: the criteria {str(name)[:60]!r} are no text")
        text = "\n".join(map(str, lines)).strip()
        if any(map(str.isalnum, text)):
            texts["subjective" if "subjective" in name.casefold() else "factuality"].append(text)
    return {name: "\n\n".join(several) for name, several in texts.items() if several}


def _literal(text: str, where: str) -> str | dict[Any, Any]:
    """Return an object or a string that a cell holds as a literal, else the cell itself; nothing in it is evaluated."""
    if len(text) > MAX_CRITERIA:
        raise Fault(
            "criteria", f"{where}: the field 'criteria' has {len(text):,} characters; {MAX_CRITERIA:,} are read"
        )
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = _python_literal(text, where)
    return found if isinstance(found, str | dict) else text


def _python_literal(text: str, where: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of backslashes in the file's strings
            tree = ast.parse(text, mode="eval")
            if any(isinstance(node, ast.Call) for node in ast.walk(tree)):
                raise Fault(
                    "criteria", f"{where}: the field 'criteria' calls a function, and is not evaluated; write texts"
                )
            return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        if text.startswith("{"):
            said = error.msg if isinstance(error, SyntaxError) else str(error)
            wrong = f"begins as an object and is no literal of texts ({said.partition(chr(10))[0][:80] or type(error).__name__})"
            raise Fault("criteria", f"{where}: the field 'criteria' {wrong}") from error
        return text
