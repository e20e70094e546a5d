"""Duels as they are drawn: which way rewards go with length, what is missing and why, captions, one case whole."""

from types import SimpleNamespace
from typing import Any, cast

from dokimasia.methods.audit.analyses import length_bias
from dokimasia.methods.duel.blocks import lengths
from dokimasia.methods.duel.figures import duel_figures
from dokimasia.report.blocks import Block, Paragraph, plain
from dokimasia.report.data import ReportData
from tests.methods.test_audit_analyses import rows_of
from tests.methods.test_duel_figures import row


def data(**summary: Any) -> ReportData:
    """A report's data with these figures alone."""
    return cast("ReportData", SimpleNamespace(summary=summary))


def paragraphs(blocks: Any) -> list[str]:
    found: list[Block] = list(blocks)
    return [plain(one.text) for one in found if isinstance(one, Paragraph)]


def test_the_way_that_reward_goes_with_length_is_said() -> None:
    """A model whose longer answers earn more and one whose earn less are told apart, in duels as in audits."""
    values = [(case % 5) - 2 for case in range(20)]
    rows = [row(case, one, one, longer=10 * one, model="up") for case, one in enumerate(values)]
    rows += [row(case, one, one, longer=-10 * one, model="down") for case, one in enumerate(values)]
    section = lengths(data(length_bias=duel_figures(rows, seed=0)["length_bias"]))
    assert section is not None
    assert paragraphs(section.blocks)[0] == (
        "With longer answers reward rises for up (r +1.00) and falls for down (r \N{MINUS SIGN}1.00)."
    )
    audited = rows_of({"m": 0.8}, words=lambda number, passed: 100 + number % 7 if passed else 300)
    said = length_bias(audited, seed=0)["says"]
    assert said.startswith("Length goes with the score for 1 of 1 models. With longer answers it falls for m (r \N{MINUS SIGN}0.")


def test_why_a_correlation_has_no_test_stands_under_its_table() -> None:
    """A missing p of a correlation has its reason on the page."""
    rows = [row(case, case % 3 - 1, 0, longer=case) for case in range(4)]
    found = duel_figures(rows, seed=0)["length_bias"]
    section = lengths(data(length_bias=found))
    assert found["m"]["p"] is None
    assert section is not None
    assert f"m: {found['m']['reason']}." in paragraphs(section.blocks)
