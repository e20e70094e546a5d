"""The report of a method without its own drawing: figures and items as names and values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from dokimasia.report.blocks import Block, Column, Facts, Section, Table
from dokimasia.report.data import Cut, Drawing, ReportData
from dokimasia.report.sections import provenance, skipped

SAID_ELSEWHERE = {"run", "status", "seed", "skipped", "simulated"}


def section(data: ReportData) -> Section:
    """Return the section of figures by name; figures by model, or by another name, are tables."""
    flat = {name: value for name, value in data.summary.items() if name not in SAID_ELSEWHERE}
    facts = [(_words(name), _text(value)) for name, value in flat.items() if not _is_table(value)]
    blocks: list[Block] = [Facts(tuple(facts))]
    blocks += [_table(name, value) for name, value in flat.items() if _is_table(value)]
    return Section("figures", "Figures", blocks)


def sample(views: Sequence[Mapping[str, object]], cut: Cut) -> Iterator[Block]:
    """Yield the items of one sample as names and values."""
    for view in views:
        yield Facts(tuple((_words(name), cut(_text(value))) for name, value in view.items()))


def _is_table(value: object) -> TypeGuard[Mapping[str, Mapping[str, object]]]:
    return isinstance(value, Mapping) and bool(value) and all(isinstance(row, Mapping) for row in value.values())


def _table(name: str, value: Mapping[str, Mapping[str, object]]) -> Table:
    columns = list(dict.fromkeys(column for row in value.values() for column in row))
    heads = [Column(_words(name), numeric=False), *(Column(_words(column)) for column in columns)]
    rows = [[key, *(_text(row.get(column)) for column in columns)] for key, row in value.items()]
    return Table(heads, rows, _words(name))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(str(name))} {_text(part)}" for name, part in value.items()) or "–"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_text, value)) or "–"
    return str(value)


DRAWING = Drawing("", (section, skipped.section, provenance.section), sample=sample)
