"""A diagnosis in words on the page: what stands, with each reference leading to its atoms, and what was struck, and why."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report.blocks import Block, Fold, Paragraph, Span


def prose(words: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[Block]:
    """Yield the report across models, then one fold a model.

    Args:
        words: what `runner.diagnosis_words.words_summary` gives.
        links: by reference as it is written, the place of the page that holds its evidence.
    """
    totals = words["totals"]
    yield Paragraph(
        (
            f"In words, by {words['judge']}: {totals['kept']:,} of {totals['sentences']:,} sentences stand; ",
            Span(
                f"{totals['struck']:,} {'is' if totals['struck'] == 1 else 'are'} struck",
                "bad" if totals["struck"] else "",
            ),
            ", since a program held every number, reference and comparison against the tables. A reference opens the atoms "
            "behind it.",
        ),
        "note",
    )
    reports = words["reports"]
    across = [one for one in reports if not one["subject"]]
    for report in across or (reports if len(reports) == 1 else []):
        yield from _report(report, links)
    for report in reports:
        if not across and len(reports) == 1:
            continue
        if report["subject"]:
            struck = f", {report['struck']} struck" if report["struck"] else ""
            title = f"In words: {report['subject']} ({report['kept']} sentences{struck})"
            yield Fold(title, tuple(_report(report, links)))


def _report(report: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[Block]:
    if report["failed"]:
        yield Paragraph(f"No report: {report['failed']['kind']}: {report['failed']['reason'] or ''}", "warning")
    if report["cut"]:
        yield Paragraph(f"Cut: the reply had {report['words']:,} words.", "warning")
    paragraphs: dict[int, list[str | Span]] = {}
    for one in report["sentences"]:
        pieces = paragraphs.setdefault(one["paragraph"], [])
        if pieces:
            pieces.append(" ")
        if one["struck"]:
            kind = one["struck"]["kind"].replace("_", " ")
            pieces += [Span(one["text"], "struck"), Span(f" ({kind}: {one['struck']['reason']})", "bad")]
        elif one["heading"]:
            pieces.append(Span(one["text"], "strong"))
        else:
            pieces += _linked(one, links)
    for pieces in paragraphs.values():
        yield Paragraph(tuple(pieces))


def _linked(sentence: Mapping[str, Any], links: Mapping[str, str]) -> Iterator[str | Span]:
    """Yield a sentence's text with its references as links, those that share brackets to the first one's evidence."""
    text, at = str(sentence["text"]), 0
    places: dict[tuple[int, int], str] = {}
    for one in sentence["citations"]:
        places.setdefault((one["start"], one["end"]), links.get(one["ref"], ""))
    for (start, end), href in sorted(places.items()):
        if start > at:
            yield text[at:start]
        yield Span(text[start:end], "cited", href=href)
        at = end
    if at < len(text):
        yield text[at:]
