"""Tables that are declared by fields: what a column says comes from its field, and what a cell links to from its path."""

from typing import Annotated

import pytest

from dokimasia.domain.identity import Value
from dokimasia.methods.judging.figures import Gap
from dokimasia.report import figures
from dokimasia.report.blocks import Column, Paragraph, Span, plain
from dokimasia.report.charts import Point
from dokimasia.report.fields import Bounds, Count, CountedRate, Display, Interval, TableRow, Used, as_json, rows_of
from dokimasia.report.footnotes import DISAGREEMENT, disagreement
from dokimasia.report.tables import cell, column, computed_column, name_column, points_of, table

pytestmark = pytest.mark.quick


class Part(Value):
    """A part of a model's figures."""

    overall: Annotated[Interval | None, Display("score", "of the part")]


class Model(Used):
    """A model's figures."""

    n: Annotated[Count, Display("samples")]
    score: Annotated[Interval | None, Display("score", "mean score, 0 to 10")]
    open_ends: Annotated[Bounds | None, Display("bounds", numeric=False)]
    p: Annotated[float | None, Display("p", write=figures.p_value)]
    parts: dict[str, Part]
    right: Annotated[CountedRate | None, Display("right")] = None
    note: str = ""


SCORE = Interval(mean=7.25, low=6.0, high=8.0)
MODELS = {
    "a/b": Model(
        calls=3,
        cost=None,
        cost_known=0.5,
        n=1200,
        score=SCORE,
        open_ends=Bounds(low=1, high=9),
        p=0.01,
        parts={"maps": Part(overall=SCORE)},
    ),
    "c": Model(calls=0, cost=0.0, n=0, score=None, open_ends=None, p=None, parts={}),
}


def test_a_column_says_what_its_field_says() -> None:
    """Title, explanation and kind come from the field; a column can say otherwise, and a field without a word has its name."""
    columns = [
        name_column("model"),
        column("score"),
        column("open_ends", only="page"),
        column("n", title="N", meaning="all"),
        column("calls"),
        column("parts", "maps", "overall", title="maps"),
    ]
    drawn = table(Model, [], columns, "Models", sortable=True)
    assert drawn.columns == [
        Column("model", numeric=False),
        Column("score", meaning="mean score, 0 to 10"),
        Column("bounds", numeric=False, only="page"),
        Column("N", meaning="all"),
        Column("calls"),
        Column("maps", meaning="of the part"),
    ]
    assert (drawn.rows, drawn.about, drawn.sortable) == ([], "Models", True)


def test_a_cell_links_to_its_value() -> None:
    """Each value has the JSON pointer of its row and path, names escaped; nothing has none, and rows without a place too."""
    columns = [column("score"), column("n"), column("p", linked=False), column("parts", "maps", "overall")]
    first, second = table(Model, rows_of(MODELS, "models"), columns, "Models").rows
    assert first[0] == figures.measured(SCORE, "/models/a~1b/score")
    assert first[1] == Span("1,200", "", "/models/a~1b/n", 1200)
    assert first[2] == Span("0.010", "strong", "", 0.01)
    assert first[3] == figures.measured(SCORE, "/models/a~1b/parts/maps/overall")
    assert [second[0], second[2], second[3]] == [figures.NOTHING] * 3
    assert second[1] == Span("0", "", "/models/c/n", 0)
    (alone,) = table(Model, rows_of(MODELS, order=["c"]), [column("n")], "Models").rows
    assert alone == [Span("0", "", "", 0)]


def test_values_are_written_as_their_type_is() -> None:
    """Bounds, shares, counts by kind, numbers and texts each have their form; whole rows can be written, too."""
    row = TableRow(
        "a", MODELS["a/b"].model_copy(update={"right": CountedRate(k=3, n=4, share=0.75, low=0.2, high=0.9)}), ""
    )
    assert plain(cell(row, "open_ends")) == "1.00 – 9.00"
    assert plain(cell(row, "right")) == "3 of 4, 75.0 % [20, 90]"
    assert plain(cell(row, "cost_known")) == "0.50"
    assert plain(cell(row, "note")) == ""
    (cells,) = table(Model, [row], [computed_column("used", lambda each: figures.used(each.figures))], "Models").rows
    assert cells == ["3 calls, cost at least $0.5000"]


def test_a_column_of_no_field_is_refused() -> None:
    """A name that the model does not have is an error when the table is made, also without rows."""
    for path in (("scores",), ("score", "median"), ("parts", "maps", "median")):
        with pytest.raises(AttributeError, match=path[-1]):
            table(Model, [], [column(*path)], "Models")


def test_points_are_the_rows_that_have_an_interval() -> None:
    """A chart takes the rows of a table and the name of a field."""
    assert points_of(rows_of(MODELS), "score") == [Point("a/b", 7.25, 6.0, 8.0)]


def test_json_leaves_out_what_has_nothing_but_a_default_to_say() -> None:
    """Fields with a default are left out where they say nothing else; all others stay, null or not."""
    assert as_json(MODELS["c"]) == {
        "calls": 0,
        "cost": 0.0,
        "n": 0,
        "score": None,
        "open_ends": None,
        "p": None,
        "parts": {},
    }
    assert as_json(MODELS["a/b"])["cost_known"] == 0.5
    assert as_json({"plain": 1}) == {"plain": 1}


def gap(low: float | None, high: float | None, adjusted: float | None) -> Gap:
    """Return a difference of two methods with an interval and an adjusted p-value."""
    interval = Interval(mean=0.3, low=low, high=high)
    return Gap(
        judge="J", category=None, first="a", second="b", n=9, difference=interval, p_value=0.01, adjusted=adjusted
    )


@pytest.mark.parametrize(
    ("low", "high", "adjusted", "noted"),
    [
        (0.1, 0.5, 0.06, True),
        (-0.1, 0.5, 0.04, True),
        (0.1, 0.5, 0.05, False),
        (-0.1, 0.5, 0.06, False),
        (None, None, 0.01, False),
        (0.1, 0.5, None, False),
    ],
)
def test_a_table_says_where_an_interval_and_the_adjusted_test_disagree(
    low: float | None, high: float | None, adjusted: float | None, noted: bool
) -> None:
    """One footnote stands under a table if any interval leaves out 0 without a small adjusted p-value, or the reverse."""
    agreeing = gap(0.5, 2.0, 0.002)
    tested = gap(low, high, adjusted)
    notes = disagreement([agreeing, None, tested, tested])
    assert notes == ([Paragraph(DISAGREEMENT, "note")] if noted else [])
