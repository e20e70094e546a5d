"""The diagnosis in the report: what is marked, every table with its intervals, charts, and the atoms behind each mark."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.refinement import SOLVED
from dokimasia.methods.diagnosis.blocks.charts import SPOKES, bars_figure, heat_map, leaf_bars, radar, stacked_ranks
from dokimasia.methods.diagnosis.blocks.prose import prose
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Chart, Column, Fold, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData
from dokimasia.report.verdicts import NOT_STATED

TONES: Mapping[str, Any] = {"weak": "bad", "worse": "bad", "strong": "good", "better": "good", "unclear": "muted"}
SHORT = ("models", "categories", "pairs", "ties", "top-ties", "ranks", "stability", "failures", "reasons", "modes")
MOST_ROWS = 200
ANSWER = 280

Asset = Mapping[str, Any]


def section(data: ReportData) -> Section | None:
    """Return the diagnosis; None where the run was not diagnosed."""
    found = data.addition("diagnosis")
    if found is None:
        return None
    assets: Mapping[str, Asset] = {asset["id"]: asset for asset in found["assets"]}
    evidence: Mapping[str, Any] = found["evidence"]
    links = {row: f"#{evidence_id(row)}" for row in found["cited"] if row in evidence}
    cards = {view["sample"]["id"]: f"#s-{number}" for number, view in enumerate(data.samples, start=1)}
    blocks: list[Block] = [
        Paragraph(_lead(found, assets), "lead"),
        *(Paragraph(note, "warning") for note in found["notes"]),
        *_marked(assets, evidence),
        *(prose(found["words"], links) if found["words"] is not None else ()),
        *_leaves(assets, evidence),
    ]
    for asset in assets.values():
        if asset["id"].startswith("radar/") and len(asset["rows"]) in SPOKES:
            blocks.append(Chart(radar(asset), f"{asset['title']}. {asset['sentence']}"))
    heat = assets.get("heatmap")
    if heat is not None and heat["rows"]:
        blocks.append(Chart(heat_map(heat), f"{heat['title']}. {heat['sentence']}"))
        blocks.append(Fold(f"{heat['title']}, as a table", tuple(table(heat))))
    ranks = assets.get("ranks")
    if ranks is not None and ranks["rows"]:
        blocks.append(Chart(stacked_ranks(ranks), f"{ranks['title']}. {ranks['sentence']}"))
    for name in SHORT:
        if name in assets:
            blocks.append(Fold(assets[name]["title"], tuple(table(assets[name]))))
    for asset in assets.values():
        if asset["id"].startswith(("leaves/", "answers/", "modes/", "examples/")) or asset["id"] == "contrasts":
            blocks.append(Fold(asset["title"], tuple(table(asset, cards=cards, evidence=evidence))))
    if evidence:
        note = "A sample's name leads to its picture and whole answers where this page has them; --samples N takes in more."
        titles = {id: asset["title"] for id, asset in assets.items()}
        behind = (Paragraph(note, "note"), *(_behind(place, one, cards, titles) for place, one in evidence.items()))
        title = "The atoms behind what is marked, what is cited, and each model's lowest leaves"
        blocks.append(Fold(title, behind))
    return Section("diagnosis", "Diagnosis", blocks)


def evidence_id(place: str) -> str:
    """Return the page's id of the evidence of a row, `ASSET:ROW`."""
    return "why-" + "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in place)


def _lead(found: Mapping[str, Any], assets: Mapping[str, Asset]) -> str:
    ground = f"the capability tree {found['tree']}@{found['position']}" if found["tree"] else "the data's categories"
    nodes = (row for one in assets.values() if one["id"].startswith("nodes/") for row in one["rows"])
    marks = Counter(row["mark"] for row in nodes)
    models = figures.several(len(found["models"]), "model")
    return f"{models} on {ground}: {marks['weak']} weak and {marks['strong']} strong nodes beyond chance."


