"""Pages for decisions of people: the queue of all runs, one run's items, and one item at a time."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from secrets import token_urlsafe
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from markupsafe import Markup

from dokimasia.agents.readers import faults_of
from dokimasia.domain.annotation import SCALES, SCORE, Annotation, AnnotationUnit
from dokimasia.domain.decision import (
    CHANGE_REASONS,
    RATED,
    STATES,
    Action,
    ChangeReason,
    CheckItem,
    Decision,
    Standing,
    sentences_of,
)
from dokimasia.errors import DecidedMeanwhile, InputError
from dokimasia.people.annotation import (
    asked_of,
    compare,
    hand_out_here,
    put_together,
    queued,
    rateable,
    rating_text,
    ratings_of,
    written,
)
from dokimasia.people.annotation.blocks import measure_blocks
from dokimasia.people.annotation.comparing import judged_of
from dokimasia.people.checks import (
    ANYBODY,
    all_standings,
    checked,
    draft_of,
    item_of,
    keep_decision,
    keep_draft,
    label_blocks,
    label_figures,
    labelled,
    last_decision,
    next_due,
    review_items,
    review_queue,
    show_question,
    shown_item,
    take_back,
)
from dokimasia.people.checks.blocks import check_blocks
from dokimasia.people.checks.figures import check_figures, reason_figures
from dokimasia.people.checks.perturbed import LABEL_KEYS
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table
from dokimasia.report.drawing import Charts
from dokimasia.runs.catalogue import method_of
from dokimasia.service.drawing import drawn, page
from dokimasia.service.forms import texts_of
from dokimasia.service.pages.questions import (
    compose_reply,
    describe_items,
    describe_question,
    describe_run,
    question_view,
)
from dokimasia.service.pages.samples import name_of, run_label, sample_link
from dokimasia.service.state import Reader, Reviewer, Service, TheService
from dokimasia.storage.decisions import draft_file, standing
from dokimasia.storage.home import Home
from dokimasia.storage.naming import labels
from dokimasia.storage.people.questions import get_question, withdrawn_items
from dokimasia.storage.runs import Run


def withdrawn(home: Home, run: Run, id: str) -> Standing | None:
    """Return a question that its run no longer asks; None for any other item."""
    if id in withdrawn_items(home, run.id):
        return standing(home, id)
    return None


def store_decision(
    home: Home,
    item: CheckItem,
    action: str,
    *,
    who: str,
    text: str,
    delete: Sequence[int],
    seen: int | None,
    said: Mapping[str, str],
    reasons: Sequence[ChangeReason] = (),
) -> None:
    """Store a decision made with the form of an item's page.

    Args:
        home: open for writing.
        item: the item.
        action: the decision; `delete` is an edit that leaves sentences out.
        who: the person.
        text: the text after an edit, one sentence per line, or a reply.
        delete: numbers of sentences, from 1.
        seen: the number of decisions on the item that the page showed.
        said: the answers of a rating, by measure.
        reasons: why a caption is edited or rejected.

    Raises:
        InputError: it is invalid, or somebody decided in the meantime.
    """
    id = item.id
    if item.kind in {"caption", "rubric"}:
        action, text = _combined_edit(item, action, text, delete)
    decision: Action | None = next(
        (action_name for action_name in item.actions if action_name == ("edit" if action == "delete" else action)), None
    )
    if decision is None:
        raise InputError(
            f"item {id}: {action[:40]!r} is nothing that can be decided on a {item.kind}: {', '.join(item.actions)}"
        )
    if decision == "edit" and action != "delete":
        text, delete = " ".join(line.strip() for line in text.splitlines() if line.strip()), ()
        if text == " ".join(sentences_of(item.text)):
            raise InputError(f"item {id}: the edit changes nothing: accept the text instead")
    elif action == "delete":
        if not delete:
            raise InputError(f"item {id}: strike out the sentences first that are to be deleted")
        text = ""
    elif decision == "rate":
        text = rating_text(item, said)
    elif decision != "reply":
        text = ""
    checked_decision = checked(
        home,
        item,
        decision,
        who=who,
        text=text,
        delete=delete if action == "delete" else (),
        seen=seen,
        reasons=reasons,
    )
    asyncio.run(keep_decision(home, checked_decision))


def _combined_edit(item: CheckItem, action: str, text: str, delete: Sequence[int]) -> tuple[str, str]:
    """Return the action and the text of a decision, combining deleted sentences and an edit.

    Raises:
        InputError: an unsaved edit would be lost.
    """
    sentences = sentences_of(item.text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if action == "edit":
        struck = {sentences[number - 1] for number in delete if 1 <= number <= len(sentences)}
        return action, "\n".join(line for line in lines if line not in struck)
    if action in {"accept", "delete", "reject"} and lines and lines != sentences:
        raise InputError(
            f"item {item.id}: the text holds an edit that is not saved: save it with Save the edit, or discard it first"
        )
    return ("delete" if action == "accept" and delete else action), text


class RefusedForm(NamedTuple):
    """The values of a refused form.

    Attributes:
        delete: numbers of the deleted sentences.
        ratings: the answers of a rating, by measure.
        reasons: why a caption is edited or rejected.
        places: the values of a reply, by place.
        open: what must be done before the reply can be used, by place.
    """

    delete: Sequence[int] = ()
    ratings: Mapping[str, str] = {}
    reasons: Sequence[ChangeReason] = ()
    places: Mapping[str, Sequence[str]] = {}
    open: Mapping[str, str] = {}


def item_values(home: Home, standing: Standing, who: str, form: RefusedForm) -> dict[str, object]:
    """Return the values of the template of an item's page.

    Args:
        home: the home.
        standing: the item and its decisions.
        who: the person.
        form: the values of a refused form.
    """
    item = standing.item
    item_view = shown_item(home, standing, who)
    visible = standing.decisions_for(who)
    opinions = [(name, opinion) for name, opinion in standing.opinions.items() if opinion in visible]
    values: dict[str, object] = {
        "item": item,
        "shown": item_view,
        "opinions": opinions,
        "mine": standing.opinions.get(who),
        "seen": len(standing.decisions),
        "state": standing.state_for(who),
        "yours": item.person in (None, who),
        "given": form.ratings,
        "draft": "",
        "struck": set[int](),
        "label_keys": list(LABEL_KEYS.items()),
        "asked": asked_of(item) if item.kind in RATED else [],
    }
    if item.kind == "question":
        values |= _question_values(home, item.id, who, standing.opinions.get(who), form)
    elif item.kind in {"caption", "rubric"}:
        values |= _editor_values(home, item.id, who, sentences_of(item.text), form.delete)
        values |= {"reasons": CHANGE_REASONS if item.kind == "caption" else {}, "chosen": form.reasons}
    return values


def _question_values(home: Home, id: str, who: str, mine: Decision | None, form: RefusedForm) -> dict[str, object]:
    """Return the view of a question and its form, filled in from the reply, a refused form or the draft."""
    question = get_question(home, id)
    asks = question_view(question)
    draft = draft_of(home, question, who)
    reply = mine.text if mine else draft
    empty = reply.strip() == question.aid.form.strip()
    filled = form.places or (asks.form.read(reply) if asks.form and not empty else {})
    return {
        "asks": asks,
        "filled": filled or {},
        "open_places": form.open,
        "by_hand": asks.form is None or filled is None,
        "draft": draft,
        "wanted": describe_question(question),
    }


def _editor_values(home: Home, id: str, who: str, sentences: Sequence[str], delete: Sequence[int]) -> dict[str, object]:
    """Return the text and the deleted sentences of an editor, from a refused form or the draft."""
    path = draft_file(home.path, id, who)
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    struck = {number for number, sentence in enumerate(sentences, 1) if sentence not in lines} if lines else set[int]()
    only_struck = bool(lines) and lines == [
        sentence for number, sentence in enumerate(sentences, 1) if number not in struck
    ]
    if delete:
        return {"struck": set(delete), "draft": "" if lines == list(sentences) else "\n".join(lines)}
    if only_struck:
        return {"struck": struck, "draft": ""}
    return {"struck": set[int](), "draft": "\n".join(lines)}


MOST_APART = 50
"""The maximum number of listed things that were rated differently."""


def drawn_agreement(home: Home, run: Run) -> Markup:
    """Return the agreement of people on a run's items, drawn as blocks of a report."""
    blocks: list[Block] = []
    texts = [standing for standing in all_standings(home, run.id) if standing.item.kind in {"caption", "rubric"}]
    if texts:
        blocks += check_blocks(check_figures(texts, reason_figures(home, run.id, texts)))
    items = labelled(home, run.id)
    if items:
        blocks += label_blocks(label_figures(items), run.id)
    annotations = ratings_of(queued(home, run.id))
    if annotations:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "ratings.jsonl"
            path.write_bytes(written(annotations, path))
            try:
                figures = compare(home, path, runs=[run])
            except InputError:  # no judge of the run rates the same: compare people only
                figures = compare(None, path)
        blocks += measure_blocks(figures)
        blocks += _rating_differences(home, run, annotations)
    if not blocks:
        blocks.append(Paragraph("Nobody has decided on anything yet.", "note"))
    return drawn(blocks, Charts())


