"""A list of modes as a file: YAML or JSON that people edit, merge and keep, read again for the next run and checked whole."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from dokimasia.domain.failure_modes import MOST_MODES, Mode, ModeList
from dokimasia.errors import DataError, InputError
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
    """Write a list of modes, YAML or JSON as the file's name ends, whole or not at all; return what to say of it.

    Raises:
        InputError: the file's name ends otherwise, or it cannot be written.
    """
    whole = {
        "format": FORMAT,
        "modes": [one.model_dump(mode="json", include=set(_FIELDS)) for one in modes.modes],
        "made_on": list(modes.made_on),
    }
    if _ending(path) == ".json":
        body = orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    else:
        import yaml

        body = (_HEADING + yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=110)).encode()
    write_whole(path, body)
    return f"wrote {several(len(modes.modes), 'mode')} to {path}"


def read_modes(path: Path) -> ModeList:
    """Return the list of modes of a file; the whole file is checked.

    Raises:
        InputError: it cannot be read, or is no such file; all that is wrong is named, by the mode's number and name.
    """
    whole = _loaded(path)
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise DataError(f"{path}: no list of failure modes: its field 'format' is not '{FORMAT}' (--export writes one)")
    listed: Any = whole.get("modes")
    if not isinstance(listed, list) or not listed:
        raise DataError(f"{path}: 'modes' is to be a list of at least one mode, each with {', '.join(_FIELDS[:3])}")
    if len(listed) > MOST_MODES:
        raise DataError(f"{path}: {len(listed)} modes are more than a coder can tell apart; at most {MOST_MODES}")
    marks: Any = whole.get("made_on") or []
    problems = [f"unknown field {name!r}" for name in sorted(map(str, whole.keys() - {"format", "modes", "made_on"}))]
    if not isinstance(marks, list) or not all(isinstance(mark, str) for mark in marks):
        problems.append("'made_on' is to be a list of texts, as it was written")
    modes: list[Mode] = []
    for number, row in enumerate(listed, start=1):
        named = f"mode {number}" + (f" ({row['name']!r})" if isinstance(row, dict) and "name" in row else "")
        problems += [f"{named}: {problem}" for problem in _wrong(row, modes)]
    if problems:
        raise DataError("\n".join(f"{path}: {one}" for one in problems))
    return ModeList(modes=tuple(modes), made_on=tuple(marks))


def _wrong(row: Any, modes: list[Mode]) -> Iterator[str]:
    """Yield what is wrong with a mode, or take it in."""
    if not isinstance(row, dict):
        yield f"is to have the fields {', '.join(_FIELDS[:3])}"
        return
    try:
        mode = Mode.model_validate(
            {name: " ".join(one.split()) if isinstance(one, str) else one for name, one in row.items()}
        )
    except ValidationError as error:
        for fault in error.errors():
            field = ".".join(map(str, fault["loc"]))
            yield f"{field}: {'is missing' if fault['type'] == 'missing' else fault['msg']}"
        return
    if mode.name.casefold() == "none":
        yield "name: 'none' is what coders say where no mode is seen"
    if mode.name.casefold() in {one.name.casefold() for one in modes}:
        yield "name: another mode is called so already"
    modes.append(mode)


def _loaded(path: Path) -> Any:
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
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: no YAML: {' '.join(str(error).split())}") from None


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: modes are kept as {', '.join(ENDINGS)}, by the file's ending")
    return ending
