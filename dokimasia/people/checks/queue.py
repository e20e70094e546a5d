"""The queue of items for people in a home: runs, items in order, the next item, and the view of one item."""

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
"""The name under which items for any person are counted."""


class Waiting(NamedTuple):
    """The open items of a run.

    Attributes:
        run: the run.
        kinds: the number of open items by kind.
        people: the number of open items by person; under "" those for any person.
        decided: the number of decided items.
        oldest: the time since which the oldest open item waits, in UTC and ISO form; empty without one.
    """

    run: Run
    kinds: Mapping[Kind, int]
    people: Mapping[str, int]
    decided: int
    oldest: str

    @property
    def waiting(self) -> int:
        """The number of open items."""
        return sum(self.kinds.values())

    def of(self, who: str) -> int:
        """Return the number of open items that a person can decide."""
        return self.people.get(ANYBODY, 0) + self.people.get(who, 0)


def review_queue(home: Home) -> list[Waiting]:
    """Return all runs with items for people: first those with open items, by their oldest item."""
    counts = check_counts(home)
    queue: list[Waiting] = []
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
        queue.append(Waiting(run, dict(kinds), dict(people), decided, oldest))
    return sorted(queue, key=lambda one: (not one.waiting, one.oldest))


def review_items(home: Home, run: Run) -> list[Standing]:
    """Return all items of a run for people with their decisions, in order: questions, checks, and ratings."""
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
        NotFound: the run has no such item, or the question was withdrawn.
    """
    found = next((one for one in items if one.item.id == id), None)
    if found is None:
        raise NotFound(f"run {run} has no item {id} that waits for people; a question may have been withdrawn")
    return found


def is_due(one: Standing, who: str, *, second: bool = False) -> bool:
    """Return whether a person can decide on an item, or, with `second`, give a second opinion on it."""
    if second:
        return one.item.person is None and one.settled_by is not None and who not in one.opinions
    return one.state == "waiting" and one.item.person in (None, who)


def next_due(items: Sequence[Standing], who: str, *, after: str = "", second: bool = False) -> Standing | None:
    """Return the next item after `after` that a person can decide, starting over at the end; None without one."""
    at = next((number for number, one in enumerate(items, 1) if one.item.id == after), 0)
    return next(
        (one for one in (*items[at:], *items[:at]) if one.item.id != after and is_due(one, who, second=second)), None
    )


def last_decision(items: Iterable[Standing], who: str) -> Decision | None:
    """Return a person's latest decision that is not withdrawn; None without one."""
    own = (one.opinions[who] for one in items if who in one.opinions)
    return max(own, key=lambda one: (one.at, one.item), default=None)


async def take_back(home: Home, item: str, *, who: str) -> None:
    """Withdraw a person's decision, in a home that is open for writing; the item is open again.

    The text of a reply, an edit or a rating becomes the person's draft.

    Raises:
        NotFound: there is no such item.
        InputError: the person has no decision to withdraw, or another run depends on it.
    """
    left = checked(home, item, "undo", who=who)
    if left.item.kind == "question":
        given = await undo_answer(home, item, who=who)
        if not given.done:
            raise InputError(given.faults)
        return
    await keep_decision(home, left)


def shown_item(home: Home, one: Standing, who: str) -> dict[str, Any]:
    """Return the view of an item for a person, ready for JSON.

    It reveals neither the model of a response that is rated blind, nor others' decisions before the person's own.

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
    view = shown_perturbation(home, item.run, item.subject)
    made = view.item
    return {
        "images": [{"name": name, "sha256": ref.sha256} for name, ref in view.images],
        "perturbation": {
            "prompt": view.prompt,
            "gold": made.gold,
            "perturbed": made.perturbed,
            "difference": [[piece.kind, piece.text] for piece in view.pieces],
            "instruction": made.instruction,
            "description": made.description,
            "rationale": made.rationale,
            "doubt": view.doubt,
            "title": view.title,
            "definition": view.definition,
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
    parts = [{"text": part.text} if part.kind == "text" else {"image": part.sha256} for part in message.parts]
    return {"role": message.role, "parts": parts}


def _images(home: Home, item: CheckItem) -> list[dict[str, str]]:
    row = home.one("SELECT sample FROM run_samples WHERE run_id = ? AND sample_id = ?", (item.run, item.sample_id))
    if row is None:
        return []
    sample = find_values(home, Sample, [row[0]])[row[0]]
    return [{"name": "image", "sha256": ref.sha256} for ref in sample.images]
