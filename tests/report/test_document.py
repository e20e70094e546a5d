"""The report in Markdown: the same figures, the first line on simulated models, and no markup but its own."""

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dokimasia.report.blocks import Fold, drawn_at
from dokimasia.report.data import SIMULATED_NOTE, ReportData
from dokimasia.report.document import fenced, inline, opening, render_document
from dokimasia.report.sections import sections_of
from tests.report.conftest import ATTACKS, Finished

pytestmark = pytest.mark.quick


def tokens(text: str) -> list[Token]:
    """All tokens of a document, those within lines too."""
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text):
        found += [token, *(token.children or ())]
    return found


def own_heads(data: ReportData) -> list[str]:
    """The headings that the report itself sets above its sections."""
    return [section.title for section in sections_of(data)]


def test_the_first_line_speaks_of_simulated_models(small: Finished) -> None:
    """Whoever reads only the first line knows that no real model was asked."""
    assert render_document(small.data()).splitlines()[0].startswith(f"> {SIMULATED_NOTE}")


def test_the_same_run_gives_the_same_bytes(full: Finished) -> None:
    """Nothing in a document depends on when it is written."""
    assert render_document(full.data()) == render_document(full.data())


def test_sections_are_those_of_the_page(full: Finished) -> None:
    """Every section has its heading, in the page's order."""
    data = full.data()
    headings = re.findall(r"^## (.+)$", render_document(data), re.MULTILINE)
    assert headings == own_heads(data)


def test_scores_are_those_of_the_summary(full: Finished) -> None:
    """Each model's line has what it got right, its mean, its interval and its bounds as the figures have them."""
    data = full.data()
    rows = render_document(data).partition("\n## Scores\n")[2].splitlines()
    models: dict[str, Any] = data.summary["models"]
    for name, model in models.items():
        score, bounds = model["score"], model["bounds"]
        line = next(line for line in rows if line.startswith(f"| **{inline(name)}** |"))
        assert f"**{score['mean']:.2f}**" in line
        assert f"{100 * model['strict_accuracy']['share']:.1f} %" in line
        assert f"{model['strict_accuracy']['k']}/{model['strict_accuracy']['n']}" in line
        if score["low"] is None:
            assert "| none ¹ |" in line
            assert any(row.startswith("¹ no interval: ") for row in rows)
        else:
            assert f"{score['low']:.2f} – {score['high']:.2f}" in line
        if any(one["answers_scored"] < one["answers"] for one in models.values()):
            assert f"{bounds['low']:.2f} – {bounds['high']:.2f}" in line
        assert f"{model['answers_scored']}/{model['answers']}" in line


def test_what_data_and_models_wrote_is_no_markup(hostile: Finished) -> None:
    """No link, image, emphasis, heading or HTML comes out of a text that is not the report's own."""
    data = hostile.data()
    found = tokens(render_document(data))
    kinds = {token.type for token in found}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "ordered_list_open", "s_open", "hr"}
    headings = [token for token in found if token.type == "heading_open"]
    folds = [
        block for section in sections_of(data) for block in drawn_at("page", section.blocks) if isinstance(block, Fold)
    ]
    assert len(headings) == 1 + len(own_heads(data)) + len(folds) + len(data.samples)
    assert {token.tag for token in headings} == {"h1", "h2", "h3"}
    columns = [
        len(re.findall(r"(?<!\\)\|", line)) for line in render_document(data).splitlines() if line.startswith("| **two")
    ]
    assert columns
    fences = [token.content for token in found if token.type == "fence"]
    assert sum(ATTACKS[3] in content for content in fences) >= 2


def test_a_fence_is_longer_than_any_within() -> None:
    """A text cannot end the block that it stands in."""
    text = "a ````` b\n```\nc"
    assert fenced(text).splitlines()[0] == "``````text"
    assert [token.content for token in tokens(fenced(text))] == [text + "\n"]


def test_a_line_of_text_stays_one_paragraph() -> None:
    """Text that looks like a heading, a list, a rule, a quotation or an entity is read back as it was written."""
    for text in (
        "# a",
        "- a",
        "1. a",
        "2) a",
        "> a",
        "===",
        "---",
        "*a*",
        "_a_",
        "`a`",
        "<b>",
        "&lt;",
        "[a](b)",
        "a|b",
        "~~a~~",
    ):
        found = tokens(opening(inline(text)))
        assert [token.type for token in found][:2] == ["paragraph_open", "inline"], text
        assert "".join(token.content for token in found if token.type in {"text", "text_special"}) == text
