"""The roles of a diagnosis: a judge picks salient rows, writes reports about them, and matches anonymous reports."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from dokimasia.agents.asking import Ask
from dokimasia.domain.diagnosis.report import ParsedReport
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.matching import parse_match
from dokimasia.parsing.reports import parse_picks, parse_report

ALL_MODELS = "all models"
"""The subject of text about all models, as the judge sees it."""


class Picks(NamedTuple):
    """References to existing rows, and the number of references to missing ones."""

    rows: tuple[str, ...]
    unknown: int


class Drafted(NamedTuple):
    """A parsed report, and the original reply for sending it back."""

    written: ParsedReport
    text: str


def pick_salient(subject: str, tables: str, *, row_of: Callable[[str], str | None]) -> Ask[Picks]:
    """Ask which rows of tables are worth reporting (ATOM, 3.4).

    Args:
        subject: the subject of the report, a model; empty for all.
        tables: the tables as text.
        row_of: returns the row of a reference in normal form, or None if there is no such row.
    """
    return Ask(
        "diagnosis_salient",
        {"subject": subject or ALL_MODELS, "tables": tables},
        ("tables",),
        lambda text: _picks_of(parse_picks(text), row_of),
        form="[<id of the table>:<number of the row>]",
    )


def write_report(subject: str, tables: str) -> Ask[Drafted]:
    """Ask for a report on one model from the picked rows; a report that was sent back is cut if it is too long."""
    inputs = {"subject": subject, "tables": tables}
    return Ask("diagnosis_report", inputs, ("tables",), _drafted, parse_again=partial(_drafted, cut=True))


def write_across(tables: str, reports: str) -> Ask[Drafted]:
    """Ask for the report across models, from the picked rows and the verified sentences of each report."""
    inputs = {"tables": tables, "reports": reports}
    return Ask("diagnosis_across", inputs, ("tables", "reports"), _drafted, parse_again=partial(_drafted, cut=True))


def match_reports(reports: tuple[str, str], answers: str) -> Ask[str]:
    """Ask whether the first of two reports is about the model called A or B (ATOM, appendix G.1).

    The judge sees both reports and, for each question, the reference answer, the points of its criteria and both
    answers, but no image, score or model name.
    """
    return Ask(
        "fingerprint_match",
        {"report_one": reports[0], "report_two": reports[1], "answers": answers},
        ("reports", "question", "reference answer", "criteria", "responses"),
        parse_match,
    )


def _drafted(text: str, *, cut: bool = False) -> Drafted:
    return Drafted(parse_report(text, cut=cut), text)


def _picks_of(refs: list[str], row_of: Callable[[str], str | None]) -> Picks:
    candidates = [row_of(ref) for ref in refs]
    rows = tuple(dict.fromkeys(row for row in candidates if row is not None))
    if not rows:
        raise UnparsableReply(f"none of the {len(refs)} references names a row that is there, such as [{refs[0][:80]}]")
    return Picks(rows, candidates.count(None))
