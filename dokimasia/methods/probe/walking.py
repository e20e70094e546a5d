"""How judgements are asked for: the published evaluators through the graph that probes, those in use through their own."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from dokimasia.agents.candidate import stated_answer
from dokimasia.domain.blindspots import PUBLISHED, Evaluator
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import OPEN_KINDS, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.answering import AnswerState
from dokimasia.graphs.blindspots import deciding, probing
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.evaluation import checkpoint_scoring
from dokimasia.graphs.evaluation.checkpoint_scoring import by_nobody
from dokimasia.graphs.rubrics import rubric_audit
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import ProbeUnit, count_of
from dokimasia.runs.work import Job

PROBING, DECIDING = cast("GraphFile", probing), cast("GraphFile", deciding)
SCORING, AUDIT = cast("GraphFile", checkpoint_scoring), cast("GraphFile", rubric_audit)


class JudgementOutcome(NamedTuple):
    """What came of a judgement: the ids of what was judged (of a pair in each order) and looked at; or why nothing did."""

    judged: tuple[str, ...]
    looks: tuple[str, ...]
    calls: tuple[str, ...]
    failed: str = ""
    reason: str = ""


class JudgementRequest(NamedTuple):
    """What is asked in one walk: judgements of one judge on one sample under one evaluator.

    `basis` is the id of what they go by: criteria, rubrics, or a reference that was made anew; empty where there is none.
    """

    job: Job[ProbePlan]
    sample: Sample
    units: Sequence[ProbeUnit]
    context: Context
    basis: str = ""

    @property
    def name(self) -> str:
        """A name for the walk that no other of the run has."""
        return f"walk/{digest('walk', [*(unit.name for unit in self.units), self.context.attempt])[:16]}"

    @property
    def texts(self) -> list[str]:
        """The answers that are judged."""
        return [unit.gold.item.gold if unit.probe is None else unit.probe.item.perturbed for unit in self.units]


async def judged(asked: JudgementRequest) -> list[JudgementOutcome]:
    """Return what came of judgements, in order."""
    return await WAYS.get(asked.units[0].evaluator, _probed)(asked)


async def read(
    job: Job[ProbePlan], sample: Sample, units: Sequence[ProbeUnit], ids: Sequence[Sequence[str]], context: Context
) -> list[JudgementOutcome]:
    """Return what a reader finds in the justifications of judgements.

    Of an answer with an error in it the reader says whether that error is named, of any other whether some error is.
    """
    reader = context.options.judge
    calls = [
        {**call, "judgement": id, "reader": reader, "any_error": unit.case != "error"}
        for unit, own in zip(units, ids, strict=True)
        for call, id in zip(_calls(unit, ""), own, strict=True)
    ]
    name = f"read/{digest('read', [*(unit.name for unit in units), context.attempt])[:16]}"
    state = await job.walk(PROBING, {"sample": value_id(sample), "calls": calls}, name, context=context)
    return [_together(own, "noticed", "unread") for own in _apart(units, state["calls"])]


async def _probed(asked: JudgementRequest) -> list[JudgementOutcome]:
    calls = [call for unit in asked.units for call in _calls(unit, asked.basis)]
    inputs = {"sample": value_id(asked.sample), "judge": asked.context.options.judge, "calls": calls}
    state = await asked.job.walk(PROBING, inputs, asked.name, context=asked.context)
    return [_together(own, "judgement") for own in _apart(asked.units, state["calls"])]


def _calls(unit: ProbeUnit, reference: str) -> list[dict[str, Any]]:
    """Return what the graph asks of one item: one call, or of a pair one in each order, the gold answer first in the first."""
    item = unit.gold.item if unit.probe is None else unit.probe.item
    which = "gold" if unit.probe is None else "perturbed"
    call = {"item": value_id(item), "evaluator": unit.evaluator, "repeat": unit.draw}
    if unit.evaluator.startswith("pairwise"):
        orders = [("gold", which), (which, "gold")][: count_of(unit)]
        return [{**call, "first": first, "second": second} for first, second in orders]
    return [{**call, "first": which, **({"reference": reference} if reference else {})}]


def _apart(units: Sequence[ProbeUnit], calls: Sequence[Any]) -> list[Sequence[Any]]:
    """Return the calls of each unit, which stand one after the other."""
    found: list[Sequence[Any]] = []
    for unit in units:
        begun = sum(map(len, found))
        found.append(calls[begun : begun + count_of(unit)])
    return found


def _together(calls: Sequence[Any], made: str, failure: str = "") -> JudgementOutcome:
    """Return what came of the calls of one item; one that failed fails the item."""
    ends = [call.get(failure, {}) if failure else call for call in calls]
    failures = [one for one in ends if one.get("failed")]
    failed = min(failures, key=lambda one: (*OPEN_KINDS, one["failed"]).index(one["failed"]), default={})
    return JudgementOutcome(
        tuple(call[made] for call in calls if call.get(made)),
        tuple(look for call in calls for look in call.get("looks", ())),
        tuple(key for call in calls for key in call.get("calls", ())),
        failed.get("failed", ""),
        failed.get("reason", ""),
    )


async def _by_criteria(asked: JudgementRequest) -> list[JudgementOutcome]:
    """Score answers by atomic criteria, as an evaluation does; nobody asks whether they are right."""
    store = asked.context.store
    items = [
        {**item, "final": await store.put(by_nobody(await store.get(Response, item["response"]), item["response"]))}
        for item in await _items(asked)
    ]
    inputs = {"sample": value_id(asked.sample), "criteria": asked.basis, "items": items}
    return _ended(await asked.job.walk(SCORING, inputs, asked.name, context=asked.context))


async def _by_rubrics(asked: JudgementRequest) -> list[JudgementOutcome]:
    """Assess answers by the rubrics of their gold answer, as an audit does."""
    inputs = {"sample": value_id(asked.sample), "rubrics": asked.basis, "items": await _items(asked)}
    return _ended(await asked.job.walk(AUDIT, inputs, asked.name, context=asked.context))


async def _by_equivalence(asked: JudgementRequest) -> list[JudgementOutcome]:
    """Decide of answers whether they say the same as their gold answer, as an evaluation does where no rule can."""
    gold, _ = stated_answer(asked.units[0].gold.item.gold)
    sample = asked.sample.model_copy(update={"reference_answer": gold, "reference_answers": ()})
    inputs = {"sample": await asked.context.store.put(sample), "items": await _items(asked)}
    return _ended(await asked.job.walk(DECIDING, inputs, asked.name, context=asked.context))


async def _items(asked: JudgementRequest) -> list[AnswerState]:
    """Return answers as the graphs take those that exist already."""
    found: list[AnswerState] = []
    for unit, text in zip(asked.units, asked.texts, strict=True):
        model = "gold" if unit.probe is None else "perturbed"
        response = Response(sample=asked.sample.digest, model=model, repeat=unit.draw, text=text)
        id = await asked.context.store.put(response)
        found.append({"model": model, "arm": "", "repeat": unit.draw, "response": id})
    return found


def _ended(state: dict[str, Any]) -> list[JudgementOutcome]:
    return [_together([item], "judgement") for item in state["items"]]


WAYS: dict[Evaluator, Callable[[JudgementRequest], Awaitable[list[JudgementOutcome]]]] = {
    **dict.fromkeys(PUBLISHED, _probed),
    "checkpoints": _by_criteria,
    "gated": _by_rubrics,
    "right-or-wrong": _by_equivalence,
}
"""By evaluator, what asks for judgements."""


def at(context: Context, options: Any, attempt: int) -> Context:
    """Return a context with the options of one judge, in which an item is taken up for the nth time."""
    asked = replace(context, options=options)
    return asked.at_attempt(attempt) if attempt else asked
