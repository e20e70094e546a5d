"""The queue of items for people in a home: runs, items in order, the next item, and the view of one item."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from dokimasia.domain.call import Message
from dokimasia.domain.decision import RATED, CheckItem, Decision, Kind, Standing, sentences_of
from dokimasia.domain.identity import JsonObject
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
        people: the number of open items by person; "" stands for any person.
        decided: the number of decided items.
        oldest: when the oldest open item began to wait, in UTC and ISO format; empty without open items.
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
    """Return all runs with items for people; those with open items come first, by their oldest item."""
    counts = check_counts(home)
    queue: list[Waiting] = []
    for run in list_runs(home):
        own = [count for count in counts if count.run == run.id]
        if not own:
            continue
        kinds, people = Counter[Kind](), Counter[str]()
        waiting = [count for count in own if count.waiting]
        for count in waiting:
            kinds[count.kind] += count.items
            people[count.person] += count.items
        decided = sum(count.items for count in own if not count.waiting)
        oldest = min((count.oldest for count in waiting), default="")
        queue.append(Waiting(run, dict(kinds), dict(people), decided, oldest))
    return sorted(queue, key=lambda run_items: (not run_items.waiting, run_items.oldest))


def review_items(home: Home, run: Run) -> list[Standing]:
    """Return all items of a run for people with their decisions, in order: questions, checks, and ratings."""
    rows = standings(home, run.id)
    rated = [row for row in rows if row.item.kind in RATED]
    if run.status != "done" or len(rows) == len(rated) or any(True for _ in filed_decisions(home.path)):
        return [*all_standings(home, run.id), *rated]
    gone = withdrawn_items(home, run.id)
    active = [row for row in rows if row.item.id not in gone]
    return sorted(
        active, key=lambda row: (row.item.kind in RATED, row.item.kind != "question", row.item.position, row.item.id)
    )


def item_of(items: Iterable[Standing], id: str, run: str) -> Standing:
    """Return an item by its id.

    Raises:
        NotFound: the run has no such item, or the question was withdrawn.
    """
    for standing in items:
        if standing.item.id == id:
            return standing
    raise NotFound(f"run {run} has no item {id} that waits for people; a question may have been withdrawn")


def is_due(standing: Standing, who: str, *, second: bool = False) -> bool:
    """Return whether a person can decide on an item or, with `second`, give a second opinion on it."""
    if second:
        return standing.item.person is None and standing.settled_by is not None and who not in standing.opinions
    return standing.state == "waiting" and standing.item.person in (None, who)


def next_due(items: Sequence[Standing], who: str, *, after: str = "", second: bool = False) -> Standing | None:
    """Return the next item after `after` that a person can decide, starting over at the end; None without one."""
    start = next((number for number, standing in enumerate(items, 1) if standing.item.id == after), 0)
    for standing in (*items[start:], *items[:start]):
        if standing.item.id != after and is_due(standing, who, second=second):
            return standing
    return None


def last_decision(items: Iterable[Standing], who: str) -> Decision | None:
    """Return a person's latest decision that has not been withdrawn; None without one."""
    own = [standing.opinions[who] for standing in items if who in standing.opinions]
    return max(own, key=lambda decision: (decision.at, decision.item), default=None)


async def take_back(home: Home, item: str, *, who: str) -> None:
    """Withdraw a person's decision, and reopen the item, in a home that is open for writing.

    The text of a reply, an edit or a rating becomes the person's draft.

    Raises:
        NotFound: there is no such item.
        InputError: the person has no decision to withdraw, or another run depends on it.
    """
    filed = checked(home, item, "undo", who=who)
    if filed.item.kind == "question":
        result = await undo_answer(home, item, who=who)
        if not result.done:
            raise InputError(result.faults)
        return
    await keep_decision(home, filed)


def shown_item(home: Home, standing: Standing, who: str) -> dict[str, Any]:
    """Return the view of an item for a person, ready for JSON.

    It hides the model of a blindly rated response and, until the person has decided, others' decisions.

    Returns:
        item, run, kind, sample, person (None: anybody), actions, state, decided (the number of decisions), images
            [{name, sha256}], and by kind: text, sentences and detail of a caption or rubric; the original of a
            perturbation and the difference in words; messages, form, prompt and withdrawn of a question; and the
            subject of a rating.
    """
    item = standing.item
    shown: dict[str, object] = {
        "item": item.id,
        "run": item.run,
        "kind": item.kind,
        "sample": item.sample_id,
        "person": item.person,
        "actions": [*item.actions],
        "state": standing.state_for(who),
        "decided": len(standing.decisions),
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
        "messages": [*map(_message, question.call.messages)],
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


def without_others(home: Home, run: Run, view: Mapping[str, object], who: str) -> JsonObject:
    """Return a view of a run's sample or item without others' decisions on items that `who` has not decided.

    The label of a perturbation becomes None, and the state of a golden caption `decided`.
    """
    hidden = [standing.item for standing in standings(home, run.id) if standing.state_for(who) == "decided"]
    captions = {item.subject for item in hidden if item.kind == "caption"}
    labelled = {(item.sample_id, item.detail) for item in hidden if item.kind == "perturbation"}

    def covered(part: Mapping[str, object]) -> JsonObject:
        hidden_view: JsonObject = dict(part)
        if (hidden_view.get("sample"), hidden_view.get("dimension")) in labelled:
            hidden_view["label"] = None
        if (golden := hidden_view.get("golden")) and golden.get("id") in captions:
            hidden_view["golden"] = {**golden, "state": "decided"}
        if isinstance(hidden_view.get("items"), list):
            hidden_view["items"] = [covered(item) for item in hidden_view["items"]]
        return hidden_view

    return covered(view) if hidden else dict(view)
