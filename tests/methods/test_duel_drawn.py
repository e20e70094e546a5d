"""Duels as they are drawn: which way rewards go with length, what is missing and why, captions, one case whole."""

import asyncio
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dokimasia.methods.arena import ArenaRequest, arena
from dokimasia.methods.arena.figures import Meeting, arena_tables
from dokimasia.methods.arena.report import ratings
from dokimasia.methods.audit.analyses import length_bias
from dokimasia.methods.duel import METHOD, DuelRequest, duel
from dokimasia.methods.duel.figures import Cases, DuelRow
from dokimasia.methods.duel.report import ONE_ORDER, categories, duels, lengths, places
from dokimasia.report.blocks import Block, Paragraph, Table, drawn_at, plain
from dokimasia.report.data import ReportData
from dokimasia.report.document import markdown_lines
from dokimasia.report.drawing import Charts, draw_section
from dokimasia.report.fields import Interval, as_json
from dokimasia.report.figures import bracketed
from dokimasia.report.terminal import draw_blocks
from dokimasia.runs.catalogue import method_of
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_creative
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.drawn import FACTS
from tests.methods.test_audit_analyses import rows_of
from tests.methods.test_duel_figures import duel_figures, row

pytestmark = pytest.mark.full  # tests/report/test_kinds.py and tests/cli hold the same tables

HEADING: dict[str, Any] = {
    "run": "r",
    "status": "done",
    "simulated": [],
    "seed": 0,
    "direction": "second minus first",
    "skipped": [],
    "open_items": 0,
    "calls": 1,
    "cost": 0.0,
    "judge": "j",
    "repeats": 1,
    "judge_sees": "image",
}
CASES_OF_RUN = dict.fromkeys(Cases.model_fields, 0)


def data(summary: dict[str, Any]) -> ReportData:
    """A report's data with these figures alone."""
    return ReportData(METHOD.report.drawing(), FACTS, summary)


def summary(rows: Iterable[DuelRow] = (), **changes: Any) -> dict[str, Any]:
    """The figures of a run of duels with these rows."""
    found = duel_figures(rows, seed=0)
    models = {name: {**model, "calls": 1, "cost": 0.0} for name, model in found["models"].items()}
    own = {"samples": 0, "baseline": "b", "orders": 2, "factuality": "none", "protocol": "default"}
    described = {"describer": None, "descriptions": None, "cases": CASES_OF_RUN}
    return {**HEADING, **own, **described, **found, "models": models, **changes}


def paragraphs(blocks: Any) -> list[str]:
    found: list[Block] = list(blocks)
    return [plain(one.text) for one in found if isinstance(one, Paragraph)]


def test_the_way_that_reward_goes_with_length_is_said() -> None:
    """A model whose longer answers earn more and one whose earn less are told apart, in duels as in audits."""
    values = [(case % 5) - 2 for case in range(20)]
    rows = [row(case, one, one, longer=10 * one, model="up") for case, one in enumerate(values)]
    rows += [row(case, one, one, longer=-10 * one, model="down") for case, one in enumerate(values)]
    section = lengths(data(summary(rows)))
    assert section is not None
    assert paragraphs(section.blocks)[0] == (
        "With longer answers reward rises for up (r +1.00) and falls for down (r \N{MINUS SIGN}1.00)."
    )
    audited = rows_of({"m": 0.8}, words=lambda number, passed: 100 + number % 7 if passed else 300)
    said = length_bias(audited, seed=0).says
    assert said.startswith(
        "Length goes with the score for 1 of 1 models. With longer answers it falls for m (r \N{MINUS SIGN}0."
    )


def test_why_a_correlation_has_no_test_stands_under_its_table() -> None:
    """A missing p of a correlation has its reason on the page."""
    rows = [row(case, case % 3 - 1, 0, longer=case) for case in range(4)]
    found = duel_figures(rows, seed=0)["length_bias"]
    section = lengths(data(summary(rows)))
    assert found["m"]["p"] is None
    assert section is not None
    assert f"m: {found['m']['reason']}." in paragraphs(section.blocks)


