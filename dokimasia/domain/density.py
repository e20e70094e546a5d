"""The perceptual density of an image, and its domain among the seven (PerceptionRubrics, 3.2)."""

from typing import Literal, get_args

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import Sample

Domain = Literal["natural", "document", "interface", "data", "stem", "logic", "creative"]
"""The seven domains, by short names."""

DOMAINS: tuple[Domain, ...] = get_args(Domain)

DOMAIN_TITLES: dict[Domain, str] = {
    "natural": "natural scenes",
    "document": "document and OCR",
    "interface": "digital UI and UX",
    "data": "structured data",
    "stem": "STEM and expert",
    "logic": "logic and puzzle",
    "creative": "creative and cultural",
}

_BY_NAME: dict[str, Domain] = {
    label.casefold(): name for name, title in DOMAIN_TITLES.items() for label in (name, title)
}

LOWEST, HIGHEST = 1, 10


class Density(Value):
    """A judge's two ratings of an image, 1 to 10: how much there is to see, and how much there is to tell."""

    visual_complexity: int = Field(ge=LOWEST, le=HIGHEST)
    informativeness: int = Field(ge=LOWEST, le=HIGHEST)


class Threshold(Value):
    """The minimum of both ratings that keeps an image of a domain, inclusive. The default keeps all."""

    visual_complexity: float = Field(default=LOWEST, ge=0, le=HIGHEST + 1)
    informativeness: float = Field(default=LOWEST, ge=0, le=HIGHEST + 1)

    def met_by(self, density: Density) -> bool:
        """Return whether both ratings reach the threshold."""
        return density.visual_complexity >= self.visual_complexity and density.informativeness >= self.informativeness


class DensityRating(Value):
    """What the filter found of one sample: its domain (given in the data, or said by the judge), ratings and verdict.

    `sample` is the sample's digest. `domain_provenance` is None where the domain was given.
    """

    sample: str
    domain: Domain
    density: Density
    threshold: Threshold
    kept: bool
    provenance: Provenance
    domain_provenance: Provenance | None = None


def domain_of(sample: Sample) -> Domain | None:
    """Return the domain of a sample according to the data, from the field `domain` or its category; None without one.

    Short names and the titles of `DOMAIN_TITLES` are accepted, in any case.
    """
    return domain_named(sample.meta.get("domain"), sample.category)


def domain_named(*names: object) -> Domain | None:
    """Return the domain of the first name that is one; None if none is."""
    for stated in names:
        if isinstance(stated, str):
            name = " ".join(stated.split()).casefold()
            if name in _BY_NAME:
                return _BY_NAME[name]
    return None


class FilterOptions(GraphOptions):
    """Options of the density filter: the threshold of each domain; a domain without one keeps all images."""

    thresholds: dict[Domain, Threshold] = Field(default_factory=dict)
