"""The reporter: a judge that picks what is salient in a diagnosis's tables and writes it down (ATOM, section 3.4)."""

from collections.abc import Callable
from typing import NamedTuple

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.diagnosis_report import Written
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reports import parse_picks, parse_report
from dokimasia.prompts import PromptLibrary

EVERYONE = "all models"
"""The subject of what is written across models."""


class Picks(NamedTuple):
    """References to rows that are there, and how many of those that were named are not."""

    rows: tuple[str, ...]
    unknown: int


class Drafted(NamedTuple):
    """A report as it was read, and the reply as it stands, so that it can be sent back."""

    written: Written
    text: str


async def pick_salient(
    subject: str,
    tables: str,
    *,
    row_of: Callable[[str], str | None],
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Picks]:
    """Return which rows of tables the judge holds for worth reporting.

    Args:
        subject: the model that is reported on; empty for all.
        tables: the tables as text.
        row_of: a reference's row in its one form, or None where it leads nowhere.
        gateway: the way to the model.
        judge: the judge and how it is sampled.
        rejected: the earlier reply to send back.
        library: prompts that replace the package's own.
    """
    return await ask_judge(
        "diagnosis_salient",
        {"subject": subject or EVERYONE, "tables": tables},
        parse=lambda text: _known(parse_picks(text), row_of),
        shown=("tables",),
        gateway=gateway,
        judge=judge,
        rejected=rejected,
        library=library,
    )


async def write_report(
    subject: str,
    tables: str,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Drafted]:
    """Return a report on one model, written from the rows that were picked; one that was sent back is cut if too long."""
    return await ask_judge(
        "diagnosis_report",
        {"subject": subject, "tables": tables},
        parse=lambda text: Drafted(parse_report(text, cut=rejected is not None), text),
        shown=("tables",),
        gateway=gateway,
        judge=judge,
        rejected=rejected,
        library=library,
    )


async def write_across(
    tables: str,
    reports: str,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Drafted]:
    """Return the report across models, written from the rows that were picked and from the verified sentences of each report."""
    return await ask_judge(
        "diagnosis_across",
        {"tables": tables, "reports": reports},
        parse=lambda text: Drafted(parse_report(text, cut=rejected is not None), text),
        shown=("tables", "reports"),
        gateway=gateway,
        judge=judge,
        rejected=rejected,
        library=library,
    )


def _known(refs: list[str], row_of: Callable[[str], str | None]) -> Picks:
    found = [row_of(ref) for ref in refs]
    rows = tuple(dict.fromkeys(row for row in found if row is not None))
    if not rows:
        raise UnparsableReply(f"none of the {len(refs)} references names a row that is there, such as [{refs[0][:80]}]")
    return Picks(rows, found.count(None))