def test_a_length_that_was_not_tested_is_not_cleared() -> None:
    """Where no model could be tested the lead says so, and where some could it says for how many nothing was found."""

    def lead(many: int) -> str:
        rows = [row(case, case % 3 - 1, 0, longer=(case * 7) % 5) for case in range(many)]
        section = lengths(data(summary(rows)))
        assert section is not None
        return paragraphs(section.blocks)[0]

    assert lead(4) == "For no model could it be tested whether reward correlates with answer length."
    assert lead(30) == "No model's reward correlates with answer length (tested for 1 model)."


def test_only_one_order_asked_is_said_to_be_so() -> None:
    """A duel in both orders that has no verdict yet is not taken for one that asks in one order alone."""
    for orders, said in ((1, ONE_ORDER), (2, "No answer has a verdict in both orders yet.")):
        section = places(data(summary(orders=orders)))
        assert section is not None
        assert paragraphs(section.blocks) == [said]


def test_a_terminal_explains_the_columns_of_the_first_table() -> None:
    """One line says what they are and why an interval is wide; the page, whose headings explain themselves, has none."""
    rows = [row(case, 1, 0, factuality={"first": (5, 5)}) for case in range(6)]
    blocks = duels(data(summary(rows, samples=6, factuality="image"))).blocks
    (explained,) = [text for text in paragraphs(drawn_at("terminal", blocks)) if "reward: 50 times" in text]
    assert explained.startswith("VFS: visual factuality score, 0 to 10")
    assert "win rate: better or much better verdicts" in explained
    assert "Intervals count images and not verdicts" in explained
    assert not [text for text in paragraphs(drawn_at("page", blocks)) if "reward: 50 times" in text]
    (text,) = [
        text for text in paragraphs(drawn_at("terminal", duels(data(summary(rows))).blocks)) if "50 times" in text
    ]
    assert "VFS" not in text, "nothing was judged for it"
    table = next(block for block in drawn_at("terminal", blocks) if isinstance(block, Table))
    assert "win rate, %" in [column.title for column in table.columns]


def test_tables_next_to_each_other_have_captions_and_their_cases() -> None:
    """Tables by category and by task are told apart on the page and in Markdown, with the cases of each and of none."""
    rows = [row(case, 1, 0, category="writing" if case < 4 else "", factuality={"first": (5, 5)}) for case in range(6)]
    section = categories(data(summary(rows, samples=6, cases={**CASES_OF_RUN, "without_category": 2})))
    assert section is not None
    html = draw_section(section, Charts(), browser=str)
    text = "\n".join(markdown_lines(section.blocks, data({})))
    for title in ("Reward by category", "Visual factuality score by category", "Reward by task"):
        assert f"<caption>{title}</caption>" in html
        assert f"**{title}**" in text
    tables = [one for one in drawn_at("page", section.blocks) if isinstance(one, Table)]
    assert [list(map(plain, one.rows[0]))[:2] for one in tables[::2]] == [["cases", "4"], ["poem", "3"]]
    assert paragraphs(section.blocks) == ["2 of 6 cases have no category."]


@pytest.fixture(scope="module")
def creative(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three creative cases."""
    path = tmp_path_factory.mktemp("drawn") / "cases.jsonl"
    write_creative(path, 3, 1)
    return path


def drawn_case(make: Any, request: Any, settings: Settings) -> tuple[str, str]:
    """Run a method and return its first case as a terminal draws it, 300 wide, and the method's name for it."""
    done = asyncio.run(make(request, settings=settings, transports={"sim": SimTransport()}))
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, done.run)
        method = method_of(run)
        views = list(method.results.items(home, run, "creative-1-0000")) if method.results.items else []
    draw = method.report.drawing().sample
    assert draw is not None
    out = io.StringIO()
    draw_blocks(Console(file=out, width=300, highlight=False), list(draw(views, str)))
    return out.getvalue(), str(views[0]["criteria"])


def test_a_case_shows_the_judges_reasoning_and_each_text_once(creative: Path, settings: Settings) -> None:
    """Each order's verdict stands by name over what the judge said; the baseline's text stands once, line breaks stay."""
    request = DuelRequest(data=creative, judge="sim/judge", models=("sim/strong", "sim/weak"), baseline="sim/steady")
    said, criteria = drawn_case(duel, request, settings)
    assert len(re.findall(r"^── sim/steady \(the baseline\) ─+$", said, re.MULTILINE)) == 1
    for place, other in (("first", "second"), ("second", "first")):
        title = f"sim/weak shown {place}, sim/steady {other}: sim/weak is "
        assert re.search(rf"\n\n── {re.escape(title)}(much )?(better|worse|equal) ─+\n\S", said)
    assert f"\n{criteria}\n" in said
    assert re.search(r"image 1 +\d+ × \d+, [0-9a-f]{12}\b", said)


