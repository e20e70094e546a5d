"""What a run will ask and cost, said before it starts: upper bounds by counting, tokens and money by rule of thumb."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from pydantic import Field

from dokimasia.domain.call import ModelSpec, Usage
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import Sample
from dokimasia.gateway.pricing import cost_of, known_price
from dokimasia.prompts import PromptLibrary

CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 1000
"""An average: providers count from about 750 to more than 2,000 pixels for a token."""
LEAST_IMAGE_TOKENS = 256
"""The tokens that most providers count for even the smallest image."""
INSTRUCTION_TOKENS = 450
"""The tokens of a prompt whose length is not computed."""


class ModelEstimate(Value):
    """Calls at most (without repairs and retries), and tokens by rule of thumb; `cost` in US dollars, None if unpriced."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


class Estimate(Value):
    """What a run will ask of each model, as a whole. Answers that the ledger already has are not subtracted.

    `people` counts the questions to people at most, which cost time and no tokens. `answered` counts the calls of models
    that its results rest on already, where it is gone on with (the ledger may have more); `notes` say what else should be
    known before it starts. `items` counts the rows of results that it comes to at most; 0 where the method does not count
    them, and then its calls stand for them.
    """

    samples: int
    items: int = 0
    models: dict[str, ModelEstimate]
    people: dict[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    answered: int = 0

    @property
    def left(self) -> int:
        """How many calls of models are left at most."""
        return max(0, self.calls - self.answered)

    @property
    def most_items(self) -> int:
        """How many items it comes to at most, as they are held against the limit on a run."""
        return self.items or max(self.samples, self.calls + sum(self.people.values()))

    @property
    def calls(self) -> int:
        """All calls of models together."""
        return sum(model.calls for model in self.models.values())

    @property
    def cost(self) -> float | None:
        """All money together in US dollars; None where any model's price is unknown."""
        costs = [model.cost for model in self.models.values()]
        return None if any(cost is None for cost in costs) else self.cost_known

    @property
    def cost_known(self) -> float:
        """What is known of it: that of the models with a price."""
        return sum(model.cost or 0.0 for model in self.models.values())


class ExpectedCalls(NamedTuple):
    """Calls of one kind to one model: how many, and the tokens that each sends and receives."""

    spec: ModelSpec
    calls: int
    sent: int
    received: int


def total_estimate(asked: Iterable[ExpectedCalls], samples: int, *, items: int = 0) -> Estimate:
    """Return the estimate of calls of several kinds over a number of samples, with `items` result rows at most.

    The cost of a kind is the cost of one of its calls times their number.
    """
    models: dict[str, ModelEstimate] = {}
    people: Counter[str] = Counter()
    for kind in asked:
        name = kind.spec.ref.name
        if kind.spec.ref.person:
            people[name] += kind.calls
            continue
        before, cost = models.get(name, ModelEstimate(cost=0.0)), _cost_of_kind(kind)
        models[name] = ModelEstimate(
            calls=before.calls + kind.calls,
            input_tokens=before.input_tokens + kind.calls * kind.sent,
            output_tokens=before.output_tokens + kind.calls * kind.received,
            cost=None if before.cost is None or cost is None else before.cost + cost,
        )
    return Estimate(samples=samples, items=items, models=models, people=dict(people))


def _cost_of_kind(kind: ExpectedCalls) -> float | None:
    """Return the cost of all calls of one kind in US dollars; None if the model's price is unknown."""
    if not kind.calls:
        return 0.0
    price = known_price(kind.spec)
    cost_per_call = price.image
    if cost_per_call is None:
        cost_per_call = cost_of(Usage(input_tokens=kind.sent, output_tokens=kind.received), price)
    return None if cost_per_call is None else kind.calls * cost_per_call


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
        return self.images if most is None else _tokens_of_images(self.sides, most)


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
    """Return the tokens of a prompt's own text, without what it is filled with."""
    prompt = library.get(name)
    return (len(prompt.system) + len(prompt.user) + len(prompt.form)) // CHARACTERS_PER_TOKEN


def _tokens_of_images(sides: Iterable[tuple[int, int]], most: int | None = None) -> int:
    """Return the tokens of images of these widths and heights, reduced so that no side has more than `most` pixels."""
    shares = ((side, 1.0 if most is None else min(1.0, most / max(side))) for side in sides)
    pixels = (width * height * share**2 for (width, height), share in shares)
    return sum(max(LEAST_IMAGE_TOKENS, round(count / PIXELS_PER_TOKEN)) for count in pixels)
