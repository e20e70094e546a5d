"""A diagnosis in words as blocks: what the program printed set off from the judge's words, and what is not verified, and why."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report.blocks import Block, Bullets, Cell, Fold, Paragraph, Span, spans

WHY = {
    "literal_digit": "the judge wrote a number that no table has printed",
    "no_such_place": "it names a figure that is in no table",
    "no_test": "it compares what no paired test compares",
}
"""What makes a sentence unverified, by kind of fault; `--json` has the reasons as its writer was told them."""

UNPRINTED = "[no figure]"
"""What stands where a place of a sentence could not be printed."""

TOGETHER = 4
"""Sentences that a paragraph has at most; more of them are a list."""

_PLACE = re.compile(r"\{[^{}]*\}")


def prose(words: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[Block]:
    """Yield whose words are whose, the report across models, then one fold a model.

    Args:
        words: what `methods.diagnosis.results.words_summary` gives.
        links: by row (`ASSET:ROW`), the place of the page that holds its evidence.
    """
    totals = words["totals"]
    unverified = totals["unverified"]
    yield Paragraph(
        (
            f"In words, by {words['judge']}. Figures with their intervals, tested comparisons (higher than, lower than, not "
            "distinguishable from) and quotations were ",
            Span("printed by the program", "cited"),
            " from the tables",
            "; on the page each leads to the row that it comes from" if links else "",
            f". All other words are {words['judge']}'s, and nobody checked them: also of which model a figure is said. ",
            Span(
                f"{unverified:,} of {totals['sentences']:,} sentences {'is' if unverified == 1 else 'are'} unverified",
                "bad" if unverified else "",
            ),
            ", marked with the reason." if unverified else ".",
        ),
        "note",
    )
    reports = words["reports"]
    opened = reports if len(reports) == 1 else [one for one in reports if not one["subject"]]
    for report in opened:
        yield from _report(report, links)
    for report in reports:
        if report not in opened:
            unsure = f", {report['unverified']} unverified" if report["unverified"] else ""
            title = f"In words: {report['subject']} ({len(report['sentences'])} sentences{unsure})"
            yield Fold(title, tuple(_report(report, links)))


def _report(report: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[Block]:
    if report["failed"]:
        yield Paragraph(f"No report: {report['failed']['kind']}: {report['failed']['reason'] or ''}", "warning")
    if report["cut"]:
        yield Paragraph(f"Cut: the reply had {report['words']:,} words.", "warning")
    paragraphs: dict[int, list[Cell]] = {}
    for one in report["sentences"]:
        pieces = [*_printed(one, links)]
        if one["faults"]:
            reasons = "; ".join(
                dict.fromkeys(WHY.get(fault["kind"]) or str(fault["reason"]) for fault in one["faults"])
            )
            pieces.append(Span(f" (unverified: {reasons})", "bad"))
        paragraphs.setdefault(one["paragraph"], []).append(tuple(pieces))
    for sentences in paragraphs.values():
        if len(sentences) > TOGETHER:
            yield Bullets(sentences)
        else:
            spaced = [piece for one in sentences for piece in (" ", *spans(one))]
            yield Paragraph(tuple(spaced[1:]))


def _printed(sentence: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[str | Span]:
    """Yield a sentence's text, what its places printed as links to their rows."""
    text, at = str(sentence["text"]), 0
    for place in sentence["places"]:
        yield _own(sentence, text[at : place["start"]])
        yield Span(text[place["start"] : place["end"]], "cited", href=links.get(place["row"], ""))
        at = place["end"]
    yield _own(sentence, text[at:])


def _own(sentence: Mapping[str, Any], text: str) -> str | Span:
    text = _PLACE.sub(UNPRINTED, text)
    return Span(text, "strong") if sentence["heading"] and text else text
