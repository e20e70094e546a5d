"""Failure modes in the report: what they are, how often they are seen and where, how sure that is, and examples of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Facts,
    Fold,
    Image,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
)
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.figures import several
from dokimasia.report.sections import provenance

NO_MODE = "none of these"
MOST_LEAVES = 40
MOST_TEXT = 1_500
Figures = Mapping[str, Any]
Links = Mapping[str, str]


def own_section(data: ReportData) -> Section:
    """Return the modes of an analysis, on its own page; examples lead to the samples that this shows."""
    links = {view["sample"]["id"]: f"#{_anchor(view['sample']['id'])}" for view in data.samples if "answers" in view}
    return Section("modes", "Failure modes", list(_blocks(data.summary, links)))


def section(data: ReportData) -> Section | None:
    """Return the modes of an evaluation's failures, on its page; examples lead to its samples. None without any."""
    found = data.addition("modes")
    if found is None:
        return None
    links = {view["sample"]["id"]: f"#s-{number}" for number, view in enumerate(data.samples, start=1)}
    return Section("modes", "Failure modes", list(_blocks(found, links)))


def samples(data: ReportData) -> Section | None:
    """Return the samples that examples are of, each with its picture and the answers; None where none is shown."""
    shown = [view for view in data.samples if "answers" in view]
    if not shown:
        return None
    folds = [Fold(view["sample"]["id"], tuple(_whole(view, data)), _anchor(view["sample"]["id"])) for view in shown]
    return Section("samples", "Samples of the examples", folds, only="page")


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the atoms of one sample: what was asked of each, and what coders saw."""
    columns = ("model", "", "criterion", "group", "mode", "words of the answer", "second coder")
    rows: list[Sequence[Cell]] = [
        [
            Span(view["model"], "strong"),
            str(view["criterion"]),
            cut(view["question"]),
            view["group"],
            view["mode"] or Span(f"{view['failure']}: {view['reason'] or ''}", "bad"),
            cut(view["quote"] or ""),
            view["second"] or "",
        ]
        for view in views
    ]
    yield Table(
        [Column(name, numeric=False) for name in columns], rows, "Atoms of the sample and what was seen in them"
    )


def _blocks(found: Figures, links: Links) -> Iterator[Block]:
    groups = found["atoms"]
    yield Paragraph(
        f"{len(found['modes'])} failure modes, counted on {groups['failed']['n_scored']:,} of {groups['failed']['there']:,} "
        f"failed atoms and {groups['met']['n_scored']:,} that were met, by {found['judge']}, who knew neither scores nor models.",
        "lead",
    )
    for note in found["notes"]:
        yield Paragraph(note, "warning")
    yield from _making(found)
    if not found["modes"]:
        return
    yield _overall(found)
    yield _failures(found)
    if len(found["models"]) > 1:
        yield _by_model(found)
        yield from _contrasts(found)
    leaves = _by_leaf(found)
    if leaves is not None:
        yield Fold("By capability: where each mode is seen", (leaves,))
    yield Facts([(one["name"], (Span(f"{one['kind']}. ", "muted"), one["definition"])) for one in found["modes"]])
    for one in found["modes"]:
        if one["examples"]:
            title = f"{one['name']}: {several(len(one['examples']), 'example')}"
            yield Fold(title, (Bullets([_example(each, links) for each in one["examples"]]),))


def _making(found: Figures) -> Iterator[Block]:
    """Yield how the modes were made, and how far coders agree."""
    made = found["making"]
    if made is not None:
        end = (
            f"the last new mode came with note {made['notes_to_last']}, and two further batches brought none"
            if made["settled"]
            else f"the last new mode came with note {made['notes_to_last']} of {made['notes']}"
        )
        text = (
            f"Made from {several(made['notes'], 'note')} on {several(made['atoms'], 'failed atom')} of the other half of the "
            f"samples: {end}. {several(made['merged'], 'mode')} merged into others, {several(made['loose'], 'note')} under none"
        )
        if made["nothing"]:
            text += f"; of {several(made['nothing'], 'failed atom')} the reader found nothing wrong"
        yield Paragraph(f"{text}.", "note")
        if made["failures"] or made["unsorted"]:
            lost = figures.counts(made["failures"]), figures.counts(made["unsorted"])
            yield Paragraph(f"Not read: {lost[0]} atoms; not sorted: {lost[1]} batches of notes.", "warning")
    elif found["given"]:
        yield Paragraph("The modes were taken from a file; images that they were made on are not counted.", "note")
    said = found["agreement"]
    if said["n"]:
        alone = (", on failed atoms alone ", *_kappa(found["agreement_failed"]))
        names = f"{found['judge']} and {found['coder']} agree: "
        if found["same_coder"]:
            names = f"{found['judge']}, asked again in another order, which says how steady one judge is, agrees with itself: "
        yield Paragraph((names, *_kappa(said), *alone, "."), "note")


def _kappa(said: Figures) -> tuple[str | Span, ...]:
    counts = f"{said['agreed']} of {said['n']} atoms"
    if said["kappa"] is None:
        return (f"{counts}, Cohen's kappa has no value",)
    ends = figures.bracketed(said, "{:.2f}".format)
    return (f"{counts}, Cohen's kappa ", Span(f"{said['kappa']:.2f}", "strong", "", said["kappa"]), Span(ends, "muted"))


def _overall(found: Figures) -> Table:
    columns = (
        Column("mode", numeric=False),
        Column("", numeric=False),
        Column("failed atoms", meaning="in which it is seen, with the 95 % interval of the share, clustered by image"),
        Column("atoms that were met", meaning="in which it is seen all the same"),
        Column("right answers", meaning="whose final answer is right, in which it is seen at least once"),
        Column("wrong answers", meaning="whose final answer is wrong, in which it is seen at least once"),
    )
    rows = [_row(one["name"], one, found["modes"].index(one)) for one in found["modes"]]
    if found["none"] is not None:
        rows.append(_row(NO_MODE, found["none"], None))
    return Table(columns, rows, "Failure modes and how often they are seen", sortable=True)


def _row(name: str, one: Figures, at: int | None) -> list[Cell]:
    place = "/none" if at is None else f"/modes/{at}"
    kind = one.get("kind", "")
    groups = ("failed", "met") if at is None else ("failed", "met", "right", "wrong")
    shares: list[Cell] = [figures.share_of(one[group], f"{place}/{group}") for group in groups]
    if at is None:  # in how many answers some atom has no mode says nothing
        shares += [figures.NOTHING, figures.NOTHING]
    return [Span(name, "muted" if at is None else "strong"), kind, *shares]


def _failures(found: Figures) -> Paragraph:
    failed = figures.counts(found["failures"])
    lost = sum(found["failures"].values())
    if not lost:
        return Paragraph("Every atom that was drawn was coded.", "note")
    misquoted = (
        f", {found['misquoted']} of them since a phrase does not stand in the answer" if found["misquoted"] else ""
    )
    return Paragraph(f"Not coded, and counted under nothing: {failed}{misquoted}.", "warning")


def _by_model(found: Figures) -> Table:
    models = found["models"]
    rows: list[Sequence[Cell]] = []
    for one in [*found["modes"], {"name": NO_MODE, **found["none"]}]:
        rows.append([Span(one["name"], "strong"), *(figures.share_of(one["models"][model]) for model in models)])
    columns = [Column("share of failed atoms", numeric=False), *(Column(model) for model in models)]
    return Table(columns, rows, "Failure modes by model")


def _contrasts(found: Figures) -> Iterator[Block]:
    """Yield where a model's failures differ from the others', or that they do nowhere beyond chance."""
    tested = [one for one in found["contrasts"] if one["p_value"] is not None]
    marked = [one for one in tested if one["verdict"] in ("more often", "less often")]
    if not marked:
        looked = f"none of {len(tested)} comparisons shows a difference beyond chance"
        few = "too few samples were failed by several models to compare them"
        yield Paragraph(f"What distinguishes models: {looked if tested else few}.", "note")
        return
    columns = (
        Column("model", numeric=False),
        Column("", numeric=False),
        Column("mode", numeric=False),
        Column(
            "against the others", meaning="share of failed atoms, less the others' mean, on samples that both failed"
        ),
        Column("95 % interval"),
        Column("samples"),
        Column(
            "adjusted p", meaning="exchange of models within images; Benjamini and Hochberg over all models and modes"
        ),
    )
    rows: list[Sequence[Cell]] = [
        [
            Span(one["model"], "strong"),
            Span(one["verdict"], "bad" if one["verdict"] == "more often" else "good"),
            one["mode"],
            Span(figures.signed_text(one["difference"]), "strong", "", one["difference"]),
            figures.interval(one, signed=True),
            str(one["n"]),
            figures.p_value(one["adjusted"]),
        ]
        for one in marked
    ]
    yield Table(columns, rows, "Where a model's failures differ from those of the others")


def _by_leaf(found: Figures) -> Table | None:
    rows: list[tuple[str, int, list[Cell]]] = []
    for one in found["modes"]:
        for leaf, share in one["leaves"].items():
            name = leaf.rpartition("<")[2].rstrip(">")
            rows.append((name, share["k"], [name, Span(one["name"], "strong"), figures.share_of(share)]))
    if not rows:
        return None
    rows.sort(key=lambda row: (-row[1], row[0]))
    columns = (Column("capability", numeric=False), Column("mode", numeric=False), Column("failed atoms"))
    return Table(columns, [cells for *_, cells in rows[:MOST_LEAVES]], "Failure modes by capability", sortable=True)


def _example(one: Figures, links: Links) -> Cell:
    words: tuple[str | Span, ...] = (
        (Span(f"\u201c{one['quote']}\u201d", "cited"), " ")
        if one["quote"]
        else (Span("says nothing of it. ", "muted"),)
    )
    repeat = f", repeat {one['repeat'] + 1}" if one["repeat"] else ""
    return (
        Span(one["model"], "strong"),
        " on ",
        Span(one["sample"], "strong", href=links.get(one["sample"], "")),
        f"{repeat}, atom {one['criterion']}: ",
        *words,
        Span(f"{one['question']} Truth: {one['ground_truth']}", "muted"),
    )


def _whole(view: Figures, data: ReportData) -> Iterator[Block]:
    asked = view["sample"]
    for image in asked["images"]:
        picture = data.pictures.get(image["sha256"])
        about = f"image, {image['width']} × {image['height']}"
        problem = f": {picture.problem}" if picture and picture.problem else ""
        yield Image(picture.uri if picture else "", f"{about}{problem}")
    yield Paragraph(Span(asked["prompt"], "strong"))
    yield Texts([(Span(one["model"], "strong"), _cut(one["text"])) for one in view["answers"]])


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} … {len(text) - MOST_TEXT:,} more characters"


def _anchor(sample: str) -> str:
    return "sample-" + "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in sample)


DRAWING = Drawing(
    "failure modes",
    (own_section, samples, provenance.section),
    terminal=(own_section,),
    sample=sample,
)
