"""The output of `diagnose`: the marks of each model, tables with their intervals, and the atoms behind a figure."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dokimasia.errors import NotFound
from dokimasia.methods.diagnosis.report import score_of, shortened, table, verdict_of
from dokimasia.report.blocks import Block, Cell, Facts, Paragraph, Span
from dokimasia.report.data import SIMULATED_NOTE

if TYPE_CHECKING:
    from dokimasia.domain.diagnosis.tables import Asset, Diagnosis
    from dokimasia.methods.diagnosis.evidence import Evidence
    from dokimasia.methods.diagnosis.tables import Changes

MOST_ROWS = 40
FIRST = ("models", "categories", "pairs", "ranks", "failures", "stability", "reasons")
ANSWER = 400


def notes(simulated: Sequence[str], sentences: Sequence[str]) -> Iterator[Block]:
    """Yield the warnings to read first; commands in them are not wrapped."""
    if simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    for note in sentences:
        yield Paragraph(Span(note, "code"), "warning")


def overview(diagnosis: "Diagnosis", *, words: str | None = None) -> Iterator[Block]:
    """Yield the verdict, the short tables and marked nodes, the names of the other tables, and commands for more."""
    from dokimasia.report.figures import several

    yield from notes(diagnosis.simulated, diagnosis.notes)
    ground = f"{diagnosis.tree}@{diagnosis.position}" if diagnosis.tree else "the data's categories"
    counts = f"{several(len(diagnosis.models), 'model')} · {several(len(diagnosis.assets), 'table')}"
    yield Paragraph(Span(f"run {diagnosis.run} · {ground} · {counts}", "strong"))
    yield Paragraph(verdict_of(diagnosis))
    for asset in diagnosis.assets:
        if asset.id in FIRST and (asset.rows or asset.id == "stability"):
            yield from asset_blocks(asset)
    for asset in diagnosis.assets:
        if asset.family == "nodes":
            yield from asset_blocks(asset)
    others = [asset.id for asset in diagnosis.assets if asset.id not in FIRST and asset.family != "nodes"]
    yield Paragraph(f"\nfurther tables, with --asset: {', '.join(others)}", "note")
    first = next(
        (f"{asset.id}:1" for asset in diagnosis.assets if asset.family in ("nodes", "leaves") and asset.rows),
        "models:1",
    )
    wording = f"dokimasia show {words}" if words else f"dokimasia diagnose {diagnosis.run} --write --judge M"
    commands = {
        "what is behind a row": f"dokimasia diagnose {diagnosis.run} --why {first}",
        "in words": wording,
        "all as a page": f"dokimasia report {diagnosis.run}",
    }
    for title, command in commands.items():
        yield Paragraph((f"{title}: ", Span(command, "code")), "note")


def assets_named(assets: Sequence["Asset"], names: Sequence[str]) -> list["Asset"]:
    """Return the tables with these ids or families, each once; without names, all.

    Raises:
        NotFound: no table has such a name; the message suggests similar names.
    """
    if not names:
        return list(assets)
    assets_by_id: dict[str, Asset] = {}
    for name in names:
        matching = [asset for asset in assets if name.strip() in (asset.id, asset.family)]
        if not matching:
            names_known = list(dict.fromkeys(name for asset in assets for name in (asset.family, asset.id)))
            similar = difflib.get_close_matches(name.strip(), names_known, n=3)
            raise NotFound(
                f"there is no table {name!r}; "
                + (f"near: {', '.join(similar)}" if similar else f"there are {', '.join(asset.id for asset in assets)}")
            )
        assets_by_id |= {asset.id: asset for asset in matching}
    return list(assets_by_id.values())


def compared(change: "Changes", assets: Sequence["Asset"]) -> Iterator[Block]:
    """Yield the tables of improvements and regressions between two runs."""
    title = f"run {change.second} against {change.first} · {change.shared} shared samples"
    yield Paragraph(Span(title, "strong"))
    for asset in assets:
        yield from asset_blocks(asset, most=None)


def asset_blocks(asset: "Asset", *, most: int | None = MOST_ROWS) -> Iterator[Block]:
    """Yield a table below its title and sentence, with at most `most` rows."""
    yield Paragraph(Span(f"\n{asset.title}", "strong"))
    yield from table(asset, most=most)


def behind_figure(diagnosis: "Diagnosis", behind: "Evidence", files: Mapping[str, str]) -> Iterator[Block]:
    """Yield the atoms behind a figure: question, truth, score, answer, and the paths of images."""
    yield from notes(diagnosis.simulated, ())
    about = f"{behind.node or 'all criteria'} · {', '.join(behind.models)}"
    counts = f"{behind.scored} of {behind.atoms} criteria scored, {len(behind.shown)} shown"
    yield Paragraph((Span(behind.target, "strong"), f" · {about} · {counts}"))
    for atom in behind.shown:
        score = score_of(atom)
        repeat = f" · repeat {atom.repeat + 1}" if atom.repeat else ""
        atoms_named = (
            Span("\n● ", score.tone),
            Span(atom.sample, "strong"),
            f" · {atom.model} · criterion {atom.criterion} · ",
        )
        yield Paragraph((*atoms_named, score, repeat))
        final = shortened(atom.final_answer, ANSWER)
        reference = f" (reference: {atom.reference_answer})" if atom.reference_answer else ""
        lines = {
            "leaf": atom.leaf or "no place in the tree",
            "asked": atom.prompt,
            "criterion": atom.question,
            "truth": atom.ground_truth,
            "answer": shortened(atom.answer, ANSWER),
            "final": final + reference,
        }
        rows: list[tuple[str, Cell]] = [
            (f"  {name:>9}", " ".join(text.split())) for name, text in lines.items() if text
        ]
        yield Facts(rows)
        for image in atom.images:
            yield Paragraph((Span("      image ", "muted"), Span(files.get(image.sha256, image.sha256), "code")))
    if len(behind.shown) < behind.atoms:
        whole_command = f"dokimasia show {behind.run} --sample ID"
        yield Paragraph((f"more: --top {behind.atoms}; a sample whole: ", Span(whole_command, "code")), "note")
