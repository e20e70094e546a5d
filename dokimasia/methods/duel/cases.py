"""Cases of duels whole: what was asked, each pair of answers, and what the judge said in each order."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Facts, Fold, Image, Paragraph, Section, Span, Texts
from dokimasia.report.data import Cut, ReportData, Views

SAID = {2: "much better", 1: "better", 0: "equal", -1: "worse", -2: "much worse"}
LONGEST = 6_000
"""Characters of a text that a page shows of a case."""


def cases(data: ReportData) -> Section | None:
    """Return some cases whole, each with its images, both answers and what the judge said in each order."""
    shown = dict.fromkeys(item["sample"] for item in data.samples)
    folds: list[Block] = []
    for id in shown:
        items = [item for item in data.samples if item["sample"] == id]
        pictures = [data.pictures[sha256] for sha256 in items[0]["pictures"] if sha256 in data.pictures]
        images = [Image(one.uri, f"image {n}{one.problem and f': {one.problem}'}") for n, one in enumerate(pictures, 1)]
        failed = any(item["failure"] for item in items)
        folds.append(
            Fold(f"{id}{' · with a failure' if failed else ''}", (*images, *sample(items, cut_text)), f"case-{id}")
        )
    if not folds:
        return None
    return Section("cases", "Cases", (Paragraph(data.selection.text, "note"), *folds), menu="Cases", only="page")


def cut_text(text: str) -> str:
    """Return a text as a page shows it: its first characters, and how many were left out."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text) - LONGEST:,} characters more)"


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield one case whole: what was asked, each pair of answers, and what the judge said in each order."""
    for number, item in enumerate(views):
        if not number:
            yield Facts(
                [
                    ("request", cut(item["prompt"])),
                    ("images", str(item["images"])),
                    ("task", " · ".join(filter(None, (item["category"], item["task"]))) or figures.NOTHING),
                    (
                        "criteria",
                        cut(item["criteria"]) + (" (general: the case has none)" if item["general_criteria"] else ""),
                    ),
                    ("factuality", cut(item["factuality_criteria"] or "not applicable")),
                    *([("ground truth", cut(item["ground_truth"]))] if item["ground_truth"] else []),
                ]
            )
        repeat = f" · repeat {item['repeat']}" if item["repeat"] else ""
        yield Texts(
            [
                *([(Span("description", "strong"), cut(item["descriptions"]))] if item["descriptions"] else []),
                (Span(f"{item['model']}{repeat}", "strong"), cut(item["response"] or "")),
                (Span(f"baseline: {item['baseline']}", "strong"), cut(item["baseline_response"] or "")),
            ]
        )
        yield Bullets(
            [_judged(one) for one in item["judgements"]] or [Span(f"{item['failure']}: {item['reason']}", "bad")]
        )


def _judged(one: Mapping[str, Any]) -> Cell:
    order = f"model shown {one['place']}: "
    if one["failure"]:
        return (order, Span(f"{one['asked']} failed, {one['failure']}: {one['reason']}", "bad"))
    if one["asked"] == "verdict":
        value = one["verdict"]
        return (
            order,
            Span(f"the model's answer is {SAID[value]}", "good" if value > 0 else "bad" if value < 0 else ""),
        )
    return (order, f"visual factuality {one['score']:g}, baseline {one['baseline_score']:g}")
