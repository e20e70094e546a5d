"""The whole report as one Markdown document: the sections of the page, with tables for charts and words for regions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.report.blocks import (
    Block,
    Browser,
    Bullets,
    Cell,
    Chart,
    Facts,
    Fold,
    Image,
    Paragraph,
    Span,
    Table,
    Texts,
    spans,
)
from dokimasia.report.browser import Clip, failures_of, looks_of, most_text
from dokimasia.report.data import SIMULATED_NOTE, ReportData
from dokimasia.report.overlay import look_text, region_text
from dokimasia.report.sections import sections_of

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~$@]|&(?=[#A-Za-z])|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
_AT_START = re.compile(r"^([#+=-]|\d+(?=[.)]))")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")
_TICKS = re.compile(r"`+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def render_document(data: ReportData) -> str:
    """Return the document; the same data give the same bytes. Its first line says if models are simulated."""
    lines: list[str] = []
    if data.simulated:
        lines += [f"> {SIMULATED_NOTE} ({inline(', '.join(data.simulated))})", ""]
    lines += [f"# Dokimasia: {inline(data.facts.data_name)}", ""]
    for section in sections_of(data):
        lines += [f"## {inline(section.title)}", "", *_blocks(section.blocks, data)]
    return "\n".join(lines).rstrip() + "\n"


def inline(text: str) -> str:
    """Return text that stands for itself within a line: no character of it is markup, whitespace is one space."""
    return _SPECIAL.sub(r"\\\g<0>", _SPACE.sub(" ", text).strip())


def opening(line: str) -> str:
    """Return a line of inline text so that it begins no heading, list or rule."""
    return _AT_START.sub(_start, line)


def _start(found: re.Match[str]) -> str:
    """Escape what would begin a heading, a list or a rule; a list's number by the mark after it."""
    return f"{found[1]}\\" if found[1].isdigit() else f"\\{found[1]}"


