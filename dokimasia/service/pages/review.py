"""What waits for people: the queue of all runs, one run's items, and one item at a time, decided by keyboard, mouse or touch."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from secrets import token_urlsafe
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from markupsafe import Markup

from dokimasia.agents.readers import faults_of
from dokimasia.domain.decision import RATED, STATES, Action, CheckItem, Decision, Standing, sentences_of
from dokimasia.errors import DecidedMeanwhile, InputError
from dokimasia.people.annotation import (
    asked_of,
    compare,
    hand_out_here,
    queued,
    rateable,
    rating_text,
    ratings_of,
    written,
)
from dokimasia.people.annotation.blocks import measure_blocks
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
from dokimasia.people.checks.figures import check_figures
from dokimasia.people.checks.perturbed import LABEL_KEYS
from dokimasia.report.blocks import Block, Paragraph
from dokimasia.report.drawing import Charts
from dokimasia.runs.catalogue import method_of
from dokimasia.service.drawing import drawn, page
from dokimasia.service.forms import texts_of
from dokimasia.service.pages.questions import asked_in_words, asked_of_run, asks_of, composed, items_in_words
from dokimasia.service.state import Reader, Reviewer, Service, TheService
from dokimasia.storage.decisions import draft_file, standing
from dokimasia.storage.home import Home
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.questions import get_question, withdrawn_items
from dokimasia.storage.runs import Run


def withdrawn(home: Home, run: Run, id: str) -> Standing | None:
    """Return a question that its run does not ask any more; None of every other item."""
    return standing(home, id) if id in withdrawn_items(home, run.id) else None


def decide_here(
    home: Home,
    item: CheckItem,
    action: str,
    *,
    who: str,
    text: str,
    delete: Sequence[int],
    seen: int | None,
    said: Mapping[str, str],
) -> None:
    """Keep a decision as the form of an item's page gives it.

    Args:
        home: open for writing.
        item: what is decided on.
        action: what was decided; `delete` is an edit that leaves sentences out.
        who: the person.
        text: the text after an edit, a sentence a line, or a reply.
        delete: numbers of sentences, from 1.
        seen: how many decisions on the item the page showed.
        said: the answers of a rating, by measure.

    Raises:
        InputError: it cannot be kept, or somebody decided meanwhile.
    """
    id = item.id
    if item.kind in {"caption", "rubric"}:
        action, text = _nothing_lost(item, action, text, delete)
    known: Action | None = next(
        (one for one in item.actions if one == ("edit" if action == "delete" else action)), None
    )
    if known is None:
        raise InputError(
            f"item {id}: {action[:40]!r} is nothing that can be decided on a {item.kind}: {', '.join(item.actions)}"
        )
    if known == "edit" and action != "delete":
        text, delete = " ".join(line.strip() for line in text.splitlines() if line.strip()), ()
        if text == " ".join(sentences_of(item.text)):
            raise InputError(f"item {id}: the edit changes nothing: accept the text instead")
    elif action == "delete":
        if not delete:
            raise InputError(f"item {id}: strike out the sentences first that are to be deleted")
        text = ""
    elif known == "rate":
        text = rating_text(item, said)
    elif known != "reply":
        text = ""
    left = checked(home, item, known, who=who, text=text, delete=delete if action == "delete" else (), seen=seen)
    asyncio.run(keep_decision(home, left))


def _nothing_lost(item: CheckItem, action: str, text: str, delete: Sequence[int]) -> tuple[str, str]:
    """Return the action and the text of a decision with all that its page holds: sentences struck out, and an edit.

    Raises:
        InputError: an edit is not saved and would be lost.
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


