"""How `diagnose` prints: what is marked for each model, any table with its intervals, and the atoms behind a figure."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.markup import escape
from rich.table import Table

from dokimasia.cli.shared import redact
from dokimasia.errors import NotFound
from dokimasia.report.data import SIMULATED_NOTE

if TYPE_CHECKING:
    from dokimasia.domain.diagnosis import Asset, AssetColumn, AssetRow, Diagnosis, Figure
    from dokimasia.methods.diagnosis.diagnosing import Changes

COLOUR = {"weak": "red", "worse": "red", "strong": "green", "better": "green", "unclear": "dim"}
MOST_ROWS = 40
FIRST = ("models", "categories", "pairs", "ranks", "failures", "stability", "reasons")
ANSWER = 400
WIDEST_WORD = 24
UNBOUNDED = 10_000


def print_notes(out: Any, simulated: Sequence[str], notes: Sequence[str]) -> None:
    """Print what a reader must know first."""
    if simulated:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    for note in notes:
        out.print(f"[red]{escape(redact(note))}[/red]", soft_wrap=True)


def print_diagnosis(out: Any, diagnosis: "Diagnosis", *, words: str | None = None) -> None:
    """Print the tables that are short, what is marked, then which others there are, and where the words are."""
    from dokimasia.methods.diagnosis.measured import several

    print_notes(out, diagnosis.simulated, diagnosis.notes)
    ground = f"{escape(diagnosis.tree)}@{diagnosis.position}" if diagnosis.tree else "the data's categories"
    out.print(
        f"run {diagnosis.run} · {ground} · {several(len(diagnosis.models), 'model')} · {len(diagnosis.assets)} tables\n"
    )
    for asset in diagnosis.assets:
        if asset.family in ("nodes", "leaves"):
            continue
        if asset.id in FIRST and (asset.rows or asset.id == "stability"):
            print_asset(out, asset)
    for asset in diagnosis.assets:
        if asset.family == "nodes":
            print_asset(out, asset)
    others = [asset.id for asset in diagnosis.assets if asset.id not in FIRST and asset.family != "nodes"]
    out.print(f"[dim]further tables, with --asset: {escape(', '.join(others))}[/dim]")
    first = next(
        (f"{one.id}:1" for one in diagnosis.assets if one.family in ("nodes", "leaves") and one.rows), "models:1"
    )
    out.print(f"[dim]what is behind a row: dokimasia diagnose {diagnosis.run} --why {escape(first)}[/dim]")
    wording = f"dokimasia show {words}" if words else f"dokimasia diagnose {diagnosis.run} --write --judge M"
    out.print(f"[dim]in words: {wording}; all as a page: dokimasia report {diagnosis.run}[/dim]")


def assets_named(assets: Sequence["Asset"], named: Sequence[str]) -> list["Asset"]:
    """Return the tables of these ids or families, each once; all where none is named.

    Raises:
        NotFound: there is none of a name; the message says which are near.
    """
    if not named:
        return list(assets)
    found: dict[str, Asset] = {}
    for name in named:
        own = [one for one in assets if name.strip() in (one.id, one.family)]
        if not own:
            known = list(dict.fromkeys(name for one in assets for name in (one.family, one.id)))
            near = difflib.get_close_matches(name.strip(), known, n=3)
            raise NotFound(
                f"there is no table {name!r}; "
                + (f"near: {', '.join(near)}" if near else f"there are {', '.join(one.id for one in assets)}")
            )
        found |= {one.id: one for one in own}
    return list(found.values())


def print_changes(out: Any, change: "Changes", assets: Sequence["Asset"]) -> None:
    """Print what got better or worse."""
    out.print(f"run {change.second} against {change.first} · {change.shared} shared samples\n")
    for asset in assets:
        print_asset(out, asset, most=None)


def print_asset(out: Any, asset: "Asset", *, most: int | None = MOST_ROWS) -> None:
    """Print one table under its sentence; `most` cuts its rows."""
    out.print(f"[bold]{escape(asset.title)}[/bold] [dim]\\[{escape(asset.id)}][/dim]")
    out.print(f"[dim]{escape(redact(asset.sentence))}[/dim]")
    rows = asset.rows if most is None else asset.rows[:most]
    if not rows:
        out.print()
        return
    for table in _fitting(out, asset, rows, range(len(asset.columns))):
        out.print(table)
    if len(rows) < len(asset.rows):
        out.print(f"[dim]{len(asset.rows) - len(rows)} more: --asset {escape(asset.id)}[/dim]")


def _fitting(out: Any, asset: "Asset", rows: Sequence["AssetRow"], columns: Sequence[int]) -> Iterator[Table]:
    """Yield a table that fits the terminal, or several with some of the columns each, the names in all of them."""
    unbounded = out.options.update(max_width=UNBOUNDED)
    first, then = (_table(asset, rows, columns, stacked=stacked) for stacked in (False, True))
    if out.measure(first, options=unbounded).maximum <= out.width:
        yield first
        return
    named = [at for at in columns if asset.columns[at].kind == "name"]
    rest = [at for at in columns if at not in named]
    if len(rest) < 2 or out.measure(then, options=unbounded).minimum <= out.width:
        yield then
        return
    middle = len(rest) // 2
    for part in (rest[:middle], rest[middle:]):
        yield from _fitting(out, asset, rows, [*named, *part])


def _table(asset: "Asset", rows: Sequence["AssetRow"], columns: Sequence[int], *, stacked: bool) -> Table:
    """Return rows as a table; `stacked` puts intervals under their values, where they do not fit beside them."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("", justify="right", style="dim", no_wrap=True)
    for at in columns:
        column = asset.columns[at]
        if column.kind not in ("name", "mark"):
            table.add_column(_title(column, stacked=stacked), justify="right", no_wrap=True)
            continue
        words = [word for row in rows for word in str(row.cells[at].value or "").split()]
        widest = max(map(len, [column.name, *words]))
        table.add_column(escape(column.name), overflow="fold", min_width=min(widest, WIDEST_WORD))
    table.add_column(asset.counts, justify="right", no_wrap=True)
    for number, row in enumerate(rows, start=1):
        cells = (_cell(asset.columns[at], row.cells[at], stacked=stacked) for at in columns)
        table.add_row(str(number), *cells, _counted(row))
    return table