def test_no_model_of_an_arena_is_a_baseline(creative: Path, settings: Settings) -> None:
    """In an arena each answer stands once under its model's name, whomever it meets."""
    names = ("sim/strong", "sim/weak", "sim/steady")
    said, _ = drawn_case(arena, ArenaRequest(data=creative, judge="sim/judge", models=names), settings)
    assert "baseline" not in said
    for name in names:
        assert len(re.findall(rf"^── {name} ─+$", said, re.MULTILINE)) == 1


def test_what_is_open_is_not_called_failed() -> None:
    """Verdicts that the budget did not reach have a column of their own, and the kinds of failures stand under the table."""
    rows = [row(case, 1, 0) for case in range(3)]
    rows += [
        row(3, None, None, failure="unparsable"),
        row(4, None, None, failure="budget"),
        row(5, 1, None, failure="budget"),
    ]
    found = duel_figures(rows, seed=0)["models"]
    assert (found["m"]["verdicts"]["failed"], found["m"]["verdicts"]["open"]) == (5, 3)
    section = duels(data(summary(rows, samples=6)))
    table = next(one for one in drawn_at("terminal", section.blocks) if isinstance(one, Table))
    cells = dict(zip((one.title for one in table.columns), map(plain, table.rows[0]), strict=True))
    assert (cells["failed"], cells["open"]) == ("2", "3")
    assert (
        "Failed answers: m 1 unparsable. Open answers, which the budget did not reach: m 2. "
        "A resume with a larger one asks for them."
    ) in paragraphs(section.blocks)


def test_answers_judged_in_one_order_alone_are_counted_wherever_duels_are_drawn() -> None:
    """How many answers have a judgement in one order alone stands on the page, in Markdown and on the terminal."""
    scores: dict[Any, Any] = {"first": (5.0, 5.0), "second": None}
    rows = [row(case, 2, -2, task="") for case in range(6)] + [row(case, 2, None, task="") for case in range(6, 9)]
    rows += [row(9, 2, -2, factuality=scores, task="")]
    found = duel_figures(rows, seed=0)
    section = duels(data(summary(rows, samples=10)))
    said = "judged in one order alone, since the other order has no judgement: m 3 verdicts, 1 visual factuality score."
    terminal = io.StringIO()
    draw_blocks(Console(file=terminal, width=400, highlight=False), section.blocks)
    for drawn in (
        draw_section(section, Charts(), browser=str),
        "\n".join(markdown_lines(section.blocks, data({}))),
        terminal.getvalue(),
    ):
        assert said in drawn
    of_places = places(data(summary(rows)))
    assert of_places is not None
    assert paragraphs(of_places.blocks)[0].startswith("In 0.0 % of 7 answers j decides")
    assert paragraphs(of_places.blocks)[0].endswith("which both orders together take out.")
    assert found["models"]["m"]["reward"]["mean"] == 0


@pytest.mark.parametrize(
    ("status", "said"), [("interrupted", "the run is interrupted"), ("done", "one side always won")]
)
def test_groups_of_an_interrupted_arena_are_laid_to_the_interruption(status: str, said: str) -> None:
    """Models that have not met yet, since the run was stopped, are not said to always win or to need more cases."""
    meetings = [Meeting(row(case, one, one, model="a"), "b") for case, one in enumerate((1, -1, 0, 1))]
    found = as_json(arena_tables(meetings, ("a", "b", "c"), seed=0))
    section = ratings(data({**HEADING, **found, "status": status, "samples": 4, "draw": "all", "rounds": []}))
    assert said in paragraphs(section.blocks)[0]
    assert ("More cases" in paragraphs(section.blocks)[0]) is (status == "done")


def test_a_negative_end_has_the_minus_of_every_difference() -> None:
    """The ends of an interval are written with the same sign as the differences beside them."""
    assert bracketed(Interval(mean=0.1, low=-0.12, high=0.3), "{:.2f}".format) == " [\N{MINUS SIGN}0.12, 0.30]"
