"""Forms for requests: labels, hints, types, ranges and defaults come from the fields of a method's request."""

import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args, get_origin

import orjson
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo
from starlette.requests import Request

from dokimasia.runs.requests import (
    Invocation,
    Option,
    RunRequest,
    bounds_of,
    fields_in_order,
    kind_of,
    option_of,
    run_or_file,
)
from dokimasia.service.request_parsing import holds_path, settable_over_http
from dokimasia.service.uploads import UPLOAD
from dokimasia.service.wording import as_on_pages

Kind = Literal["text", "long", "number", "choice", "box", "several", "list", "object"]
"""`several` has an input for each value, `list` takes comma-separated values, `object` lines of NAME=VALUES."""

LATER = ("prompts", "keep_checkpoints", "fresh", "seed", "temperature", "top_p", "max_reply_tokens")
"""Fields of requests that few people change."""

HINTS: Mapping[str, str] = {
    "data": "A data set: CSV, Excel, JSON lines, Parquet, a VLMEvalKit TSV, or images.",
    "run": "A run of this home, by its name, the beginning of its id, or `last`.",
    "graph": "A graph that an installed plug-in brings.",
    "prompts": "A folder whose prompts take the place of those of the same name.",
}
"""Hints for fields that have no description because the command line takes them as arguments."""


RULES: Mapping[str, str] = {
    "models": " Enter human/NAME to have a person answer.",
    "labels": " Letters, digits, dots, dashes, underscores and spaces.",
}
"""Additions to the hints of models and of labels."""

LABELS: Mapping[str, str] = {
    "api_base": "Address of the API",
    "api_key_env": "Variable with the API key",
    "input_price": "Price of input tokens",
    "output_price": "Price of output tokens",
    "rpm": "Requests per minute",
    "tpm": "Tokens per minute",
    "max_concurrency": "Requests at the same time",
    "start_concurrency": "Requests at the same time, at first",
    "timeout": "Time limit",
    "cached_input_price": "Price of cached input tokens",
    "cache_write_price": "Price of tokens written to the cache",
    "image_price": "Price of an image",
    "max_image_side": "Longest side of an image",
    "parameters": "Size",
    "top_p": "Top-p",
}
"""Labels of fields whose names are not descriptive."""

_COMMAS = ", separated by commas"
_DIRECTIONS = re.compile(r"; `[^`]*`[^.]*| \(see: dokimasia [a-z ]+\)")
"""References to a command, which hints leave out."""


@dataclass(frozen=True, slots=True)
class InputField:
    """A field of a form.

    Attributes:
        name: the name of the request's field.
        kind: the kind of input.
        required: whether it must be filled in.
        hint: what it means.
        flag: its option on the command line.
        default: its initial texts; for a box, "on" or nothing.
        choices: the values of a choice.
        low, high, whole: the range of a number, and whether it must be whole.
        offers: the name of its list of suggestions.
        file: whether it names files, which can be uploaded.
        parts: for an object, the names of the numbers of a line.
        form: the name of its form, if a page has several.
    """

    name: str
    kind: Kind
    required: bool
    hint: str
    flag: str
    default: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = True
    offers: str = ""
    file: bool = False
    parts: tuple[str, ...] = ()
    form: str = ""

    @property
    def id(self) -> str:
        """The id of the field within its page."""
        if self.form:
            return f"{self.form}-{self.name}"
        return self.name

    @property
    def label(self) -> str:
        """The label of the field."""
        words = re.sub("[_-]", " ", self.name)
        return LABELS.get(self.name, f"{words[0].upper()}{words[1:]}")


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """A group of fields, folded if rarely changed."""

    title: str
    controls: tuple[InputField, ...]
    folded: bool = True


def groups_of(request: type[RunRequest], leave_out: Collection[str] = ()) -> list[FieldGroup]:
    """Return the form of a request: required fields and models first, then options, names, limits and the rest."""
    fields = {
        name: field
        for name, field in fields_in_order(request)
        if settable_over_http(name, field) and not option_of(field).hidden and name not in leave_out
    }
    controls = {name: _control(name, field) for name, field in fields.items()}
    first = [
        name
        for name, field in fields.items()
        if field.is_required() or option_of(field).argument or name in ("judge", "models", "responses")
    ]
    first.sort(key=lambda name: (not option_of(fields[name]).argument, not fields[name].is_required()))
    limits = [name for name in Invocation.model_fields if name in fields and not option_of(fields[name]).label]
    names = [name for name in fields if option_of(fields[name]).label]
    later = [name for name in LATER if name in fields]
    options = [name for name in fields if name not in {*first, *limits, *names, *later}]
    parts = (
        ("", first),
        ("Options", options),
        ("Name and tags", names),
        ("Limits", limits),
        ("Seed and prompts", later),
    )
    return _in_words_of_forms(
        FieldGroup(title, tuple(controls[name] for name in part), bool(title)) for title, part in parts if part
    )


