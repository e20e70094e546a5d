"""What waits for people: the queue of all runs, one run's items, and one item at a time, decided by keyboard, mouse or touch."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from secrets import token_urlsafe
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from dokimasia.agents.readers import faults_of
from dokimasia.domain.decision import RATED, Standing
from dokimasia.errors import DecidedMeanwhile, InputError
from dokimasia.methods.checks import (
    ANYBODY,
    item_of,
    keep_draft,
    last_decision,
    next_due,
    review_items,
    review_queue,
    show_question,
    take_back,
)
from dokimasia.methods.people import hand_out_here, queued, rateable, ratings_of, written
from dokimasia.runs.catalogue import method_of
from dokimasia.service.drawing import page
from dokimasia.service.forms import texts_of
from dokimasia.service.pages.questions import asked_of_run, composed, items_in_words
from dokimasia.service.pages.reviewing import (
    agreement_blocks,
    counts,
    decide_here,
    item_values,
    kept_by,
    progress,
    withdrawn,
)
from dokimasia.service.state import Reader, Reviewer, Service, TheService
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.questions import get_question
from dokimasia.storage.runs import Run

router = APIRouter()

PER_PAGE = 100
Fields = dict[str, list[str]]
NONE_FILLED: Fields = {}
Filled = Annotated[Fields, Depends(texts_of)]

LONGEST_KEPT = 20_000
"""Characters of a refused form that are kept for its page; a text is kept as a draft, however long."""


class Refusal(NamedTuple):
    """Why a decision was refused and what was sent, as long as nobody has decided since."""

    fault: InputError
    given: dict[str, Any]
    decisions: int


NEXT_METHODS = {"review": "rubrics", "rubrics": "audit", "perturb": "probe"}
"""What is made of what people checked, by the method that made it."""


@router.get("/review")
def queue(request: Request, service: TheService, person: Reader) -> Response:
    """List the runs with anything that people decide on, those where something waits first."""
    names = labels(service.home)
    rows = [
        {
            "run": one.run,
            "name": names.get(one.run.id, Label()).name,
            "title": method_of(one.run).title,
            "asked": asked_of_run(service.home, one),
            "people": sorted(one.people.items()),
            "mine": one.of(person.name),
            "waiting": one.waiting,
            "decided": one.decided,
            "age": _age(one.oldest),
            "oldest": one.oldest,
        }
        for one in sorted(review_queue(service.home), key=lambda one: not one.of(person.name))
    ]
    others = sorted({name for row in rows for name, _ in row["people"] if name not in {ANYBODY, person.name}})
    return page(request, "review_queue.html", rows=rows, others=others, mine=sum(row["mine"] for row in rows))


@router.get("/review/{run}")
def overview(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    number: Annotated[int, Query(ge=1, alias="page")] = 1,
) -> Response:
    """Show how a run's items stand, whose turn it is, and what comes next."""
    return _overview(request, service, service.run(run), person.name, number=number)


@router.get("/review/{run}/agreement")
def agreement(request: Request, service: TheService, person: Reader, run: str) -> Response:
    """Show how far people agree with each other, and a judge with them."""
    found = service.run(run)
    blocks = agreement_blocks(service.home, found)
    return page(request, "review_agreement.html", run=found, blocks=blocks)


@router.get("/review/{run}/ratings.jsonl")
def ratings(service: TheService, person: Reviewer, run: str) -> Response:
    """Return what people said of what was handed out to them, as a file that `dokimasia annotate agreement` reads."""
    found = service.run(run)
    name = f"ratings-{found.id}.jsonl"
    lines = written(ratings_of(queued(service.home, found.id)), Path(name))
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
    """Hand responses, pairs or criteria out to people, blind, in an order of their own."""
    found = service.run(run)
    try:
        if per and not (per.isdecimal() and len(per) < 10 and int(per)):
            raise InputError(
                f"so many of each category is {per[:40]!r}: write a whole number from 1, or nothing for all"
            )
        names = [name.strip() for name in annotators.split(",") if name.strip()]
        asyncio.run(
            hand_out_here(service.home, found, kind, annotators=names, per=int(per) if per else None, seed=seed)
        )
    except InputError as problem:
        return _overview(request, service, found, person.name, fault=str(problem))
    return RedirectResponse(f"/review/{found.id}", HTTPStatus.SEE_OTHER)


