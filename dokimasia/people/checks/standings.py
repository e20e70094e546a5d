"""A run's items to check (golden captions, rubrics and perturbations) with the decisions on them."""

from typing import Any

from dokimasia.domain.blindspots import Perturbed
from dokimasia.domain.decision import (
    RATED,
    CheckItem,
    Decision,
    Standing,
    difference,
    ordered_reasons,
    rubric_subject,
)
from dokimasia.domain.rubric import RubricSet
from dokimasia.storage.decisions import FiledDecision, filed_decisions, standings
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import withdrawn_items
from dokimasia.storage.reviews import golden_captions, made_values


def all_standings(home: Home, run_id: str) -> list[Standing]:
    """Return all items of a run with their decisions: stored items, new results of the run, and decisions stored as files.

    Questions come first, since the run waits for them; withdrawn ones are left out. Ratings, which are not checks of the
    run's results, belong to `dokimasia.people.annotation`.
    """
    known = {one.item.id: one for one in standings(home, run_id)}
    for item in found_items(home, run_id):
        known.setdefault(item.id, Standing(item=item))
    for _, left in filed_decisions(home.path):
        known_item = known.get(left.item.id)
        if known_item is not None:
            known[left.item.id] = _with(known_item, left)
    gone = withdrawn_items(home, run_id)
    standing = [one for one in known.values() if one.item.id not in gone and one.item.kind not in RATED]
    return sorted(standing, key=lambda one: (one.item.kind != "question", one.item.position, one.item.id))


CAPTION_POLICY = (
    "Say definitely what can be recognised, with a closer look if it needs one. Take out what cannot be recognised, instead "
    "of leaving it vague or guessed."
)
"""What people who check a caption are told: determinism over ambiguity (PerceptionRubrics, appendix D)."""


def found_items(home: Home, run_id: str) -> list[CheckItem]:
    """Return the results of a run for people to check, in the order of its samples: captions, rubrics, perturbations."""
    items: list[dict[str, Any]] = [
        {
            "kind": "caption",
            "sample_id": row.sample_id,
            "subject": row.id,
            "text": row.caption.text,
            "detail": CAPTION_POLICY,
        }
        for row in golden_captions(home, run_id)
    ]
    for made, rubrics in made_values(home, run_id, RubricSet):
        for number, rubric in enumerate(rubrics.rubrics, 1):
            evidence = f'; the caption: "{rubric.evidence}"' if rubric.evidence else ""
            items.append(
                {
                    "kind": "rubric",
                    "sample_id": made.sample_id,
                    "subject": rubric_subject(made.id, number),
                    "text": rubric.statement,
                    "detail": f"{rubric.stream.replace('_', '-')}, {rubric.polarity}{evidence}",
                }
            )
    items += [
        {
            "kind": "perturbation",
            "sample_id": made.sample_id,
            "subject": made.id,
            "text": item.perturbed or item.instruction or item.description,
            "detail": item.dimension,
        }
        for made, item in made_values(home, run_id, Perturbed)
    ]
    return [CheckItem(run=run_id, position=position, **fields) for position, fields in enumerate(items)]


def checked_texts(home: Home, run_id: str) -> dict[str, Standing]:
    """Return a run's items by their subject: the content id of a caption or perturbation, or `rubric_subject`."""
    return {one.item.subject: one for one in all_standings(home, run_id)}


def _with(here: Standing, left: FiledDecision) -> Standing:
    """Return an item with a decision that is not stored as a row yet."""
    text = left.text.strip() if left.action in ("edit", "reply") else here.item.text
    changed = difference(here.item.text, text) if left.action == "edit" else ""
    refused = (
        here.item.refusal(left.action)
        or here.item.told(left.who)
        or here.item.reason_refusal(left.action, left.reasons)
    )
    if refused or (left.action == "edit" and not changed):
        return here
    if here.item.kind == "question" and (left.action == "reply") == (here.state == "answered"):
        return here
    decision = Decision(
        item=here.item.id,
        number=len(here.decisions) + 1,
        who=left.who,
        at=left.at,
        action=left.action,
        text=text,
        difference=changed,
        reasons=ordered_reasons(left.reasons),
    )
    return here.model_copy(update={"decisions": (*here.decisions, decision)})