def _marked(assets: Mapping[str, Asset], evidence: Mapping[str, Any]) -> Iterator[Block]:
    """Yield one table of all weak and strong nodes; each row opens its evidence."""
    rows: list[list[Cell]] = []
    for asset in assets.values():
        if not asset["id"].startswith("nodes/"):
            continue
        for number, row in enumerate(asset["rows"], start=1):
            place = f"{asset['id']}:{number}"
            name, score, gap, q_value = row["cells"][:4]
            href = f"#{evidence_id(place)}" if place in evidence else ""
            rows.append(
                [
                    Span(row["model"], "strong"),
                    Span(row["mark"], TONES.get(row["mark"], "")),
                    Span(str(name["value"]), "strong", href=href),
                    _number(score, "score", "points of 100"),
                    figures.interval(score, digits=1),
                    _number(gap, "difference", "points of 100"),
                    figures.interval(gap, signed=True, digits=1),
                    figures.p_value(q_value["value"]),
                    _counted(row),
                ]
            )
    if not rows:
        yield Paragraph(
            "No leaf or node of any model is significantly weaker or stronger than the rest of that model.", "note"
        )
        return
    columns = (
        Column("model", numeric=False),
        Column("", numeric=False),
        Column("node", numeric=False, meaning="a click shows the atoms behind it"),
        Column("score", meaning="mean over scored criteria, 0 to 100"),
        Column("95 % interval"),
        Column("against the rest", meaning="mean here minus mean of the model's other criteria"),
        Column("95 % interval"),
        Column(
            "adjusted p", meaning="exchange of whole images' leaves; Benjamini and Hochberg over all models and nodes"
        ),
        Column("criteria", meaning="scored, of those that were asked"),
    )
    yield Table(columns, rows, "Weak and strong nodes of all models", sortable=True)


def _leaves(assets: Mapping[str, Asset], evidence: Mapping[str, Any]) -> Iterator[Block]:
    tables = {asset["model"]: asset for asset in assets.values() if asset["id"].startswith("leaves/") and asset["rows"]}
    if not tables:
        return
    variants: dict[str, Mapping[str, Any]] = {}
    for model, asset in tables.items():
        places = {at: f"{asset['id']}:{at}" for at in range(1, len(asset["rows"]) + 1)}
        opens = {at: evidence_id(place) for at, place in places.items() if place in evidence}
        variants[model] = leaf_bars(asset, opens)
    rows = max(len(asset["rows"]) for asset in tables.values())
    leaves = [str(row["cells"][0]["value"]) for asset in tables.values() for row in asset["rows"]]
    yield Chart(
        bars_figure(next(iter(variants.values())), rows, leaves),
        "Scores of one model, the lowest first, with 95 % intervals where there are any. "
        "Red is weaker and green stronger than the rest of that "
        "model beyond chance. Amber is below the model's mean and blue above it by no more than chance explains. A click on "
        "one of the three lowest bars, or on a marked one, shows the atoms behind it.",
        picks="Model",
        variants=variants,
    )


def table(
    asset: Asset,
    *,
    cards: Mapping[str, str] | None = None,
    evidence: Mapping[str, Any] | None = None,
    most: int | None = MOST_ROWS,
) -> Iterator[Block]:
    """Yield an asset's sentence and its rows, sortable; samples and rows with evidence are links, `most` cuts the rows."""
    yield Paragraph((asset["sentence"], Span(f"  [{asset['id']}]", "muted")), "note")
    if not asset["rows"]:
        return
    columns = [
        Column("", only="terminal"),
        *(
            Column(column["name"], numeric=column["kind"] not in ("name", "mark"), meaning=_meaning(column))
            for column in asset["columns"]
        ),
        Column(asset["counts"], meaning="with a score, of those asked"),
    ]
    rows: list[list[Cell]] = []
    for number, row in enumerate(asset["rows"][:most], start=1):
        place = f"{asset['id']}:{number}"
        sample = row["samples"][0] if asset["id"].startswith(("answers/", "examples/")) and row["samples"] else ""
        href = (cards or {}).get(sample, "") or (f"#{evidence_id(place)}" if place in (evidence or {}) else "")
        cells: list[Cell] = [
            _cell(column, cell, href if not at else "")
            for at, (column, cell) in enumerate(zip(asset["columns"], row["cells"], strict=True))
        ]
        rows.append([str(number), *cells, _counted(row)])
    yield Table(columns, rows, asset["title"], sortable=True)
    if len(asset["rows"]) > len(rows):
        more = f"dokimasia diagnose RUN --asset {asset['id']}"
        yield Paragraph(
            (f"The first {len(rows)} of {len(asset['rows'])} rows; all of them: ", Span(more, "code")), "note"
        )