@router.get("/review/{run}/next")
def following(service: TheService, person: Reader, run: str, after: str = "", second: bool = False) -> Response:
    """Lead to the next item that a person can decide on, or to the run's items where there is none."""
    return _on(service, service.run(run), person.name, after=after, second=second)


@router.post("/review/{run}/undo")
def undo(
    request: Request,
    service: TheService,
    person: Reviewer,
    run: str,
    item: Annotated[str, Form()],
    second: Annotated[bool, Form()] = False,
) -> Response:
    """Take a decision of one's own back and lead to its item; where it cannot be, say why on the item's page."""
    found = service.run(run)
    standing = _found(service, found, item)
    try:
        asyncio.run(take_back(service.home, standing.item.id, who=person.name))
    except InputError as problem:
        return _refused(service, found, standing, person.name, second=second, fault=problem)
    return RedirectResponse(_path(found, item, second=second), HTTPStatus.SEE_OTHER)


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
    """Show one item with what can be decided on it; after a refusal with why, and with what was sent."""
    told = service.remembered.known((Refusal, person.name, item, refused))
    return _item(request, service, service.run(run), item, person.name, second=second, told=told)


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
    second: Annotated[bool, Form()] = False,
    verdict: Annotated[str, Form()] = "",
    score: Annotated[str, Form()] = "",
    accuracy: Annotated[str, Form()] = "",
    necessity: Annotated[str, Form()] = "",
    comment: Annotated[str, Form()] = "",
    fields: Filled = NONE_FILLED,
) -> Response:
    """Keep a decision and lead on; where it cannot be kept, show why, with all that was written still there."""
    found = service.run(run)
    said = {"verdict": verdict, "score": score, "accuracy": accuracy, "necessity": necessity, "comment": comment}
    standing = _found(service, found, item)
    made = composed(service.home, item, fields) if action == "compose" and standing.item.kind == "question" else None
    if action == "compose" and standing.item.kind == "question":
        action, text = "reply", made.text if made else ""
    try:
        if made and made.faults and standing.item.person == person.name and not standing.decisions:
            raise InputError(f"this reply cannot be used yet: {made.faults}")
        decide_here(
            service.home,
            standing.item,
            action,
            who=person.name,
            text=text,
            delete=delete or (),
            seen=seen,
            said=said,
        )
    except InputError as problem:
        if text.strip() and text.split() != standing.item.text.split():
            keep_draft(service.home, item, person.name, text)
        given = {"delete": delete or [], **said, **({"places": made.places, "open": made.open} if made else {})}
        return _refused(service, found, standing, person.name, second=second, fault=problem, given=given)
    return _on(service, found, person.name, after=item, second=second)


@router.post("/review/{run}/{item}/draft")
def draft(
    service: TheService,
    person: Reviewer,
    run: str,
    item: str,
    text: Annotated[str, Form()] = "",
    fields: Filled = NONE_FILLED,
) -> Response:
    """Keep what is not decided yet on the server, and say what of a reply would not be understood."""
    found = service.run(run)
    one = item_of(review_items(service.home, found), item, found.id)
    made = composed(service.home, item, fields) if one.item.kind == "question" else None
    keep_draft(service.home, one.item.id, person.name, made.text if made else text)
    if made:
        return JSONResponse({"kept": True, "faults": made.faults, "text": made.text})
    faults = faults_of(get_question(service.home, item).aid, text) if one.item.kind == "question" else ""
    return JSONResponse({"kept": True, "faults": faults})


