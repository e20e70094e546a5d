"""A planted world for trees: any number of criteria with known capabilities, and scores of planted models."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from dokimasia.simulation.lexicon import LEAVES, Capability, made_up_capabilities, parent_of

CRITERIA_OF_A_SAMPLE = (3, 4, 5)
"""Numbers of criteria of consecutive samples, repeated; four on average."""

_ASK = (
    "What does the {thing} in {place} say about its {cue}?",
    "How is the {cue} of the {thing} settled in {place}?",
    "Which {cue} follows from the {thing} of {place}?",
    "Where in {place} does the {thing} owe its place to the {cue}?",
    "By which {cue} is the {thing} told apart in {place}?",
    "What becomes of the {cue} once the {thing} leaves {place}?",
)
_SAY = (
    "In {place} it comes to {value}.",
    "The {thing} of {place} makes it {value}.",
    "It is {value}, as {place} shows.",
    "There the {thing} gives {value}.",
)
_THING_WORDS = (
    "beacon basket bridge candle carpet cellar chimney circuit column compass cradle curtain drawer engine fabric "
    "fountain garden gutter hammer harbour helmet island jacket kettle ladder lantern meadow mirror needle oven "
    "paddle parcel pillar pocket quilt ribbon saddle shovel socket spiral statue tablet tunnel valley vessel wagon"
)
_PLACE_WORDS = "frame panel sheet plate quarter margin strip field corner block"
_THINGS, _PLACES = _THING_WORDS.split(), _PLACE_WORDS.split()


class PlantedCriterion(NamedTuple):
    """A criterion of the made-up tree: its id, sample, question, ground truth and capability."""

    id: str
    sample: str
    question: str
    ground_truth: str
    capability: str


def planted_criteria(n: int, seed: int, *, themes: bool = False, width: int = LEAVES) -> Iterator[PlantedCriterion]:
    """Yield `n` criteria over samples of three to five; all texts differ, and equal arguments give equal texts.

    Capabilities are equally likely: the first `width` (1 to 3) of each parent. With `themes`, a sample's criteria mostly
    belong to one parent, as in real data.
    """
    rng = Random(f"planted criteria/{seed}")
    parents = tuple(group[:width] for group in _by_parent())
    capabilities = tuple(capability for group in parents for capability in group)
    criterion_count, sample = 0, 0
    while criterion_count < n:
        theme = rng.choice(parents)
        for at in range(min(CRITERIA_OF_A_SAMPLE[sample % len(CRITERIA_OF_A_SAMPLE)], n - criterion_count)):
            capability = rng.choice(theme) if themes and rng.random() < 0.7 else rng.choice(capabilities)
            yield _draw_criterion(rng, capability, f"s{sample:06d}", at)
            criterion_count += 1
        sample += 1


def categories_of(criteria: Sequence[PlantedCriterion]) -> dict[str, str]:
    """Return each sample's category, as in a data set: the category of its first criterion."""
    category_by_sample: dict[str, str] = {}
    for criterion in criteria:
        category_by_sample.setdefault(criterion.sample, criterion.capability[1 : criterion.capability.index(">")])
    return category_by_sample


def planted_scores(
    criteria: Sequence[PlantedCriterion],
    seed: int,
    *,
    base: float = 0.85,
    weak: Mapping[str, float] | None = None,
    spread: float = 0.0,
    shared_rate: float = 0.3,
) -> dict[str, float]:
    """Draw a model's score of each criterion: 0, 25, 50, 75 or 100.

    Args:
        criteria: the criteria to score.
        seed: seed of the model.
        base: probability that a criterion is met.
        weak: other probabilities, by capability or beginning of its path; the longest match counts.
        spread: standard deviation of the probability over capabilities; 0 makes all equally hard.
        shared_rate: probability that a criterion shares its sample's draw instead of having its own.
    """
    rng = Random(f"planted scores/{seed}")
    harder = {path: rng.gauss(0, spread) for path in made_up_capabilities()} if spread else {}
    fates: dict[str, float] = {}
    scores: dict[str, float] = {}
    for criterion in criteria:
        shared = fates.setdefault(criterion.sample, rng.random())
        fate = shared if rng.random() < shared_rate else rng.random()
        met = fate < _chance(criterion.capability, base + harder.get(criterion.capability, 0.0), weak or {})
        scores[criterion.id] = rng.choice((100.0, 100.0, 100.0, 75.0)) if met else rng.choice((0.0, 0.0, 25.0, 50.0))
    return scores


def _chance(path: str, otherwise: float, weak: Mapping[str, float]) -> float:
    matching = [prefix for prefix in weak if path.startswith(prefix)]
    if matching:
        return weak[max(matching, key=len)]
    return min(1.0, max(0.0, otherwise))


def _draw_criterion(rng: Random, capability: Capability, sample: str, at: int) -> PlantedCriterion:
    words = {
        "thing": rng.choice(_THINGS),
        "place": f"{rng.choice(_PLACES)} {sample[1:].lstrip('0') or '0'}-{at}",
        "cue": rng.choice(capability.cues),
        "value": str(rng.randrange(2, 90)),
    }
    return PlantedCriterion(
        id=f"{sample}#{at}",
        sample=sample,
        question=rng.choice(_ASK).format(**words),
        ground_truth=rng.choice(_SAY).format(**words),
        capability=capability.path,
    )


@cache
def _by_parent() -> tuple[tuple[Capability, ...], ...]:
    groups: dict[str, list[Capability]] = {}
    for path, capability in made_up_capabilities().items():
        groups.setdefault(parent_of(path), []).append(capability)
    return tuple(map(tuple, groups.values()))
