"""Examples of modes: atoms of the counting half in which a mode was seen, with question, truth and the answer's own words."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.domain.identity import unit_interval
from dokimasia.methods.modes.coded import Coded, CodedAtom

EACH = 2
"""Examples of a mode that are shown of each model."""


def chosen(atoms: Sequence[CodedAtom], modes: Sequence[str], models: Sequence[str], *, seed: int) -> list[CodedAtom]:
    """Return for each mode and model two failed atoms in which it was seen, of two samples where there are two.

    Atoms of which a second coder said the same come first, else a draw decides.
    """
    found: list[CodedAtom] = []
    for mode in modes:
        for model in models:
            here = [one for one in atoms if one.failed and one.mode == mode and one.answer.model == model]
            here.sort(key=lambda one: (one.second is None or one.second.mode != mode, _draw(seed, one)))
            by_sample: dict[str, CodedAtom] = {}
            for one in here:
                by_sample.setdefault(one.answer.sample_id, one)
            first = list(by_sample.values())
            found += [*first, *(one for one in here if one not in first)][:EACH]
    return found


def examples_by_mode(coded: Coded, atoms: Sequence[CodedAtom]) -> Mapping[str, list[dict[str, Any]]]:
    """Return examples ready for JSON, by mode: whose, where, the point, its ground truth, and the words it is seen in."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in atoms:
        criterion = coded.criterion(one)
        found.setdefault(one.mode or "", []).append(
            {
                "model": one.answer.model,
                "sample": one.answer.sample_id,
                "repeat": one.answer.repeat,
                "criterion": one.number,
                "question": criterion.question,
                "ground_truth": criterion.ground_truth,
                "quote": one.coding.quote if one.coding else "",
            }
        )
    return found


def _draw(seed: int, one: CodedAtom) -> float:
    return unit_interval("example", seed, one.answer.key, one.number)
