"""A comparison of judging methods, drawn: accuracy by judge and method as heat map and table, gaps, order, cost."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any

from dokimasia.methods.judging.charts import accuracy_map, cost_and_accuracy
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Fold, Paragraph, Section, Span, Table
from dokimasia.report.data import Cut, Drawing, ReportData
from dokimasia.report.sections import provenance, skipped

MARGINS = 2
"""Digits of a margin that are printed."""


def accuracy(data: ReportData) -> Section:
    """Return the form of the paper's tables 1 and 2: pairwise accuracy by judge, method and category."""
    said = data.summary
    rankings: Mapping[str, Any] = said["rankings"]
    categories = _categories(said)
    columns = [Column("judge", numeric=False), Column("method", numeric=False), *map(Column, categories)]
    columns += [Column("all", meaning="with its 95 % interval, clustered by images"), Column("pairs"), Column("judged")]
    columns += [Column("bounds", only="page", meaning="were all failed judgements wrong, or right")]
    rows: list[Sequence[Cell]] = []
    for judge, method, one in _each(said):
        place = figures.pointer("results", judge, method)
        best = max(other["accuracy"]["share"] or 0 for other in said["results"][judge].values())
        tone = "strong" if one["accuracy"]["share"] == best else ""
        parts = [
            _tinted(one["by_category"][name], f"{place}/by_category{figures.pointer(name)}") for name in categories
        ]
        coverage = figures.share(one["coverage"], f"{place}/coverage")
        bounds = figures.percent_bounds(one["accuracy"])
        whole = _accuracy(one["accuracy"], f"{place}/accuracy")
        rows.append([judge, Span(method, tone), *parts, whole, str(one["accuracy"]["n"]), coverage, bounds])
    if (people := said["people"]) is not None:
        parts = [
            _tinted(people["by_category"][name], f"/people/by_category{figures.pointer(name)}") for name in categories
        ]
        whole = _accuracy(people["accuracy"], "/people/accuracy")
        rows.append([Span("people", "strong"), "one with another", *parts, whole, str(people["accuracy"]["n"]), "", ""])
    blocks: list[Block] = [
        Chart(
            accuracy_map(
                {
                    judge: {method: said["results"][judge][method]["accuracy"]["share"] for method in said["methods"]}
                    for judge in said["judges"]
                }
            ),
            "Pairwise accuracy against people, by judge and method, in percent",
        ),
        Table(columns, rows, "Pairwise accuracy by judge, method and category", sortable=True),
        Paragraph(
            f"Win, tie or loss of {rankings['comparisons']:,} comparisons ({rankings['pairs']:,} pairs of responses to "
            f"{rankings['samples']:,} samples, {rankings['annotators']} {'person' if rankings['annotators'] == 1 else 'people'}; "
            f"{figures.share(rankings['ties']).text} are ties). A pair that several people ranked counts once for each of "
            "them. Intervals know that the pairs of a sample, and the samples of an image, belong together.",
            "note",
        ),
        Paragraph(_people_text(said), "note"),
    ]
    if rankings["without"]:
        text = f"{rankings['without']:,} samples of the data were ranked by nobody and are no part of this."
        blocks.append(Paragraph(text, "warning"))
    return Section("accuracy", "Agreement with people", (*blocks, *_failed(said)), menu="Accuracy")


def margins(data: ReportData) -> Section:
    """Return how ties are told: margins of each fold, and what accuracy is without any."""
    said = data.summary
    columns = [Column("judge", numeric=False), Column("method", numeric=False), Column("margins", numeric=False)]
    columns += [Column("ties", meaning="share of the verdicts"), Column("accuracy"), Column("with equal scores alone")]
    rows: list[Sequence[Cell]] = []
    for judge, method, one in _each(said):
        place = figures.pointer("results", judge, method)
        told = ", ".join(f"{margin:.{MARGINS}f}" for margin in one["margins"])
        ties = figures.share(one["ties"], f"{place}/ties")
        whole, plain = (_accuracy(one[name], f"{place}/{name}") for name in ("accuracy", "unfitted"))
        rows.append([judge, method, told, ties, whole, plain])
    folds = said["rankings"]["folds"]
    text = (
        "Scores that lie no further apart than a margin are a tie. "
        f"The images are drawn into {folds} folds, and the margin of each is the one that agrees best with people on all "
        "others, so that no margin is reported on what it was fitted on."
        if folds > 1
        else "Only equal scores are a tie: with one image there is nothing else that a margin could be fitted on."
    )
    return Section("ties", "Ties", (Table(columns, rows, "Margins of ties"), Paragraph(text, "note")), menu="Ties")


