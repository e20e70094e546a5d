"""What a peer review came to: what the panel agreed on, whether members prefer themselves, where the golden text came from."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData


def section(data: ReportData) -> Section | None:
    """Return the figures of a review; None for another kind of run."""
    summary = data.summary
    if "verdicts" not in summary:
        return None
    blocks: list[Block] = [Paragraph(_lead(summary), "lead")]
    if summary["accept"] != "unanimous":
        blocks.append(
            Paragraph("After the last cycle a majority of the votes was enough: not every caption is unanimous.")
        )
    blocks += [_verdicts(summary), _members(summary), Paragraph(_MEANING, "note"), *_golden(summary)]
    if summary["failures"]:
        failed = ", ".join(f"{n} {kind}" for kind, n in summary["failures"].items())
        blocks.append(Paragraph(f"Incomplete, because a member failed: {failed}.", "warning"))
    return Section("review", "Peer review", blocks, menu="Review")


_MEANING = (
    "Self-preference is a member's rate of voting for its own text minus the other members' rate of voting for that text, "
    "so that quality is not taken for vanity; authorship is followed through rewrites. Where members differ in vanity, the "
    "others' bends that figure: vain votes are the share of a member's votes that go to its own text whatever it says, the "
    "others' vanity allowed for (three or more members). 95 % intervals, clustered by image."
)


def _lead(summary: Mapping[str, Any]) -> Cell:
    accepted = summary["accepted"]
    return (
        "The panel agreed on ",
        figures.count(accepted["k"], "/accepted/k", tone="strong"),
        " of ",
        figures.count(summary["n"], "/n"),
        f" images within {summary['cycles']} {'cycle' if summary['cycles'] == 1 else 'cycles'}.",
    )


def _verdicts(summary: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for name in ("accepted", "discarded"):
        one, place = summary[name], f"/{name}"
        rows.append(
            [
                Span(name, "strong"),
                figures.count(one["k"], f"{place}/k"),
                figures.share(one["share"], f"{place}/share"),
                _shares(one, place) if one["share"] is not None else figures.NOTHING,
                _shares(one["bounds"], f"{place}/bounds") if one["bounds"] else figures.NOTHING,
            ]
        )
    incomplete = figures.count(summary["verdicts"]["incomplete"], "/verdicts/incomplete")
    rows.append([Span("incomplete", "strong"), incomplete, figures.NOTHING, figures.NOTHING, figures.NOTHING])
    columns = (
        Column("verdict", numeric=False),
        Column("images"),
        Column("share", meaning="of the reviews that were completed"),
        Column("95 % interval"),
        Column("bounds", meaning="of the share over all images, whatever the incomplete ones would have come to"),
    )
    return Table(columns, rows, "How the reviews ended")


def _members(summary: Mapping[str, Any]) -> Table:
    preferences: Mapping[str, Any] = summary["self_preference"]["votes"]
    rows: list[list[Cell]] = []
    for name, one in preferences["members"].items():
        place = figures.pointer("self_preference", "votes", "members", name)
        vain = one["own_votes"]
        drafted = summary["golden"]["in_draft_of"].get(name)
        rows.append(
            [
                Span(name, "strong"),
                figures.share(one["own"], f"{place}/own"),
                figures.share(one["others"], f"{place}/others"),
                *_signed(one, "difference", place),
                *_signed(vain, "share", f"{place}/own_votes"),
                figures.count(summary["golden"]["last_author"].get(name)),
                figures.count(drafted),
            ]
        )
    columns = (
        Column("member", numeric=False),
        Column("own text", meaning="share of its votes that went to the text it wrote itself"),
        Column("others give it", meaning="share of the other members' votes that went to that text"),
        Column("self-preference"),
        Column("95 % interval"),
        Column("vain votes"),
        Column("95 % interval"),
        Column("golden", meaning="golden captions that it wrote last"),
        Column("sentences", meaning="sentences of golden captions that stand in its draft"),
    )
    return Table(columns, rows, "The members of the panel")


def _golden(summary: Mapping[str, Any]) -> list[Block]:
    golden: Mapping[str, Any] = summary["golden"]
    if not golden["n"]:
        return [Paragraph("No caption was accepted.", "warning")]
    waiting = golden["checked"].get("unverified", 0)
    words = golden["words"]
    text = (
        f"{golden['n']} golden captions of {words['mean']:.0f} words in the mean and {words['max']} at most; of their "
        f"{golden['sentences']} sentences {golden['added_in_rewrites']} were added in rewrites."
    )
    blocks: list[Block] = [Paragraph(text)]
    if waiting:
        blocks.append(
            Paragraph(f"{waiting} of {golden['n']} captions are unverified: no person has checked them.", "warning")
        )
    return blocks


def _shares(one: Mapping[str, float], place: str) -> Cell:
    return (figures.share(one["low"], f"{place}/low"), " – ", figures.share(one["high"], f"{place}/high"))


def _signed(one: Mapping[str, Any], name: str, place: str) -> list[Cell]:
    if one[name] is None:
        return [figures.NOTHING, figures.NOTHING]
    value = Span(figures.signed_text(one[name]), "strong", f"{place}/{name}", one[name])
    return [value, figures.interval(one, place, signed=True)]
