"""The report of a peer review: outcomes, self-preference, and origins of golden captions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dokimasia.domain.review import Candidate, LostTurn, Origin, PeerReview, PeerVote
from dokimasia.methods.review.figures import (
    MemberPreference,
    PositionFigures,
    Preference,
    ReviewFigures,
    ReviewItem,
)
from dokimasia.people.checks import reason_blocks
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Fold, Only, Paragraph, Section, Span, Table, Texts
from dokimasia.report.conclusions import used_sentence
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.fields import Limited, Share, TableRow, pointer, rows_of
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import TableColumn, column, computed_column, field_columns, name_column, table

MOST_PRINTED, PREVIEW = 10, 160

MEANING = (
    "Self-preference is a member's rate of voting for its own text minus the other members' rate of voting for that text, "
    "so that quality is not taken for vanity; authorship is followed through rewrites. Where members differ in vanity, the "
    "others' bends that figure: vain votes are the share of a member's votes that go to its own text whatever it says, the "
    "others' vanity allowed for (three or more members). 95 % intervals, clustered by image."
)


def section(data: ReportData) -> Section:
    """Return the section with the figures of a review."""
    review = data.figures_as(ReviewFigures)
    blocks: list[Block] = []
    if review.accept != "unanimous":
        blocks.append(
            Paragraph(
                "After the last cycle a majority of the votes was enough: not every caption is unanimous "
                f"({figures.counts(review.agreement)})."
            )
        )
    blocks += [_verdict_table(review), _member_table(review), Paragraph(MEANING, "note")]
    blocks += [*_golden_captions(review), *_turns(review)]
    if review.failures:
        failure_counts, members = figures.counts(review.failures), figures.counts(review.failed_members)
        blocks.append(Paragraph(f"Incomplete, because too few were heard: {failure_counts} ({members}).", "warning"))
    if review.protocol == "published":
        blocks.append(Paragraph("Protocol published: no candidate was kept, and every vote had to come.", "note"))
    blocks.append(Only("terminal", (Paragraph(f"{review.n} samples, {figures.used(review, data.paid)}", "note"),)))
    return Section("review", "Peer review", blocks, menu="Review")


def conclusion(data: ReportData) -> list[Cell]:
    """Return how many samples the panel agreed on, how many reviews are incomplete, and the usage."""
    review = data.figures_as(ReviewFigures)
    sentences: list[Cell] = [_lead(review)]
    incomplete = review.verdicts.get("incomplete", 0)
    if incomplete:
        sentences.append(f"{figures.several(incomplete, 'review is', 'reviews are')} incomplete.")
    return [*sentences, used_sentence(review, data.paid)]


def _lead(review: ReviewFigures) -> Cell:
    samples = "sample" if review.n == 1 else "samples"
    images = figures.several(review.images, "image")
    return (
        "The panel agreed on ",
        figures.count(review.accepted.k, "/accepted/k", tone="strong"),
        " of ",
        figures.count(review.n, "/n"),
        f" {samples} ({images}) within {figures.several(review.cycles, 'cycle')}.",
    )


def _verdict_table(review: ReviewFigures) -> Table:
    verdicts = table(
        Share,
        [TableRow("accepted", review.accepted, "/accepted"), TableRow("discarded", review.discarded, "/discarded")],
        [
            name_column("verdict"),
            column("k", title="samples"),
            column("share", meaning="of the reviews that were completed", write=figures.measured_share),
            computed_column("95 % interval", _share_interval),
            column(
                "bounds",
                meaning="of the share over all samples, whatever the incomplete ones would have come to",
                write=_share_ends,
            ),
        ],
        "How the reviews ended",
    )
    incomplete = figures.count(review.verdicts.get("incomplete", 0), "/verdicts/incomplete")
    nothing = [figures.NOTHING] * 3
    return replace(verdicts, rows=[*verdicts.rows, [Span("incomplete", "strong"), incomplete, *nothing]])


def _share_interval(row: TableRow[Share]) -> Cell:
    if row.figures.share is None:
        return figures.NOTHING
    return _share_ends(row.figures, row.pointer or "")


def _share_ends(ends: Limited | None, place: str) -> Cell:
    if ends is None:
        return figures.NOTHING
    low = figures.share(ends.low, f"{place}/low")
    return (replace(low, text=low.text.removesuffix(" %")), " – ", figures.share(ends.high, f"{place}/high"))


def _member_table(review: ReviewFigures) -> Table:
    votes = review.self_preference.votes
    golden = review.golden
    rows: list[TableRow[Preference]] = [
        *rows_of(votes.members, "self_preference", "votes", "members"),
        TableRow("panel", votes.panel, pointer("self_preference", "votes", "panel")),
    ]
    captions = {**golden.last_author, "panel": golden.n}
    sentences = {**golden.in_draft_of, "panel": golden.sentences}
    positions = {**review.places.members, "panel": review.places.panel}
    columns: list[TableColumn[Preference]] = [
        name_column("member"),
        *field_columns("own", "others"),
        computed_column("self-preference", _difference, meaning="with its 95 % interval"),
        computed_column("vain votes", _vain_votes, meaning="with its 95 % interval"),
        computed_column(
            "first place",
            lambda row: _first_position(positions[row.name]),
            meaning="how often it chooses what it is shown first, and how often chance would",
        ),
        computed_column(
            "golden", lambda row: figures.count(captions.get(row.name, 0)), meaning="golden captions that it wrote last"
        ),
        computed_column(
            "sentences",
            lambda row: figures.count(sentences.get(row.name, 0)),
            meaning="sentences of golden captions that stand in its draft",
        ),
    ]
    return table(Preference, rows, columns, "The members of the panel")


def _difference(row: TableRow[Preference]) -> Cell:
    preference = row.figures
    return _signed_rate(preference.difference, preference, f"{row.pointer}/difference")


def _vain_votes(row: TableRow[Preference]) -> Cell:
    preference = row.figures
    if not isinstance(preference, MemberPreference):
        return figures.NOTHING
    return _signed_rate(preference.own_votes.share, preference.own_votes, f"{row.pointer}/own_votes/share")


def _signed_rate(rate: float | None, ends: Limited, place: str) -> Cell:
    """Return a rate with its sign and its interval."""
    if rate is None:
        return figures.NOTHING
    value = Span(figures.signed_text(rate), "strong", place, rate)
    return (value, Span(figures.bracketed(ends, figures.signed_text), "muted"))


def _first_position(positions: Sequence[PositionFigures]) -> Cell:
    if not positions:
        return figures.NOTHING
    chance = Span(f" (chance {figures.share(positions[0].expected).text})", "muted")
    return (figures.share(positions[0].chosen), chance)


def _turns(review: ReviewFigures) -> Iterator[Block]:
    """Yield the figures of turns: comparisons that kept a candidate, and failed turns."""
    if review.kept.n:
        text = f" of {review.kept.n} comparisons kept a candidate as it was."
        yield Paragraph((figures.count(review.kept.k, "/kept/k"), text))
    lost: list[str] = []
    for name, turns in review.turns.items():
        for part, figures_of_part in (("describe", turns.describe), ("compare", turns.compare), ("vote", turns.vote)):
            if figures_of_part.lost:
                lost.append(f"{figures_of_part.lost} of {figures_of_part.n} turns to {part} of {name}")
    if lost:
        yield Paragraph(
            f"Lost, because a reply could not be used: {'; '.join(lost)}. Then a member's candidate stays as it is, or its vote "
            f"is missing: {review.golden.lost_votes} of {review.golden.n} captions lack a vote.",
            "warning",
        )


def _golden_captions(review: ReviewFigures) -> Iterator[Block]:
    golden = review.golden
    if golden.words is None:
        yield Paragraph("No caption was accepted.", "warning")
        return
    after = figures.counts(review.accepted_by_cycle, "after cycle ")
    text = (
        f"{golden.n} golden captions ({after}) of {golden.words.mean:.0f} words in the mean and {golden.words.max} at most; of "
        f"their {golden.sentences} sentences {golden.added_in_rewrites} were added in rewrites."
    )
    if golden.without_vote:
        text += f" {golden.without_vote} needed no vote, since the candidates of all members had become one text."
    if golden.structured:
        text += f" {golden.structured} are structured with Markdown, the others prose."
    if golden.equally_good:
        text += (
            f" {golden.equally_good} rest on votes that name them as equally good and not as the best; the paper's protocol "
            f"would have sent these on, or discarded them."
        )
    yield Paragraph(text)
    waiting = golden.checked.get("unverified", 0)
    if waiting:
        text = f"{waiting} of {golden.n} captions are unverified: no person has checked them. Check them with: "
        yield Paragraph((text, Span(f"dokimasia decide {review.run}", "code")), "warning")
    if golden.reasons is not None:
        yield from reason_blocks(golden.reasons, "/golden/reasons")


def captions(data: ReportData) -> Section | None:
    """Return the section of displayed reviews with outcomes and golden captions; None if there are none."""
    items = [ReviewItem.model_validate(view) for view in data.samples]
    if not items:
        return None
    folds = [Fold(_title(item), tuple(item_blocks(item))) for item in items]
    first = [Paragraph((Span(_title(item), "strong"), _preview(item))) for item in items[:MOST_PRINTED]]
    hint = "`dokimasia show RUN --sample ID` shows a review whole."
    n_more = len(items) - len(first)
    if n_more:
        hint = f"{n_more} more are in the report; {hint}"
    page = Only("page", (Paragraph(data.selection.text, "note"), *folds))
    return Section("captions", "Captions", (page, Only("terminal", (*first, Paragraph(hint, "note")))))


def _title(item: ReviewItem) -> str:
    if item.record is None:
        return f"{item.sample} · no record"
    return f"{item.sample} · {item.record.verdict} · {item.record.reason}"


def _preview(item: ReviewItem) -> str:
    if item.golden is None:
        return ""
    text = f": {' '.join(item.golden.text.split())}"
    if len(text) <= PREVIEW:
        return text
    return f"{text[: PREVIEW - 1]}…"


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the blocks of a review."""
    return item_blocks(ReviewItem.model_validate(views[0]))


