"""The rubric checker: a member of the panel who says of each rubric whether it is true, atomic and decidable."""

from collections.abc import Sequence

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.agents.rubric_writer import rubrics_text
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.rubric import CheckedRubric, Rubric
from dokimasia.parsing.rubrics import parse_cross_check
from dokimasia.prompts import PromptLibrary


async def cross_check(
    rubrics: Sequence[Rubric],
    caption: str,
    *,
    gateway: Gateway,
    member: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Sequence[CheckedRubric]]:
    """Return the member's answers on each rubric, in order; it is shown the golden caption and the rubrics alone."""
    return await ask_judge(
        "rubric_cross_check",
        {"caption": caption, "rubrics": rubrics_text(rubrics)},
        parse=lambda text: parse_cross_check(text, len(rubrics)),
        shown=("caption", "rubrics"),
        gateway=gateway,
        judge=member,
        rejected=rejected,
        library=library,
    )
