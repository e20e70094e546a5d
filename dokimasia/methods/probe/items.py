"""What is put to the judges, as a run keeps it: perturbations with what they count as, in the order of their samples."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dokimasia.domain.blindspots import NEUTRAL, ErrorDimension, Perturbed, Probe
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values


class KeptProbe(NamedTuple):
    """A probe without its texts: `perturbed` is the id of the perturbation, the rest is as in `Probe`."""

    id: str
    perturbed: str
    neutral: bool
    checked: bool
    cluster: str


class KeptProbes(Value):
    """All probes of a run, in order."""

    probes: tuple[KeptProbe, ...]


def kept(probes: Iterable[Probe]) -> KeptProbes:
    """Return probes as they are kept beside the perturbations that they name."""
    return KeptProbes(
        probes=tuple(KeptProbe(one.id, value_id(one.item), one.neutral, one.checked, one.cluster) for one in probes)
    )


def probes_kept(home: Home, plan: ProbePlan) -> list[Probe]:
    """Return the probes of a run, in order."""
    index = find_values(home, KeptProbes, [plan.probes])[plan.probes].probes
    items = find_values(home, Perturbed, {one.perturbed for one in index})
    return [Probe(one.id, items[one.perturbed], one.neutral, one.checked, one.cluster) for one in index]


def dimension_of(probe: Probe) -> ErrorDimension:
    """Return the dimension that a probe counts as: what people found to be harmless is a harmless change."""
    return error_dimensions(probe.item.task)[NEUTRAL if probe.neutral else probe.item.dimension]


class Gold(NamedTuple):
    """A gold answer and the probes that it is the unchanged answer of; `key` tells it from others to the same sample."""

    key: str
    item: Perturbed
    probes: tuple[Probe, ...]


def golds_of(probes: Sequence[Probe]) -> Iterator[Gold]:
    """Yield the gold answers among the probes of one sample, each once, with what was made of it."""
    several: dict[str, list[Probe]] = {}
    for one in probes:
        several.setdefault(gold_key(one.item), []).append(one)
    for key, own in several.items():
        yield Gold(key, own[0].item, tuple(own))


def gold_key(item: Perturbed) -> str:
    """Return what tells a gold answer from any other."""
    return digest("gold", item.gold or (item.gold_image.sha256 if item.gold_image else ""))[:12]


def by_sample(probes: Iterable[Probe]) -> dict[str, list[Probe]]:
    """Return probes by the name of their sample, in order."""
    found: dict[str, list[Probe]] = {}
    for one in probes:
        found.setdefault(one.item.sample_id, []).append(one)
    return found
