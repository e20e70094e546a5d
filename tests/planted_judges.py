"""Passports of judges whose misses are planted, made without any model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from dokimasia.domain.blindspots import Detection, Evaluator
from dokimasia.domain.call import Sampling
from dokimasia.domain.passport import Passport, PassportData, PassportDates, PassportModel
from dokimasia.people.passports import PassportMaterial, passport_of, write_passport
from tests.methods.detections import drawn

GROUPS: Mapping[str, Sequence[str]] = {
    "VG": ("entity_substitution", "attribute_distortion"),
    "VR": ("numerical_errors", "causal_misattribution"),
}
WAYS: tuple[Evaluator, ...] = ("single-vanilla", "pairwise-vanilla", "checkpoints", "gated", "right-or-wrong")


def judge_of(name: str = "sim/judge", **changes: object) -> PassportModel:
    """Return whose passport it is: a simulated model's, as it is configured by default."""
    fields = {
        "name": name,
        "model": name,
        "endpoint": "sim",
        "version": None,
        "sampling": Sampling(),
        "simulated": True,
    }
    fields["sampling_published"] = Sampling(temperature=0, reasoning_effort="high")
    return PassportModel.model_validate(fields | changes)


def detections(
    *,
    misses: Mapping[str, float] | float = 0.3,
    alarms: float = 0.1,
    images: int = 24,
    failing: float = 0.0,
    ways: Sequence[Evaluator] = WAYS,
    bias: float = 0.0,
    seed: int = 0,
) -> list[Detection]:
    """Return what comes of two errors of each of two groups and a harmless change an image, and of a retest."""
    missed = {
        name: misses if isinstance(misses, float) else misses[group]
        for group, names in GROUPS.items()
        for name in names
    }
    return list(
        drawn(
            missed=missed,
            dimensions=tuple(missed),
            evaluators=ways,
            images=images,
            equal=1 - alarms,
            first_place=bias,
            fails=failing,
            seed=seed,
        )
    )


def planted_passport(
    found: Sequence[Detection] | None = None,
    *,
    judge: PassportModel | None = None,
    prompts: Mapping[str, str] | None = None,
    labels: Mapping[str, Mapping[str, float]] | None = None,
    seed: int = 0,
) -> Passport:
    """Return the passport that detections make."""
    found = detections() if found is None else found
    data = PassportData(
        task="image-to-text",
        hash="0" * 32,
        items=len({one.item for one in found}),
        images=len({one.cluster for one in found}),
        checked=1.0,
        runs=("0123456789abcdef",),
    )
    days = PassportDates(first="2026-01-02", last="2026-01-03")
    return passport_of(
        PassportMaterial(judge or judge_of(), prompts or {}, (data,), found, labels=labels or {}, dates=days, seed=seed)
    )


def kept_passport(path: Path, passport: Passport) -> Path:
    """Write a passport and return its file."""
    write_passport(passport, path)
    return path