def _item(
    request: Request,
    service: Service,
    run: Run,
    id: str,
    who: str,
    *,
    second: bool = False,
    told: Refusal | None = None,
) -> Response:
    items = review_items(service.home, run)
    one = _found(service, run, id, items)
    if one.item.kind == "question" and one.item.person == who:
        asyncio.run(show_question(service.home, id))
    mine = [each for each in items if each.item.person in (None, who)]
    places = {each.item.id: number for number, each in enumerate(mine)}
    at = places.get(id)
    following = next_due(items, who, after=id, second=second)
    last = last_decision(items, who)
    if told is not None and told.decisions != len(one.decisions):
        told = None
    fault = told and told.fault
    status = HTTPStatus.OK
    if fault is not None:
        status = HTTPStatus.CONFLICT if isinstance(fault, DecidedMeanwhile) else HTTPStatus.UNPROCESSABLE_ENTITY
    return page(
        request,
        "review_item.html",
        status=status,
        run=run,
        number=None if at is None else at + 1,
        progress=progress(mine, who),
        before=mine[at - 1].item.id if at else None,
        following=None if following is None else following.item.id,
        last=last,
        kept_by=kept_by(service.home, last, person=who),
        second=second,
        fault="" if fault is None else re.sub(rf"^(item|question) {re.escape(id)}: ", "", str(fault)),
        conflict=isinstance(fault, DecidedMeanwhile),
        **item_values(service.home, one, who, given=told.given if told else {}),
    )


def _refused(
    service: Service,
    run: Run,
    one: Standing,
    who: str,
    *,
    second: bool,
    fault: InputError,
    given: dict[str, Any] | None = None,
) -> Response:
    """Lead to the item's page, which says why: it is asked for by GET, so that neither reload nor Back sends a form again."""
    given = given if given and len(str(given)) < LONGEST_KEPT else {}
    now = _found(service, run, one.item.id)
    key = token_urlsafe(9)
    service.remembered.of(
        (Refusal, who, one.item.id, key), lambda: Refusal(fault=fault, given=given, decisions=len(now.decisions))
    )
    path = _path(run, one.item.id, second=second)
    return RedirectResponse(f"{path}{'&' if second else '?'}refused={key}", HTTPStatus.SEE_OTHER)


def _found(service: Service, run: Run, id: str, items: Sequence[Standing] = ()) -> Standing:
    """Return an item of a run, a question that was withdrawn among them."""
    return withdrawn(service.home, run, id) or item_of(items or review_items(service.home, run), id, run.id)


def _overview(request: Request, service: Service, run: Run, who: str, *, number: int = 1, fault: str = "") -> Response:
    items = review_items(service.home, run)
    mine = [one for one in items if one.item.person in (None, who)]
    first, again = next_due(items, who), next_due(items, who, second=True)
    waiting = [one for one in items if one.state == "waiting"]
    last = last_decision(items, who)
    other = next((one for one in review_queue(service.home) if one.run.id != run.id and one.of(who)), None)
    return page(
        request,
        "review_run.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        run=run,
        who=who,
        name=labels(service.home).get(run.id, Label()).name,
        title=method_of(run).title,
        items=items_in_words(service.home, items[(number - 1) * PER_PAGE : number * PER_PAGE]),
        last=last,
        last_words=items_in_words(service.home, [one for one in items if last and one.item.id == last.item]),
        kept_by=kept_by(service.home, last, person=who),
        others=sorted({one.item.person for one in waiting if one.item.person not in (None, who)}),
        number=number,
        pages=max(1, -(-len(items) // PER_PAGE)),
        counts=counts(items, who),
        progress=progress(mine, who),
        people=sorted(Counter(one.item.person or "anybody" for one in waiting).items()),
        said=sorted(Counter(name for one in items for name in one.opinions).items()),
        first=None if first is None else first.item.id,
        again=None if again is None else again.item.id,
        rated=any(one.item.kind in RATED for one in items),
        rateable=rateable(service.home, run),
        made_next=NEXT_METHODS.get(run.method) if not waiting and items else None,
        other=None if other is None else other.run,
        fault=fault,
    )


def _on(service: Service, run: Run, who: str, *, after: str, second: bool) -> Response:
    found = next_due(review_items(service.home, run), who, after=after, second=second)
    target = f"/review/{run.id}" if found is None else _path(run, found.item.id, second=second)
    return RedirectResponse(target, HTTPStatus.SEE_OTHER)


def _path(run: Run, item: str, *, second: bool) -> str:
    return f"/review/{run.id}/{item}" + ("?second=true" if second else "")


def _age(since: str) -> str:
    """Return how long ago a time is, in words; empty without one."""
    if not since:
        return ""
    hours = (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds() / 3600
    if hours < 1:
        return f"{max(1, round(hours * 60))} min"
    return f"{round(hours)} h" if hours < 48 else f"{round(hours / 24)} days"
