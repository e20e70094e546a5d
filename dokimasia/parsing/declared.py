"""Declared replies: a pydantic model gives a role's reply its empty form, its JSON schema and its reader.

A field's `description` is its placeholder in the empty form, and its type says which values are valid. A refusal names all
faults of a reply at once.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, ClassVar, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, JsonValue, ValidationError, ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.examples import FormExample, is_placeholder
from dokimasia.parsing.json_finder import read_json
from dokimasia.parsing.reply import is_unicode, listed, short, spoken


class JsonReply(BaseModel):
    """A reply that is one JSON object, or one of the objects that it holds.

    Attributes:
        known_by: the fields of which any makes an object one of this reply.
        example: the reply as the prompt shows it, on another matter.
        quoted: the fields that hold words of what was shown, which an example may have by chance.
        last: the fields that describe the others, and so come after them.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    known_by: ClassVar[tuple[str, ...]] = ()
    example: ClassVar[FormExample] = FormExample("")
    quoted: ClassVar[tuple[str, ...]] = ()
    last: ClassVar[tuple[str, ...]] = ()


T = TypeVar("T")
A = TypeVar("A")
M = TypeVar("M", bound=JsonReply)


def checked(check: Callable[[T, A], object]) -> AfterValidator:
    """Return a validator that calls a function with a field's value and the reply's subject (`about`).

    The function returns the value to keep, or raises UnparsableReply with the fault.
    """

    def validate(value: T, info: ValidationInfo[A]) -> object:
        try:
            return check(value, info.context)
        except UnparsableReply as problem:
            raise ValueError(problem.reason) from None

    return AfterValidator(validate)


def _stated(text: str, info: ValidationInfo) -> str:
    """Return a text that is not blank and can be stored as UTF-8."""
    if not text.strip():
        raise ValueError(f"the field '{info.field_name}' is missing, empty, or no text")
    if not is_unicode(text):
        raise ValueError(f"the field '{info.field_name}' holds half a character (a lone surrogate)")
    return text


def _written(text: str, info: ValidationInfo) -> str:
    """Return a text that is neither blank nor a placeholder."""
    text = _stated(text, info)
    if is_placeholder(text):
        raise ValueError(f"the field '{info.field_name}' holds a placeholder of the form: {short(text)}")
    return text


def _on_one_line(text: str, info: ValidationInfo) -> str:
    return " ".join(_written(text, info).split())


def _or_empty(value: object) -> object:
    return "" if value is None else value


def _on_one_line_if_any(text: str, info: ValidationInfo) -> str:
    if text.strip():
        return _on_one_line(text, info)
    return ""


def at_most(most: int) -> AfterValidator:
    """Return a validator that refuses a text of more than `most` words."""

    def validate(text: str, info: ValidationInfo) -> str:
        if len(text.split()) > most:
            raise ValueError(f"the {info.field_name} has {len(text.split())} words, more than {most}")
        return text

    return AfterValidator(validate)


Text = Annotated[str, AfterValidator(_stated)]
"""Any text that is not blank."""
Words = Annotated[str, AfterValidator(_written)]
"""Text that is not a placeholder."""
Sentence = Annotated[str, AfterValidator(_on_one_line)]
"""Text that is not a placeholder, on one line."""
AnySentence = Annotated[str, BeforeValidator(_or_empty), AfterValidator(_on_one_line_if_any)]
"""The same, or nothing: null is an empty text."""


def read_object(text: str, *models: type[M], about: object = None) -> M:
    """Return the one JSON object of a reply as an instance of the model whose fields it has.

    Args:
        text: the reply.
        models: the alternatives; an unfilled alternative next to a filled one is ignored.
        about: the subject that fields are checked against.

    Raises:
        UnparsableReply: there is no such object, there are several that differ, or fields are invalid. The reason names
            all faults.
    """
    names = [name for model in models for name in model.known_by]

    def read(value: JsonValue) -> dict[str, JsonValue] | None:
        if isinstance(value, dict) and any(name in value for name in names):
            return value
        return None

    rows = read_json(spoken(text), read)
    if len(models) > 1:
        rows = models[0].example.chosen(rows, names)
    quoted = " or ".join(f'"{name}"' for name in names)
    row = only_value(rows, f"JSON object with {quoted}")
    stated = [model for model in models if any(name in row for name in model.known_by)]
    if len(stated) > 1:
        raise UnparsableReply(f"{quoted.replace(' or ', ' and ')} exclude each other")
    (model,) = stated
    return read_fields(model, row, about=about)


def only_value(values: Sequence[T], what: str) -> T:
    """Return the one value that a reply states, which may be repeated.

    Raises:
        UnparsableReply: there is no value, or there are several that differ.
    """
    if not values:
        raise UnparsableReply(f"there is no complete {what}")
    if any(value != values[-1] for value in values):
        raise UnparsableReply(f"there is more than one such {what.partition(' with ')[0]}, and they differ")
    return values[-1]


