"""Quality of criteria: the ratings, the role of a rater, and the parser of its reply (ATOM, appendix C)."""

from pydantic import Field

from dokimasia.agents.answers import image_if
from dokimasia.agents.asking import Ask
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.criterion import Criterion
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.sample import Sample
from dokimasia.parsing.tags import ratings

LOWEST, HIGHEST = 1, 3


class Quality(Value):
    """A rater's two ratings of a criterion: whether its ground truth is right, and whether the answer rests on it."""

    accuracy: int = Field(ge=LOWEST, le=HIGHEST)
    necessity: int = Field(ge=LOWEST, le=HIGHEST)


class DrawnCriterion(Value):
    """A criterion that is rated: its sample's name, its set's id, its number from 1 in the set, and the group it was drawn in."""

    sample: str
    criteria: str
    number: int = Field(ge=1)
    group: str = ""


class DrawnCriteria(Value):
    """The criteria that are rated, in order, and how many each group has altogether."""

    criteria: tuple[DrawnCriterion, ...]
    of: dict[str, int]


class CriterionRating(Value):
    """What a rater said of one criterion of a set, by its number from 1; `sample` is the sample's digest."""

    sample: str
    criteria: str
    number: int = Field(ge=1)
    quality: Quality
    provenance: Provenance


def rate_criterion(sample: Sample, criterion: Criterion) -> Ask[Quality]:
    """Ask a rater to rate a criterion; it sees image, question, criterion and ground truth, but no reference answer."""
    return Ask(
        "criterion_quality",
        {**question_inputs(sample), "criterion": criterion.question, "ground_truth": criterion.ground_truth},
        (*image_if(sample.images), "question", "criterion", "ground_truth"),
        parse_quality,
        images=sample.images,
    )


def parse_quality(text: str) -> Quality:
    """Return a rater's two ratings of a criterion.

    The form is `<accuracy>...<score>3</score></accuracy>` and the same for `<necessity>`, without anything that could
    alter the scores.

    Raises:
        UnparsableReply: a rating is missing, repeated with different values, or not a whole number from 1 to 3. The
            reason names all faults.
    """
    return Quality(**ratings(text, Quality.model_fields, LOWEST, HIGHEST))