def item_values(home: Home, one: Standing, who: str, *, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template of an item's page is given.

    Args:
        home: where it is.
        one: the item.
        who: whose page it is.
        given: what the person has sent, where it could not be kept.
    """
    item = one.item
    shown = shown_item(home, one, who)
    seen = one.decisions_for(who)
    opinions = [(name, each) for name, each in one.opinions.items() if each in seen]
    values: dict[str, Any] = {
        "item": item,
        "shown": shown,
        "opinions": opinions,
        "mine": one.opinions.get(who),
        "seen": len(one.decisions),
        "state": one.state_for(who),
        "yours": item.person in (None, who),
        "given": given,
        "draft": "",
        "struck": set[int](),
        "label_keys": list(LABEL_KEYS.items()),
        "asked": asked_of(item) if item.kind in RATED else [],
    }
    if item.kind == "question":
        values |= _answered(home, item.id, who, one.opinions.get(who), given)
    elif item.kind in {"caption", "rubric"}:
        values |= _edited(home, item.id, who, shown["sentences"], given)
    return values


def _answered(home: Home, id: str, who: str, mine: Decision | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a question shows, and what of its form is filled in: by the reply, what was sent, or the draft."""
    question = get_question(home, id)
    asks = asks_of(question)
    draft = given.get("text") or draft_of(home, question, who)
    reply = mine.text if mine else draft
    empty = reply.strip() == question.aid.form.strip()
    filled = given.get("places") or (asks.form.read(reply) if asks.form and not empty else {})
    return {
        "asks": asks,
        "filled": filled or {},
        "open_places": given.get("open", {}),
        "by_hand": asks.form is None or filled is None,
        "draft": draft,
        "wanted": asked_in_words(question),
    }


def _edited(home: Home, id: str, who: str, sentences: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of an editor and the sentences that are struck out: what was sent, else the draft, else nothing."""
    path = draft_file(home.path, id, who)
    kept = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    text = given.get("text") or kept
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    struck = {number for number, sentence in enumerate(sentences, 1) if sentence not in lines} if lines else set[int]()
    only_struck = bool(lines) and lines == [one for number, one in enumerate(sentences, 1) if number not in struck]
    if given.get("delete"):
        return {"struck": set(given["delete"]), "draft": "" if lines == list(sentences) else "\n".join(lines)}
    return {"struck": struck, "draft": ""} if only_struck else {"struck": set[int](), "draft": "\n".join(lines)}


def drawn_agreement(home: Home, run: Run) -> Markup:
    """Return how far people agree on a run's items, drawn as a report's blocks are."""
    blocks: list[Block] = []
    texts = [one for one in all_standings(home, run.id) if one.item.kind in {"caption", "rubric"}]
    if texts:
        blocks += check_blocks(check_figures(texts))
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
            except InputError:  # a run without a judge that rates the same: people with each other alone
                figures = compare(None, path)
        blocks += measure_blocks(figures)
    if not blocks:
        blocks.append(Paragraph("Nobody has decided on anything yet.", "note"))
    return drawn(blocks, Charts())


def kept_by(home: Home, last: Decision | None, *, person: str) -> str:
    """Return why a person's last decision cannot be taken back any more; empty where it can, or where there is none."""
    if last is None:
        return ""
    try:
        left = checked(home, last.item, "undo", who=person)
    except InputError as problem:
        return str(problem)
    question = get_question(home, last.item) if left.item.kind == "question" else None
    return "the run went on with this answer" if question is not None and question.used_at else ""


def counts(items: Sequence[Standing], who: str) -> list[dict[str, Any]]:
    """Return by kind how many items stand how for a person, waiting ones first."""
    order = list(dict.fromkeys(["waiting", *STATES.values(), "decided"]))
    found: list[dict[str, Any]] = []
    for kind in dict.fromkeys(item.item.kind for item in items):
        states = Counter(one.state_for(who) for one in items if one.item.kind == kind)
        shown = [(state, states[state]) for state in order if states[state]]
        found.append({"kind": kind, "n": states.total(), "states": shown})
    return found


def progress(mine: Sequence[Standing], who: str) -> dict[str, int]:
    """Return how many items a person may decide on, and how many are decided, by them and by others."""
    yours = sum(who in one.opinions for one in mine)
    decided = sum(one.state != "waiting" for one in mine)
    others = sum(any(name != who for name in one.opinions) for one in mine)
    return {"of": len(mine), "decided": decided, "yours": yours, "others": others, "left": len(mine) - decided}


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
    blocks = drawn_agreement(service.home, found)
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
    told = service.cache.peek((Refusal, person.name, item, refused))
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
    service.cache.get(
        (Refusal, who, one.item.id, key), lambda: Refusal(fault=fault, given=given, decisions=len(now.decisions))
    )
    path = _path(run, one.item.id, second=second)
    return RedirectResponse(f"{path}{'&' if second else '?'}refused={key}", HTTPStatus.SEE_OTHER)


def _found(service: Service, run: Run, id: str, items: Sequence[Standing] = ()) -> Standing:
    """Return an item of a run, a question that was withdrawn among them."""
    return withdrawn(service.home, run, id) or item_of(items or review_items(service.home, run), id, run.id)


def _overview(request: Request, service: Service, run: Run, who: str, *, number: int = 1, fault: str = "") -> Response:
    items = review_items(service.home, run)
    mine = [item for item in items if item.item.person in (None, who)]
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
