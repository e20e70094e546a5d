"""A run's items to check (golden captions, rubrics and perturbations) with the decisions on them."""

from dokimasia.domain.blindspots import Perturbed
from dokimasia.domain.decision import (
    RATED,
    CheckItem,
    Decision,
    Kind,
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
    """Return all items of a run with their decisions: stored items, new results, and decisions stored as files.

    Questions come first, since the run waits for them; withdrawn questions are left out. Ratings, which are not checks
    of the run's results, belong to `dokimasia.people.annotation`.
    """
    known = {standing.item.id: standing for standing in standings(home, run_id)}
    for item in found_items(home, run_id):
        known.setdefault(item.id, Standing(item=item))
    for _, filed in filed_decisions(home.path):
        known_item = known.get(filed.item.id)
        if known_item is not None:
            known[filed.item.id] = _with_decision(known_item, filed)
    gone = withdrawn_items(home, run_id)
    checks = [
        standing for standing in known.values() if standing.item.id not in gone and standing.item.kind not in RATED
    ]
    return sorted(checks, key=lambda check: (check.item.kind != "question", check.item.position, check.item.id))


CAPTION_POLICY = (
    "Say definitely what can be recognised, with a closer look if it needs one. Take out what cannot be recognised, instead "
    "of leaving it vague or guessed."
)
"""Instructions for people who check a caption: determinism over ambiguity (PerceptionRubrics, appendix D)."""


def found_items(home: Home, run_id: str) -> list[CheckItem]:
    """Return the results of a run for people to check, in the order of its samples: captions, rubrics, perturbations."""
    items: list[CheckItem] = []

    def add(kind: Kind, sample_id: str, subject: str, text: str, detail: str) -> None:
        item = CheckItem(
            run=run_id,
            kind=kind,
            sample_id=sample_id,
            subject=subject,
            text=text,
            detail=detail,
            position=len(items),
        )
        items.append(item)

    for row in golden_captions(home, run_id):
        add("caption", row.sample_id, row.id, row.caption.text, CAPTION_POLICY)
    for made, rubrics in made_values(home, run_id, RubricSet):
        for number, rubric in enumerate(rubrics.rubrics, 1):
            evidence = f'; the caption: "{rubric.evidence}"' if rubric.evidence else ""
            detail = f"{rubric.stream.replace('_', '-')}, {rubric.polarity}{evidence}"
            add("rubric", made.sample_id, rubric_subject(made.id, number), rubric.statement, detail)
    for made, item in made_values(home, run_id, Perturbed):
        text = item.perturbed or item.instruction or item.description
        add("perturbation", made.sample_id, made.id, text, item.dimension)
    return items


def checked_texts(home: Home, run_id: str) -> dict[str, Standing]:
    """Return a run's items by their subject: the content id of a caption or perturbation, or `rubric_subject`."""
    return {standing.item.subject: standing for standing in all_standings(home, run_id)}


def _with_decision(known: Standing, left: FiledDecision) -> Standing:
    """Return an item with an additional decision that is not yet stored as a row."""
    text = left.text.strip() if left.action in ("edit", "reply") else known.item.text
    changed = difference(known.item.text, text) if left.action == "edit" else ""
    refused = (
        known.item.refusal(left.action)
        or known.item.told(left.who)
        or known.item.reason_refusal(left.action, left.reasons)
    )
    if refused or (left.action == "edit" and not changed):
        return known
    if known.item.kind == "question" and (left.action == "reply") == (known.state == "answered"):
        return known
    decision = Decision(
        item=known.item.id,
        number=len(known.decisions) + 1,
        who=left.who,
        at=left.at,
        action=left.action,
        text=text,
        difference=changed,
        reasons=ordered_reasons(left.reasons),
    )
    return known.model_copy(update={"decisions": (*known.decisions, decision)})