def change_groups(
    request: type[Invocation], *, form: str, named: bool = False, leave_out: Collection[str] = ()
) -> list[FieldGroup]:
    """Return the form for changes to an existing run: prompts, limits and, if `named`, its name and tags."""
    fields = {
        name: field
        for name, field in request.model_fields.items()
        if settable_over_http(name, field) and name not in leave_out
    }
    labels = [name for name, field in fields.items() if option_of(field).label and named]
    limits = [name for name in Invocation.model_fields if name in fields and not option_of(fields[name]).label]
    parts = (("Prompts", ["prompts"]), ("Limits", limits), ("Name and tags", labels))
    return _in_words_of_forms(
        FieldGroup(title, tuple(replace(_control(name, fields[name]), form=form) for name in part))
        for title, part in parts
        if part
    )


def body_groups(body: type[BaseModel], first: Sequence[str], *, leave_out: Collection[str] = ()) -> list[FieldGroup]:
    """Return the form for the body of an operation: the fields `first`, in that order, then the others, folded."""
    controls = {
        name: replace(_control(name, field), flag="")
        for name, field in body.model_fields.items()
        if name not in leave_out
    }
    others = tuple(control for name, control in controls.items() if name not in first)
    return [FieldGroup("", tuple(controls[name] for name in first), False), FieldGroup("More settings", others)]


async def texts_of(request: Request) -> dict[str, list[str]]:
    """Return the texts of a submitted form, by field; uploaded files are ignored."""
    async with request.form() as form:  # which also closes uploaded files
        texts = {name: [text for text in form.getlist(name) if isinstance(text, str)] for name in form}
    return {name: field_texts for name, field_texts in texts.items() if field_texts}


