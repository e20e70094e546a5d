"""Tables as LaTeX, for the package booktabs."""

from collections.abc import Iterable

from dokimasia.errors import InputError
from dokimasia.report.blocks import Block, Cell, Table, drawn_at, plain
from dokimasia.report.footnotes import noted

_RAISED = {raised: rf"\textsuperscript{{{digit}}}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_SPECIAL = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "–": "--",
        "\N{MINUS SIGN}": "$-$",
        "\N{MULTIPLICATION SIGN}": r"$\times$",
        "→": r"$\rightarrow$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "≈": r"$\approx$",
        "·": r"\textperiodcentered{}",
        "…": r"\ldots{}",
    }
    | _RAISED
)


def latex_tables(blocks: Iterable[Block]) -> str:
    """Return the tables among blocks as LaTeX, as in a terminal, with captions that describe each table and its
    columns.

    Raises:
        InputError: there is no table.
    """
    tables = [block for block in drawn_at("terminal", list(blocks)) if isinstance(block, Table)]
    if not tables:
        raise InputError("there is no table to write as LaTeX; leave --format out to read what there is")
    return "\n".join(map(_explained, tables))


def _explained(table: Table) -> str:
    """Return a table as LaTeX, with a caption of its contents, the meanings of its columns, and its footnotes."""
    marked, notes = noted(table)
    meanings = [f"{column.title}: {column.meaning}" for column in table.columns if column.meaning]
    return as_latex(marked, " ".join(f"{text.rstrip('.')}." for text in (table.about, *meanings, *notes) if text))


def as_latex(table: Table, caption: str) -> str:
    """Return a table as LaTeX with a caption; every text is escaped."""
    layout = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
    lines += [_row([column.title for column in table.columns]), r"\midrule", *map(_row, table.rows)]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{_escaped(caption)}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[Cell]) -> str:
    line = " & ".join(map(_escaped, cells))
    # After the end of a row, LaTeX takes a bracket or an asterisk for its option.
    if line.startswith(("[", "*")):
        return rf"{{}}{line} \\"
    return rf"{line} \\"


def _escaped(cell: Cell) -> str:
    return " ".join(plain(cell).split()).translate(_SPECIAL)
