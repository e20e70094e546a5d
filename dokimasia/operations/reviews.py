"""Operations on items for people: lists, decisions, agreement, and items handed out to be rated."""

import asyncio
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from dokimasia.agents.readers import faults_of
from dokimasia.domain.decision import RATED, Action, ChangeReason, CheckItem, Decision, Kind, ShownState, Standing
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DecidedMeanwhile
from dokimasia.operations.operation import (
    After,
    Body,
    FileReply,
    Limit,
    ListPage,
    OperationContext,
    Parameter,
    RequestRefused,
    operation,
    page_of,
)
from dokimasia.operations.results import ZIP, zipped
from dokimasia.people.annotation import asked_of, hand_out_here, queued, rating_text, ratings_of, written
from dokimasia.people.checks import (
    all_standings,
    checked,
    is_due,
    item_of,
    keep_decision,
    keep_draft,
    nothing_to_check,
    review_items,
    review_queue,
    samples_asked,
    show_question,
    shown_item,
    take_back,
)
from dokimasia.people.checks.figures import StandingFigures, standing_figures
from dokimasia.people.checks.files import check_files
from dokimasia.people.checks.filled import SheetLine, take_in_lines
from dokimasia.runs.catalogue import method_of
from dokimasia.storage.decisions import clear_draft, draft_file
from dokimasia.storage.people.questions import get_question, withdrawn_items
from dokimasia.storage.runs import Run

TAG = "reviews"
GONE, CONFLICT, UNPROCESSABLE = 410, 409, 422
JSON_LINES = "application/x-ndjson"
LONGEST = 500_000
"""The maximum number of characters of a text by a person."""

Text = Annotated[str, Field(max_length=LONGEST)]


class ReviewShown(BaseModel):
    """A run with items for people: how many wait, of which kinds, for whom, and since when."""

    run: str
    title: str
    waiting: int
    decided: int
    kinds: dict[Kind, int]
    people: dict[str, int] = Field(description="how many wait for whom; under an empty name, for anybody")
    yours: int = Field(description="how many the one who asks can decide on")
    oldest: str


class Reviews(ListPage):
    """A page of runs with items for people: those with waiting items first, by their oldest item."""

    reviews: list[ReviewShown]


class ItemListed(BaseModel):
    """An item in a list."""

    item: str
    kind: Kind
    sample: str = Field(
        description="its sample; of what is asked of an image alone, all that show it, with commas between"
    )
    person: str | None = Field(description="whose it is; null: anybody's")
    state: ShownState = Field(description="how it stands; `decided`: by others, before the one who asks has decided")
    decided: int = Field(description="how many decisions there are on it")
    due: bool = Field(description="whether the one who asks can decide on it now")


class ReviewItems(ListPage):
    """A page of a run's items, waiting ones first."""

    run: str
    person: str = Field(description="who asks, as decisions will name them")
    items: list[ItemListed]


class ItemShown(BaseModel):
    """An item with all that a person is shown of it, and the decisions on it that they may see."""

    shown: JsonObject
    decisions: list[Decision]
    asked: list[JsonObject] = Field(description="what is asked of an item that is rated, by measure")
    item: CheckItem | None = Field(description="the item as it is kept; null where it is rated blind")
    draft: str | None = Field(description="what the one who asks has written and not decided yet")


class Decided(Body):
    """A person's decision on an item."""

    action: Action = Field(examples=["accept"])
    text: Text = Field(default="", description="the text after an edit, or the reply to a question")
    delete: tuple[Annotated[int, Field(ge=1, lt=2**31)], ...] = Field(
        default=(), max_length=10_000, description="instead of a text, the numbers of sentences to leave out"
    )
    ratings: dict[str, Annotated[str, Field(max_length=10_000)]] = Field(
        default_factory=dict[str, str], description="of an item that is rated: the answer by measure, and `comment`"
    )
    reasons: tuple[ChangeReason, ...] = Field(
        default=(), max_length=8, description="why a caption is edited or rejected; may be left out"
    )
    second: bool = Field(default=False, description="a second opinion, where somebody has decided already")
    seen: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(
        default=None, description="how many decisions on the item were seen; where there are more by now, 409"
    )


class Draft(Body):
    """A text without a decision yet."""

    text: Text


class DraftKept(BaseModel):
    """The result of storing a draft: the faults of a reply."""

    faults: str


class Lines(Body):
    """The lines of a file that `dokimasia decide --export` wrote and somebody filled in."""

    name: Annotated[str, Field(max_length=4000, description="what the file is called in messages")] = "the file"
    lines: tuple[SheetLine, ...] = Field(max_length=100_000)


