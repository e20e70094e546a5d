"""The complexity judge: how much an image holds to be perceived, and which domain it belongs to (PerceptionRubrics, 3.2)."""

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.density import Density, Domain
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import Sample
from dokimasia.parsing import parse_density, parse_domain
from dokimasia.prompts import PromptLibrary


async def rate_density(
    sample: Sample,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Density]:
    """Return the judge's ratings of a sample's image, 1 to 10; it is shown the image alone."""
    return await ask_judge(
        "density",
        {},
        parse=parse_density,
        shown=("image",),
        gateway=gateway,
        judge=judge,
        images=sample.images,
        rejected=rejected,
        library=library,
    )


async def classify_domain(
    sample: Sample,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Domain]:
    """Return the domain that the judge finds a sample's image to belong to; it is shown the image alone."""
    return await ask_judge(
        "domain",
        {},
        parse=parse_domain,
        shown=("image",),
        gateway=gateway,
        judge=judge,
        images=sample.images,
        rejected=rejected,
        library=library,
    )
