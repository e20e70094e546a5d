"""Thresholds of the density filter as people give them: `domain=x,y`, or a JSON file of the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast, get_args

import orjson
from pydantic import ValidationError

from dokimasia.domain.density import DOMAINS, Domain, Threshold
from dokimasia.errors import InputError

Thresholds = dict[Domain, Threshold]


def read_thresholds(named: Sequence[str]) -> Thresholds:
    """Return thresholds from `domain=x,y` (x: visual complexity, y: informativeness) or JSON files of the same.

    `all=5,5` is every domain's that is not named; a file holds `{"natural": [6, 5], ...}`. What comes later wins.

    Raises:
        InputError: one cannot be read; the message names it and the form.
    """
    found: Thresholds = {}
    general: Threshold | None = None
    for text in named:
        for name, value in _pairs(text):
            threshold = _threshold(name, value, text)
            if name == "all":
                general = threshold
            elif name in DOMAINS:
                found[name] = threshold
            else:
                raise InputError(f"--thresholds {text}: no domain {name!r}; there are: {', '.join(DOMAINS)}, all")
    if general is not None:
        found = {domain: found.get(domain, general) for domain in get_args(Domain)}
    return found


def _pairs(text: str) -> list[tuple[str, Any]]:
    name, equals, value = text.partition("=")
    if equals:
        return [(name.strip(), value.split(","))]
    path = Path(text)
    try:
        read = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"--thresholds {text}: no such file ({error.strerror}); write domain=x,y or name a JSON file"
        ) from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: no JSON: {error}") from None
    if not isinstance(read, dict):
        raise InputError(f'{path}: not an object of the form {{"natural": [6, 5], "all": [5, 5]}}')
    return list(cast("dict[str, Any]", read).items())


def _threshold(name: str, value: Any, text: str) -> Threshold:
    try:
        complexity, informativeness = value
        return Threshold(visual_complexity=float(complexity), informativeness=float(informativeness))
    except (TypeError, ValueError, ValidationError):
        raise InputError(
            f"--thresholds {text}: the threshold of {name!r} is not two numbers from 1 to 10: write {name}=6,5"
        ) from None
