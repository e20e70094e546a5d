"""What a run will ask and cost, said before it starts: upper bounds by counting, tokens and money by rule of thumb."""

from collections.abc import Iterable
from typing import NamedTuple

from dokimasia.domain.call import ModelSpec, Usage
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import Sample
from dokimasia.gateway.pricing import cost_of, known_price
from dokimasia.methods.evaluation.plan import EvaluationPlan

CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 750
INSTRUCTION_TOKENS = 450
LOOK_TOKENS, LOOK_CALL_TOKENS = 1500, 60
CHAIN_TOKENS, CRITERIA_TOKENS, VERDICT_TOKENS, ANSWER_TOKENS, SCORES_TOKENS = 600, 400, 40, 300, 60


class ModelEstimate(Value):
    """Calls at most (without repairs and retries), and tokens by rule of thumb; `cost` in US dollars, None if unpriced."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


class Estimate(Value):
    """What a run will ask of each model. Answers that the ledger already has are not subtracted."""

    samples: int
    models: dict[str, ModelEstimate]

    @property
    def calls(self) -> int:
        """All calls together."""
        return sum(model.calls for model in self.models.values())

    @property
    def cost(self) -> float | None:
        """All money together in US dollars; None where any model's price is unknown."""
        costs = [model.cost for model in self.models.values()]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)


class Asking(NamedTuple):
    """Calls of one kind to one model: how many, and the tokens that each sends and receives."""

    spec: ModelSpec
    calls: int
    sent: int
    received: int


def added_up(asked: Iterable[Asking], samples: int) -> Estimate:
    """Return calls of several kinds as an estimate over so many samples."""
    specs: dict[str, ModelSpec] = {}
    totals: dict[str, list[int]] = {}
    for one in asked:
        specs[one.spec.ref.name] = one.spec
        total = totals.setdefault(one.spec.ref.name, [0, 0, 0])
        for place, more in enumerate((one.calls, one.calls * one.sent, one.calls * one.received)):
            total[place] += more
    models = {
        name: ModelEstimate(
            calls=calls, input_tokens=sent, output_tokens=received, cost=_cost(specs[name], sent, received)
        )
        for name, (calls, sent, received) in totals.items()
    }
    return Estimate(samples=samples, models=models)


class SampleSize(NamedTuple):
    """What of a sample bears on its cost: tokens of its texts and images, and whether there is a reference answer."""

    text: int
    images: int
    reference: int


def size_of(sample: Sample) -> SampleSize:
    """Return a sample's size in tokens, by rule of thumb: four characters, or 750 pixels, a token."""
    text = len(sample.prompt) + sum(len(choice) for choice in sample.choices)
    pixels = sum(image.width * image.height for image in sample.images)
    return SampleSize(
        text // CHARACTERS_PER_TOKEN,
        pixels // PIXELS_PER_TOKEN,
        0 if sample.reference_answer is None else 1 + len(sample.reference_answer) // CHARACTERS_PER_TOKEN,
    )


def estimate(plan: EvaluationPlan, sizes: Iterable[SampleSize]) -> Estimate:
    """Return what a plan will ask over samples of these sizes."""
    totals: dict[str, list[int]] = {spec.ref.name: [0, 0, 0] for spec in plan.specs()}
    asks, judge_of = plan.asks, plan.judge_of

    def add(spec: ModelSpec, sent: int, received: int) -> None:
        total = totals[spec.ref.name]
        total[0] += 1
        total[1] += sent
        total[2] += received

    def add_looks(spec: ModelSpec, sent: int) -> None:
        """Every look may be a call of its own, which sends everything before it again."""
        for look in range(plan.looks + 1):
            add(spec, sent + look * LOOK_TOKENS, LOOK_CALL_TOKENS)

    samples = 0
    for size in sizes:
        samples += 1
        shown = INSTRUCTION_TOKENS + size.text + size.images
        if "write_chain" in asks:
            add(judge_of("write_chain"), shown + size.reference, CHAIN_TOKENS)
            if plan.tools and size.images:
                add_looks(judge_of("write_chain"), shown + size.reference)
        if "extract_criteria" in asks:
            add(judge_of("extract_criteria"), shown + CHAIN_TOKENS, CRITERIA_TOKENS)
        if "judge_chain" in asks and size.reference:
            add(judge_of("judge_chain"), INSTRUCTION_TOKENS + size.text + size.reference * 2, VERDICT_TOKENS)
        pictures = size.images if plan.show_image or plan.tools else 0
        for candidate in plan.candidates:
            for arm in plan.arms:
                for _ in range(plan.repeats):
                    if "answer" in asks:
                        add(candidate, size.text + (0 if arm else size.images), ANSWER_TOKENS)
                    if "score" in asks:
                        asked = INSTRUCTION_TOKENS + size.text + CRITERIA_TOKENS + ANSWER_TOKENS + pictures
                        add(judge_of("score"), asked, SCORES_TOKENS)
                        if plan.tools and size.images:
                            add_looks(judge_of("score"), asked)
    specs = {spec.ref.name: spec for spec in plan.specs()}
    return Estimate(
        samples=samples,
        models={
            name: ModelEstimate(
                calls=calls, input_tokens=sent, output_tokens=received, cost=_cost(specs[name], sent, received)
            )
            for name, (calls, sent, received) in totals.items()
            if calls
        },
    )


def _cost(spec: ModelSpec, sent: int, received: int) -> float | None:
    return cost_of(Usage(input_tokens=sent, output_tokens=received), known_price(spec))
