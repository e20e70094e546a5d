"""The role of a rater of criteria: whether a criterion is accurate, and whether it is necessary (ATOM, appendix C)."""

from dokimasia.agents.asking import Ask
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.criterion import Criterion
from dokimasia.domain.quality import Quality
from dokimasia.domain.sample import Sample
from dokimasia.parsing.quality import parse_quality


def rate_criterion(sample: Sample, criterion: Criterion) -> Ask[Quality]:
    """A rater rates one criterion; it sees image and question, the criterion and its ground truth, and no reference answer."""
    return Ask(
        "criterion_quality",
        {**question_inputs(sample), "criterion": criterion.question, "ground_truth": criterion.ground_truth},
        (*(("image",) if sample.images else ()), "question", "criterion", "ground_truth"),
        parse_quality,
        images=sample.images,
    )
