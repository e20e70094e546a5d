"""One prompt of each kind that a peer review asks by, rendered for an image; what members would write is a placeholder."""

from collections.abc import Sequence

from dokimasia.agents.candidate import describe_image
from dokimasia.agents.review import review_candidates, vote_for_best
from dokimasia.domain.sample import Sample
from dokimasia.methods.review.request import ReviewPlan
from dokimasia.prompts import PromptLibrary, Rendered, render


def previews(plan: ReviewPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts as they would be put to every member of the panel, models and people alike."""
    texts = tuple(f"(description {number})" for number in range(1, len(plan.panel) + 1))
    published = plan.protocol == "published"
    asks = (
        describe_image(sample, request=plan.request),
        review_candidates(sample, texts, request=plan.request, published=published),
        vote_for_best(sample, texts, request=plan.request, published=published),
    )
    return [render(one.prompt, one.inputs, images=one.images, count=one.count, library=library) for one in asks]
