"""Tables of a diagnosis on a terminal: nothing is cut, however many models there are and however long their names."""

import io

import pytest
from rich.console import Console

from dokimasia.cli.diagnose_view import asset_blocks
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure
from dokimasia.report.terminal import draw_blocks

LEAVES = ("Color Identification", "Where Things Lie", "Matching Labels with Entries")


def heat_map(models: int) -> Asset:
    """Leaves down, models across."""
    names = [f"vendor/long-model-name-{number}" for number in range(models)]
    return Asset(
        id="heatmap",
        title="Heat map",
        sentence="Means.",
        columns=(
            AssetColumn(name="leaf", kind="name"),
            *(AssetColumn(name=name, unit="points of 100", kind="score", better="higher") for name in names),
        ),
        rows=tuple(
            AssetRow(
                key=leaf,
                cells=(Figure(value=leaf), *(Figure(value=50.0 + at, low=38.5, high=100.0) for at in range(models))),
                n=12,
                held=12,
            )
            for leaf in LEAVES
        ),
    )


@pytest.mark.parametrize("models", [1, 5, 12, 30])
def test_no_figure_and_no_name_is_cut_at_100_columns(models: int) -> None:
    """Intervals go under their values, then the columns into several tables; words are broken nowhere."""
    asset = heat_map(models)
    out = io.StringIO()
    draw_blocks(Console(file=out, width=100, highlight=False), list(asset_blocks(asset)))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 100
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    for column in asset.columns[1:]:
        assert column.name in text
    for at in range(models):
        assert text.count(f" {50 + at:.1f}") >= len(LEAVES)
    for word in ("Identification", "Matching", "Entries"):
        assert word in text
