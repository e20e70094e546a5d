"""What real writers wrote on tables of a rehearsal: with places for their numbers, no sentence of theirs is sent back."""

import json
import re
from pathlib import Path

from dokimasia.algorithms.diagnosis.places import expand
from dokimasia.algorithms.diagnosis.tables import tables_of
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, ColumnKind, Figure
from dokimasia.parsing.reports import parse_report

_CITED = re.compile(
    r"(?:[+\N{MINUS SIGN}-]?[\d.]+(?: %)?(?: \([^()]*\))? )?\[((?:[a-z-]+(?:/[^\s:\]]+)?):\d+\.[^\]]+)\](?: points)?"
)
_CELL = re.compile(r"(-?[\d.]+)( %)?(?: \((-?[\d.]+)(?: %)? to (-?[\d.]+)(?: %)?\))?")


def shown_tables(text: str) -> list[Asset]:
    """The tables that a writer was shown, read back from its request."""
    found: list[Asset] = []
    for block in text.split("\n\n"):
        lines = [one for one in block.splitlines() if not one.startswith(("<<<", "The "))]
        if len(lines) < 4 or not lines[0].startswith("asset "):
            continue
        id, _, title = lines[0].removeprefix("asset ").partition(": ")
        heads = lines[2].split(" | ")[1:-1]
        cells = {int(line.split(" | ")[0]): line.split(" | ")[1:] for line in lines[3:]}
        rows = [
            AssetRow(
                key=str(number),
                cells=tuple(map(figure, (cells.get(number) or [""] * len(heads))[: len(heads)])),
                n=10,
                held=10,
                model=cells[number][0] if number in cells and len(cells[number][0]) == 1 else "",
            )
            for number in range(1, max(cells) + 1)
        ]
        columns = tuple(
            AssetColumn(name=head.partition(" (")[0], unit=head.partition(" (")[2].rstrip(")"), kind=kind(at, rows))
            for at, head in enumerate(heads)
        )
        found.append(Asset(id=id, title=title, sentence=lines[1], columns=columns, rows=tuple(rows), counts="samples"))
    return found


def figure(text: str) -> Figure:
    """A cell read back."""
    match = _CELL.fullmatch(text)
    if match is None:
        return Figure(value="" if text == "-" else text)
    scale = 0.01 if match[2] else 1
    value, low, high = (None if one is None else float(one) * scale for one in match.group(1, 3, 4))
    return Figure(value=value, low=low, high=high)


def kind(at: int, rows: list[AssetRow]) -> ColumnKind:
    """Whether a column holds numbers; which ones does not matter here."""
    return "score" if any(isinstance(row.cells[at].value, float) for row in rows) else "name"


def test_no_sentence_of_a_real_writer_is_sent_back(shared_data: Path) -> None:
    """Their reports with a place for each number they cited, as they stand: at every first report something was struck."""
    sentences = 0
    for line in (shared_data / "rehearsal" / "exchanges.jsonl").read_text().splitlines():
        one = json.loads(line)
        request = "\n\n".join(str(message.get("text", "")) for message in one["messages"][:2])
        reply = _CITED.sub(r"{\1}", one["reply"])
        if "asset models:" not in request or reply == one["reply"]:
            continue
        tables = tables_of(shown_tables(request), models=("a", "b"))
        for sentence in parse_report(reply).sentences:
            found = expand(sentence, tables)
            faults = [
                fault for fault in found.faults if "there is no table" not in fault.reason
            ]  # of an earlier report
            assert faults == [], sentence
            sentences += 1
    assert sentences >= 30
