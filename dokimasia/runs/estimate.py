"""The estimate of a run's calls and cost: upper bounds by counting; tokens and money by rule of thumb."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field, JsonValue

from dokimasia.domain.call import ModelSpec, Usage
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.ports import Spending
from dokimasia.domain.sample import Sample
from dokimasia.gateway.pricing import cost_of, known_price
from dokimasia.prompts import PromptLibrary
from dokimasia.report.figures import several
from dokimasia.storage.runs import Run

CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 1000
"""The average: providers count one token per 750 to more than 2,000 pixels."""
LEAST_IMAGE_TOKENS = 256
"""The tokens that most providers charge for even the smallest image."""
INSTRUCTION_TOKENS = 450
"""The assumed tokens of a prompt whose length is not computed."""

UNSEEN = "simulated and can see nothing in these pictures"
"""The wording of the note on simulated models shown pictures from outside their world."""

UPPER_BOUND = "calls and cost are an upper bound"
"""The beginning of a note that is omitted if the count is exact."""

NO_CALL = "this run asks no model: by what the home has, its work ends before the first call"
"""The note on a run whose steps were all rehearsed on stored replies without needing a call."""


class ModelEstimate(Value):
    """Calls at most (without repairs and retries), and tokens by rule of thumb; `cost` in US dollars, None if unpriced."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


class StepEstimate(Value):
    """The calls of one step to one model: how many at most, how many of them are left to ask, and what these cost.

    `left` is less than `calls` where the ledger has replies, or a rule decides. `if_undecided` marks calls that are made only
    where no rule decides, so that `left` is a bound; other steps may come to fewer calls, too, where earlier ones fail.
    `left_cost` is in US dollars, None if unpriced; `least_cost` is that of the step's cheapest call, and is not stored.
    """

    step: str
    model: str
    calls: int
    left: int
    input_tokens: int
    output_tokens: int
    left_cost: float | None
    if_undecided: bool = False
    least_cost: float | None = Field(default=None, exclude=True)

    def with_left(self, calls_left: int) -> "StepEstimate":
        """Return the estimate with another number of remaining calls."""
        calls_left = min(calls_left, self.calls)
        cost = None if self.left_cost is None or not self.left else self.left_cost * calls_left / self.left
        return self.model_copy(update={"left": calls_left, "left_cost": cost if calls_left else 0.0})

    def without(self, calls: int) -> "StepEstimate":
        """Return the estimate without some of its remaining calls, the cheapest ones."""
        calls_left = self.left - calls
        cost = self.left_cost if self.left_cost is None else max(0.0, self.left_cost - calls * (self.least_cost or 0.0))
        return self.model_copy(update={"left": calls_left, "left_cost": cost if calls_left else 0.0})


