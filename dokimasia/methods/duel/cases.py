"""Cases of duels whole: what was asked, each pair of answers, and what the judge said in each order."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Facts, Fold, Image, Paragraph, Section, Span, Texts
from dokimasia.report.data import Cut, ReportData, Views

SAID = {2: "much better", 1: "better", 0: "equal", -1: "worse", -2: "much worse"}
LONGEST = 6_000
"""Characters of a text that a page shows of a case."""
REASONING = 600
"""Characters of what a judge said that are shown of each judgement."""


def cases(data: ReportData) -> Section | None:
    """Return some cases whole, each with its images, both answers and what the judge said in each order."""
    baseline = "baseline" in data.summary
    shown = dict.fromkeys(item["sample"] for item in data.samples)
    folds: list[Block] = []
    for id in shown:
        items = [item for item in data.samples if item["sample"] == id]
        pictures = [data.pictures[sha256] for sha256 in items[0]["pictures"] if sha256 in data.pictures]
        images = [Image(one.uri, f"image {n}{one.problem and f': {one.problem}'}") for n, one in enumerate(pictures, 1)]
        failed = any(item["failure"] for item in items)
        whole = sample(items, cut_text, baseline=baseline)
        folds.append(
            Fold(
                f"{id}{' · with a failure' if failed else ''}",
                (*images, *whole),
                f"case-{id}",
            )
        )
    if not folds:
        return None
    return Section("cases", "Cases", (Paragraph(data.selection.text, "note"), *folds), menu="Cases", only="page")


def cut_text(text: str) -> str:
    """Return a text as a page shows it: its first characters, and how many were left out."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text) - LONGEST:,} characters more)"


def sample(views: Views, cut: Cut, *, baseline: bool = True) -> Iterator[Block]:
    """Yield one case whole: what was asked, each pair of answers, and what the judge said in each order.

    An answer that several are held against stands once. `baseline` says that it is called so: in an arena none is.
    """
    shown: set[tuple[str, int, str]] = set()
    for number, item in enumerate(views):
        if not number:
            yield from _asked(item, cut)
        model, other, repeat = item["model"], item["baseline"], item["repeat"]
        named = f" · repeat {repeat + 1}" if repeat else ""
        texts = [(f"{model}{named}", model, item["response"] or "")]
        called = f"{other}{named} (the baseline)" if baseline else f"{other}{named}"
        texts.insert(0 if baseline else 1, (called, other, item["baseline_response"] or ""))
        new = [one for one in texts if (one[1], repeat, one[2]) not in shown]
        shown |= {(name, repeat, text) for _, name, text in new}
        described = [(Span("description", "strong"), cut(item["descriptions"]))] if item["descriptions"] else []
        if described or new:
            yield Texts([*described, *((Span(title, "strong"), cut(text)) for title, _, text in new)])
        said = [_judged(one, model, other, cut) for one in item["judgements"]]
        failed = Span(f"{item['failure']}: {item['reason']}", "bad")
        yield Texts(said or [((f"{model}{named} against {other}: ", failed), "")])


def _asked(item: Mapping[str, Any], cut: Cut) -> Iterator[Block]:
    """Yield a case as it was asked, with what it is judged by."""
    pictures = [
        (f"image {at}", Span(f"{one['width']} × {one['height']}, {one['sha256'][:12]}", "muted"))
        for at, one in enumerate(item["images"], start=1)
    ]
    task = " · ".join(filter(None, (item["category"], item["task"])))
    yield Facts([*pictures, ("task", task or figures.NOTHING)])
    general = " (general: the case has none)" if item["general_criteria"] else ""
    told = [
        ("request", item["prompt"]),
        (f"criteria{general}", item["criteria"]),
        ("criteria of visual factuality", _factuality(item)),
        *([("ground truth", item["ground_truth"])] if item["ground_truth"] else []),
    ]
    yield Texts([(Span(name, "muted"), cut(text)) for name, text in told])


def _factuality(item: Mapping[str, Any]) -> str:
    """Return the criteria of visual factuality, and why it does not apply where it does not."""
    why = item["factuality_not_applicable"]
    return "\n".join(filter(None, (item["factuality_criteria"], why and f"not applicable: {why}")))


def _judged(one: Mapping[str, Any], model: str, other: str, cut: Cut) -> tuple[Cell, str]:
    """Return what the judge said in one order, and its reasoning, cut."""
    order = f"{model} shown {one['place']}, {other} {'second' if one['place'] == 'first' else 'first'}: "
    if one["failure"]:
        return (order, Span(f"{one['asked']} failed, {one['failure']}: {one['reason']}", "bad")), ""
    reasoning = cut(_shortened(one.get("said") or ""))
    if one["asked"] == "verdict":
        value = one["verdict"]
        verdict = Span(f"{model} is {SAID[value]}", "good" if value > 0 else "bad" if value < 0 else "strong")
        return (order, verdict), reasoning
    scores = f"visual factuality {one['score']:g}, of {other} {one['baseline_score']:g}"
    return (order, Span(scores, "strong")), reasoning


def _shortened(text: str) -> str:
    left = len(text) - REASONING
    return text if left <= 0 else f"{text[:REASONING]} … ({left:,} characters more; --raw shows all)"
