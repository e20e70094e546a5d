"""Mode lists as YAML or JSON files, which people can edit and merge and a later run can use."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import orjson
from pydantic import JsonValue, ValidationError

from dokimasia.domain.failure_modes import MOST_MODES, Mode, ModeList
from dokimasia.domain.user_yaml import read_user_yaml
from dokimasia.errors import DataError, InputError, list_faults
from dokimasia.report.figures import several
from dokimasia.runs.reading.exporting import write_whole

FORMAT = "dokimasia-modes/1"
ENDINGS = (".yaml", ".yml", ".json")
MOST_BYTES = 4 * 2**20
_FIELDS = ("name", "kind", "definition", "notes")
_HEADING = """\
# Failure modes: edit, merge or delete what you like, and count them with: dokimasia modes RUN --judge J --modes THIS_FILE
# kind: commission (the answer says something that does not hold: coders quote it) or omission (it does not speak of the point).
# made_on marks the images that the modes were made on; they are left out of every count.
"""


def write_modes(modes: ModeList, path: Path) -> str:
    """Write a list of modes as YAML or JSON, according to the file's extension, and return a message for the user.

    Raises:
        InputError: the extension is not .yaml, .yml or .json, or the file cannot be written.
    """
    content = {
        "format": FORMAT,
        "modes": [mode.model_dump(mode="json", include=set(_FIELDS)) for mode in modes.modes],
        "made_on": list(modes.made_on),
    }
    if _ending(path) == ".json":
        body = orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    else:
        import yaml

        body = (_HEADING + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)).encode()
    write_whole(path, body)
    return f"wrote {several(len(modes.modes), 'mode')} to {path}"


def read_modes(path: Path) -> ModeList:
    """Return the list of modes of a file; the whole file is checked.

    Raises:
        InputError: the file cannot be read or is invalid; the message lists all problems by mode.
    """
    content = _load(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{path}: no list of failure modes: its field 'format' is not '{FORMAT}' (--export writes one)")
    rows = content.get("modes")
    if not isinstance(rows, list) or not rows:
        raise DataError(f"{path}: 'modes' is to be a list of at least one mode, each with {', '.join(_FIELDS[:3])}")
    if len(rows) > MOST_MODES:
        raise DataError(f"{path}: {len(rows)} modes are more than a coder can tell apart; at most {MOST_MODES}")
    unknown = sorted(map(str, content.keys() - {"format", "modes", "made_on"}))
    problems = [f"unknown field {name!r}" for name in unknown]
    marks = content.get("made_on") or []
    made_on = tuple(mark for mark in marks if isinstance(mark, str)) if isinstance(marks, list) else ()
    if not isinstance(marks, list) or len(made_on) != len(marks):
        problems.append("'made_on' is to be a list of texts, as it was written")
    modes: list[Mode] = []
    for number, row in enumerate(rows, start=1):
        name = f"mode {number}"
        if isinstance(row, dict) and "name" in row:
            name += f" ({row['name']!r})"
        problems += [f"{name}: {problem}" for problem in _read_mode(row, modes)]
    if problems:
        raise DataError("\n".join(f"{path}: {problem}" for problem in problems))
    return ModeList(modes=tuple(modes), made_on=made_on)


def _read_mode(row: JsonValue, modes: list[Mode]) -> Iterator[str]:
    """Yield the problems of a mode, and append it to the list if it can be read."""
    if not isinstance(row, dict):
        yield f"is to have the fields {', '.join(_FIELDS[:3])}"
        return
    fields = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in row.items()}
    try:
        mode = Mode.model_validate(fields)
    except ValidationError as error:
        for fault in list_faults(error):
            yield f"{fault.field}: {'is missing' if fault.kind == 'missing' else fault.message}"
        return
    if mode.name.casefold() == "none":
        yield "name: 'none' is what coders say where no mode is seen"
    if mode.name.casefold() in {earlier.name.casefold() for earlier in modes}:
        yield "name: another mode is called so already"
    modes.append(mode)


def _load(path: Path) -> JsonValue:
    ending = _ending(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{path}: larger than {MOST_BYTES // 2**20} MiB, which no list of modes is")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: no UTF-8 text (byte {error.start})") from None
    if ending == ".json":
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path}: no JSON: {error}") from None
    try:
        return cast("JsonValue", read_user_yaml(text, "the file"))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: modes are kept as {', '.join(ENDINGS)}, by the file's ending")
    return ending
