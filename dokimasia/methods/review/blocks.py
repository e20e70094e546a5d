"""What a peer review came to: what the panel agreed on, whether members prefer themselves, where the golden text came from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Fold,
    Only,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
)
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance, skipped

MOST_PRINTED, PREVIEW = 10, 160


def section(data: ReportData) -> Section:
    """Return the figures of a review."""
    summary = data.summary
    blocks: list[Block] = [Paragraph(_lead(summary), "lead")]
    if summary["accept"] != "unanimous":
        blocks.append(
            Paragraph(
                "After the last cycle a majority of the votes was enough: not every caption is unanimous "
                f"({figures.counts(summary['agreement'])})."
            )
        )
    blocks += [_verdicts(summary), _members(summary), Paragraph(_MEANING, "note"), *_golden(summary)]
    blocks += _lost(summary)
    if summary["failures"]:
        failed, members = figures.counts(summary["failures"]), figures.counts(summary["failed_members"])
        blocks.append(Paragraph(f"Incomplete, because too few were heard: {failed} ({members}).", "warning"))
    if summary["protocol"] == "published":
        blocks.append(Paragraph("Protocol published: no candidate was kept, and every vote had to come.", "note"))
    blocks.append(Only("terminal", (Paragraph(f"{summary['n']} samples, {figures.used(summary)}", "note"),)))
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
        f" {'sample' if summary['n'] == 1 else 'samples'} ({figures.several(summary['images'], 'image')}) within "
        f"{figures.several(summary['cycles'], 'cycle')}.",
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
        Column("samples"),
        Column("share", meaning="of the reviews that were completed"),
        Column("95 % interval"),
        Column("bounds", meaning="of the share over all samples, whatever the incomplete ones would have come to"),
    )
    return Table(columns, rows, "How the reviews ended")


def _members(summary: Mapping[str, Any]) -> Table:
    preferences: Mapping[str, Any] = summary["self_preference"]["votes"]
    golden = summary["golden"]
    rows = [
        _member(
            name,
            one,
            figures.pointer("self_preference", "votes", "members", name),
            summary["places"]["members"][name],
            golden["last_author"].get(name, 0),
            golden["in_draft_of"].get(name, 0),
        )
        for name, one in preferences["members"].items()
    ]
    panel, places = preferences["panel"], summary["places"]["panel"]
    rows.append(_member("panel", panel, "/self_preference/votes/panel", places, golden["n"], golden["sentences"]))
    columns = (
        Column("member", numeric=False),
        Column("own text", meaning="share of its votes that went to the text it wrote itself"),
        Column("others give it", meaning="share of the other members' votes that went to that text"),
        Column("self-preference", meaning="with its 95 % interval"),
        Column("vain votes", meaning="with its 95 % interval"),
        Column("first place", meaning="how often it chooses what it is shown first, and how often chance would"),
        Column("golden", meaning="golden captions that it wrote last"),
        Column("sentences", meaning="sentences of golden captions that stand in its draft"),
    )
    return Table(columns, rows, "The members of the panel")


def _member(
    name: str, one: Mapping[str, Any], place: str, places: Sequence[Mapping[str, Any]], golden: int, sentences: int
) -> list[Cell]:
    first: Cell = figures.NOTHING
    if places:
        first = (
            figures.share(places[0]["chosen"]),
            Span(f" (chance {figures.share(places[0]['expected']).text})", "muted"),
        )
    vain = one.get("own_votes")
    return [
        Span(name, "strong"),
        figures.share(one["own"], f"{place}/own"),
        figures.share(one["others"], f"{place}/others"),
        _signed(one, "difference", place),
        _signed(vain, "share", f"{place}/own_votes") if vain else figures.NOTHING,
        first,
        figures.count(golden),
        figures.count(sentences),
    ]


def _lost(summary: Mapping[str, Any]) -> Iterator[Block]:
    """Yield what became of turns: how many comparisons kept a candidate, and which turns were lost."""
    kept = summary["kept"]
    if kept["n"]:
        text = f" of {kept['n']} comparisons kept a candidate as it was."
        yield Paragraph((figures.count(kept["k"], "/kept/k"), text))
    lost = [
        f"{one[part]['lost']} of {one[part]['n']} turns to {part} of {name}"
        for name, one in summary["turns"].items()
        for part in ("describe", "compare", "vote")
        if one[part]["lost"]
    ]
    if lost:
        yield Paragraph(
            f"Lost, because a reply could not be used: {'; '.join(lost)}. Then a member's candidate stays as it is, or its vote "
            f"is missing: {summary['golden']['lost_votes']} of {summary['golden']['n']} captions lack a vote.",
            "warning",
        )


def _golden(summary: Mapping[str, Any]) -> list[Block]:
    golden: Mapping[str, Any] = summary["golden"]
    if not golden["n"]:
        return [Paragraph("No caption was accepted.", "warning")]
    waiting = golden["checked"].get("unverified", 0)
    words = golden["words"]
    after = figures.counts(summary["accepted_by_cycle"], "after cycle ")
    text = (
        f"{golden['n']} golden captions ({after}) of {words['mean']:.0f} words in the mean and {words['max']} at most; of "
        f"their {golden['sentences']} sentences {golden['added_in_rewrites']} were added in rewrites."
    )
    if golden["without_vote"]:
        text += f" {golden['without_vote']} needed no vote, since the candidates of all members had become one text."
    blocks: list[Block] = [Paragraph(text)]
    if waiting:
        blocks.append(
            Paragraph(
                (
                    f"{waiting} of {golden['n']} captions are unverified: no person has checked them. Check them with: ",
                    Span(f"dokimasia check {summary['run']}", "code"),
                ),
                "warning",
            )
        )
    return blocks


def captions(data: ReportData) -> Section | None:
    """Return how each review that is shown ended, with its golden caption; None where none is shown."""
    folds = [Fold(_title(item), tuple(sample(item))) for item in data.samples]
    if not folds:
        return None
    note = Paragraph(data.selection.text, "note")
    first = [Paragraph((Span(_title(item), "strong"), _preview(item))) for item in data.samples[:MOST_PRINTED]]
    left = len(folds) - len(first)
    whole = "`dokimasia show RUN --sample ID` shows a review whole."
    more = Paragraph(f"{f'{left} more are in the report; ' if left else ''}{whole}", "note")
    return Section("captions", "Captions", (Only("page", (note, *folds)), Only("terminal", (*first, more))))


def sample(item: Mapping[str, Any]) -> Iterator[Block]:
    """Yield one review: its golden caption, and where they are given drafts, comparisons and votes, cycle by cycle."""
    golden = item["golden"]
    if golden:
        marked = " · by majority" if golden["agreement"] == "majority" else ""
        yield Texts([(Span(f"golden caption{marked}", "strong"), golden["text"])])
    values: Sequence[Mapping[str, Any]] = item.get("values", ())
    texts = {one["id"]: one["value"] for one in values if one["type"] == "Candidate"}
    for one in values:
        value = one["value"]
        if one["type"] == "Candidate":
            title = f"draft of {value['author']}" if not value["cycle"] else f"rewrite of {value['author']}"
            yield Texts([(Span(f"{title}, cycle {value['cycle']}", "strong"), value["text"])])
        elif one["type"] == "PeerReview":
            ranked = " > ".join(texts[id]["author"] for id in value["ranking"])
            kept = f", and keeps the text of {texts[value['rewrite']]['author']}" if value["kept"] else ""
            yield Paragraph(Span(f"{value['reviewer']} compares, cycle {value['cycle']}: {ranked}{kept}", "strong"))
            yield Bullets(_critiques(value, texts))
        elif one["type"] == "PeerVote":
            equal = ", ".join(texts[id]["author"] for id in value["equal"])
            chosen = f"for {texts[value['choice']]['author']} (shown as {value['place']})"
            chosen += f", with {equal} equally good" if equal else ""
            yield Paragraph(Span(f"{value['voter']} votes, cycle {value['cycle']}: {chosen}", "strong"))
            yield Bullets([*_critiques(value, texts), Span(value["rationale"], "muted")])
        elif one["type"] == "LostTurn":
            title = f"{value['member']} loses its turn to {value['part']}, cycle {value['cycle']} ({value['failure']})"
            yield Texts([(Span(title, "strong"), value["reason"])])
    if golden and values:
        yield Paragraph(Span("where the sentences came from", "strong"))
        yield Bullets([_origin(one) for one in golden["origins"]])


def _title(item: Mapping[str, Any]) -> str:
    record = item["record"]
    return f"{item['sample']} · {record['verdict']} · {record['reason']}" if record else f"{item['sample']} · no record"


def _preview(item: Mapping[str, Any]) -> str:
    if not item["golden"]:
        return ""
    text = f": {' '.join(item['golden']['text'].split())}"
    return text if len(text) <= PREVIEW else f"{text[: PREVIEW - 1]}…"


def _critiques(value: Mapping[str, Any], texts: Mapping[str, Any]) -> list[Cell]:
    pairs = enumerate(zip(value["shown"], value["critiques"], strict=True), start=1)
    return [f"{number} ({texts[id]['author']}): {critique}" for number, (id, critique) in pairs if critique]


def _origin(origin: Mapping[str, Any]) -> Cell:
    where = f"draft of {origin['author']}" if not origin["cycle"] else f"added by {origin['author']}"
    also = f", also {', '.join(origin['also'])}" if origin["also"] else ""
    return (origin["sentence"], Span(f"  [{where}{also}]", "muted"))


def _shares(one: Mapping[str, float], place: str) -> Cell:
    return (figures.share(one["low"], f"{place}/low"), " – ", figures.share(one["high"], f"{place}/high"))


def _signed(one: Mapping[str, Any], name: str, place: str) -> Cell:
    """A rate with its sign and its interval."""
    if one[name] is None:
        return figures.NOTHING
    value = Span(figures.signed_text(one[name]), "strong", f"{place}/{name}", one[name])
    return (value, Span(figures.bracketed(one, figures.signed_text), "muted"))


DRAWING = Drawing(
    "review",
    (section, captions, skipped.section, provenance.section),
    sample=lambda views, cut: sample(views[0]),
)
