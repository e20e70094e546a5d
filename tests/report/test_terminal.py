"""Blocks on a terminal: texts stand for themselves, tables fit, and what another place alone draws is left out."""

import io
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from dokimasia.report.blocks import Block, Column, Facts, Fold, Only, Paragraph, Section, Span, Table, Texts, plain
from dokimasia.report.terminal import MOST_COLUMNS, draw_blocks, draw_sections, in_brief

pytestmark = pytest.mark.quick

CATEGORIES = ("Perception", "Understanding", "Trustworthiness")


def drawn(blocks: Sequence[Block], *, width: int = 80, whole: bool = False) -> str:
    """What is printed, with the key `sk-1` redacted."""
    out = io.StringIO()

    def redact(text: str) -> str:
        return text.replace("sk-1", "***")

    draw_blocks(Console(file=out, width=width, highlight=False), blocks, redact=redact, whole=whole)
    return out.getvalue()


def scores(names: Sequence[str]) -> Table:
    """Names across, an interval beside every figure."""
    columns = [Column("model", numeric=False), *(Column(name) for name in names)]
    cells = [(Span("87.41", "strong"), Span("  [79.40, 93.10]", "muted")) for _ in names]
    return Table(columns, [["vendor/model-1", *cells]], "Scores")


def test_texts_are_no_markup_and_no_secret_and_move_no_cursor() -> None:
    """Rich's markup, escape sequences and keys in a text are shown as text, in paragraphs, cells and texts alike."""
    text = "[bold red]x[/] \x1b[2J sk-1"
    table = Table([Column("a", numeric=False)], [[text]], "A table")
    said = drawn([Paragraph(text), table, Texts([("title", text)])])
    assert said.count(r"[bold red]x[/] \x1b[2J ***") == 3
    assert "\x1b" not in said
    assert "sk-1" not in said


def test_a_command_is_never_broken() -> None:
    """What is to be copied stays on one line, however narrow the terminal is."""
    command = f"dokimasia diagnose {'a' * 60} --why models:1"
    assert command in drawn([Paragraph(("look closer: ", Span(command, "code")))], width=40)


def test_no_table_has_more_than_seven_columns() -> None:
    """However wide a terminal is, a table with more is divided, each part with the names; a first view has part of it."""
    wide = scores([f"c{number}" for number in range(10)])
    said = drawn([wide], width=400)
    heads = [line.split() for line in said.splitlines() if "model" in line.split()]
    assert [len(head) <= MOST_COLUMNS for head in heads] == [True, True]
    assert [head[0] for head in heads] == ["model", "model"]
    assert sorted(name for head in heads for name in head[1:]) == sorted(f"c{number}" for number in range(10))
    columns = [replace(column, detail=column.title in ("c0", "c1", "c2", "c3", "c4")) for column in wide.columns]
    (section,) = in_brief([Section("s", "S", [replace(wide, columns=columns), wide])])
    brief, more = section.blocks
    assert isinstance(brief, Table)
    assert [column.title for column in brief.columns] == ["model", "c5", "c6", "c7", "c8", "c9"]
    assert isinstance(more, Paragraph)
    assert "5 more columns; 1 more table." in plain(more.text)


def test_a_brief_view_names_only_what_it_leaves_out() -> None:
    """Without notes, further tables and sections there is nothing to look for with --full."""
    table, note = scores(["c"]), Paragraph("Of all answers.", "note")
    (whole,) = in_brief([Section("s", "S", [table])])
    assert list(whole.blocks) == [table]
    (brief,) = in_brief([Section("s", "S", [table, note])])
    assert [plain(block.text) for block in brief.blocks if isinstance(block, Paragraph)] == [
        "With dokimasia show RUN --full: notes."
    ]


@pytest.mark.parametrize(
    ("width", "there"),
    [
        (120, "87.41  [79.40, 93.10]"),
        (70, "Trust"),
        (40, "Percep"),
    ],
)
def test_a_table_fits(width: int, there: str) -> None:
    """Intervals go under their values, titles over several lines, and columns into several tables; nothing is cut."""
    said = drawn([scores(CATEGORIES)], width=width)
    assert max(map(len, said.splitlines())) <= width
    assert said.count("87.41") == said.count("[79.40, 93.10]") == len(CATEGORIES)
    assert there in said
    assert "vendor/model-1" in said
    assert "…" not in said


def test_a_figure_of_two_words_keeps_its_room() -> None:
    """What stands under a figure is not cut, and the rows keep their names, where a table is too wide by little."""
    columns = [
        Column("model", numeric=False),
        *(Column(name) for name in ("compare", "count", "infer", "read", "relate")),
    ]
    cells = [(Span("4.20", "strong"), Span(" 3.8–4.5 (10)", "muted")) for _ in columns[1:]]
    said = drawn([Table(columns, [["sim/talkative", *cells]], "Scores")], width=76)
    assert max(map(len, said.splitlines())) <= 76
    assert said.count("3.8–4.5 (10)") == 5
    assert "sim/talkative" in said
    assert "…" not in said


def test_each_place_draws_its_own() -> None:
    """Blocks and columns of the page alone are left out; a section of nothing else has no title."""
    table = Table([Column("shown", numeric=False), Column("hidden", only="page")], [["a", "b"]], "A table")
    said = drawn([Only("page", (Paragraph("page only"),)), Only("terminal", (Paragraph("terminal only"),)), table])
    assert "terminal only" in said
    assert "shown" in said
    assert "page only" not in said
    assert "hidden" not in said
    out = io.StringIO()
    draw_sections(Console(file=out), [Section("id", "Empty", (Only("page", (Paragraph("text"),)),))])
    assert out.getvalue() == ""


def test_a_fold_is_its_title_until_all_is_asked_for() -> None:
    """A closed fold is one line; whole, its blocks follow."""
    fold = Fold("Title", (Paragraph("within"),))
    assert drawn([fold]) == "▸ Title\n"
    assert "within" in drawn([fold], whole=True)


def test_a_text_of_megabytes_takes_no_minute() -> None:
    """Ten megabytes of short lines, as a text, a paragraph or a fact, are printed whole within seconds, unwrapped."""
    text = "a line of text\n" * 700_000
    for block in (Texts([("title", text)]), Paragraph(text), Facts([("name", text)])):
        began = time.process_time()
        assert drawn([block]).count("a line of text") == 700_000
        assert time.process_time() - began < 20