class Estimate(Value):
    """What a run will ask of each model, as a whole. `models` counts what its results will rest on, at most, whether the
    ledger has it or not; `by_step` says how much of it is left to ask and pay for.

    `followed` says on how many samples the ledger was looked through for what it has; 0: its replies are not subtracted.

    `people` counts the questions to people at most, which cost time and no tokens. `answered` counts the calls that
    it has made already, where it is gone on with; `notes` say what else should be
    known before it starts. `items` counts the rows of results that it comes to at most; 0 where the method does not count
    them, and then its calls stand for them.
    """

    samples: int
    items: int = 0
    models: dict[str, ModelEstimate]
    people: dict[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    answered: int = 0
    by_step: tuple[StepEstimate, ...] = ()
    followed: int = 0

    @property
    def asked(self) -> dict[str, ModelEstimate]:
        """The remaining calls to each model, without those made only where no rule decides."""
        if self.by_step:
            return _by_model(step for step in self.by_step if not step.if_undecided)
        return self.models

    @property
    def remaining(self) -> "Estimate":
        """The estimate of the remaining calls alone: `models` is `asked`."""
        return self.model_copy(update={"models": self.asked})

    @property
    def undecided(self) -> dict[str, ModelEstimate]:
        """The most calls to each model beyond `asked`, made where no rule decides."""
        return _by_model(step for step in self.by_step if step.if_undecided and step.left)

    @property
    def in_ledger(self) -> int:
        """The number of calls behind the results that cost nothing: in the ledger, or decided by a rule."""
        return sum(step.calls - step.left for step in self.by_step)

    @classmethod
    def of_run(cls, run: Run) -> "Estimate":
        """Return the estimate that was made when a run was accepted."""
        return cls.model_validate(run.options["estimate"])

    def shown(self) -> JsonObject:
        """Return the estimate ready for JSON, without `answered`.

        `calls`, `cost` and `models` are the remaining ones, `undecided` is what no rule decides may add at most, and
        `in_ledger` counts the calls that need not be paid for.
        """
        remaining = self.remaining
        undecided = self.model_copy(update={"models": self.undecided})
        return {
            **remaining.model_dump(mode="json", exclude={"answered"}),
            "calls": remaining.calls,
            "cost": remaining.cost,
            "undecided": {"calls": undecided.calls, "cost": undecided.cost},
            "in_ledger": self.in_ledger,
        }

    def following(self, left: Mapping[tuple[str, str], int], *, samples: int) -> "Estimate":
        """Return the estimate with the remaining calls of some samples, scaled to all samples.

        Args:
            left: remaining calls on these samples, by step and model.
            samples: the number of these samples.
        """
        scale = self.samples / samples
        steps = tuple(step.with_left(round(left.get((step.step, step.model), 0) * scale)) for step in self.by_step)
        return self.model_copy(update={"by_step": steps, "followed": samples})

    def without(self, answered: Mapping[str, int], *, samples: int, complete: bool) -> "Estimate":
        """Return the estimate without calls that are in the ledger, counted by model.

        Each model's steps lose their cheapest calls first, so that the remaining cost is never underestimated.

        Args:
            answered: the number of each model's calls in the ledger.
            samples: the number of samples they were counted on.
            complete: whether the ledger has every call of the run, so that none remains.
        """
        rest, left = dict(answered), dict[int, StepEstimate]()
        for position, step in sorted(enumerate(self.by_step), key=lambda entry: entry[1].least_cost or 0.0):
            spared = step.left if complete else min(step.left, rest.get(step.model, 0))
            rest[step.model] = rest.get(step.model, 0) - spared
            left[position] = step.without(spared)
        steps = tuple(left[position] for position in range(len(self.by_step)))
        return self.model_copy(update={"by_step": steps, "followed": samples})

    def exact(self, *, asks: bool) -> "Estimate":
        """Return the estimate of a run whose stages were rehearsed to the end, without notes on bounds.

        Args:
            asks: whether its results rest on any call; if not, the estimate has no calls and a note says so.
        """
        notes = tuple(note for note in self.notes if not note.startswith(UPPER_BOUND))
        if asks:
            return self.model_copy(update={"notes": notes})
        models = {name: ModelEstimate(cost=0.0) for name in self.models}
        return self.model_copy(update={"models": models, "by_step": (), "notes": (*notes, NO_CALL)})

    @property
    def most_items(self) -> int:
        """The largest number of items, as compared with the limit on a run."""
        return self.items or max(self.samples, self.calls + sum(self.people.values()))

    @property
    def calls(self) -> int:
        """The calls to all models together."""
        return sum(model.calls for model in self.models.values())

    @property
    def cost(self) -> float | None:
        """The total cost in US dollars; None if any model's price is unknown."""
        costs = [model.cost for model in self.models.values()]
        if any(cost is None for cost in costs):
            return None
        return self.cost_known

    @property
    def cost_known(self) -> float:
        """The known part of the cost: that of models with a price."""
        return sum(model.cost or 0.0 for model in self.models.values())


def limit_notes(limits: Mapping[str, JsonValue], spent: Spending, estimate: Estimate) -> tuple[str, ...]:
    """Return a note for each spending limit that will probably stop a run, or may do so where no rule decides.

    Args:
        limits: the run's limits by name, as in `LIMITS`; None for no limit.
        spent: what the run has spent.
        estimate: the estimate of the remaining calls.
    """
    left = _spending(estimate.asked.values())
    most = _spending(estimate.undecided.values())
    notes: list[str] = []
    for name, count in left._asdict().items():
        limit = limits.get(f"max_{name}")
        if not isinstance(limit, int | float):
            continue
        needed = getattr(spent, name) + count
        verb = "is likely to"
        if needed <= limit:
            needed += getattr(most, name)
            verb = "may"
        if needed > limit:
            of = f"limit of {_amount(name, limit)}"
            notes.append(
                f"the {of} {verb} stop this run before its end, which needs about {_amount(name, needed)} in all"
            )
    return tuple(notes)


def _spending(models: Iterable[ModelEstimate]) -> Spending:
    """Return the total calls, tokens and known cost of models."""
    total = Spending()
    for model in models:
        total = Spending(
            calls=total.calls + model.calls,
            tokens=total.tokens + model.input_tokens + model.output_tokens,
            cost=total.cost + (model.cost or 0.0),
        )
    return total


def _amount(name: str, amount: float) -> str:
    if name == "cost":
        return f"${amount:.4g}"
    return several(round(amount), name.removesuffix("s"))


class ExpectedCalls(NamedTuple):
    """Calls of one kind to one model: how many, and the tokens sent and received by each.

    `step` names their purpose. `if_undecided` states that they are made only where no rule decides.
    """

    spec: ModelSpec
    calls: int
    sent: int
    received: int
    step: str = ""
    if_undecided: bool = False


def greedy_notes(specs: Iterable[ModelSpec], paper: str) -> tuple[str, ...]:
    """Return a warning for models that are not sampled greedily (temperature 0), although the published protocol is."""
    sampled = {
        spec.ref.name: "the provider's own" if spec.sampling.temperature is None else f"{spec.sampling.temperature:g}"
        for spec in specs
        if spec.sampling.temperature != 0 and not spec.ref.person and not spec.edits_images
    }
    if not sampled:
        return ()
    values = ", ".join(f"{name} ({temperature})" for name, temperature in sampled.items())
    return (f"{paper} decodes greedily; these models are asked at another temperature: {values}; see --temperature 0",)


def total_estimate(
    asked: Iterable[ExpectedCalls], samples: int, *, items: int = 0, notes: Sequence[str] = ()
) -> Estimate:
    """Return the estimate of calls of several kinds over a number of samples, with `items` result rows at most.

    The cost of a kind is the cost of one of its calls times their number.
    """
    models: dict[str, _Totals] = {}
    people: Counter[str] = Counter()
    steps: dict[tuple[str, str, bool], _Totals] = {}
    costs: dict[tuple[int, int, int, int], tuple[ModelSpec, float | None]] = {}
    least: dict[tuple[str, str, bool], float] = {}
    for kind in asked:
        name = kind.spec.ref.name
        if kind.spec.ref.person:
            people[name] += kind.calls
            continue
        like = id(kind.spec), kind.calls, kind.sent, kind.received  # samples of equal size cost the same
        if like not in costs:
            costs[like] = kind.spec, _cost_of_kind(kind)  # keyed with the model itself, so that its id is not reused
        totals = kind.calls, kind.calls * kind.sent, kind.calls * kind.received, costs[like][1]
        models[name] = _added(models.get(name, _NOTHING), totals)
        place = (kind.step, name, kind.if_undecided)
        steps[place] = _added(steps.get(place, _NOTHING), totals)
        cost = costs[like][1]
        if kind.calls and cost is not None:
            least[place] = min(least.get(place, math.inf), cost / kind.calls)
    by_step = tuple(
        StepEstimate(
            step=step,
            model=model,
            calls=calls,
            left=calls,
            input_tokens=sent,
            output_tokens=received,
            left_cost=cost,
            if_undecided=if_undecided,
            least_cost=least.get((step, model, if_undecided)),
        )
        for (step, model, if_undecided), (calls, sent, received, cost) in steps.items()
        if calls
    )
    by_model = {
        name: ModelEstimate(calls=calls, input_tokens=sent, output_tokens=received, cost=cost)
        for name, (calls, sent, received, cost) in models.items()
    }
    return Estimate(
        samples=samples, items=items, models=by_model, people=dict(people), by_step=by_step, notes=tuple(notes)
    )


_Totals = tuple[int, int, int, float | None]
"""Calls, tokens sent and received, and US dollars; None if unpriced."""

_NOTHING: _Totals = (0, 0, 0, 0.0)


def _added(first: _Totals, second: _Totals) -> _Totals:
    return first[0] + second[0], first[1] + second[1], first[2] + second[2], _sum(first[3], second[3])


def _sum(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None
    return first + second


def _by_model(steps: Iterable[StepEstimate]) -> dict[str, ModelEstimate]:
    """Return the remaining calls of steps, by model."""
    models: dict[str, ModelEstimate] = {}
    for step in steps:
        before = models.get(step.model, ModelEstimate(cost=0.0))
        models[step.model] = ModelEstimate(
            calls=before.calls + step.left,
            input_tokens=before.input_tokens + step.input_tokens * step.left // step.calls,
            output_tokens=before.output_tokens + step.output_tokens * step.left // step.calls,
            cost=_sum(before.cost, step.left_cost),
        )
    return models


def _cost_of_kind(kind: ExpectedCalls) -> float | None:
    """Return the cost of all calls of one kind in US dollars; None if the model's price is unknown."""
    if not kind.calls:
        return 0.0
    price = known_price(kind.spec)
    cost_per_call = price.image
    if cost_per_call is None:
        cost_per_call = cost_of(Usage(input_tokens=kind.sent, output_tokens=kind.received), price)
    if cost_per_call is None:
        return None
    return kind.calls * cost_per_call


class SampleSize(NamedTuple):
    """The size of a sample in tokens: its texts, its images, its reference answer.

    `sides` are the images' widths and heights in pixels.
    """

    text: int
    images: int
    reference: int
    sides: tuple[tuple[int, int], ...] = ()

    def images_for(self, spec: ModelSpec) -> int:
        """Return the tokens of the images as sent to a model, which may limit their size."""
        most = spec.max_image_side
        if most is None:
            return self.images
        return _tokens_of_images(self.sides, most)


def size_of(sample: Sample) -> SampleSize:
    """Return a sample's size in tokens, by rule of thumb: four characters, or 1,000 pixels, a token, an image at least 256."""
    text = len(sample.prompt) + sum(len(choice) for choice in sample.choices)
    sides = tuple((image.width, image.height) for image in sample.images)
    return SampleSize(
        text // CHARACTERS_PER_TOKEN,
        _tokens_of_images(sides),
        0 if sample.reference_text is None else 1 + len(sample.reference_text) // CHARACTERS_PER_TOKEN,
        sides,
    )


def frame_tokens(library: PromptLibrary, name: str) -> int:
    """Return the tokens of a prompt's own text, without its inputs."""
    prompt = library.get(name)
    return (len(prompt.system) + len(prompt.user) + len(prompt.form)) // CHARACTERS_PER_TOKEN


def _tokens_of_images(sides: Iterable[tuple[int, int]], most: int | None = None) -> int:
    """Return the tokens of images of these widths and heights, reduced so that no side has more than `most` pixels."""
    shares = ((side, 1.0 if most is None else min(1.0, most / max(side))) for side in sides)
    pixels = (width * height * share**2 for (width, height), share in shares)
    return sum(max(LEAST_IMAGE_TOKENS, round(count / PIXELS_PER_TOKEN)) for count in pixels)