def _meaning(column: Mapping[str, Any]) -> str:
    return "adjusted together as the sentence above says" if column["kind"] == "p_value" else column["unit"]


def _behind(place: str, found: Mapping[str, Any], cards: Mapping[str, str], titles: Mapping[str, str]) -> Fold:
    """Return the atoms behind a row, each with its sample, question, truth, answer and score."""
    items: list[Cell] = []
    for one in found["shown"]:
        items.append(
            (
                Span(one["sample"], "strong", href=cards.get(one["sample"], "")),
                f", criterion {one['criterion']}: ",
                score_of(one),
                f". {one['question']} ",
                Span(f"Truth: {one['ground_truth']} ", "muted"),
                Span(f"Answer: {shortened(one['answer'])}", "muted"),
            )
        )
    models = ", ".join(found["models"])
    blocks: Sequence[Block] = (
        Paragraph(
            f"{models}: {found['scored']} of {found['atoms']} atoms have a score; {len(items)} are shown.", "note"
        ),
        Bullets(items),
    )
    name = found["node"].rpartition("<")[2].rstrip(">") if found["node"] else titles.get(found["asset"] or "", "")
    return Fold(f"Behind {models}, {name} [{place}]", blocks, evidence_id(place))


def _cell(column: Mapping[str, Any], cell: Mapping[str, Any], href: str) -> Cell:
    value = cell["value"]
    if value is None:
        return figures.NOTHING
    if isinstance(value, str):
        return Span(value, TONES.get(value, "") if column["kind"] == "mark" else "", href=href)
    shown = _number(cell, column["kind"], column["unit"])
    if cell["low"] is None or cell["high"] is None:
        return (shown, Span(f"  {figures.no_interval(cell).text}", "muted")) if cell.get("no_interval") else shown
    ends = [_number({"value": cell[end]}, column["kind"], column["unit"]).text for end in ("low", "high")]
    between = " to " if column["kind"] == "difference" else "–"
    return shown, Span(f"  {ends[0]}{between}{ends[1]}", "muted")


def _number(cell: Mapping[str, Any], kind: str, unit: str) -> Span:
    value = cell["value"]
    if value is None:
        return figures.NOTHING
    if kind == "count":
        return figures.count(int(value))
    if kind == "share":
        return figures.share(value)
    if kind == "p_value":
        return figures.p_value(value)
    digits = 1 if "100" in unit else 2
    if kind == "difference":
        return Span(figures.signed_text(value, digits), "strong", "", value)
    return Span(f"{value:.{digits}f}", "strong", "", value)


def _counted(row: Mapping[str, Any]) -> Cell:
    return figures.count(row["n"]) if row["n"] == row["held"] else (figures.count(row["n"]), f"/{row['held']:,}")


def score_of(atom: Mapping[str, Any]) -> Span:
    """Return what an atom of the evidence scored, that the answer does not speak to it, or how it failed."""
    if atom["score"] is None:
        return Span(f"failed: {atom['failure']}", "bad")
    if not atom["stated"]:
        return Span(NOT_STATED, "muted")
    return Span(f"score {atom['score']} of 5", "good" if atom["score"] >= SOLVED else "bad")


def shortened(text: str | None, most: int = ANSWER) -> str:
    """Return a text on one line, cut after `most` characters."""
    plain = " ".join((text or "none").split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