def item_blocks(item: ReviewItem) -> Iterator[Block]:
    """Yield the blocks of a review: golden caption and, if available, drafts, comparisons and votes by cycle."""
    golden = item.golden
    if golden is not None:
        mark = " · by majority" if golden.agreement == "majority" else ""
        yield Texts([(Span(f"golden caption{mark}", "strong"), golden.text)], prose=True)
    authors: dict[str, str] = {}
    for entry in item.values:
        if entry.type == "Candidate":
            authors[entry.id] = Candidate.model_validate(entry.value).author
    for entry in item.values:
        match entry.type:
            case "Candidate":
                yield _candidate(Candidate.model_validate(entry.value))
            case "PeerReview":
                yield from _comparison(PeerReview.model_validate(entry.value), authors)
            case "PeerVote":
                yield from _vote(PeerVote.model_validate(entry.value), authors)
            case "LostTurn":
                turn = LostTurn.model_validate(entry.value)
                title = f"{turn.member} loses its turn to {turn.part}, cycle {turn.cycle} ({turn.failure})"
                yield Texts([(Span(title, "strong"), turn.reason)])
            case _:
                pass
    if golden is not None and item.values:
        yield Paragraph(Span("where the sentences came from", "strong"))
        yield Bullets([_origin(origin) for origin in golden.origins])


