"""The key of an annotation: the unit and order of sides for each blind item; stored apart from the forms."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import Field, ValidationError

from dokimasia.datasets.lines import Problem, location, read_rows
from dokimasia.domain.annotation import AnnotationUnit, FormKind
from dokimasia.domain.identity import Value, digest, unit_interval
from dokimasia.errors import DataError, list_faults
from dokimasia.people.annotation.subjects import Subject

FORMAT = "dokimasia-annotation-key/1"
ITEM_LENGTH = 10
FORM_PREFIX = "item-"
"""Prefix of the names in forms; a name of hexadecimal digits alone could read as a number, such as `1310329e63`."""


class KeyHead(Value):
    """What was drawn: of which kind, from what, on which scale (of scores), with which seed, and for whom."""

    format: str = Field(pattern=f"^{FORMAT}$")
    kind: FormKind
    source: str
    seed: int
    scale: tuple[int, int]
    annotators: tuple[str, ...]


class KeyItem(Value):
    """An item of one annotator; `swapped`: the baseline's response stands on the left; `response_sha256`: of a single one.

    `models` are the authors of the responses of a ranking, in the order of their letters.
    """

    item: str = Field(min_length=1)
    annotator: str = Field(min_length=1)
    id: str
    model: str = ""
    baseline: str = ""
    criterion: int = 0
    swapped: bool = False
    category: str = ""
    cluster: str = ""
    response_sha256: str = ""
    models: tuple[str, ...] = ()

    def unit(self, measure: str) -> AnnotationUnit:
        """Return the unit of the item, with a measure."""
        return AnnotationUnit(self.id, measure, self.model, self.baseline, self.criterion)


class KeyedItem(NamedTuple):
    """An item with its subject."""

    item: KeyItem
    subject: Subject


def place_items(subjects: Sequence[Subject], annotators: Sequence[str], *, seed: int) -> dict[str, list[KeyedItem]]:
    """Return each annotator's items, with order and sides drawn independently for each annotator.

    An item's name reveals neither model nor side, and differs between annotators.
    """
    return {
        who: sorted(
            (_placed(keyed, who, seed) for keyed in subjects),
            key=lambda keyed: (unit_interval("order", seed, who, keyed.item.item), keyed.item.item),
        )
        for who in annotators
    }


def _placed(subject: Subject, who: str, seed: int) -> KeyedItem:
    unit = subject.unit
    name = digest("annotation", [seed, who, *unit])[:ITEM_LENGTH]
    item = KeyItem(
        item=name,
        annotator=who,
        id=unit.id,
        model=unit.model,
        baseline=unit.baseline,
        criterion=unit.criterion,
        swapped=bool(unit.baseline) and unit_interval("side", seed, who, *unit) < 0.5,
        category=subject.place.category,
        cluster=subject.place.cluster,
        response_sha256=sha256(subject.texts[0].encode()).hexdigest() if unit.model and not unit.baseline else "",
        models=tuple(sorted(subject.models, key=lambda model: unit_interval("letter", seed, who, unit.id, model))),
    )
    return KeyedItem(item, subject)


def named_for_forms(head: KeyHead, placed: Mapping[str, Sequence[KeyedItem]]) -> dict[str, list[KeyedItem]]:
    """Return the items with the names that forms show, in the same order.

    Spreadsheets do not mistake such a name for a number or a date, and each kind and scale of rating has different
    names, so that a form cannot be read with another form's key. The queue of a home keeps the names from
    `place_items`.
    """
    renamed: dict[str, list[KeyedItem]] = {}
    for who, items in placed.items():
        renamed[who] = []
        for keyed in items:
            name = digest("form item", [head.kind, head.scale, keyed.item.item])[:ITEM_LENGTH]
            item = keyed.item.model_copy(update={"item": f"{FORM_PREFIX}{name}"})
            renamed[who].append(keyed._replace(item=item))
    return renamed


def key_lines(head: KeyHead, placed: Mapping[str, Sequence[KeyedItem]]) -> Iterator[bytes]:
    """Yield a key as JSON lines: its head, then the items."""
    values: list[Value] = [head]
    for items in placed.values():
        values += [keyed.item for keyed in items]
    for value in values:
        yield orjson.dumps(value.model_dump(mode="json"), option=orjson.OPT_APPEND_NEWLINE)


def read_key(path: Path) -> tuple[KeyHead, dict[str, KeyItem]]:
    """Return a key's head and its items by name.

    Raises:
        NotFound: there is no such file.
        DataError: it is not a key; with file and line.
    """
    items: dict[str, KeyItem] = {}
    head: KeyHead | None = None
    for row in read_rows(path):
        if isinstance(row, Problem):
            raise DataError(row.message)
        try:
            if head is None:
                head = KeyHead.model_validate(_tuples(row.fields))
            else:
                item = KeyItem.model_validate(_tuples(row.fields))
                items[item.item] = item
        except ValidationError as error:
            first = list_faults(error)[0]
            where = f"{location(path, row.line)}: {first.field or 'the line'}"
            raise DataError(f"{where}: {first.message}; a key is what `dokimasia annotate draw` wrote") from None
    if head is None or not items:
        raise DataError(f"{path}: no key in it; `dokimasia annotate draw` writes one beside the forms")
    return head, items


def _tuples(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