class TakenIn(BaseModel):
    """The counts of an import: new decisions, known ones, and lines without a decision."""

    decided: int
    known: int
    empty: int


class HandOut(Body):
    """The items of a run to hand out to people for blind rating."""

    kind: Kind = Field(examples=["rating"])
    annotators: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(min_length=1, max_length=100)
    per: Annotated[int, Field(ge=1, lt=2**31)] | None = Field(default=None, description="so many of each category")
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


class HandedOut(BaseModel):
    """The number of new items in the queue."""

    new: int


@operation("GET", "/reviews", tag=TAG)
def reviews(context: OperationContext, limit: Limit = 50, after: After = None) -> Reviews:
    """List the runs with items for people, those with waiting items first."""
    all_reviews = review_queue(context.home)
    page, next_key = page_of(all_reviews, lambda review: review.run.id, limit=limit, after=after)
    entries = [
        ReviewShown(
            run=review.run.id,
            title=method_of(review.run).title,
            waiting=review.waiting,
            decided=review.decided,
            kinds=dict(review.kinds),
            people=dict(review.people),
            yours=review.of(context.person),
            oldest=review.oldest,
        )
        for review in page
    ]
    return Reviews(total=len(all_reviews), next=next_key, reviews=entries)


@operation("GET", "/reviews/{run}", tag=TAG)
def one_review(
    context: OperationContext,
    run: str,
    second: Annotated[
        bool, Parameter(description="`due` are those on which others have decided, for a second opinion.")
    ] = False,
    due: Annotated[bool, Parameter(description="Only those on which the one who asks can decide now.")] = False,
    limit: Limit = 50,
    after: After = None,
) -> ReviewItems:
    """List a run's items, waiting ones first."""
    row = context.run(run)
    standings = [
        item for item in review_items(context.home, row) if not due or is_due(item, context.person, second=second)
    ]
    standings.sort(key=lambda standing: standing.state != "waiting")
    page, next_key = page_of(standings, lambda standing: standing.item.id, limit=limit, after=after)
    samples_by_item = samples_asked(context.home, [standing.item for standing in page])
    items = [
        ItemListed(
            item=standing.item.id,
            kind=standing.item.kind,
            sample=samples_by_item[standing.item.id],
            person=standing.item.person,
            state=standing.state_for(context.person),
            decided=len(standing.decisions),
            due=is_due(standing, context.person, second=second),
        )
        for standing in page
    ]
    return ReviewItems(total=len(standings), next=next_key, run=row.id, person=context.person, items=items)


@operation("GET", "/reviews/{run}/agreement", tag=TAG, figures=True)
def agreement(context: OperationContext, run: str) -> StandingFigures:
    """Return the state of items and the agreement of people; `dokimasia decide RUN --json` prints the same."""
    row = context.run(run)
    return standing_figures(context.home, row.id, all_standings(context.home, row.id))


@operation(
    "GET",
    "/reviews/{run}/ratings",
    tag=TAG,
    right="review",
    files=(JSON_LINES,),
    file="the ratings, a line each",
)
def ratings(context: OperationContext, run: str) -> FileReply:
    """Return people's answers on the items handed out to them, as `dokimasia annotate agreement` reads them."""
    row = context.run(run)
    name = f"ratings-{row.id}.jsonl"
    return FileReply(written(ratings_of(queued(context.home, row.id)), Path(name)), JSON_LINES, name)


@operation(
    "GET",
    "/reviews/{run}/files",
    tag=TAG,
    right="review",
    files=(ZIP,),
    file="an archive of the file and of what lies beside it",
)
def files(
    context: OperationContext,
    run: str,
    name: Annotated[
        str,
        Parameter(
            max_length=200, pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$", description="What the file is called."
        ),
    ] = "items.jsonl",
    others: Annotated[
        bool,
        Parameter(description="With what others decided also where the one who asks has not: a file of all decisions."),
    ] = False,
) -> FileReply:
    """Return all items as JSON lines to be filled in, with images and pages: what `dokimasia decide --export` writes."""
    row = context.run(run)
    standings = all_standings(context.home, row.id)
    if not standings:
        raise nothing_to_check(row.id)
    return FileReply(
        zipped(check_files(context.home, standings, name, who=context.person, others=others)),
        ZIP,
        f"check-{row.id}.zip",
    )


@operation("POST", "/reviews/{run}/lines", tag=TAG, right="review", status=201)
def take_in(context: OperationContext, run: str, body: Lines) -> TakenIn:
    """Import the decisions of a file, all lines or none; importing again changes nothing."""
    row = context.run(run)
    imported = take_in_lines(context.home, row.id, body.lines, body.name, who=context.person, others=context.self_named)
    return TakenIn(decided=imported.decided, known=imported.known, empty=imported.empty)