def _rating_differences(home: Home, run: Run, annotations: Sequence[Annotation]) -> Iterator[Block]:
    """Yield the things that people, or people and the run's judge, rated differently, with their samples, farthest
    apart first.

    Nothing is revealed while somebody still has something to rate, nor whose response it was.
    """
    if any(standing.state == "waiting" for standing in queued(home, run.id)):
        yield Paragraph("Where the ratings differ is listed once nobody has anything left to rate.", "note")
        return
    judges: Mapping[str, Mapping[AnnotationUnit, float]] = {}
    with suppress(InputError):  # a run without a judge of the same things
        judges = judged_of(home, run, SCALES[SCORE])
    rows: list[tuple[float, list[Cell]]] = []
    for rated in put_together(annotations):
        ratings = dict(rated.said)
        ratings |= {judge: values[rated.unit] for judge, values in judges.items() if rated.unit in values}
        distance = max(ratings.values()) - min(ratings.values())
        if distance:
            link = Span(rated.unit.id, href=sample_link(run, rated.unit.id))
            ratings_text = ", ".join(f"{name}: {value:g}" for name, value in ratings.items())
            rows.append((distance, [link, rated.unit.measure, ratings_text, f"{distance:g}"]))
    if not rows:
        yield Paragraph("No two ratings of one thing differ.", "note")
        return
    rows.sort(key=lambda row: -row[0])
    columns = [Column("sample", numeric=False), Column("measure", numeric=False), Column("ratings", numeric=False)]
    title = f"Where ratings differ, the farthest apart first ({min(len(rows), MOST_APART):,} of {len(rows):,})"
    yield Table([*columns, Column("apart")], [row for _, row in rows[:MOST_APART]], title)


