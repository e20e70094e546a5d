"""What a sample's page needs so that a person can correct it by hand: each answer with its verdicts, and what was corrected."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.report.verdicts import NOT_STATED, spoken_scores
from dokimasia.runs.reading.reporting import redacted
from dokimasia.service.state import Service
from dokimasia.storage.people.corrections import correction_events
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run


def correcting(
    service: Service, run: Run, sample_id: str, view: Mapping[str, Any], rows: Sequence[ResultRow]
) -> dict[str, Any]:
    """Return the values of a sample's page on corrections; without answers where nothing of the run is corrected so."""
    if run.method != "evaluate" or "answers" not in view:
        return {"answers": [], "history": [], "seen_left_out": 0, "left_out": None, "marks": []}
    every = [one for one in correction_events(service.home, run.id) if one.sample == sample_id]
    seen = {item: sum(one.item == item for one in every) for item in {one.item for one in every}}
    told: Mapping[str, Any] = redacted(view, service.redact)
    criteria = ((told["replay"] or {}).get("criteria") or {"criteria": []})["criteria"]
    items = [row.item for row in rows if row.kind == "score"]
    answers = [_answer(one, criteria, seen.get(item, 0)) for one, item in zip(told["answers"], items, strict=True)]
    named = {item: f"{one['model']}" for item, one in zip(items, answers, strict=True)}
    standing = [one for one in answers if one["corrected"] and one["corrected"]["stands"]]
    return {
        "answers": answers,
        "history": redacted(
            [{**one.shown(), "whose": named.get(one.item, "") or one.item} for one in every], service.redact
        ),
        "seen_left_out": seen.get("", 0),
        "left_out": told.get("left_out"),
        "marks": [*(["left out"] if "left_out" in told else []), *(["corrected"] if standing else [])],
    }


def _answer(answer: Mapping[str, Any], criteria: Sequence[Mapping[str, Any]], seen: int) -> dict[str, Any]:
    """Return an answer with what the judge said of each criterion, what counts, and what can be chosen."""
    spoken = spoken_scores(answer) if answer["judgement"] and answer["score"] is not None else []
    corrected: Mapping[str, Any] | None = answer.get("corrected")
    changes = {one["what"]: one["from"] for one in (corrected or {"changes": ()})["changes"]}
    asked = bool((answer["judgement"] or {}).get("stated"))
    points = [
        {
            "number": number,
            "question": one["question"],
            "truth": one["ground_truth"],
            "now": _called(score or 0),
            "judged": _called(changes[f"criterion {number}"]) if f"criterion {number}" in changes else "",
        }
        for number, (one, score) in enumerate(zip(criteria, spoken, strict=False), 1)
    ]
    return {
        **{name: answer[name] for name in ("model", "repeat", "score", "verdict", "failure")},
        "points": points if spoken else [],
        "scores": [("0", NOT_STATED)] * asked + [(str(score), str(score)) for score in range(1, 6)],
        "judged": changes.get("answer", ""),
        "corrected": corrected,
        "seen": seen,
    }


def _called(score: int) -> str:
    return str(score) if score else NOT_STATED
