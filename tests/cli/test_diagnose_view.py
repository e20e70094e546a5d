"""Tables of a diagnosis on a terminal: nothing is cut, however many models there are and however long their names."""

import io

import pytest
from rich.console import Console

from dokimasia.cli.diagnose_view import asset_blocks
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Diagnosis, Figure, Mark
from dokimasia.methods.diagnosis.report import verdict_of
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


def diagnosis(pair: Mark, weak: dict[str, tuple[str, ...]], *, tested: bool = True, second: float = 3.5) -> Diagnosis:
    """Two models with scores of 4.25 and `second`, each with its weak nodes."""
    names = tuple(weak)
    scores = (
        AssetColumn(name="model", kind="name"),
        AssetColumn(name="score", unit="points, 1 to 5", kind="score", better="higher"),
    )
    nodes = (AssetColumn(name="node", kind="name"), AssetColumn(name="score", unit="points of 100", kind="score"))
    cells = [Figure(value=4.25, low=4.0, high=4.5), Figure(value=second, low=second - 0.25, high=second + 0.25)]
    rows = [
        AssetRow(key=name, cells=(Figure(value=name), cell), n=9, held=9, model=name)
        for name, cell in zip(names, cells, strict=True)
    ]
    pairs = AssetRow(key="pair", cells=(Figure(value=names[0]), Figure(value=names[1])), n=9, held=9, mark=pair)
    assets = [
        Asset(id="models", title="The models", sentence="Means.", columns=scores, rows=tuple(rows)),
        Asset(id="pairs", title="Pairs", sentence="Pairs.", columns=nodes, rows=(pairs,)),
    ]
    for name, marked in weak.items():
        low = tuple(
            AssetRow(
                key=node, cells=(Figure(value=node), Figure(value=20.0, low=10.0, high=30.0)), n=9, held=9, mark="weak"
            )
            for node in marked
        )
        mark: Mark = "unclear" if tested else ""
        leaf = AssetRow(key="leaf", cells=(Figure(value="leaf"), Figure(value=50.0)), n=9, held=9, mark=mark)
        more = {"title": name, "sentence": "Nodes.", "columns": nodes, "model": name}
        assets.append(Asset(id=f"leaves/{name}", rows=(leaf,), **more))
        assets.append(Asset(id=f"nodes/{name}", rows=low, **more))
    return Diagnosis(run="r", status="done", seed=0, grouping="tree", models=names, assets=tuple(assets))


def test_the_verdict_names_the_highest_model_and_the_lowest_weak_node_of_each() -> None:
    """A quotable sentence: the score with its interval, whether the next is below it, and where each is weak."""
    assert verdict_of(diagnosis("worse", {"a": (), "b": ("Dials", "Words", "Maps")})) == (
        "a scores highest, 4.25 [4.00, 4.50] of 5, above b beyond chance. "
        "Weak beyond chance: b at Dials (20.0 [10.0, 30.0] of 100) and 2 more nodes."
    )
    assert verdict_of(diagnosis("unclear", {"a": ("Dials",), "b": ("Words",)})) == (
        "a scores highest, 4.25 [4.00, 4.50] of 5, and is not distinguishable from b. Weak beyond chance: "
        "a at Dials (20.0 [10.0, 30.0] of 100); b at Words (20.0 [10.0, 30.0] of 100)."
    )


def test_models_with_equal_scores_share_the_verdict() -> None:
    """None of them is called the highest."""
    tied = verdict_of(diagnosis("unclear", {"a": (), "b": ()}, second=4.25))
    assert tied.startswith("a and b share the highest score, 4.25 [4.00, 4.50] of 5. ")


def test_the_verdict_says_whether_nothing_was_found_or_nothing_was_tested() -> None:
    """No weakness beyond chance is a finding; no test is none."""
    assert verdict_of(diagnosis("worse", {"a": (), "b": ()})).endswith(
        "No weakness beyond chance was found at any node."
    )
    untested = verdict_of(diagnosis("worse", {"a": (), "b": ()}, tested=False))
    assert untested.endswith("No node was tested for weakness: the tables of nodes say why.")