def _title(column: "AssetColumn", *, stacked: bool) -> str:
    """Return a column's title, over two lines where room is short."""
    if not stacked:
        return escape(column.name)
    head, _, tail = column.name.rpartition(" ")
    return escape(f"{head}\n{tail}" if head else tail)


def print_evidence(out: Any, diagnosis: "Diagnosis", behind: Mapping[str, Any], files: Mapping[str, str]) -> None:
    """Print the atoms behind a figure: question, truth, score, the answer, and where the image lies."""
    print_notes(out, diagnosis.simulated, ())
    about = behind["node"] or "all atoms"
    out.print(
        f"[bold]{escape(behind['target'])}[/bold] · {escape(about)} · {escape(', '.join(behind['models']))} · "
        f"{behind['scored']} of {behind['atoms']} atoms scored, {len(behind['shown'])} shown\n"
    )
    for one in behind["shown"]:
        score = f"score {one['score']} of 5" if one["score"] is not None else f"failed: {one['failure']}"
        colour = "red" if one["score"] is None or one["score"] < 4 else "green"
        out.print(
            f"[{colour}]●[/{colour}] [bold]{escape(one['sample'])}[/bold] · {escape(one['model'])} · criterion "
            f"{one['criterion']} · [{colour}]{score}[/{colour}]"
            + (f" · repeat {one['repeat'] + 1}" if one["repeat"] else "")
        )
        lines = (
            ("leaf", one["leaf"] or "no place in the tree"),
            ("asked", one["prompt"]),
            ("criterion", one["question"]),
            ("truth", one["ground_truth"]),
            ("answer", _short(one["answer"])),
            (
                "final",
                _short(one["final_answer"])
                + (f" (reference: {one['reference_answer']})" if one["reference_answer"] else ""),
            ),
        )
        for name, text in lines:
            if text:
                out.print(f"  [dim]{name:>9}[/dim]  {escape(redact(' '.join(text.split())))}")
        for image in one["images"]:
            out.print(f"  [dim]    image  {escape(files.get(image['sha256'], image['sha256']))}[/dim]", soft_wrap=True)
    if len(behind["shown"]) < behind["atoms"]:
        out.print(
            f"[dim]more: --top {behind['atoms']}; a sample whole: dokimasia show {behind['run']} --sample ID[/dim]"
        )


def _cell(column: "AssetColumn", cell: "Figure", *, stacked: bool) -> str:
    if cell.value is None:
        return "–"
    if isinstance(cell.value, str):
        colour = COLOUR.get(cell.value) if column.kind == "mark" else None
        return f"[{colour}]{escape(cell.value)}[/{colour}]" if colour else escape(redact(cell.value))
    written = _number(column, cell.value)
    if cell.low is None or cell.high is None:
        return written
    between = " to " if column.kind == "difference" else "–"
    return f"{written}{chr(10) if stacked else ' '}[dim]{_number(column, cell.low)}{between}{_number(column, cell.high)}[/dim]"


def _number(column: "AssetColumn", value: float) -> str:
    if column.kind == "count":
        return f"{value:,.0f}"
    if column.kind == "share":
        return f"{value:.0%}"
    if column.kind == "p_value":
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    digits = 1 if "100" in column.unit else 2
    text = f"{value:+.{digits}f}" if column.kind == "difference" else f"{value:.{digits}f}"
    return text.replace("-", "−")


def _counted(row: "AssetRow") -> str:
    return f"{row.n:,}" if row.n == row.held else f"{row.n:,}/{row.held:,}"


def _short(text: str | None) -> str:
    if text is None:
        return "none"
    plain = " ".join(text.split())
    return plain if len(plain) <= ANSWER else f"{plain[: ANSWER - 1]}…"