def read_fields(model: type[M], row: Mapping[str, object], whose: str = "", *, about: object = None) -> M:
    """Return an object's fields as the model declares them.

    Args:
        model: the declaration.
        row: the object.
        whose: how a reason names the object, such as `rubric 2`; empty if it is the only one.
        about: the subject that fields are checked against.

    Raises:
        UnparsableReply: fields are invalid; the reason names each.
    """
    faults = dict[str, None]()
    if model.example.text:
        faults |= dict.fromkeys(_of_the_form(model, row))
    try:
        fields = model.model_validate(row, context=about)
    except ValidationError as problem:
        faults |= dict.fromkeys(_fault(error) for error in problem.errors(include_url=False))
        fields = None
    if faults or fields is None:
        raise UnparsableReply("; ".join(f"{whose}: {fault}" if whose else fault for fault in faults))
    return fields


def _of_the_form(model: type[JsonReply], row: Mapping[str, object]) -> Iterator[str]:
    """Yield the faults of an object that copies the example, or whose last field comes too early."""
    for name, value in row.items():
        if isinstance(value, str) and name not in model.quoted and model.example.holds(value):
            yield f"the field '{name}' is that of the example, which is about another matter"
    order = list(row)
    for name in model.last:
        if name in row and order.index(name) < max(order.index(known) for known in model.known_by if known in row):
            yield f"the {name} stands before what it describes; it comes last"


def _fault(error: ErrorDetails) -> str:
    """Return a validation error in words for the model that wrote the reply."""
    kind, place = error["type"], error["loc"]
    name = next((step for step in reversed(place) if isinstance(step, str)), "")
    stated = short(repr(error["input"]))
    if kind == "value_error":  # raised by a validator
        return str(error.get("ctx", {}).get("error", error["msg"]))
    if kind == "string_type" and isinstance(place[-1], int):
        return f"'{name}' holds {stated}, which is no text"
    if kind in {"missing", "string_type"}:
        return f"the field '{name}' is missing, empty, or no text"
    if kind == "bool_type":
        return f"'{name}' is {stated}, neither true nor false"
    if kind in {"list_type", "tuple_type"}:
        return f"'{name}' is no list"
    if kind == "model_type":
        return f"'{name}' holds {stated}, which is no object"
    return f"'{name}' is {stated}, not what was asked for"


def read_numbered(
    rows: Iterable[object], numbers: Collection[int], things: str, read: Callable[[Mapping[str, object], int], T]
) -> tuple[dict[int, T], list[str]]:
    """Return the values of objects by their number `n`, and the faults of those that cannot be read.

    Args:
        rows: the objects.
        numbers: the requested numbers.
        things: the name of one numbered thing, such as `error`.
        read: returns the value of an object with its number, or raises UnparsableReply.
    """
    values: dict[int, T] = {}
    seen: set[int] = set()
    faults: list[str] = []
    for row in rows:
        fields: Mapping[str, object] = cast("Mapping[str, object]", row) if isinstance(row, Mapping) else {}
        number = fields.get("n")
        if type(number) is not int or number not in numbers:
            faults.append(f"n is {short(repr(number))}, but the {things}s are {_among(numbers)}")
        elif number in seen:
            faults.append(f"{things} {number} stands there twice")
        else:
            seen.add(number)
            try:
                values[number] = read(fields, number)
            except UnparsableReply as problem:
                faults.append(problem.reason)
    missing = [number for number in numbers if number not in seen]
    if missing:
        faults.append(f"there is no object for {things} {listed(missing)}")
    return values, faults


def _among(numbers: Collection[int]) -> str:
    if sorted(numbers) == list(range(1, len(numbers) + 1)):
        return f"1 to {len(numbers)}"
    return listed(numbers)


def blank(*models: type[JsonReply]) -> str:
    """Return the empty form of a reply, one alternative on each line, with descriptions in angle brackets.

    Examples:
        >>> from pydantic import Field
        >>> class Check(JsonReply):
        ...     right: bool = Field(description="true or false")
        ...     words: str = Field(description="the wrong words")
        >>> blank(Check)
        '{"right": <true or false>, "words": "<the wrong words>"}'
    """
    return "\n".join(_blank(model) for model in models)


def _blank(model: type[JsonReply]) -> str:
    fields = ", ".join(f'"{name}": {_place(field)}' for name, field in model.model_fields.items())
    return f"{{{fields}}}"


def _place(field: FieldInfo) -> str:
    if field.examples:
        return json.dumps(field.examples[0])
    kind = field.annotation
    inner = get_args(kind)
    if get_origin(kind) is Union or isinstance(kind, UnionType):
        kind = next(member for member in inner if member is not NoneType)
        inner = get_args(kind)
    if get_origin(kind) in {list, tuple} and isinstance(inner[0], type) and issubclass(inner[0], JsonReply):
        return f"[{blank(inner[0])}]"
    place = f"<{field.description}>"
    if get_origin(kind) in {list, tuple}:
        return f"[{place}]"
    if kind is str or get_origin(kind) is Literal:
        return f'"{place}"'
    return place