@operation("POST", "/reviews/{run}/hand-out", tag=TAG, right="review", status=201)
def hand_out(context: OperationContext, run: str, body: HandOut) -> HandedOut:
    """Hand out responses, pairs or criteria of a run to people for blind rating, to each in an order of their own."""
    row = context.run(run)
    if body.kind not in RATED:
        raise RequestRefused(UNPROCESSABLE, f"kind: {body.kind} is not handed out; {', '.join(RATED)} are")
    new = hand_out_here(context.home, row, body.kind, annotators=body.annotators, per=body.per, seed=body.seed)
    return HandedOut(new=asyncio.run(new))


@operation("GET", "/reviews/{run}/{item}", tag=TAG, replies=(GONE,))
def one_item(
    context: OperationContext,
    run: str,
    item: str,
) -> ItemShown:
    """Show an item with all details; others' decisions are included once the caller has decided."""
    row = context.run(run)
    if _standing_of(context, row, item).item.person == context.person:
        _note_shown(context, row, item)
    return _item_shown(context, _standing_of(context, row, item), context.person)


@operation("POST", "/reviews/{run}/{item}", tag=TAG, right="review", status=201, replies=(GONE,))
def decide(context: OperationContext, run: str, item: str, body: Decided) -> ItemShown:
    """Decide on an item; an earlier decision is reported to the caller and never overwritten."""
    row = context.run(run)
    standing = _standing_of(context, row, item)
    if body.action == "undo":
        asyncio.run(take_back(context.home, item, who=context.person))
        return _item_shown(context, _standing_of(context, row, item), context.person)
    text = (
        rating_text(standing.item, body.ratings) if standing.item.kind in RATED and body.action == "rate" else body.text
    )
    decision = checked(
        context.home,
        standing.item,
        body.action,
        who=context.person,
        text=text,
        delete=body.delete,
        seen=_decisions_seen(standing, body, context.person),
        reasons=body.reasons,
    )
    try:
        asyncio.run(keep_decision(context.home, decision))
    except DecidedMeanwhile as problem:
        if text.strip():
            keep_draft(context.home, item, context.person, text)
        advice = 'send it with "second": true to keep it as a second opinion'
        headers = {"dokimasia-error": type(problem).__name__}
        raise RequestRefused(CONFLICT, f"{problem}: {advice}", headers=headers) from None
    return _item_shown(context, _standing_of(context, row, item), context.person)


@operation("PUT", "/reviews/{run}/{item}/draft", tag=TAG, right="review", replies=(GONE,))
def draft(context: OperationContext, run: str, item: str, body: Draft) -> DraftKept:
    """Store a text without a decision yet, and return the faults of a reply; an empty text deletes the draft."""
    standing = _standing_of(context, context.run(run), item)
    if not body.text:
        clear_draft(context.home.path, standing.item.id, context.person)
        return DraftKept(faults="")
    keep_draft(context.home, standing.item.id, context.person, body.text)
    faults = faults_of(get_question(context.home, item).aid, body.text) if standing.item.kind == "question" else ""
    return DraftKept(faults=faults)


def _standing_of(context: OperationContext, run: Run, id: str) -> Standing:
    """Return an item of a run.

    Raises:
        RequestRefused: it is a withdrawn question.
        NotFound: there is no such item.
    """
    if id in withdrawn_items(context.home, run.id):
        raise RequestRefused(GONE, f"question {id} was withdrawn: run {run.id} does not ask it any more")
    return item_of(review_items(context.home, run), id, run.id)


def _note_shown(context: OperationContext, run: Run, id: str) -> None:
    """Store when a question was first shown to its person."""
    if _standing_of(context, run, id).item.kind == "question":
        asyncio.run(show_question(context.home, id))


def _decisions_seen(standing: Standing, body: Decided, who: str) -> int | None:
    """Return how many decisions a person is assumed to know: by default none if another's decision settles the item."""
    if body.seen is not None or body.second or standing.item.kind == "question":
        return body.seen
    settling = standing.settled_by
    if settling is None or settling.who == who:
        return len(standing.decisions)
    return 0


def _item_shown(context: OperationContext, standing: Standing, who: str) -> ItemShown:
    rated = standing.item.kind in RATED
    draft_path = draft_file(context.home.path, standing.item.id, who)
    return ItemShown(
        shown=shown_item(context.home, standing, who),
        decisions=list(standing.decisions_for(who)),
        asked=asked_of(standing.item) if rated else [],
        item=None if rated else standing.item,
        draft=draft_path.read_text(encoding="utf-8", errors="replace") if draft_path.is_file() else None,
    )
