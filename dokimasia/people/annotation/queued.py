"""Blind annotation in the home's queue: responses, pairs and criteria in random order, and their ratings."""

from collections.abc import Mapping, Sequence

import orjson

from dokimasia.domain.annotation import MEASURES, SCALES, SCORE, Annotation, Kind
from dokimasia.domain.decision import RATED, CheckItem, Standing
from dokimasia.domain.identity import Value, canonical_json
from dokimasia.errors import ConfigError, InputError
from dokimasia.people.annotation.collecting import check_names
from dokimasia.people.annotation.forms import (
    measures_of,
    options_of,
    question_of,
    rating_of,
    shown_of,
)
from dokimasia.people.annotation.key import FORMAT, KeyHead, KeyItem, place_items
from dokimasia.people.annotation.subjects import (
    Subject,
    answers_of_run,
    criteria_of,
    draw_subjects,
    pairs_of_run,
    responses_of,
)
from dokimasia.runs.catalogue import method_named
from dokimasia.storage.decisions import keep_items, standings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, load_samples
from dokimasia.storage.trees.lookup import criteria_of_samples


class Behind(Value):
    """What is behind an item that was handed out: what was drawn, and whose response it is."""

    head: KeyHead
    item: KeyItem


def rateable(home: Home, run: Run) -> list[Kind]:
    """Return the kinds of units that people can rate in a run: pairs of a duel, responses, criteria of an evaluation."""
    method = method_named(run.method)
    sql = (
        "SELECT 1 FROM results WHERE run_id = ? AND kind = ? AND response_id IS NOT NULL AND coalesce(arm, '') = '' "
        "AND repeat = 0 LIMIT 1"
    )
    answered = home.one(sql, (run.id, method.row_kind)) is not None
    has: dict[Kind, bool] = {
        "pair": answered and method.people.pairs is not None,
        "response": answered,
        "criterion": next(iter(criteria_of_samples(home, run.id)), None) is not None,
    }
    return [kind for kind, present in has.items() if present]


def rateable_subjects(home: Home, run: Run, kind: Kind) -> list[Subject]:
    """Return the subjects of one kind in a run that people can rate.

    Raises:
        InputError: the run has no subject of the kind.
    """
    if kind == "criterion":
        return criteria_of(home, run)
    if kind == "response":
        return responses_of(load_samples(home, run.id), answers_of_run(home, run))
    pairs = pairs_of_run(home, run)
    if pairs is None:
        raise InputError(f"run {run.id} compares no pairs")
    return pairs


async def hand_out_here(
    home: Home,
    run: Run,
    kind: str,
    *,
    annotators: Sequence[str],
    per: int | None = None,
    cases: int | None = None,
    seed: int = 0,
) -> int:
    """Add a run's units to its home's queue for each annotator, with order and sides drawn for each.

    Repeating a draw adds nothing. The model behind an item is stored in the home but not shown.

    Returns:
        The number of new items.

    Raises:
        InputError: a name is invalid, or the run has no unit of the kind.
    """
    check_names(annotators)
    if per is not None and cases is not None:
        raise ConfigError("draw so many cases of each category, or of all: name one of the two")
    kinds: dict[str, Kind] = {name: name for name in MEASURES}
    chosen = kinds.get(kind)
    if chosen is None:
        raise InputError(f"{kind[:40]!r} is not handed out; {', '.join(MEASURES)} are")
    drawn = draw_subjects(rateable_subjects(home, run, chosen), chosen, per=per, cases=cases, seed=seed)
    scale = SCALES[SCORE]
    head = KeyHead(format=FORMAT, kind=chosen, source=run.id, seed=seed, scale=scale, annotators=tuple(annotators))
    known = {(standing.item.person, standing.item.subject) for standing in queued(home, run.id)}
    items: list[CheckItem] = []
    for who, keyed_items in place_items(drawn, annotators, seed=seed).items():
        for position, placed in enumerate(keyed_items):
            if (who, placed.item.item) in known:
                continue
            items.append(
                CheckItem(
                    run=run.id,
                    kind=chosen,
                    sample_id=placed.item.id,
                    subject=placed.item.item,
                    text=canonical_json(shown_of(head, placed)).decode(),
                    detail=canonical_json(Behind(head=head, item=placed.item).model_dump(mode="json")).decode(),
                    position=position,
                    person=who,
                )
            )
    return await keep_items(home, items)


def queued(home: Home, run: str) -> list[Standing]:
    """Return the items of a run in the queue for rating, with people's ratings."""
    return [standing for standing in standings(home, run) if standing.item.kind in RATED]


def asked_of(item: CheckItem) -> list[dict[str, object]]:
    """Return the questions about an item: for each measure, the text and the answers with their labels."""
    head, shown = behind(item).head, orjson.loads(item.text)
    return [
        {
            "measure": measure,
            "question": question_of(head, measure, [shown]),
            "options": options_of(measure, head.scale),
        }
        for measure in measures_of(head)
    ]


def rating_text(item: CheckItem, said: Mapping[str, str]) -> str:
    """Return a person's rating as the text of their decision.

    Args:
        item: the rated item.
        said: the chosen option by measure, as written into a form, and optionally `comment`.

    Raises:
        InputError: choices are missing or invalid (each is named).
    """
    key = behind(item)
    choices: dict[str, str] = {}
    faults: list[str] = []
    for measure in measures_of(key.head):
        options = options_of(measure, key.head.scale)
        text = " ".join(said.get(measure, "").split()).casefold()
        if text in options:
            choices[measure] = text
        else:
            faults.append(f"{measure} is {said.get(measure, '')[:40]!r}, and has to be one of: {', '.join(options)}")
    if faults:
        raise InputError(f"item {item.id}: {'; '.join(faults)}")
    comment = said.get("comment", "").strip()
    if comment:
        choices["comment"] = comment
    return canonical_json(choices).decode()


def ratings_of(items: Sequence[Standing]) -> list[Annotation]:
    """Return people's ratings of queued items as annotations of the items' units."""
    ratings: list[Annotation] = []
    for standing in items:
        key = behind(standing.item)
        last = standing.last_of(key.item.annotator)
        choices = {} if last is None else orjson.loads(last.text)
        ratings += [
            rating_of(key.head, key.item, measure, choices[measure], choices.get("comment", ""))
            for measure in measures_of(key.head)
            if measure in choices
        ]
    return ratings


def behind(item: CheckItem) -> Behind:
    """Return the hidden part of an item, which is never shown to its raters."""
    return Behind.model_validate_json(item.detail)
