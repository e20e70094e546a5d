"""Trying rubrics: on one half of the pool and on planted errors to choose by, and on what was not chosen by to measure.

A caption in which an error is planted that the rubric's point is made wrong by has to fail it, and of the responses of
half a pool one at least should. What a set catches is measured on other things: the golden caption with errors that were
planted without regard to any rubric, one each, and, for must-right rubrics, the other half of the pool.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.agents import AskResult
from dokimasia.agents.perturbation import dimensions, plant_errors
from dokimasia.agents.rubrics import assess_response
from dokimasia.algorithms.perturbations import together
from dokimasia.algorithms.rubric_checks import dimension_of
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.judgement import Failed, Provenance
from dokimasia.domain.perturbation import PerturbationTarget, TextChange, changed
from dokimasia.domain.rubric import (
    FEWEST_TRIED,
    MEASURED_ERRORS,
    TRIAL_CAPTIONS,
    Rubric,
    RubricAssessment,
    RubricSet,
    Tried,
)
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context
from dokimasia.graphs.reasking import first_open, gathered


class Heard(NamedTuple):
    """What was asked in a trial, and the budget's refusal, where there was one: then nothing else of it counts."""

    calls: list[str]
    provenance: tuple[Provenance, ...]
    spent: Failed | None


def halves(names: Sequence[str], sample: str, seed: int) -> tuple[list[int], list[int]]:
    """Return the places of the pool's members that rubrics are tried on, and of those by which they are measured.

    Each sample has halves of its own; of an odd number the first half is the larger one.
    """
    drawn = sorted(range(len(names)), key=lambda place: unit_interval("half", seed, sample, names[place]))
    middle = (len(names) + 1) // 2
    return sorted(drawn[:middle]), sorted(drawn[middle:])


async def try_rubrics(
    context: Context, sample: Sample, caption: str, rubrics: Sequence[Rubric], responses: Mapping[str, str]
) -> tuple[dict[int, str], tuple[str, ...], Heard]:
    """Return, by place, why rubrics test nothing, and the captions with planted errors that they were tried on.

    An error is planted for each rubric, in what it is about and in its dimension. Errors in different sentences share a
    caption, so that a few judgements, each of all rubrics at once, try them all. Of a rubric that was mined from responses
    of the other half alone, this half's say nothing: `responses` are by the name of their model. Fewer than three say
    nothing either: what one or two careful describers tell is not what everybody tells.
    """
    responses = responses if len(responses) >= FEWEST_TRIED else {}
    targets = [PerturbationTarget(dimensions()[dimension_of(rubric)], rubric.statement) for rubric in rubrics]
    planting = await context.ask(plant_errors(caption, targets), node="try_out")
    errors = planting.value or [()] * len(rubrics)
    groups = together(caption, errors, TRIAL_CAPTIONS)
    captions = tuple(changed(caption, [change for place in group for change in errors[place]]) for group in groups)
    asked = [] if _spent([planting]) else await _assessed(context, sample, rubrics, [*responses.values(), *captions])
    results = [_passes(one) for one in asked]
    reasons: dict[int, list[str]] = {}
    answered = [result for result in results[: len(responses)] if result]
    for place, rubric in enumerate(rubrics):
        told_of = not rubric.support or set(rubric.support) & set(responses)
        if told_of and answered and all(result[place] for result in answered):
            reasons.setdefault(place, []).append(f"every response that it was tried on passes it ({len(answered)})")
    for group, result in zip(groups, results[len(responses) :], strict=False):
        for place in group:
            if result and result[place]:
                told = f"a golden caption with an error of {targets[place].dimension.name} in it passes it: "
                reasons.setdefault(place, []).append(told + _told(errors[place]))
    return {place: "; ".join(said) for place, said in reasons.items()}, captions, _heard([planting, *asked])


async def measure(
    context: Context, sample: Sample, made: RubricSet, responses: Mapping[str, str], used: Sequence[str]
) -> tuple[tuple[Tried, ...], Heard]:
    """Return which texts the set's rubrics pass that had no part in choosing them.

    Args:
        context: the services of the sample.
        sample: the sample.
        made: the set, with its golden caption.
        responses: texts by the name of their model that no must-right rubric was chosen by.
        used: captions with planted errors that rubrics were chosen by.
    """
    names = sorted(dimensions(), key=lambda name: unit_interval("measured", context.seed, sample.id, name))
    targets = [PerturbationTarget(dimensions()[name]) for name in names]
    planting = await context.ask(plant_errors(made.caption, targets), node="measure")
    if _spent([planting]):
        return (), _heard([planting])
    errors = [(name, changes) for name, changes in zip(names, planting.value or (), strict=False) if changes]
    errors = [one for one in errors if changed(made.caption, one[1]) not in used][:MEASURED_ERRORS]
    texts = [made.caption, *(changed(made.caption, changes) for _, changes in errors)]
    whole, gate = await gathered(
        [
            _assessed(context, sample, made.rubrics, texts),
            _assessed(context, sample, made.must_right, list(responses.values()) if made.must_right else []),
        ]
    )
    untried: tuple[None, ...] = (None,) * len(made.easy_wrong)
    tried = [Tried(what="golden", **_said(whole[0]))]
    for (name, changes), one in zip(errors, whole[1:], strict=True):
        tried.append(Tried(what="planted", name=name, changes=changes, **_said(one)))
    if planting.failed is not None:
        tried.append(Tried(what="planted", failure=planting.failed.kind))
    for name, one in zip(responses, gate, strict=False):
        tried.append(Tried(what="response", name=name, **_said(one, untried)))
    return tuple(tried), _heard([planting, *whole, *gate])


async def _assessed(
    context: Context, sample: Sample, rubrics: Sequence[Rubric], texts: Sequence[str]
) -> list[AskResult[RubricAssessment]]:
    """Have the judge decide all rubrics of each text, as an audit does."""
    rubric_set = RubricSet(sample_id=sample.id, rubrics=tuple(rubrics))
    return await gathered(context.ask(assess_response(sample, rubric_set, text), node="try_out") for text in texts)


def _passes(one: AskResult[RubricAssessment]) -> tuple[bool, ...]:
    """Return which rubrics a text passes, must-right first; nothing where it was not judged."""
    return () if one.value is None else (*one.value.group_a, *one.value.group_b)


def _said(one: AskResult[RubricAssessment], more: tuple[None, ...] = ()) -> dict[str, Any]:
    if one.failed is not None:
        return {"failure": one.failed.kind}
    return {"passes": (*_passes(one), *more)}


def _told(changes: Sequence[TextChange]) -> str:
    return ", ".join(f'"{change.new}" in place of "{change.original}"' for change in changes)


def _spent(asked: Sequence[AskResult[Any]]) -> Failed | None:
    return first_open(one.failed for one in asked)


def _heard(asked: Sequence[AskResult[Any]]) -> Heard:
    calls = [call for one in asked for call in one.calls]
    return Heard(calls, tuple(one.provenance for one in asked if one.provenance is not None), _spent(asked))
