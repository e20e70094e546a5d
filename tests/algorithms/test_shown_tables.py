"""Which rows of a diagnosis's tables judges and writers are shown."""

from dokimasia.algorithms.diagnosis.asset_tables import shown_always, tables_text, telling_rows
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure, Mark

NAME = AssetColumn(name="name", kind="name")
SCORE = AssetColumn(name="score", kind="score")


def row(name: str, value: float | None, *, model: str = "", mark: Mark = "", second: str = "") -> AssetRow:
    """A row with a name, or two of a pair, and a score."""
    cells = (Figure(value=name), *((Figure(value=second),) if second else ()), Figure(value=value))
    return AssetRow(key=f"{name} {second}", cells=cells, n=3, held=3, model=model, mark=mark)


def table(id: str, *rows: AssetRow, model: str = "") -> Asset:
    """A table of such rows."""
    columns = (NAME, NAME, SCORE) if rows and len(rows[0].cells) == 3 else (NAME, SCORE)
    return Asset(id=id, title=id, sentence=f"What {id} shows.", columns=columns, rows=rows, model=model)


ASSETS = (
    table("models", row("a", 3.0, model="a"), row("b", 2.0, model="b")),
    table("pairs", row("a", 1.0, second="b"), row("b", 0.5, second="c")),
    table("contrasts", row("a", None, model="a"), row("a", 9.0, model="a", mark="worse"), row("b", 1.0, model="b")),
    table("nodes/a", model="a"),
    table("leaves/a", row("x", 1.0, model="a"), model="a"),
    table("modes", row("skips a step", 0.4)),
    table("modes/a", *(row(f"mode {at}", 0.1, model="a") for at in range(9)), model="a"),
    table("modes/b", row("mode", 0.2, model="b", mark="worse"), row("other", 0.1, model="b"), model="b"),
    table("examples/a", row("mode 1", None, model="a"), model="a"),
    table("examples/b", row("mode 1", None, model="b"), model="b"),
)


def test_a_writer_on_a_model_is_never_starved() -> None:
    """Overall results, own pairs, what is marked, modes and examples are shown whatever was picked; nothing of other models."""
    assert shown_always(ASSETS, "a", everyone=False) == {
        "models": [1],
        "pairs": [1],
        "contrasts": [2],
        "nodes/a": [],
        "modes": [1],
        "modes/a": [1, 2, 3, 4, 5, 6],
        "examples/a": [1],
    }


def test_a_writer_across_models_sees_all_of_them() -> None:
    """All models, pairs and modes are shown, and of each model's modes those that distinguish it."""
    shown = shown_always(ASSETS, "", everyone=True)
    assert (shown["models"], shown["pairs"], shown["modes"]) == ([1, 2], [1, 2], [1])
    assert (shown["modes/a"], shown["modes/b"]) == ([], [1])
    assert "examples/a" not in shown


def test_a_table_without_marks_says_so_and_rows_of_dashes_are_left_out() -> None:
    """A table comes with its sentence where none of its rows is shown; a row without any figure is not shown."""
    text = tables_text([(ASSETS[3], [])], quiet=True)
    assert "What nodes/a shows." in text
    assert tables_text([(ASSETS[3], [])]) == ""
    assert telling_rows(ASSETS[2], [1, 2, 3]) == [2, 3]
