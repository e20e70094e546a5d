"""Tables as LaTeX: escaped, with captions that hold what a table on a page says beside it."""

import re
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.errors import InputError
from dokimasia.report.blocks import Column, Only, Paragraph, Span, Table
from dokimasia.report.figures import NO_INTERVAL
from dokimasia.report.latex import latex_tables
from dokimasia.simulation.world import write_world


def table(*cells: str, meaning: str = "") -> Table:
    return Table([Column("model", numeric=False), Column("score", meaning=meaning)], [cells], "Scores & more")


def test_texts_are_escaped() -> None:
    """No character of a name is a command, and a row never begins with what LaTeX takes for an option."""
    text = latex_tables([table("[a_b]\\x{%}", "<1 × 2 → 3", meaning="1 to 5")])
    assert r"{}[a\_b]\textbackslash{}x\{\%\} & \textless{}1 $\times$ 2 $\rightarrow$ 3 \\" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"\caption{Scores \& more. score: 1 to 5.}" in text


def test_reasons_without_an_interval_are_footnotes() -> None:
    """A reason stands once, in the caption, with a raised number in the cell."""
    text = latex_tables([table("a", f"0.5 [{NO_INTERVAL}one cluster]")])
    assert r"0.5 [none \textsuperscript{1}] \\" in text
    assert text.count("one cluster") == 1


def test_only_what_a_terminal_shows_is_written() -> None:
    """Tables of the page are left out, and blocks without a table are refused."""
    assert latex_tables([Only("page", [table("a", "1")]), table("b", "2")]).count("tabular") == 2
    with pytest.raises(InputError, match="no table"):
        latex_tables([Paragraph((Span("nothing"),))])


def test_show_and_diff_write_the_tables_that_they_print(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`show` writes its first table, `diff` its comparison, with the figures of the text; JSON beside it is refused."""
    write_world(tmp_path / "world.jsonl", 8, 1)
    home = ["--home", str(tmp_path / "home")]
    words = ["evaluate", str(tmp_path / "world.jsonl"), "--judge", "sim/judge", "--models", "sim/strong,sim/weak"]
    assert run([*words, "--json", *home]) == 0

    def printed(*arguments: str) -> str:
        capfd.readouterr()
        assert run([*arguments, *home]) == 0
        return capfd.readouterr().out

    shown = printed("show", "last", "--format", "latex")
    assert shown.count(r"\begin{table}") == 1
    assert re.search(r"^sim/strong & ", shown, re.MULTILINE)
    assert printed("show", "last", "--format", "latex", "--full").count(r"\begin{table}") > 1
    compared = printed("diff", "last", "last", "--models", "sim/weak,sim/strong", "--format", "latex")
    (mean,) = re.findall(r"^mean score & .*$", compared, re.MULTILINE) or [compared]
    figures = re.findall(r"\d+\.\d+", mean)
    assert figures
    text = printed("diff", "last", "last", "--models", "sim/weak,sim/strong")
    assert all(figure in text for figure in figures)
    assert run(["diff", "last", "last", "--format", "latex", "--json", *home]) == 2
    assert run(["show", "last", "--format", "latex", "--json", *home]) == 2
