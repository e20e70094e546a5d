"""The rubric judge: says in one call of each rubric of both groups whether a response keeps it (PerceptionRubrics, 3.4)."""

from dokimasia.agents.asking import Asked, ask_judge, draw
from dokimasia.agents.rubric_writer import rubrics_text
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.rubric import RubricAssessment, RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.parsing import parse_rubric_assessment
from dokimasia.prompts import PromptLibrary


async def assess_response(
    sample: Sample,
    rubrics: RubricSet,
    response: str,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    show_image: bool = False,
    repeat: int = 0,
    attempt: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[RubricAssessment]:
    """Return what the judge says of a response: must-right rubrics are group A, easy-wrong group B, in order.

    It is shown the response and the rubrics, and with `show_image` the image, never the golden caption.
    """
    groups = rubrics.must_right, rubrics.easy_wrong
    return await ask_judge(
        "rubric_assessment",
        {"group_a": rubrics_text(groups[0]), "group_b": rubrics_text(groups[1]), "response": response},
        parse=lambda text: parse_rubric_assessment(text, len(groups[0]), len(groups[1])),
        shown=("rubrics", "response", *(("image",) if show_image and sample.images else ())),
        gateway=gateway,
        judge=judge,
        images=sample.images if show_image else (),
        repeat=draw(repeat, attempt),
        rejected=rejected,
        library=library,
    )