def undo_obstacle(home: Home, last: Decision | None, *, person: str) -> str:
    """Return why a person's last decision cannot be undone; empty if it can be, or if there is none."""
    if last is None:
        return ""
    try:
        checked_decision = checked(home, last.item, "undo", who=person)
    except InputError as problem:
        return str(problem)
    question = get_question(home, last.item) if checked_decision.item.kind == "question" else None
    if question is not None and question.used_at:
        return "the run went on with this answer"
    return ""


def counts(items: Sequence[Standing], who: str) -> list[dict[str, object]]:
    """Return the number of items in each state for a person, by kind."""
    order = list(dict.fromkeys(["waiting", *STATES.values(), "decided"]))
    counts_by_kind: list[dict[str, object]] = []
    for kind in dict.fromkeys(item.item.kind for item in items):
        states = Counter(standing.state_for(who) for standing in items if standing.item.kind == kind)
        by_state = [(state, states[state]) for state in order if states[state]]
        counts_by_kind.append({"kind": kind, "n": states.total(), "states": by_state})
    return counts_by_kind


def progress(mine: Sequence[Standing], who: str) -> dict[str, int]:
    """Return how many items a person may decide on, and how many are decided, by whom."""
    yours = sum(who in standing.opinions for standing in mine)
    decided = sum(standing.state != "waiting" for standing in mine)
    others = sum(any(name != who for name in standing.opinions) for standing in mine)
    return {"of": len(mine), "decided": decided, "yours": yours, "others": others, "left": len(mine) - decided}


router = APIRouter()

PER_PAGE = 100
Fields = dict[str, list[str]]
NONE_FILLED: Fields = {}
Filled = Annotated[Fields, Depends(texts_of)]

LONGEST_KEPT = 20_000
"""The maximum number of stored characters of a refused form; its text is stored as a draft in any case."""