def gaps(data: ReportData) -> Section | None:
    """Return the paired differences between methods, tested together."""
    found: Sequence[Mapping[str, Any]] = data.summary["gaps"]
    if not found:
        return None
    columns = [Column("judge", numeric=False), Column("second less first", numeric=False)]
    columns += [Column("points", meaning="with the 95 % interval"), Column("pairs"), Column("adjusted p")]
    whole = [(at, gap) for at, gap in enumerate(found) if gap["category"] is None]
    parts = [(at, gap) for at, gap in enumerate(found) if gap["category"] is not None]
    table = Table(columns, [_gap(at, gap) for at, gap in whole], "Differences between methods", sortable=True)
    text = (
        f"Two-sided sign flips of whole images; adjusted after Benjamini and Hochberg over all {len(found):,} differences of "
        "methods, categories and judges together."
    )
    blocks: list[Block] = [table, Paragraph(text, "note")]
    if parts:
        named = [columns[0], Column("category", numeric=False), *columns[1:]]
        rows = [[row[0], gap["category"], *row[1:]] for at, gap in parts for row in (_gap(at, gap),)]
        inner = Table(named, rows, "Differences between methods by category", sortable=True)
        blocks.append(Fold(f"By category: {len(parts):,} differences", [inner], "gaps-by-category"))
    return Section("gaps", "Differences between methods", blocks, menu="Differences")


def order(data: ReportData) -> Section | None:
    """Return what the order in which a batch is shown does to its ranking."""
    found: Mapping[str, Any] = data.summary["order"]
    if not found:
        return None
    columns = [Column("judge", numeric=False), Column("orders")]
    columns += [
        Column("same verdict in two orders"),
        Column("prefers the earlier", meaning="ties left out; 50 % is no effect"),
    ]
    columns += [Column("p")]
    rows: list[Sequence[Cell]] = []
    for judge, one in found.items():
        place = figures.pointer("order", judge)
        same, earlier = (_accuracy(one[name], f"{place}/{name}") for name in ("consistent", "earlier"))
        rows.append([judge, str(one["orders"]), same, earlier, figures.p_value(one["p_value"])])
    text = (
        "Each second order is the one before it backwards, so that every two responses are seen both ways; a response's "
        "score is the mean share of the others that it is ranked above."
    )
    blocks = (Table(columns, rows, "What the order does to batch rankings"), Paragraph(text, "note"))
    return Section("order", "The order of a batch", blocks, menu="Order")


def cost(data: ReportData) -> Section:
    """Return what each method used, and what a point of accuracy comes to."""
    said = data.summary
    columns = [Column("judge", numeric=False), Column("method", numeric=False), Column("calls")]
    columns += [Column("tokens in"), Column("tokens out"), Column("cost")]
    columns += [Column("calls a point"), Column("cost a point", meaning="of accuracy, in percent; with the interval")]
    rows: list[Sequence[Cell]] = []
    for judge, method, one in _each(said):
        place = figures.pointer("results", judge, method)
        used = [figures.count(one[name], f"{place}/{name}") for name in ("calls", "input_tokens", "output_tokens")]
        points = [_per_point(one["per_point"][name], f"{place}/per_point/{name}") for name in ("calls", "cost")]
        rows.append([judge, method, *used, figures.cost_of(one, place), *points])
    placed = [
        (judge, method, one["calls"] if not said["cost"] else one["cost"], one["accuracy"]["share"])
        for judge, method, one in _each(said)
        if one["accuracy"]["share"] is not None and one["cost"] is not None
    ]
    blocks: list[Block] = []
    if placed:
        unit = "calls" if not said["cost"] else "US dollars"
        blocks.append(Chart(cost_and_accuracy(placed, unit=unit), f"Accuracy over what a method used, in {unit}"))
    text = (
        "Each method is charged with all that it rests on, such as the chain that several share. "
        f"All together: {figures.used(said)}."
    )
    if several := sum(one["calls"] for _, _, one in _each(said)) - said["calls"]:
        text += (
            f" The methods' calls add up to {several:,} more: a call that several methods rest on is charged to each of "
            "them, and was made once."
        )
    table = Table(columns, rows, "What each method used", sortable=True)
    return Section("cost", "Cost", (*blocks, table, Paragraph(text, "note")), menu="Cost")


