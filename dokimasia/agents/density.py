"""The roles of the density filter, which rate an image's density and domain, and their parsers.

PerceptionRubrics, section 3.2.
"""

from dokimasia.agents.asking import Ask
from dokimasia.domain.density import DOMAINS, HIGHEST, LOWEST, Density, Domain
from dokimasia.domain.sample import Sample
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.own import own
from dokimasia.parsing.reply import short
from dokimasia.parsing.tags import bare, nothing_beside, only, ratings, tagged


def rate_density(sample: Sample) -> Ask[Density]:
    """Ask a judge to rate the density of a sample's image from 1 to 10; it sees only the image."""
    return Ask("density", {}, ("image",), parse_density, images=sample.images)


def classify_domain(sample: Sample) -> Ask[Domain]:
    """Ask a judge for the domain of a sample's image; it sees only the image."""
    return Ask("domain", {}, ("image",), parse_domain, images=sample.images)


def parse_density(text: str) -> Density:
    """Return a judge's two ratings of an image.

    The form is `<visual_complexity>...<score>7</score></visual_complexity>` and the same for `<informativeness>`,
    without anything that could alter the scores.

    Returns:
        Whole numbers from 1 (little to perceive) to 10 (much).

    Raises:
        UnparsableReply: a rating is missing, repeated with different values, or not a whole number from 1 to 10. The
            reason names all faults.
    """
    return Density(**ratings(text, Density.model_fields, LOWEST, HIGHEST))


def parse_domain(text: str) -> Domain:
    """Return the domain that a judge names in the form `<domain>natural</domain>`.

    Raises:
        UnparsableReply: there is none, there are two different ones, or it is not one of the seven.
    """
    reply = own(text)
    name = bare(only(tagged(reply, "domain"), "<domain>")).casefold()
    nothing_beside(reply, "domain")
    for domain in DOMAINS:
        if domain == name:
            return domain
    raise UnparsableReply(f"<domain> says '{short(name)}', which is none of {', '.join(DOMAINS)}")