class Refusal(NamedTuple):
    """A refused decision: the reason, the form, and the number of decisions at that time."""

    fault: InputError
    form: RefusedForm
    decisions: int


NEXT_METHODS = {"review": "rubrics", "rubrics": "audit", "perturb": "probe"}
"""The method that continues with checked items, by the method that made them."""


@router.get("/review")
def queue(request: Request, service: TheService, person: Reader) -> Response:
    """List the runs with items for people, those with waiting items first."""
    names = labels(service.home)
    runs = sorted(review_queue(service.home), key=lambda waiting: not waiting.of(person.name))
    rows = [
        {
            "run": waiting.run,
            "name": run_label(names, waiting.run),
            "title": method_of(waiting.run).title,
            "asked": describe_run(service.home, waiting),
            "people": sorted(waiting.people.items()),
            "mine": waiting.of(person.name),
            "waiting": waiting.waiting,
            "decided": waiting.decided,
            "age": _age(waiting.oldest),
            "oldest": waiting.oldest,
        }
        for waiting in runs
    ]
    others = sorted({name for waiting in runs for name in waiting.people} - {ANYBODY, person.name})
    mine = sum(waiting.of(person.name) for waiting in runs)
    return page(request, "review_queue.html", rows=rows, others=others, mine=mine)


@router.get("/review/{run}")
def overview(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    number: Annotated[int, Query(ge=1, alias="page")] = 1,
) -> Response:
    """Show the states of a run's items, who must decide, and the next step."""
    return _overview(request, service, service.run(run), person.name, number=number)


@router.get("/review/{run}/agreement")
def agreement(request: Request, service: TheService, person: Reader, run: str) -> Response:
    """Show the agreement of people with each other, and of a judge with them."""
    row = service.run(run)
    blocks = drawn_agreement(service.home, row)
    return page(request, "review_agreement.html", run=row, called=name_of(service.home, row), blocks=blocks)


@router.get("/review/{run}/ratings.jsonl")
def ratings(service: TheService, person: Reviewer, run: str) -> Response:
    """Return people's ratings of assigned items as a file for `dokimasia annotate agreement`."""
    row = service.run(run)
    name = f"ratings-{row.id}.jsonl"
    lines = written(ratings_of(queued(service.home, row.id)), Path(name))
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(lines, media_type="application/x-ndjson", headers=headers)


@router.post("/review/{run}/hand-out")
def hand_out(
    request: Request,
    service: TheService,
    person: Reviewer,
    run: str,
    kind: Annotated[str, Form()],
    annotators: Annotated[str, Form(max_length=2000)],
    per: Annotated[str, Form()] = "",
    seed: Annotated[int, Form(ge=0)] = 0,
) -> Response:
    """Assign responses, pairs or criteria to people, blinded, each person in their own order."""
    row = service.run(run)
    try:
        if per and not (per.isdecimal() and len(per) < 10 and int(per)):
            raise InputError(
                f"so many of each category is {per[:40]!r}: write a whole number from 1, or nothing for all"
            )
        names = [name.strip() for name in annotators.split(",") if name.strip()]
        asyncio.run(hand_out_here(service.home, row, kind, annotators=names, per=int(per) if per else None, seed=seed))
    except InputError as problem:
        return _overview(request, service, row, person.name, fault=str(problem))
    return RedirectResponse(f"/review/{row.id}", HTTPStatus.SEE_OTHER)


@router.get("/review/{run}/next")
def following(service: TheService, person: Reader, run: str, after: str = "", second: bool = False) -> Response:
    """Redirect to the next item that a person can decide on, or to the run's items if there is none."""
    return _redirect_to_next(service, service.run(run), person.name, after=after, second=second)


@router.post("/review/{run}/undo")
def undo(
    request: Request,
    service: TheService,
    person: Reviewer,
    run: str,
    item: Annotated[str, Form()],
    second: Annotated[bool, Form()] = False,
) -> Response:
    """Undo one's own decision and redirect to its item, which shows why if that is refused."""
    row = service.run(run)
    standing = _standing_of(service, row, item)
    try:
        asyncio.run(take_back(service.home, standing.item.id, who=person.name))
    except InputError as problem:
        return _redirect_to_refusal(service, row, standing, person.name, second=second, fault=problem)
    return RedirectResponse(_path(row, item, second=second), HTTPStatus.SEE_OTHER)


