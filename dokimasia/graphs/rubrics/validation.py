"""Trials of rubrics: on one half of the pool and on planted errors to select them, and on other texts to measure them.

A rubric must fail a caption with an inserted error that contradicts it. An easy-wrong rubric that was mined from
responses should fail at least one of them; must-right rubrics are essential facts, which all responses may well get
right. The power of a set is measured on other texts: golden captions with one error each, inserted regardless of any
rubric, and, for must-right rubrics, the other half of the pool.
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
from dokimasia.graphs.reasking import first_open, gather_all


class TrialCalls(NamedTuple):
    """The calls of a trial, and the failure that leaves it open, if any; an open trial has no valid result."""

    calls: list[str]
    provenance: tuple[Provenance, ...]
    open_failure: Failed | None


class RubricTrial(NamedTuple):
    """The reasons why rubrics test nothing, by position; the captions with planted errors; and the calls."""

    idle: dict[int, str]
    captions: tuple[str, ...]
    calls: TrialCalls


def halves(names: Sequence[str], sample: str, seed: int) -> tuple[list[int], list[int]]:
    """Return the positions of the models that rubrics are tried on, and of the models they are measured on.

    Each sample has its own random halves; with an odd number, the first half is larger.
    """
    order = sorted(range(len(names)), key=lambda position: unit_interval("half", seed, sample, names[position]))
    middle = (len(names) + 1) // 2
    return sorted(order[:middle]), sorted(order[middle:])


async def try_rubrics(
    context: Context, sample: Sample, caption: str, rubrics: Sequence[Rubric], responses: Mapping[str, str]
) -> RubricTrial:
    """Return a trial of rubrics: which of them test nothing, and why.

    For each rubric, an error of its dimension is inserted into the subject of its statement. Errors in different
    sentences share a caption, so that a few judgements of all rubrics suffice. `responses` are texts by model name.
    They count for a rubric that was mined from one of them; fewer than three do not count at all, since one or two
    careful descriptions are not representative.
    """
    if len(responses) < FEWEST_TRIED:
        responses = {}
    targets = [PerturbationTarget(dimensions()[dimension_of(rubric)], rubric.statement) for rubric in rubrics]
    planting = await context.ask(plant_errors(caption, targets), node="try_out")
    errors = planting.value or [()] * len(rubrics)
    groups = together(caption, errors, TRIAL_CAPTIONS)
    captions = tuple(
        changed(caption, [change for position in group for change in errors[position]]) for group in groups
    )
    replies: list[AskResult[RubricAssessment]] = []
    if first_open([planting.failed]) is None:
        replies = await _assess(context, sample, rubrics, [*responses.values(), *captions])
    passes = [_passes(reply) for reply in replies]
    response_passes = [text_passes for text_passes in passes[: len(responses)] if text_passes]
    reasons: dict[int, list[str]] = {}
    for position, rubric in enumerate(rubrics):
        counts = set(rubric.support) & set(responses)
        if counts and response_passes and all(text_passes[position] for text_passes in response_passes):
            reason = f"every response that it was tried on passes it ({len(response_passes)})"
            reasons.setdefault(position, []).append(reason)
    for group, caption_passes in zip(groups, passes[len(responses) :], strict=False):
        for position in group:
            if caption_passes and caption_passes[position]:
                changes = ", ".join(f'"{change.new}" in place of "{change.original}"' for change in errors[position])
                dimension = targets[position].dimension.name
                reason = f"a golden caption with an error of {dimension} in it passes it: {changes}"
                reasons.setdefault(position, []).append(reason)
    idle = {position: "; ".join(texts) for position, texts in reasons.items()}
    return RubricTrial(idle, captions, _calls([planting, *replies]))


async def measure(
    context: Context, sample: Sample, rubric_set: RubricSet, responses: Mapping[str, str], used: Sequence[str]
) -> tuple[tuple[Tried, ...], TrialCalls]:
    """Return which texts, other than those of the selection, pass the set's rubrics.

    Args:
        context: the services of the sample.
        sample: the sample.
        rubric_set: the set, with its golden caption.
        responses: texts by model name that were not used to select must-right rubrics.
        used: captions with inserted errors that were used to select rubrics.
    """
    caption = rubric_set.caption
    names = sorted(dimensions(), key=lambda name: unit_interval("measured", context.seed, sample.id, name))
    targets = [PerturbationTarget(dimensions()[name]) for name in names]
    planting = await context.ask(plant_errors(caption, targets), node="measure")
    if first_open([planting.failed]) is not None:
        return (), _calls([planting])
    errors: list[tuple[str, Sequence[TextChange]]] = []
    for name, changes in zip(names, planting.value or (), strict=False):
        if changes and changed(caption, changes) not in used:
            errors.append((name, changes))
    errors = errors[:MEASURED_ERRORS]
    texts = [caption, *(changed(caption, changes) for _, changes in errors)]
    gate = rubric_set.must_right
    by_caption, by_response = await gather_all(
        [
            _assess(context, sample, rubric_set.rubrics, texts),
            _assess(context, sample, gate, list(responses.values()) if gate else []),
        ]
    )
    trials = [Tried(what="golden", **_outcome(by_caption[0]))]
    for (name, changes), reply in zip(errors, by_caption[1:], strict=True):
        trials.append(Tried(what="planted", name=name, changes=tuple(changes), **_outcome(reply)))
    if planting.failed is not None:
        trials.append(Tried(what="planted", failure=planting.failed.kind))
    untried: tuple[None, ...] = (None,) * len(rubric_set.easy_wrong)
    for name, reply in zip(responses, by_response, strict=False):
        trials.append(Tried(what="response", name=name, **_outcome(reply, untried)))
    return tuple(trials), _calls([planting, *by_caption, *by_response])


async def _assess(
    context: Context, sample: Sample, rubrics: Sequence[Rubric], texts: Sequence[str]
) -> list[AskResult[RubricAssessment]]:
    """Have the judge decide all rubrics of each text, as an audit does."""
    rubric_set = RubricSet(sample_id=sample.id, rubrics=tuple(rubrics))
    published = context.options.published
    asks = [assess_response(sample, rubric_set, text, published=published) for text in texts]
    return await gather_all(context.ask(ask, node="try_out") for ask in asks)


def _passes(reply: AskResult[RubricAssessment]) -> tuple[bool, ...]:
    """Return which rubrics a text passes, must-right first; empty if it was not judged."""
    if reply.value is None:
        return ()
    return (*reply.value.group_a, *reply.value.group_b)


def _outcome(reply: AskResult[RubricAssessment], untried: tuple[None, ...] = ()) -> dict[str, Any]:  # fields of Tried
    if reply.failed is not None:
        return {"failure": reply.failed.kind}
    return {"passes": (*_passes(reply), *untried)}


def _calls(replies: Sequence[AskResult[Any]]) -> TrialCalls:
    calls = [call for reply in replies for call in reply.calls]
    provenance = tuple(reply.provenance for reply in replies if reply.failed is None)
    return TrialCalls(calls, provenance, first_open(reply.failed for reply in replies))
