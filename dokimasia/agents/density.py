"""The roles of the density filter: how much an image holds to be perceived, and its domain (PerceptionRubrics, 3.2)."""

from dokimasia.agents.asking import Ask
from dokimasia.domain.density import Density, Domain
from dokimasia.domain.sample import Sample
from dokimasia.parsing.density import parse_density, parse_domain


def rate_density(sample: Sample) -> Ask[Density]:
    """A judge rates a sample's image, 1 to 10; it is shown the image alone."""
    return Ask("density", {}, ("image",), parse_density, images=sample.images)


def classify_domain(sample: Sample) -> Ask[Domain]:
    """A judge says which domain a sample's image belongs to; it is shown the image alone."""
    return Ask("domain", {}, ("image",), parse_domain, images=sample.images)