@router.get("/review/{run}/{item}")
def one_item(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    item: str,
    second: bool = False,
    refused: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show one item and the possible decisions; after a refusal, with the reason and the form's values."""
    refusal = service.cache.peek((Refusal, person.name, item, refused))
    return _item(request, service, service.run(run), item, person.name, second=second, refusal=refusal)


@router.post("/review/{run}/{item}")
def decide(
    request: Request,
    service: TheService,
    person: Reviewer,
    run: str,
    item: str,
    action: Annotated[str, Form(max_length=40)],
    seen: Annotated[int | None, Form(ge=0)] = None,
    text: Annotated[str, Form()] = "",
    delete: Annotated[list[int] | None, Form()] = None,
    reasons: Annotated[list[ChangeReason] | None, Form()] = None,
    second: Annotated[bool, Form()] = False,
    verdict: Annotated[str, Form()] = "",
    score: Annotated[str, Form()] = "",
    accuracy: Annotated[str, Form()] = "",
    necessity: Annotated[str, Form()] = "",
    comment: Annotated[str, Form()] = "",
    fields: Filled = NONE_FILLED,
) -> Response:
    """Store a decision and redirect to the next item; if it is refused, show why, with the form still filled in."""
    row = service.run(run)
    rating = {"verdict": verdict, "score": score, "accuracy": accuracy, "necessity": necessity, "comment": comment}
    standing = _standing_of(service, row, item)
    reply = (
        compose_reply(service.home, item, fields) if action == "compose" and standing.item.kind == "question" else None
    )
    if action == "compose" and standing.item.kind == "question":
        action, text = "reply", reply.text if reply else ""
    try:
        if reply and reply.faults and standing.item.person == person.name and not standing.decisions:
            raise InputError(f"this reply cannot be used yet: {reply.faults}")
        store_decision(
            service.home,
            standing.item,
            action,
            who=person.name,
            text=text,
            delete=delete or (),
            seen=seen,
            said=rating,
            reasons=reasons or (),
        )
    except InputError as problem:
        if text.strip() and text.split() != standing.item.text.split():
            keep_draft(service.home, item, person.name, text)
        form = RefusedForm(delete or (), rating, reasons or ())
        if reply:
            form = form._replace(places=reply.places, open=reply.open)
        return _redirect_to_refusal(service, row, standing, person.name, second=second, fault=problem, form=form)
    return _redirect_to_next(service, row, person.name, after=item, second=second)


@router.post("/review/{run}/{item}/draft")
def draft(
    service: TheService,
    person: Reviewer,
    run: str,
    item: str,
    text: Annotated[str, Form()] = "",
    fields: Filled = NONE_FILLED,
) -> Response:
    """Store a draft, and report faults of a reply."""
    row = service.run(run)
    standing = item_of(review_items(service.home, row), item, row.id)
    reply = compose_reply(service.home, item, fields) if standing.item.kind == "question" else None
    keep_draft(service.home, standing.item.id, person.name, reply.text if reply else text)
    if reply:
        return JSONResponse({"kept": True, "faults": reply.faults, "text": reply.text})
    faults = faults_of(get_question(service.home, item).aid, text) if standing.item.kind == "question" else ""
    return JSONResponse({"kept": True, "faults": faults})


def _item(
    request: Request,
    service: Service,
    run: Run,
    id: str,
    who: str,
    *,
    second: bool = False,
    refusal: Refusal | None = None,
) -> Response:
    items = review_items(service.home, run)
    standing = _standing_of(service, run, id, items)
    if standing.item.kind == "question" and standing.item.person == who:
        asyncio.run(show_question(service.home, id))
    mine = [entry for entry in items if entry.item.person in (None, who)]
    places = {entry.item.id: number for number, entry in enumerate(mine)}
    index = places.get(id)
    following = next_due(items, who, after=id, second=second)
    last = last_decision(items, who)
    if refusal is not None and refusal.decisions != len(standing.decisions):
        refusal = None
    fault = refusal and refusal.fault
    status = HTTPStatus.OK
    if fault is not None:
        status = HTTPStatus.CONFLICT if isinstance(fault, DecidedMeanwhile) else HTTPStatus.UNPROCESSABLE_ENTITY
    return page(
        request,
        "review_item.html",
        item_values(service.home, standing, who, refusal.form if refusal else RefusedForm()),
        status=status,
        run=run,
        called=name_of(service.home, run),
        number=None if index is None else index + 1,
        progress=progress(mine, who),
        before=mine[index - 1].item.id if index else None,
        following=None if following is None else following.item.id,
        last=last,
        kept_by=undo_obstacle(service.home, last, person=who),
        second=second,
        fault="" if fault is None else re.sub(rf"^(item|question) {re.escape(id)}: ", "", str(fault)),
        conflict=isinstance(fault, DecidedMeanwhile),
    )


def _redirect_to_refusal(
    service: Service,
    run: Run,
    standing: Standing,
    who: str,
    *,
    second: bool,
    fault: InputError,
    form: RefusedForm | None = None,
) -> Response:
    """Redirect to the item's page, which shows the reason; after a redirect, reload and Back do not resend the form."""
    if form is None or len(str(form)) >= LONGEST_KEPT:
        form = RefusedForm()
    current = _standing_of(service, run, standing.item.id)
    key = token_urlsafe(9)
    service.cache.get(
        (Refusal, who, standing.item.id, key),
        lambda: Refusal(fault=fault, form=form, decisions=len(current.decisions)),
    )
    path = _path(run, standing.item.id, second=second)
    return RedirectResponse(f"{path}{'&' if second else '?'}refused={key}", HTTPStatus.SEE_OTHER)


def _standing_of(service: Service, run: Run, id: str, items: Sequence[Standing] = ()) -> Standing:
    """Return an item of a run, including withdrawn questions."""
    return withdrawn(service.home, run, id) or item_of(items or review_items(service.home, run), id, run.id)


def _overview(request: Request, service: Service, run: Run, who: str, *, number: int = 1, fault: str = "") -> Response:
    items = review_items(service.home, run)
    mine = [item for item in items if item.item.person in (None, who)]
    first, next_second = next_due(items, who), next_due(items, who, second=True)
    waiting = [standing for standing in items if standing.state == "waiting"]
    last = last_decision(items, who)
    other = next((entry for entry in review_queue(service.home) if entry.run.id != run.id and entry.of(who)), None)
    return page(
        request,
        "review_run.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        run=run,
        who=who,
        called=name_of(service.home, run),
        title=method_of(run).title,
        items=describe_items(service.home, items[(number - 1) * PER_PAGE : number * PER_PAGE]),
        last=last,
        last_words=describe_items(
            service.home, [standing for standing in items if last and standing.item.id == last.item]
        ),
        kept_by=undo_obstacle(service.home, last, person=who),
        others=sorted({standing.item.person for standing in waiting if standing.item.person not in (None, who)}),
        number=number,
        pages=max(1, -(-len(items) // PER_PAGE)),
        counts=counts(items, who),
        progress=progress(mine, who),
        people=sorted(Counter(standing.item.person or "anybody" for standing in waiting).items()),
        said=sorted(Counter(name for standing in items for name in standing.opinions).items()),
        first=None if first is None else first.item.id,
        again=None if next_second is None else next_second.item.id,
        rated=any(standing.item.kind in RATED for standing in items),
        rateable=rateable(service.home, run),
        made_next=NEXT_METHODS.get(run.method) if not waiting and items else None,
        other=None if other is None else other.run,
        fault=fault,
    )


def _redirect_to_next(service: Service, run: Run, who: str, *, after: str, second: bool) -> Response:
    due = next_due(review_items(service.home, run), who, after=after, second=second)
    target = f"/review/{run.id}" if due is None else _path(run, due.item.id, second=second)
    return RedirectResponse(target, HTTPStatus.SEE_OTHER)


def _path(run: Run, item: str, *, second: bool) -> str:
    return f"/review/{run.id}/{item}" + ("?second=true" if second else "")


def _age(since: str) -> str:
    """Return the time since a moment in minutes, hours or days; empty without a moment."""
    if not since:
        return ""
    hours = (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds() / 3600
    if hours < 1:
        return f"{max(1, round(hours * 60))} min"
    if hours < 48:
        return f"{round(hours)} h"
    return f"{round(hours / 24)} days"
