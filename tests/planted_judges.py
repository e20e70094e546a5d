"""Judges whose misses are planted: detections as probes of them would leave, without any model."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from dokimasia.domain.blindspots import NEUTRAL, Detection, Evaluator, Task, paradigm_of
from dokimasia.domain.call import Sampling
from dokimasia.domain.passport import Passport, PassportData, PassportDates, PassportModel
from dokimasia.methods.passports.measuring import Material, passport_of

GROUPS: Mapping[str, Sequence[str]] = {
    "VG": ("entity_substitution", "attribute_distortion"),
    "VR": ("numerical_errors", "causal_misattribution"),
}
WAYS: tuple[Evaluator, ...] = ("single-vanilla", "pairwise-vanilla", "checkpoints", "gated", "right-or-wrong")
JUDGE = PassportModel(
    name="judge",
    model="sim/judge",
    endpoint="sim",
    version=None,
    sampling=Sampling(),
    simulated=True,
)


def detections(
    *,
    images: int = 24,
    misses: Mapping[str, float] | float = 0.3,
    alarms: float = 0.1,
    failing: float = 0.0,
    ways: Sequence[Evaluator] = WAYS,
    task: Task = "image-to-text",
    bias: float = 0.0,
    seed: int = 0,
) -> Iterator[Detection]:
    """Yield what comes of an error of each dimension and a harmless change an image, and of a retest."""
    rng = Random(seed)
    for way in ways:
        for image in range(images):
            kinds = [(name, group) for group, names in GROUPS.items() for name in names] + [(NEUTRAL, ""), ("", "")]
            for name, group in kinds:
                case = "error" if group else "neutral" if name else "retest"
                rate = misses if isinstance(misses, float) else misses.get(group, 0.3)
                missed, alarm = float(rng.random() < rate), float(rng.random() < alarms)
                failed = rng.random() < failing
                orders = None
                if paradigm_of(way) == "pairwise":
                    settled = -1 if missed else 1
                    orders = (1, -1) if rng.random() < bias else (settled, settled)
                    missed = sum(one != 1 for one in orders) / 2
                yield Detection(
                    judge="judge",
                    task=task,
                    evaluator=way,
                    case=case,
                    dimension=name,
                    group=group,
                    cluster=f"image-{image}",
                    item=f"{image}-{name or 'again'}",
                    undetected=missed if group and not failed else None,
                    strict=missed if group and not failed else None,
                    equal=None if group or failed else 1 - alarm,
                    worse=0.0 if not failed else None,
                    failure="refused" if failed else "",
                    orders=None if failed else orders,
                )


def planted_passport(
    found: Sequence[Detection] | None = None,
    *,
    judge: PassportModel = JUDGE,
    prompts: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Passport:
    """Return the passport of a planted judge."""
    found = list(detections() if found is None else found)
    items = {one.item for one in found}
    images = {one.cluster for one in found}
    data = PassportData(
        task="image-to-text",
        hash="0" * 32,
        items=len(items),
        images=len(images),
        checked=1.0,
        runs=("0123456789abcdef",),
    )
    days = PassportDates(first="2026-01-02", last="2026-01-03")
    return passport_of(Material(judge, prompts or {}, (data,), found, dates=days, seed=seed))
