"""The queue of all that waits for people in a home: runs, items in order, whose turn it is, and what is shown of one item."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from dokimasia.domain.call import Message
from dokimasia.domain.decision import RATED, CheckItem, Decision, Kind, Standing, sentences_of
from dokimasia.domain.sample import Sample
from dokimasia.errors import InputError, NotFound
from dokimasia.people.checks.checking import checked, keep_decision
from dokimasia.people.checks.perturbed import MEANINGS, shown_perturbation
from dokimasia.people.checks.questions import undo as undo_answer
from dokimasia.people.checks.standings import all_standings
from dokimasia.storage.decisions import filed_decisions, standings
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.people.counts import check_counts
from dokimasia.storage.people.questions import get_question, withdrawn_items
from dokimasia.storage.runs import Run, list_runs

ANYBODY = ""
"""Whose turn it is where no person is named."""


class Waiting(NamedTuple):
    """What waits for people in a run.

    Attributes:
        run: the run.
        kinds: how many items wait, by kind.
        people: how many of them wait for whom; under "" those on which anybody may decide.
        decided: how many are decided.
        oldest: since when the oldest waits, in UTC and ISO form; empty where nothing does.
    """

    run: Run
    kinds: Mapping[Kind, int]
    people: Mapping[str, int]
    decided: int
    oldest: str

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return sum(self.kinds.values())

    def of(self, who: str) -> int:
        """How many a person can decide on."""
        return self.people.get(ANYBODY, 0) + self.people.get(who, 0)


def review_queue(home: Home) -> list[Waiting]:
    """Return all runs with anything that people decide on: those where something waits first, by their oldest item."""
    counts = check_counts(home)
    found: list[Waiting] = []
    for run in list_runs(home):
        own = [one for one in counts if one.run == run.id]
        if not own:
            continue
        kinds, people = Counter[Kind](), Counter[str]()
        for one in own:
            if one.waiting:
                kinds[one.kind] += one.items
                people[one.person] += one.items
        decided = sum(one.items for one in own if not one.waiting)
        oldest = min((one.oldest for one in own if one.waiting), default="")
        found.append(Waiting(run, dict(kinds), dict(people), decided, oldest))
    return sorted(found, key=lambda one: (not one.waiting, one.oldest))


def review_items(home: Home, run: Run) -> list[Standing]:
    """Return how all stands that people decide on in a run, in order: questions, checks, and what was handed out."""
    rows = standings(home, run.id)
    rated = [one for one in rows if one.item.kind in RATED]
    if run.status != "done" or len(rows) == len(rated) or any(True for _ in filed_decisions(home.path)):
        return [*all_standings(home, run.id), *rated]
    gone = withdrawn_items(home, run.id)
    return sorted(
        (one for one in rows if one.item.id not in gone),
        key=lambda one: (one.item.kind in RATED, one.item.kind != "question", one.item.position, one.item.id),
    )


def item_of(items: Iterable[Standing], id: str, run: str) -> Standing:
    """Return an item by its id.

    Raises:
        NotFound: the run has no such item, or does not ask it any more.
    """
    found = next((one for one in items if one.item.id == id), None)
    if found is None:
        raise NotFound(f"run {run} has no item {id} that waits for people; a question may have been withdrawn")
    return found


def is_due(one: Standing, who: str, *, second: bool = False) -> bool:
    """Whether a person can decide on an item now, or give a second opinion on it."""
    if second:
        return one.item.person is None and one.settled_by is not None and who not in one.opinions
    return one.state == "waiting" and one.item.person in (None, who)


def next_due(items: Sequence[Standing], who: str, *, after: str = "", second: bool = False) -> Standing | None:
    """Return the next item that a person can decide on after another, from the beginning again; None without one."""
    at = next((number for number, one in enumerate(items, 1) if one.item.id == after), 0)
    return next(
        (one for one in (*items[at:], *items[:at]) if one.item.id != after and is_due(one, who, second=second)), None
    )


def last_decision(items: Iterable[Standing], who: str) -> Decision | None:
    """Return what a person decided last and has not taken back; None without it."""
    own = (one.opinions[who] for one in items if who in one.opinions)
    return max(own, key=lambda one: (one.at, one.item), default=None)


async def take_back(home: Home, item: str, *, who: str) -> None:
    """Take a person's decision back, in a home that is open for writing; the item waits again.

    The text of a reply, of an edit and of a rating becomes the person's draft.

    Raises:
        NotFound: there is no such item.
        InputError: there is nothing of theirs to take back, or something was made from it.
    """
    left = checked(home, item, "undo", who=who)
    if left.item.kind == "question":
        given = await undo_answer(home, item, who=who)
        if not given.done:
            raise InputError(given.faults)
        return
    await keep_decision(home, left)


def shown_item(home: Home, one: Standing, who: str) -> dict[str, Any]:
    """Return what a person is shown of an item, ready for JSON.

    Nothing says whose a response is that is rated blind, nor what others decided before the person has.

    Returns:
        item, run, kind, sample, person (None: anybody), actions, state, decided (how many decisions there are), images [{name,
        sha256}], and by kind: text, sentences and detail of a caption or rubric; of a perturbation what it was made of, with
        the difference in words; messages, form, prompt and withdrawn of a question; and what a rating is of.
    """
    item = one.item
    shown: dict[str, object] = {
        "item": item.id,
        "run": item.run,
        "kind": item.kind,
        "sample": item.sample_id,
        "person": item.person,
        "actions": [*item.actions],
        "state": one.state_for(who),
        "decided": len(one.decisions),
    }
    if item.kind == "question":
        return shown | _question(home, item)
    if item.kind in RATED:
        body = orjson.loads(item.text)
        images = [{"name": "image", "sha256": sha256} for sha256 in body.pop("images")]
        return shown | {"images": images, "rating": {name: text for name, text in body.items() if name != "item"}}
    if item.kind == "perturbation":
        return shown | _perturbation(home, item)
    return shown | {
        "images": _images(home, item),
        "text": item.text,
        "sentences": sentences_of(item.text),
        "detail": item.detail,
    }


def _perturbation(home: Home, item: CheckItem) -> dict[str, object]:
    found = shown_perturbation(home, item.run, item.subject)
    made = found.item
    return {
        "images": [{"name": name, "sha256": ref.sha256} for name, ref in found.images],
        "perturbation": {
            "prompt": found.prompt,
            "gold": made.gold,
            "perturbed": made.perturbed,
            "difference": [[one.kind, one.text] for one in found.pieces],
            "instruction": made.instruction,
            "description": made.description,
            "doubt": found.doubt,
            "title": found.title,
            "definition": found.definition,
        },
        "meanings": dict(MEANINGS),
    }


def _question(home: Home, item: CheckItem) -> dict[str, object]:
    question = get_question(home, item.id)
    return {
        "images": [],
        "prompt": question.prompt,
        "asked_at": question.asked_at,
        "withdrawn": question.withdrawn_at,
        "used": question.used_at,
        "form": question.aid.form,
        "reply": question.reply,
        "messages": [_message(one) for one in question.call.messages],
    }


def _message(message: Message) -> dict[str, object]:
    parts = [{"text": one.text} if one.kind == "text" else {"image": one.sha256} for one in message.parts]
    return {"role": message.role, "parts": parts}


def _images(home: Home, item: CheckItem) -> list[dict[str, str]]:
    row = home.one("SELECT sample FROM run_samples WHERE run_id = ? AND sample_id = ?", (item.run, item.sample_id))
    if row is None:
        return []
    sample = find_values(home, Sample, [row[0]])[row[0]]
    return [{"name": "image", "sha256": ref.sha256} for ref in sample.images]