def _candidate(candidate: Candidate) -> Block:
    kind = "rewrite" if candidate.cycle else "draft"
    title = f"{kind} of {candidate.author}, cycle {candidate.cycle}"
    return Texts([(Span(title, "strong"), candidate.text)], prose=True)


def _comparison(review: PeerReview, authors: Mapping[str, str]) -> Iterator[Block]:
    ranked = " > ".join(authors[id] for id in review.ranking)
    kept_text = f", and keeps the text of {authors[review.rewrite]}" if review.kept else ""
    yield Paragraph(Span(f"{review.reviewer} compares, cycle {review.cycle}: {ranked}{kept_text}", "strong"))
    yield Bullets(_critiques(review.shown, review.critiques, authors))


def _vote(vote: PeerVote, authors: Mapping[str, str]) -> Iterator[Block]:
    choice = f"for {authors[vote.choice]} (shown as {vote.place})"
    if vote.equal:
        choice += f", with {', '.join(authors[id] for id in vote.equal)} equally good"
    yield Paragraph(Span(f"{vote.voter} votes, cycle {vote.cycle}: {choice}", "strong"))
    yield Bullets([*_critiques(vote.shown, vote.critiques, authors), Span(vote.rationale, "muted")])


def _critiques(displayed: Sequence[str], critiques: Sequence[str], authors: Mapping[str, str]) -> list[Cell]:
    cells: list[Cell] = []
    for number, (id, critique) in enumerate(zip(displayed, critiques, strict=True), start=1):
        if critique:
            cells.append(f"{number} ({authors[id]}): {critique}")
    return cells


def _origin(origin: Origin) -> Cell:
    source = f"added by {origin.author}" if origin.cycle else f"draft of {origin.author}"
    also = f", also {', '.join(origin.also)}" if origin.also else ""
    return (origin.sentence, Span(f"  [{source}{also}]", "muted"))


DRAWING = Drawing(
    "review",
    (section, captions, skipped.section, provenance.section),
    sample=sample,
    figures=ReviewFigures,
    conclusion=conclusion,
)
