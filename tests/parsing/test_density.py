"""Ratings of density and domains: the paper's form, and everything that is none."""

import pytest

from dokimasia.agents.density import parse_density, parse_domain
from dokimasia.errors import UnparsableReply
from dokimasia.prompts import default_library

FORM = (
    "<image_evaluation><visual_complexity><reasoning>{r}</reasoning><score>{a}</score></visual_complexity>"
    "<informativeness><reasoning>{r}</reasoning><score>{b}</score></informativeness></image_evaluation>"
)


def form(a: object, b: object, r: str = "dense & <b>full</b>") -> str:
    """The paper's form with two scores."""
    return FORM.format(a=a, b=b, r=r)


@pytest.mark.parametrize("around", ["{}", "```xml\n{}\n```", "<think>perhaps 3</think>{}", "Here it is: {} Done."])
def test_reads_the_form(around: str) -> None:
    """Both ratings are read, whatever stands around them."""
    density = parse_density(around.format(form(8, " 3 ")))
    assert (density.visual_complexity, density.informativeness) == (8, 3)


def test_a_score_that_is_quoted_in_the_reasoning_is_none() -> None:
    """What a judge weighs in its reasoning is not what it states."""
    density = parse_density(form(8, 3, "not <score>1</score>, more"))
    assert (density.visual_complexity, density.informativeness) == (8, 3)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (form(11, 3), "'11'"),
        (form(0, 3), "'0'"),
        (form(-4, 3), "'-4'"),
        (form("7.5", 3), "'7.5'"),
        (form("7/10", 3), "'7/10'"),
        (form("Integer between 1 and 10", 3), "Integer between"),
        (form("", 3), "''"),
        (form("\u0667", 3), "visual_complexity"),
        (form(7, 3).replace("informativeness", "information"), "<informativeness> is missing"),
        (form(7, 3) + form(8, 3), "more than once"),
        ("<visual_complexity><score>7</score>", "<visual_complexity> is missing or not closed"),
        ("", "missing"),
        ("\ud800", "surrogate"),
    ],
)
def test_refuses_what_is_no_rating(text: str, named: str) -> None:
    """A rating out of range, of another form, missing or contradicted is refused with a reason that says so."""
    with pytest.raises(UnparsableReply) as refused:
        parse_density(text)
    assert named in refused.value.reason


def test_both_ratings_are_named_at_once() -> None:
    """Where both ratings are wrong both are named, and the empty form is neither."""
    with pytest.raises(UnparsableReply, match=r"<visual_complexity> is '11'.*; the score in <informativeness> is '0'"):
        parse_density(form(11, 0))
    library = default_library()
    for name, parse in (("density", parse_density), ("domain", parse_domain)):
        with pytest.raises(UnparsableReply):
            parse(library.get(name).form_for(1))


def test_brackets_of_the_form_may_stay() -> None:
    """A value that was put into the form's square brackets is the value."""
    assert parse_density(form("[8]", "**3**")).visual_complexity == 8
    assert parse_domain("<domain>[data]</domain>") == "data"


def test_the_same_twice_is_once() -> None:
    """A judge that states the same rating again has stated it."""
    assert parse_density(form(7, 3) + form(7, 3, "again")).visual_complexity == 7


def test_domains() -> None:
    """A domain of the seven is read; another, none, or two different ones are refused."""
    assert parse_domain("A chart.\n<domain> Data </domain>") == "data"
    for text in ("<domain>photo</domain>", "data", "<domain>data</domain><domain>stem</domain>"):
        with pytest.raises(UnparsableReply):
            parse_domain(text)


def test_bounded() -> None:
    """Half a million tags are refused, not searched for ever."""
    for text in ("<visual_complexity>" * 500_000, "<visual_complexity><score>" * 100_000, "<" * 1_000_000):
        with pytest.raises(UnparsableReply):
            parse_density(text)
