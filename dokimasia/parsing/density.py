"""Ratings of an image's density, and its domain, from the tags that a judge wrote them in (PerceptionRubrics, C.1)."""

from dokimasia.domain.density import DOMAINS, HIGHEST, LOWEST, Density, Domain
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.own import own
from dokimasia.parsing.reply import short, tried
from dokimasia.parsing.tags import bare, nothing_beside, only, rating, tagged


def parse_density(text: str) -> Density:
    """Return a judge's two ratings of an image.

    The form is `<visual_complexity>...<score>7</score></visual_complexity>` and the same for `<informativeness>`; nothing
    that could change them stands beside them.

    Returns:
        Whole numbers from 1 (little to perceive) to 10 (much).

    Raises:
        UnparsableReply: a rating is missing, stands more than once with different values, or is no whole number from 1
            to 10. The reason names all that is wrong.
    """
    reply = own(text)
    faults: list[str] = []
    complexity = tried(faults, rating, reply, "visual_complexity", LOWEST, HIGHEST)
    informativeness = tried(faults, rating, reply, "informativeness", LOWEST, HIGHEST)
    if complexity is None or informativeness is None:
        raise UnparsableReply("; ".join(faults))
    nothing_beside(reply, "visual_complexity", "informativeness")
    return Density(visual_complexity=complexity, informativeness=informativeness)


def parse_domain(text: str) -> Domain:
    """Return the domain that a judge names in the form `<domain>natural</domain>`.

    Raises:
        UnparsableReply: there is none, there are two different ones, or it is none of the seven.
    """
    said = own(text)
    stated = bare(only(tagged(said, "domain"), "<domain>")).casefold()
    nothing_beside(said, "domain")
    named: dict[str, Domain] = {domain: domain for domain in DOMAINS}
    if stated in named:
        return named[stated]
    raise UnparsableReply(f"<domain> says '{short(stated)}', which is none of {', '.join(DOMAINS)}")
