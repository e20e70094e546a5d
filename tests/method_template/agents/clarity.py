"""How clearly a question is put: the rating, the role of a rater, and how its reply is read."""

from pydantic import Field

from dokimasia.agents.asking import Ask
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.sample import Sample
from dokimasia.parsing import ratings

LOWEST, HIGHEST = 1, 5


class ClarityRating(Value):
    """How clearly a sample's question is put, from 1 to 5; `sample` is the sample's digest."""

    sample: str
    clarity: int = Field(ge=LOWEST, le=HIGHEST)
    provenance: Provenance


def rate_clarity(sample: Sample) -> Ask[int]:
    """A judge rates how clearly a question is put; it is shown the images and the question."""
    shown = ("image", "question") if sample.images else ("question",)
    return Ask("clarity", {"question": sample.prompt}, shown, parse_clarity, images=sample.images)


def parse_clarity(text: str) -> int:
    """Return the rating in a reply of the form `<clarity><score>4</score></clarity>`.

    Raises:
        UnparsableReply: there is no rating, there are two different ones, or it is no whole number from 1 to 5.
    """
    return ratings(text, ["clarity"], LOWEST, HIGHEST)["clarity"]