def fenced(text: str) -> str:
    """Return text as a block of code: its fence is longer than any in the text, so that nothing in it is markup."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{_CONTROL.sub(chr(0xFFFD), text)}\n{fence}"


def _blocks(blocks: Sequence[Block], data: ReportData) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph(text, kind):
                yield f"**{_cell(text)}**" if kind == "warning" else opening(_cell(text))
            case Table():
                yield _table(block)
            case Facts(rows):
                yield "\n".join(f"- {inline(name)}: {_cell(value)}" for name, value in rows)
            case Bullets(items):
                yield "\n".join(f"- {opening(_cell(item))}" for item in items)
            case Chart():
                continue
            case Fold(title, inner, _):
                yield f"### {inline(title)}"
                yield ""
                yield from _blocks(inner, data)
                continue
            case Image(_, about):
                yield opening(inline(about))
            case Texts(items):
                for title, text in items:
                    yield from (f"{opening(_cell(title))}:", "", fenced(text), "")
                continue
            case Browser(note):
                yield opening(inline(note))
                yield ""
                for view in data.samples:
                    yield from _sample(view, data)
                continue
        yield ""


def _table(table: Table) -> str:
    meanings = [f"{column.title}: {column.meaning}" for column in table.columns if column.meaning]
    head = "| " + " | ".join(inline(column.title) for column in table.columns) + " |"
    rule = "|" + "|".join(" ---: " if column.numeric else " --- " for column in table.columns) + "|"
    rows = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    about = [f"*{inline('; '.join(meanings))}.*", ""] if meanings else []
    return "\n".join([*about, head, rule, *rows])


def _cell(cell: Cell) -> str:
    return "".join(_piece(piece) for piece in spans(cell)).strip()


def _piece(piece: str | Span) -> str:
    text = piece if isinstance(piece, str) else piece.text
    lead = " " if text[:1].isspace() else ""
    trail = " " if text[-1:].isspace() and text.strip() else ""
    escaped = inline(text)
    if isinstance(piece, Span) and piece.tone == "strong" and escaped:
        escaped = f"**{escaped}**"
    if isinstance(piece, Span) and piece.tone == "cited" and escaped:
        escaped = f"*{escaped}*"
    return f"{lead}{escaped}{trail}"


def _sample(view: Mapping[str, Any], data: ReportData) -> Iterator[str]:
    sample, replay = view["sample"], view["replay"]
    clip = Clip(data.facts.run, sample["id"], most_text(data))
    kinds = failures_of(view)
    marks = [*([sample["category"]] if sample["category"] else []), *kinds]
    yield f"### {opening(inline(sample['id']))}" + (f" ({inline(', '.join(marks))})" if marks else "")
    yield ""
    for number, image in enumerate(sample["images"], start=1):
        yield f"- image {number}: {image['width']} × {image['height']}, {inline(image['sha256'])}"
    if sample["images"]:
        yield ""
    yield fenced(_clipped(sample["prompt"], clip))
    yield ""
    if sample["choices"]:
        yield "\n".join(
            f"- {chr(ord('A') + place)}: {inline(choice)}" for place, choice in enumerate(sample["choices"])
        )
        yield ""
    if sample["reference_answer"] is not None:
        yield from ("Reference:", "", fenced(_clipped(sample["reference_answer"], clip)), "")
    if replay and replay["failure"]:
        yield from (f"**No criteria: {inline(replay['failure'])}: {inline(replay['reason'] or '')}**", "")
    criteria = ((replay or {}).get("criteria") or {"criteria": []})["criteria"]
    if replay and replay["chain"]:
        chain = f"{replay['chain']['reasoning']}\n\nAnswer: {replay['chain']['answer']}"
        yield from ("Reference chain:", "", fenced(_clipped(chain, clip)), "")
    if criteria:
        yield _criteria(criteria, len(sample["images"]))
        yield ""
    images = [image["sha256"] for image in sample["images"]]
    for purpose, look in looks_of(view):
        yield f"- looked closer for {inline(purpose)}: {inline(look_text(look, images))}: {inline(look['text'])}"
    if looks_of(view):
        yield ""
    if view["answers"]:
        yield _matrix(view["answers"], len(criteria))
        yield ""
    for answer in view["answers"]:
        if answer["response"]:
            flags = f" ({', '.join(answer['response']['flags'])})" if answer["response"]["flags"] else ""
            text = fenced(_clipped(answer["response"]["text"], clip))
            yield from (f"{inline(_named(answer) + flags)}:", "", text, "")


def _criteria(criteria: Sequence[Mapping[str, Any]], images: int) -> str:
    rows = [
        f"| {number} | {inline(one['question'])} | {inline(one['ground_truth'])} | {one['weight']} | "
        f"{inline(region_text(one, images))} |"
        for number, one in enumerate(criteria, start=1)
    ]
    return "\n".join(["| | criterion | ground truth | weight | region |", "| ---: | --- | --- | ---: | --- |", *rows])


def _matrix(answers: Sequence[Mapping[str, Any]], criteria: int) -> str:
    head = "| model | " + "".join(f"{number} | " for number in range(1, criteria + 1)) + "score |"
    rows = []
    for answer in answers:
        scores = [str(score) for score in (answer["judgement"] or {}).get("scores", [])] or ["–"] * criteria
        failed = inline(f"{answer['failure']}: {answer['reason'] or ''}")
        whole = failed if answer["score"] is None else f"**{answer['score']:.2f}**"
        rows.append(f"| {inline(_named(answer))} | " + "".join(f"{score} | " for score in scores) + f"{whole} |")
    return "\n".join([head, "| --- |" + " ---: |" * (criteria + 1), *rows])


def _named(answer: Mapping[str, Any]) -> str:
    return f"{answer['model']} · repeat {answer['repeat'] + 1}" if answer["repeat"] else answer["model"]


def _clipped(text: str, clip: Clip) -> str:
    shown, rest = clip.cut(text)
    return f"{shown}\n{rest}" if rest else shown
