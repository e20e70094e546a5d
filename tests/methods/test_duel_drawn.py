"""Duels as they are drawn: which way rewards go with length, what is missing and why, captions, one case whole."""

from types import SimpleNamespace
from typing import Any, cast

from dokimasia.methods.audit.analyses import length_bias
from dokimasia.methods.duel.blocks import ONE_ORDER, categories, lengths, places
from dokimasia.methods.duel.figures import duel_figures
from dokimasia.report.blocks import Block, Paragraph, Table, drawn_at, plain
from dokimasia.report.data import ReportData
from dokimasia.report.document import blocks_written
from dokimasia.report.drawing import Charts, draw_section
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
    assert said.startswith(
        "Length goes with the score for 1 of 1 models. With longer answers it falls for m (r \N{MINUS SIGN}0."
    )


def test_why_a_correlation_has_no_test_stands_under_its_table() -> None:
    """A missing p of a correlation has its reason on the page."""
    rows = [row(case, case % 3 - 1, 0, longer=case) for case in range(4)]
    found = duel_figures(rows, seed=0)["length_bias"]
    section = lengths(data(length_bias=found))
    assert found["m"]["p"] is None
    assert section is not None
    assert f"m: {found['m']['reason']}." in paragraphs(section.blocks)


def test_only_one_order_asked_is_said_to_be_so() -> None:
    """A duel in both orders that has no verdict yet is not taken for one that asks in one order alone."""
    for orders, said in ((1, ONE_ORDER), (2, "No answer has a verdict in both orders yet.")):
        section = places(data(places=None, models={}, orders=orders, judge="j"))
        assert section is not None
        assert paragraphs(section.blocks) == [said]


def test_tables_next_to_each_other_have_captions_and_their_cases() -> None:
    """Tables by category and by task are told apart on the page and in Markdown, with the cases of each and of none."""
    rows = [row(case, 1, 0, category="writing" if case < 4 else "", factuality={"first": (5, 5)}) for case in range(6)]
    found = duel_figures(rows, seed=0)["models"]
    section = categories(data(models=found, samples=6, cases={"without_category": 2, "without_task": 0}))
    assert section is not None
    html = draw_section(section, Charts(), browser=str)
    text = "\n".join(blocks_written(section.blocks, data()))
    for title in ("Reward by category", "Visual factuality score by category", "Reward by task"):
        assert f"<caption>{title}</caption>" in html
        assert f"**{title}**" in text
    tables = [one for one in drawn_at("page", section.blocks) if isinstance(one, Table)]
    assert [list(map(plain, one.rows[0]))[:2] for one in tables[::2]] == [["cases", "4"], ["poem", "3"]]
    assert paragraphs(section.blocks) == ["2 of 6 cases have no category."]
