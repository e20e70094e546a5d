"""Before and after, side by side: each failed answer with its failed atoms marked, what was said of them, and the answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.refinement import SOLVED
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Fold,
    Image,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
    Tone,
)
from dokimasia.report.data import Picture, ReportData

MOST = 1_500
"""Characters of one text; what is longer is cut, and says so."""


def section(data: ReportData) -> Section | None:
    """Return the failed answers that the report shows; None where it shows none."""
    if not data.samples:
        return None
    chosen = data.selection
    note = f"{chosen.failed_shown} of the {chosen.failed} samples with a failed answer"
    if chosen.failed_shown < chosen.failed:
        note += f", drawn by seed {chosen.seed}; the figures above count all of them"
    blocks: list[Block] = [
        Paragraph(
            f"{note}. An atom marked ✗ is failed (3 or below), the others are solved. Shown: a feedback may name it; withheld: "
            "none does; not fed back: it cannot be. Each arm is shown as it ended.",
            "note",
        )
    ]
    blocks += [Fold(_title(view), tuple(sample(view, data.pictures))) for view in data.samples]
    return Section("before-and-after", "Before and after", blocks, only="page")


def _title(view: Mapping[str, Any]) -> str:
    """The sample's id and, by model, in which arms it came out right."""
    mended: dict[str, list[str]] = {}
    for one in _ends(view["rounds"]):
        right = mended.setdefault(_named(one), [])
        if one["answered"] == "right" and one["arm"] != "original":
            right.append(one["arm"])
    parts = [f"{name}: right in {', '.join(arms)}" if arms else f"{name}: not mended" for name, arms in mended.items()]
    return f"{view['sample']['id']} · {' · '.join(parts)}"


def sample(view: Mapping[str, Any], pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield one sample whole: its atoms before and after, what was said in each arm, and the answers."""
    sample = view["sample"]
    for image in sample["images"]:
        picture = pictures.get(image["sha256"])
        about = f"image, {image['width']} × {image['height']}"
        problem = f": {picture.problem}" if picture and picture.problem else ""
        yield Image(picture.uri if picture else "", f"{about}{problem}", sha256=image["sha256"])
    yield Paragraph(Span(_cut(sample["prompt"]), "strong"))
    if sample["choices"]:
        yield Bullets([f"{chr(ord('A') + place)}. {_cut(choice)}" for place, choice in enumerate(sample["choices"])])
    if sample["reference_answer"] is not None:
        yield Paragraph((Span("Reference: ", "muted"), _cut(sample["reference_answer"])))
    answers: dict[str, list[Mapping[str, Any]]] = {}
    for one in view["rounds"]:
        answers.setdefault(_named(one), []).append(one)
    for name, rounds in answers.items():
        ends = _ends(rounds)
        yield Paragraph(Span(name, "strong"))
        yield _atoms(view["criteria"]["criteria"], ends)
        told = list(_told(rounds))
        if told:
            yield Bullets(told)
        yield Texts([(_heading(one), _text(one)) for one in ends])


def _atoms(criteria: Sequence[Mapping[str, Any]], ends: Sequence[Mapping[str, Any]]) -> Table:
    first = ends[0]
    marks = {**dict.fromkeys(first["shown"], "shown"), **dict.fromkeys(first["withheld"], "withheld")}
    marks |= {one["atom"]: f"not fed back: {one['why']}" for one in first["unused"]}
    columns = [
        Column("atom", numeric=False),
        Column("ground truth", numeric=False, meaning="never shown to the model"),
        Column("feedback", numeric=False),
        *(Column("before" if one["arm"] == "original" else one["arm"]) for one in ends),
    ]
    rows: list[list[Cell]] = []
    for number, criterion in enumerate(criteria, start=1):
        scores: list[Cell] = []
        for one in ends:
            values = one["before"] if one["arm"] == "original" else one["after"]
            scores.append(_score(values[number - 1]) if values else figures.NOTHING)
        mark = Span(marks.get(number, "solved"), "" if number in marks else "muted")
        rows.append([f"{number}. {_cut(criterion['question'])}", _cut(criterion["ground_truth"]), mark, *scores])
    return Table(columns, rows, "Scores by atom, before and after")


def _told(rounds: Sequence[Mapping[str, Any]]) -> Iterator[Cell]:
    """What was said in every round of every arm: the points, the hints, and what was kept back."""
    for one in rounds:
        for point in one["points"]:
            lead = f"{one['arm']}, round {one['round']}, atom {point['atom']}: "
            if point["hint"]:
                rewritten = ", in its second wording" if len(point["wordings"]) > 1 else ""
                yield (
                    Span(lead, "strong"),
                    f"its question, and a hint of {point['peer']}{rewritten}: ",
                    Span(_cut(point["hint"]), "muted"),
                )
            else:
                why = f", without a hint ({point['fallback']})" if point["fallback"] else ""
                yield (Span(lead, "strong"), f"its question{why}")
            for leak in (leak for wording in point["wordings"] for leak in wording["leaks"]):
                yield (Span(f"{lead}found to leak before it was sent ({leak['form']}): ", "bad"), _cut(leak["excerpt"]))


def _heading(one: Mapping[str, Any]) -> Cell:
    name = "before" if one["arm"] == "original" else one["arm"]
    if one["failure"]:
        return (Span(name, "strong"), " · ", Span(one["failure"], "bad"))
    tones: dict[str, Tone] = {"right": "good", "wrong": "bad"}
    verdict = Span(f"{one['answered']} ({one['rule']})", tones.get(one["answered"], "muted"))
    return (Span(name, "strong"), " · ", verdict)


def _text(one: Mapping[str, Any]) -> str:
    return _cut(one["text"]) if one["text"] else one["reason"] or "no answer"


def _score(value: float) -> Span:
    solved = value >= SOLVED
    return Span(f"{value:g}" if solved else f"✗ {value:g}", "good" if solved else "bad", "", value, (value - 1) / 4)


def _ends(rounds: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [one for one in rounds if one["last"]]


def _named(one: Mapping[str, Any]) -> str:
    return f"{one['model']} · repeat {one['repeat'] + 1}" if one["repeat"] else one["model"]


def _cut(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST]} … {len(text) - MOST:,} more characters"
