"""Responses, pairs and criteria handed out in the home's own queue, blind and in drawn order, and what people said of them."""

from collections.abc import Mapping, Sequence

import orjson

from dokimasia.domain.annotation import MEASURES, SCALES, SCORE, Annotation, Kind
from dokimasia.domain.decision import RATED, CheckItem, Standing
from dokimasia.domain.identity import Value, canonical_json
from dokimasia.errors import ConfigError, InputError
from dokimasia.people.annotation.collecting import check_names
from dokimasia.people.annotation.forms import ASKED, RIGHT, RIGHT_ANSWER, YES_OR_NO, options_of, rating_of, shown_of
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
    """Return what people can rate of a run: the pairs of a duel, responses, the criteria of an evaluation."""
    method = method_named(run.method)
    sql = (
        "SELECT 1 FROM results WHERE run_id = ? AND kind = ? AND response_id IS NOT NULL AND coalesce(arm, '') = '' "
        "AND repeat = 0 LIMIT 1"
    )
    answered = home.one(sql, (run.id, method.row_kind)) is not None
    has: dict[Kind, bool] = {
        "pair": answered and method.pairs is not None,
        "response": answered,
        "criterion": next(iter(criteria_of_samples(home, run.id)), None) is not None,
    }
    return [kind for kind, there in has.items() if there]


def subjects_of(home: Home, run: Run, kind: Kind, *, models: Sequence[str] = (), baseline: str = "") -> list[Subject]:
    """Return what can be rated of a run.

    Raises:
        InputError: it has nothing of the kind.
    """
    if kind == "criterion":
        return criteria_of(home, run)
    pairs = pairs_of_run(home, run, models=models)
    if kind == "pair" and pairs is not None and not baseline:
        return pairs
    if kind == "pair" and not baseline:
        raise InputError(f"run {run.id} compares no pairs: name a baseline, beside which each response is shown")
    return responses_of(load_samples(home, run.id), answers_of_run(home, run), models=models, baseline=baseline)


async def hand_out_here(
    home: Home,
    run: Run,
    kind: str,
    *,
    annotators: Sequence[str],
    models: Sequence[str] = (),
    baseline: str = "",
    per: int | None = None,
    cases: int | None = None,
    seed: int = 0,
    scale: tuple[int, int] = SCALES[SCORE],
) -> int:
    """Hand things of a run out in the queue of its home, to each annotator in an order and with sides of their own.

    The same drawn again adds nothing. Who is behind an item stays in the home; what is shown does not say it.

    Returns:
        How many items are new.

    Raises:
        InputError: a name is none, or the run has nothing of the kind.
    """
    check_names(annotators)
    if per is not None and cases is not None:
        raise ConfigError("draw so many cases of each category, or of all: name one of the two")
    kinds: dict[str, Kind] = {one: one for one in MEASURES}
    chosen = kinds.get(kind)
    if chosen is None:
        raise InputError(f"{kind[:40]!r} is not handed out; {', '.join(MEASURES)} are")
    subjects = subjects_of(home, run, chosen, models=models, baseline=baseline)
    drawn = draw_subjects(subjects, chosen, per=per, cases=cases, seed=seed)
    head = KeyHead(format=FORMAT, kind=chosen, source=run.id, seed=seed, scale=scale, annotators=tuple(annotators))
    known = {(one.item.person, one.item.subject) for one in queued(home, run.id)}
    items = [
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
        for who, several in place_items(drawn, annotators, seed=seed).items()
        for position, placed in enumerate(several)
        if (who, placed.item.item) not in known
    ]
    return await keep_items(home, items)


def queued(home: Home, run: str) -> list[Standing]:
    """Return what was handed out of a run in the home's queue, with what people said."""
    return [one for one in standings(home, run) if one.item.kind in RATED]


def asked_of(item: CheckItem) -> list[dict[str, object]]:
    """Return what is asked of an item: by measure its question, and the answers with their labels."""
    head, shown = behind(item).head, orjson.loads(item.text)
    right = RIGHT_ANSWER if "reference" in shown else RIGHT
    return [
        {
            "measure": measure,
            "question": right if measure == SCORE and head.scale == YES_OR_NO else ASKED[measure],
            "options": options_of(measure, head.scale),
        }
        for measure in MEASURES[head.kind]
    ]


def rating_text(item: CheckItem, said: Mapping[str, str]) -> str:
    """Return a person's rating as the text of their decision.

    Args:
        item: what was rated.
        said: by measure what was chosen, as it is written into a form; `comment` may stand beside.

    Raises:
        InputError: naming all that is missing or is no answer.
    """
    key, found, wrong = behind(item), dict[str, str](), list[str]()
    for measure in MEASURES[key.head.kind]:
        options = options_of(measure, key.head.scale)
        text = " ".join(said.get(measure, "").split()).casefold()
        if text in options:
            found[measure] = text
        else:
            wrong.append(f"{measure} is {said.get(measure, '')[:40]!r}, and has to be one of: {', '.join(options)}")
    if wrong:
        raise InputError(f"item {item.id}: {'; '.join(wrong)}")
    comment = said.get("comment", "").strip()
    return canonical_json(found | ({"comment": comment} if comment else {})).decode()


def ratings_of(items: Sequence[Standing]) -> list[Annotation]:
    """Return what people said of what was handed out to them, each as a rating of the thing behind it."""
    found: list[Annotation] = []
    for one in items:
        key = behind(one.item)
        last = one.last_of(key.item.annotator)
        said = {} if last is None else orjson.loads(last.text)
        found += [
            rating_of(key.item, measure, said[measure], said.get("comment", ""))
            for measure in MEASURES[key.head.kind]
            if measure in said
        ]
    return found


def behind(item: CheckItem) -> Behind:
    """Return what is behind an item; nobody who rates it is shown that."""
    return Behind.model_validate_json(item.detail)
