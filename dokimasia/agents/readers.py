"""What accompanies a question to a person: the empty form of the reply, and its reader, stored as text."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, cast

import orjson

from dokimasia.domain.identity import canonical_json
from dokimasia.domain.question import Aid
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.answers import FINAL_FORM, demand_final_answer
from dokimasia.prompts import Rendered

_OURS = "dokimasia."
"""The package whose functions may be called by a name stored in a home."""


_NUMBER = re.compile(r"(?:NUMBER|N|<number>|<point>)(?= \|)")
_PLACES = ("[", "<", "{", "|")
_DEMANDED = '"Final answer:"'
"""The words of a prompt that ask for a last line with the final answer."""


def aid_of(rendered: Rendered, parse: Callable[[str], Any] | None, count: int, *, form: str = "") -> Aid:
    """Return the aid for a person's answer: the reader and the empty form, without the introduction to the form.

    For a prompt without a form, the form is the text after the last colon of its instructions, if that has places to
    fill in; a numbered line is repeated for each of the numbered items. `form` is a form made by the role. A person
    must give the line with the final answer that a prompt asks for, although a model's answer without it is accepted.
    """
    if form:
        return Aid(form=form, reader=kept_reader(parse))
    if parse is None and any(_DEMANDED in message.text for message in rendered.messages):
        return Aid(form=FINAL_FORM, reader=kept_reader(demand_final_answer))
    if rendered.form:
        form = rendered.form.partition("\n\n")[2] or rendered.form
    else:
        system = "".join(message.text for message in rendered.messages if message.role == "system")
        form = system.rpartition(":\n\n")[2].partition("\n\n")[0] if ":\n\n" in system else ""
        form = form if any(place in form for place in _PLACES) else ""
        lines = ([_NUMBER.sub(str(n), line, count=1) for n in range(1, count + 1)] for line in form.splitlines())
        form = "\n".join(dict.fromkeys(chain.from_iterable(lines)))
    return Aid(form=form, reader=kept_reader(parse))


def kept_reader(parse: Callable[[str], Any] | None) -> str:
    """Return a role's reader as text: a function of this package with plain arguments; empty for any other reader."""
    try:
        if parse is None:
            return ""
        return canonical_json(_to_json(parse)).decode()
    except ValueError:
        return ""


def faults_of(aid: Aid, text: str) -> str:
    """Return the fault of a reply as its role would read it; empty if it is usable, or if only the run can tell.

    Examples:
        >>> from dokimasia.parsing.verdicts import parse_equivalence
        >>> aid = Aid(form="Verdict: [[same or different]]", reader=kept_reader(parse_equivalence))
        >>> faults_of(aid, "The same words. Verdict: [[same]]"), faults_of(aid, "perhaps") != "", faults_of(Aid(), "perhaps")
        ('', True, '')
        >>> faults_of(aid, "Verdict: [[same or different]]")
        'the form is not filled in'
    """
    if not text.strip():
        return "the reply is empty"
    if text.strip() == aid.form.strip():
        return "the form is not filled in"
    read: Callable[[str], Any] | None = _from_json(orjson.loads(aid.reader)) if aid.reader else None
    try:
        if read is not None:
            read(text)
    except UnparsableReply as problem:
        return problem.reason
    return ""


def _to_json(value: Any) -> Any:
    """Return a value as JSON; a value without a JSON form becomes an object with one name, which states its type."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, partial):
        made = cast("partial[Any]", value)
        return {"call": _to_json(made.func), "args": _to_json(list(made.args)), "named": _to_json(dict(made.keywords))}
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value)
        return {"map": [[_to_json(key), _to_json(pair)] for key, pair in pairs.items()]}
    if isinstance(value, set | frozenset):
        return {"set": sorted((_to_json(item) for item in cast("set[Any]", value)), key=canonical_json)}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return {
            "list": [_to_json(item) for item in cast("Sequence[Any]", value)],
            "of": type(cast("object", value)).__name__,
        }
    module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
    if callable(value) and module.startswith(_OURS) and name.isidentifier():
        return {"function": f"{module}:{name}"}
    raise ValueError(f"{type(value).__name__} cannot be kept")


def _from_json(kept: Any) -> Any:
    """Return the value that `_to_json` converted; lists become lists, all other sequences tuples."""
    if not isinstance(kept, dict):
        return kept
    fields = cast("dict[str, Any]", kept)
    if "function" in fields:
        module, _, name = str(fields["function"]).partition(":")
        if not module.startswith(_OURS):
            raise ValueError(f"{module} is no module of this package")
        return getattr(import_module(module), name)
    if "call" in fields:
        return partial(_from_json(fields["call"]), *_from_json(fields["args"]), **_from_json(fields["named"]))
    if "map" in fields:
        return {_from_json(key): _from_json(item) for key, item in fields["map"]}
    if "set" in fields:
        return frozenset(_from_json(item) for item in fields["set"])
    items = [_from_json(item) for item in fields["list"]]
    if fields["of"] == "list":
        return items
    return tuple(items)