def sample(views: Sequence[Mapping[str, Any]], cut: Cut) -> Iterator[Block]:
    """Yield the judgements of one sample."""
    columns = [Column(title, numeric=False) for title in ("judge", "method", "model", "draw")]
    rows = [
        [
            view["judge"],
            view["method"],
            view["model"],
            str(view["draw"] + 1),
            Span(cut(f"{view['failure']}: {view['reason']}"), "bad")
            if view["failure"]
            else ", ".join(view["ranks"])
            if view["ranks"]
            else f"{view['score']:.2f}",
        ]
        for view in views
    ]
    yield Table([*columns, Column("judgement", numeric=False)], rows, "Judgements")


def _each(said: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for judge in said["judges"]:
        for method in said["methods"]:
            yield judge, method, said["results"][judge][method]


def _categories(said: Mapping[str, Any]) -> list[str]:
    first = said["results"][said["judges"][0]][said["methods"][0]]
    return sorted(first["by_category"])


def _tinted(one: Mapping[str, Any], place: str) -> Cell:
    if one["share"] is None:
        return figures.NOTHING
    return Span(f"{100 * one['share']:.1f}", "", f"{place}/share", one["share"], one["share"])


def _accuracy(one: Mapping[str, Any], place: str) -> Cell:
    if one["share"] is None:
        return figures.NOTHING
    limits = figures.bracketed(one, lambda end: f"{100 * end:.1f}").replace(" ", "\u00a0")
    return (Span(f"{100 * one['share']:.1f}", "strong", f"{place}/share", one["share"]), Span(limits, "muted"))


def _gap(at: int, gap: Mapping[str, Any]) -> list[Cell]:
    place = figures.pointer("gaps", str(at))
    names = f"{gap['second']} − {gap['first']}"
    found = gap["difference"]
    if found is None:
        return [gap["judge"], names, figures.NOTHING, "0", figures.NOTHING]
    sure = gap["adjusted"] is not None and gap["adjusted"] <= figures.SURE
    mean = Span(
        figures.signed_text(found["mean"], 1), "strong" if sure else "", f"{place}/difference/mean", found["mean"]
    )
    limits = Span(figures.bracketed(found, lambda end: figures.signed_text(end, 1)), "muted")
    return [gap["judge"], names, (mean, limits), str(gap["n"]), figures.p_value(gap["adjusted"])]


def _per_point(one: Mapping[str, Any] | None, place: str) -> Cell:
    if one is None:
        return figures.NOTHING
    digits = 2 if one["mean"] >= 1 else 4
    least = next((value for value in (one["mean"], one["low"]) if value), 0)
    if 0 < least < 1e-4:  # so little that four digits would show nothing
        digits = 1 - floor(log10(least))
    return figures.measured(one, place, digits=digits, ends=digits)


def _people_text(said: Mapping[str, Any]) -> str:
    people = said["people"]
    if people is None:
        return "No two people ranked the same pair, so there is no figure of how far people agree among themselves."
    return (
        f"Two people agree on {100 * people['accuracy']['share']:.1f} % of the pairs that both ranked. A method is held against "
        "one person at a time, too; one that knows what most of them think can do better than one person does."
    )


def _failed(said: Mapping[str, Any]) -> Iterator[Block]:
    lines = [
        f"{judge}, {method}: {figures.counts(one['failures'])}" for judge, method, one in _each(said) if one["failures"]
    ]
    if lines:
        yield Paragraph("Failed judgements, which are no numbers: " + "; ".join(lines) + ".", "warning")


DRAWING = Drawing(
    "comparison of judging methods",
    (accuracy, gaps, margins, order, cost, skipped.section, provenance.section),
    sample=sample,
)
