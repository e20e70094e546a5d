"""The power of rubric sets: what they catch, measured on planted errors and responses that had no part in choosing them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.domain.rubric import RubricSet, Tried
from dokimasia.prompts.dimensions import dimensions
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.rates import share


class SetPower(NamedTuple):
    """What one set was measured to do.

    `errors` are the planted errors by dimension, each with whether a rubric of the set failed by it, and whether a rubric
    of the gate; None where it was not judged. `failed` says of each rubric that was tried, by stream, whether a text failed
    it; `golden` of each rubric whether the golden caption passes it.
    """

    errors: list[tuple[str, bool | None, bool | None]]
    failed: dict[str, list[bool]]
    golden: list[bool]


def power_of(one: RubricSet) -> SetPower:
    """Return what a set does. An error is caught by a rubric that fails the caption with it and passes the one without."""
    golden = next((tried.passes for tried in one.tried if tried.what == "golden" and tried.passes), ())
    gate = len(one.must_right)
    errors: list[tuple[str, bool | None, bool | None]] = []
    fails: list[list[bool | None]] = []
    for tried in one.tried:
        if tried.what == "planted" and tried.changes:
            caught = _caught(golden, tried)
            errors.append((tried.name, _any(caught), _any(caught[:gate]) if caught else None))
            fails.append(caught)
        elif tried.what == "response":
            fails.append([None if passed is None else not passed for passed in tried.passes])
    failed: dict[str, list[bool]] = {"must_right": [], "easy_wrong": []}
    for place, rubric in enumerate(one.rubrics):
        verdict = _any([of_text[place] for of_text in fails if of_text and of_text[place] is not None])
        if verdict is not None:
            failed[rubric.stream].append(verdict)
    return SetPower(errors, failed, [passed for passed in golden if passed is not None])


def power_figures(sets: Sequence[RubricSet], clusters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the power of sets together, ready for JSON: `shape.Power`; intervals are clustered by image."""
    found = [(clusters[one.sample_id], power_of(one)) for one in sets]
    errors = [(cluster, *error) for cluster, power in found for error in power.errors]
    streams = {
        stream: _share([(cluster, hit) for cluster, power in found for hit in power.failed[stream]])
        for stream in ("must_right", "easy_wrong")
    }
    tried = [tried for one in sets for tried in one.tried]
    return {
        "caught": _share([(cluster, caught) for cluster, _, caught, _ in errors]),
        "caught_by_gate": _share([(cluster, caught) for cluster, _, _, caught in errors]),
        "dimensions": {
            name: _share([(cluster, caught) for cluster, dimension, caught, _ in errors if dimension == name])
            for name in dimensions()
            if any(dimension == name for _, dimension, _, _ in errors)
        },
        **streams,
        "golden": _share([(cluster, passed) for cluster, power in found for passed in power.golden]),
        "responses": sum(one.what == "response" and bool(one.passes) for one in tried),
        "failures": counted(one.failure for one in tried if one.failure is not None),
    }


def set_power(one: RubricSet) -> dict[str, Any]:
    """Return the power of one set: `caught`, of the errors that were planted, and `rubrics`, of those that were tried."""
    power = power_of(one)
    return {
        "caught": _share([(place, caught) for place, (_, caught, _) in enumerate(power.errors)]),
        "rubrics": _share(list(enumerate(hit for hits in power.failed.values() for hit in hits))),
    }


def _caught(golden: Sequence[bool | None], tried: Tried) -> list[bool | None]:
    """Return of each rubric whether it catches the error, None for one that was not tried; nothing where nothing was judged."""
    if not (golden and tried.passes):
        return []
    pairs = zip(golden, tried.passes, strict=True)
    return [None if before is None or after is None else before and not after for before, after in pairs]


def _any(hits: Sequence[bool | None]) -> bool | None:
    """Return whether one hits; None where none does and of one that is not known, or of nothing."""
    if any(hits):
        return True
    return False if hits and None not in hits else None


def _share(hits: Sequence[tuple[Any, bool | None]]) -> dict[str, Any]:
    known = [(cluster, hit) for cluster, hit in hits if hit is not None]
    return share([hit for _, hit in known], [cluster for cluster, _ in known], unknown=len(hits) - len(known))
