"""Reports with places: sentences, what belongs to them, what is refused, and nothing that takes long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.domain.diagnosis.report import MOST_WORDS
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reports import MOST_CHARACTERS, MOST_PICKS, parse_picks, parse_report


def test_sentences_keep_their_places_and_paragraphs() -> None:
    """A full stop inside of a place, a number or an abbreviation parts nothing, and marks of emphasis in a place stay."""
    text = (
        "# Results\n"
        "A scores `{leaves/my__model:1.score}`. It lies low (e.g. at Counting).\n"
        "\n"
        "- **B** is ahead by {pairs:Is it so? Yes..difference}.\n"
    )
    found = parse_report(text)
    assert [(one.paragraph, one.heading, one.written) for one in found.sentences] == [
        (0, True, "Results"),
        (0, False, "A scores {leaves/my__model:1.score}."),
        (0, False, "It lies low (e.g. at Counting)."),
        (1, False, "B is ahead by {pairs:Is it so? Yes..difference}."),
    ]
    assert found.words == 15
    assert not found.cut


@pytest.mark.parametrize("text", ["", "   \n\n", "# A heading alone", "```\n```"])
def test_without_a_sentence_there_is_no_report(text: str) -> None:
    """The reason says so."""
    with pytest.raises(UnparsableReply, match="no sentence"):
        parse_report(text)


def test_too_many_words_are_refused_and_then_cut_at_a_sentence() -> None:
    """A report that is too long names the limit; cut, it ends with a whole sentence and keeps the count of all."""
    text = "\n".join("There are ten words in each of these many lines." for _ in range(1_000))
    with pytest.raises(UnparsableReply, match=f"{MOST_WORDS:,}"):
        parse_report(text)
    found = parse_report(text, cut=True)
    assert found.cut
    assert found.words == 10_000
    assert len(found.sentences) == MOST_WORDS // 10
    assert all(one.written.endswith("lines.") for one in found.sentences)


def test_picks_are_in_order_each_once_and_bounded() -> None:
    """Anything around the references is left out; no reference at all is refused."""
    assert parse_picks("1. [leaves/a:3]\nand [models:1], [leaves/a:3] again") == ["leaves/a:3", "models:1"]
    with pytest.raises(UnparsableReply, match="lists 199 rows; pick at most 16"):
        parse_picks("\n".join(f"[leaves/a:{number}]" for number in range(1, MOST_PICKS + 80)))
    for wrong in ("", "none of them", "[not a reference]", "[]"):
        with pytest.raises(UnparsableReply):
            parse_picks(wrong)


def test_a_range_of_rows_is_each_of_them() -> None:
    """A range or a list of rows in one reference is none of them lost; a row's name with a dash in it stays one."""
    assert parse_picks("[leaves/a:2-4]\n[models:1, 3]\n[nodes/b:1 to 2]\n[examples/a:q-1/0/2]") == [
        *(f"leaves/a:{row}" for row in (2, 3, 4)),
        *(f"models:{row}" for row in (1, 3)),
        *(f"nodes/b:{row}" for row in (1, 2)),
        "examples/a:q-1/0/2",
    ]


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing else is raised, and no sentence is empty."""
    try:
        found = parse_report(text)
    except UnparsableReply:
        return
    assert all(one.written.strip() for one in found.sentences)


@pytest.mark.parametrize(
    "text",
    [
        "[" * MOST_CHARACTERS,
        "[a:" * 60_000,
        "a. " * 60_000,
        "e.g. " * 40_000,
        "*" * MOST_CHARACTERS,
        "{a:1} " * 30_000,
        "x {a:1}. " * 20_000,
        "{" * MOST_CHARACTERS,
        "1" * MOST_CHARACTERS,
        "x " * 2_000_000,
    ],
    ids=[
        "brackets",
        "open",
        "stops",
        "abbreviations",
        "emphasis",
        "places",
        "stops behind places",
        "open places",
        "digits",
        "huge",
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    """Texts made to be slow are read or refused well within what a reply may take."""
    started = time.process_time()
    for parse in (lambda: parse_report(text, cut=True), lambda: parse_report(text), lambda: parse_picks(text)):
        try:
            parse()
        except UnparsableReply:
            continue
    assert time.process_time() - started < 10
