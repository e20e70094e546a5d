"""One item of the review: what its page shows, how a decision from the page is kept, and how far people agree."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from markupsafe import Markup

from dokimasia.domain.decision import RATED, STATES, Action, CheckItem, Decision, Standing, sentences_of
from dokimasia.errors import InputError
from dokimasia.methods.checks import (
    all_standings,
    checked,
    draft_of,
    keep_decision,
    label_blocks,
    label_figures,
    labelled,
    shown_item,
)
from dokimasia.methods.checks.blocks import check_blocks
from dokimasia.methods.checks.figures import check_figures
from dokimasia.methods.checks.perturbed import LABEL_KEYS
from dokimasia.methods.people import asked_of, compare, queued, rating_text, ratings_of, written
from dokimasia.methods.people.blocks import measure_blocks
from dokimasia.report.blocks import Block, Paragraph
from dokimasia.report.drawing import Charts
from dokimasia.service.drawing import drawn
from dokimasia.service.pages.questions import asked_in_words, asks_of
from dokimasia.storage.decisions import draft_file, standing
from dokimasia.storage.home import Home
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


def agreement_blocks(home: Home, run: Run) -> Markup:
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
    for kind in dict.fromkeys(one.item.kind for one in items):
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