def values_of(groups: Sequence[FieldGroup], form: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the texts of a form, by field; empty inputs of a field with several are left out."""
    return {
        control.name: tuple(text for text in form.get(control.name, ()) if text.strip() or control.kind != "several")
        for group in groups
        for control in group.controls
    }


def defaults_of(groups: Sequence[FieldGroup]) -> dict[str, tuple[str, ...]]:
    """Return the initial texts of a form, by field."""
    return {control.name: control.default for group in groups for control in group.controls}


def texts_from_request(groups: Sequence[FieldGroup], request: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Return the texts of a form filled in from a request's JSON, by field."""
    return {
        control.name: _texts(control, request[control.name]) if request.get(control.name) is not None else ()
        for group in groups
        for control in group.controls
    }


def parse_form(
    groups: Sequence[FieldGroup], values: Mapping[str, Sequence[str]]
) -> tuple[dict[str, JsonValue], dict[str, str]]:
    """Return the JSON of a submitted form without empty fields, and its errors by field."""
    request: dict[str, JsonValue] = {}
    faults: dict[str, str] = {}
    for control in (control for group in groups for control in group.controls):
        texts = [text.strip() for text in values.get(control.name, ())]
        try:
            value = _value(control, [text for text in texts if text])
        except ValueError as fault:
            faults[control.name] = str(fault)
            continue
        if value is not None:
            request[control.name] = value
        elif control.required:
            faults[control.name] = "fill in this field"
    return request, faults


def split_faults(
    groups: Sequence[FieldGroup], sentence: str, values: Mapping[str, Sequence[str]]
) -> tuple[dict[str, str], str]:
    """Split an error message into the parts on single fields, by name, and the rest, worded as in the form.

    A message names a field as requests do (`limit: ...`), by a file that it contains (`questions.csv: ...`), as the
    command line does (`--limit ...`), or by a value (`there is no model 'x'`) that only one field contains; else it
    concerns the field whose option it mentions first.
    """
    controls = {control.name: control for group in groups for control in group.controls}
    names = "|".join(sorted(map(re.escape, controls), key=len, reverse=True))
    by_field: dict[str, str] = {}
    parts = re.split(rf"(?:^|; )(?=(?:{names})(?:\.[^:; ]+)*: )", sentence)
    unassigned: list[str] = []
    for part in filter(None, parts):
        if match := re.match(rf"({names})(?:\.[^:; ]+)*: ", part):
            by_field[match[1]] = part[match.end() :]
        else:
            unassigned.append(part)
    if len(unassigned) == 1 and (name := _field_meant(controls, unassigned[0], values)):
        by_field[name] = unassigned.pop()
    labels = labels_of(groups)
    return {name: as_on_pages(fault, labels) for name, fault in by_field.items()}, as_on_pages(
        "; ".join(unassigned), labels
    )


def _field_meant(controls: Mapping[str, InputField], sentence: str, values: Mapping[str, Sequence[str]]) -> str:
    """Return the name of the field that a message concerns without naming it; empty if unknown."""
    texts = {name: {text.strip() for text in values.get(name, ())} for name in controls}
    by_flag = {control.flag: name for name, control in controls.items() if control.flag}
    flags = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", as_on_pages(sentence))
    if flags and sentence.startswith(flags[0]) and flags[0] in by_flag:
        return by_flag[flags[0]]
    files = {
        name: {text.removeprefix(UPLOAD).partition("@")[0] for text in texts[name] if text}
        for name, control in controls.items()
        if control.file
    }
    in_files = [name for name in files if sentence.removeprefix("the upload ").startswith(tuple(files[name]))]
    quoted = set(re.findall(r"(?<=')[^']+(?=')|(?<=\brun )[\w.-]+", sentence))
    for matching in (in_files, [name for name in controls if quoted & texts[name]]):
        if len(matching) == 1:
            return matching[0]
    if flags:
        return by_flag.get(flags[0], "")
    return ""


def _mentions(fault: str, label: str) -> bool:
    return f"“{label}”" in fault or re.search(rf"\b{re.escape(label.upper())}\b", fault) is not None


async def find_faults(
    groups: Sequence[FieldGroup],
    values: Mapping[str, Sequence[str]],
    faults: dict[str, str],
    problem: str,
    check: Callable[[Collection[str]], Awaitable[str]],
) -> str:
    """Add all faults of a form by field, and return the message about faults that concern no field.

    The form is checked again without the fields known to be wrong, until nothing new is found. A fault that results
    only from leaving out such a field does not count: it concerns an empty field, and mentions one that was left out.

    Args:
        groups: the form.
        values: its texts.
        faults: the known faults, by field; the rest is added.
        problem: the message about the form without these fields, empty if nothing else is wrong.
        check: returns that message for other omitted fields.
    """
    labels = labels_of(groups)
    while problem:
        new_faults, general = split_faults(groups, problem, values)
        new = {
            name: fault
            for name, fault in new_faults.items()
            if name not in faults
            and (any(values.get(name, ())) or not any(_mentions(fault, labels[other]) for other in faults))
        }
        if not new:
            return "" if faults else general
        faults |= new
        problem = await check(faults)
    return ""


def _control(name: str, field: FieldInfo) -> InputField:
    option, kind = option_of(field), kind_of(field)
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    flag = ""
    if not option.argument:
        long_flags = [name for name in option.flags if name.startswith("--")]
        flag = long_flags[0] if long_flags else f"--{name.replace('_', '-')}"
    bounds = bounds_of(field)
    shape = _shape(name, kind, option)
    control = InputField(
        name=name,
        kind=shape,
        required=field.is_required(),
        hint=_hint(name, field, option).replace(_COMMAS, "" if shape == "several" else _COMMAS),
        flag=flag,
        choices=tuple(map(str, get_args(kind))) if shape == "choice" else (),
        low=bounds.get("ge", bounds.get("gt")),
        high=bounds.get("le", bounds.get("lt")),
        whole=kind is int,
        offers=_offers(name, option),
        file=holds_path(kind),
        parts=_parts(kind),
    )
    if default is None:
        return control
    return replace(control, default=_texts(control, default))


def labels_of(groups: Iterable[FieldGroup]) -> dict[str, str]:
    """Return the label of each field of a form, by its option and by its name."""
    controls = [control for group in groups for control in group.controls]
    by_flag = {control.flag: control.label for control in controls if control.flag}
    return {**by_flag, **{control.name: control.label for control in controls}}


def _in_words_of_forms(groups: Iterable[FieldGroup]) -> list[FieldGroup]:
    """Return groups whose hints name fields by their labels, and no commands."""
    groups = list(groups)
    labels = labels_of(groups)
    worded: list[FieldGroup] = []
    for group in groups:
        hints = [as_on_pages(_DIRECTIONS.sub("", control.hint), labels) for control in group.controls]
        controls = [replace(control, hint=hint) for control, hint in zip(group.controls, hints, strict=True)]
        worded.append(replace(group, controls=tuple(controls)))
    return worded


def _hint(name: str, field: FieldInfo, option: Option) -> str:
    """Return the hint of a field, with the rule for its values if only the type implies one."""
    description = field.description or HINTS.get(name, "")
    rule = RULES["models"] if option.models else RULES["labels"] if option.label and kind_of(field) is not bool else ""
    return f"{description}{rule}"


def _parts(kind: object) -> tuple[str, ...]:
    """Return the names of the fields of an object's values."""
    value_type = get_args(kind)[-1] if get_origin(kind) is dict else None
    if isinstance(value_type, type) and issubclass(value_type, BaseModel):
        return tuple(value_type.model_fields)
    return ()


def _shape(name: str, kind: object, option: Option) -> Kind:
    origin = get_origin(kind)
    if kind is bool:
        return "box"
    if origin is Literal:
        return "choice"
    if kind in (int, float):
        return "number"
    if origin is tuple:
        if option.models or holds_path(kind):
            return "several"
        return "list"
    if origin is dict or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return "object"
    return "long" if name == "prompt" else "text"


def _offers(name: str, option: Option) -> str:
    if option.models:
        return "models"
    if option.read is run_or_file:
        return "runs-and-files"
    if name in ("run", "graph"):
        return f"{name}s"
    if option.metavar == "TREE":
        return "trees"
    return ""


def _texts(control: InputField, value: object) -> tuple[str, ...]:
    """Return the texts of a field for a value of its type, or for plain JSON."""
    value = _plain(value)
    if control.kind == "box":
        return ("on",) if value else ()
    if isinstance(value, list | tuple):
        texts = tuple(map(str, value))
        if control.kind == "list" and texts:
            return (", ".join(texts),)
        return texts
    if isinstance(value, Mapping):
        if value:
            return ("\n".join(_lines(value)),)
        return ()
    if isinstance(value, float) and value.is_integer():
        return (str(int(value)),)
    return (str(value),) if value != "" else ()


def _lines(value: Mapping[str, object]) -> Iterator[str]:
    for name, line in value.items():
        line = _plain(line)
        values = line.values() if isinstance(line, Mapping) else [line]
        yield f"{name}={','.join(map(str, values))}"


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return value


def _value(control: InputField, texts: Sequence[str]) -> JsonValue:
    """Return the texts of a field as plain JSON, or None if it is empty.

    Raises:
        ValueError: they cannot be read; the message gives the reason.
    """
    if control.kind == "box":
        if bool(texts) != bool(control.default):
            return bool(texts)
        return None
    if not texts:
        return None
    if control.kind == "several":
        return list(texts)
    if control.kind == "list":
        return [part.strip() for part in ",".join(texts).split(",") if part.strip()]
    if control.kind == "object":
        return _object(control, texts[0])
    if control.kind == "number":
        return _number(control, texts[0])
    return texts[0]


def _number(control: InputField, text: str) -> int | float:
    try:
        number = int(text) if control.whole else float(text)
    except ValueError:
        kind = "whole number" if control.whole else "number"
        raise ValueError(f"enter a {kind}, not {text[:80]!r}") from None
    if control.whole and abs(number) > sys.maxsize:
        raise ValueError(f"{text[:80]!r} is too large")
    return number


def _object(control: InputField, text: str) -> JsonValue:
    """Return lines of `NAME=VALUE,VALUE`, or JSON, as plain JSON."""
    if text.startswith("{"):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise ValueError(f"this is not JSON: {error}") from None
    members: dict[str, JsonValue] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, values = line.partition("=")
        try:
            members[name.strip()] = dict(zip(control.parts, map(float, values.split(",")), strict=True))
        except ValueError:
            form = ",".join(part.upper() for part in control.parts)
            raise ValueError(f"{line[:80]!r}: write NAME={form} with a number for each") from None
    return members
