"""The checkpoint scorer: a judge that scores all criteria of one response in a single call (ATOM, section 3.3)."""

from collections.abc import Sequence

from dokimasia.agents import schemas
from dokimasia.agents.asking import Asked, ask_judge, draw
from dokimasia.agents.looking import Looking
from dokimasia.agents.solver import question_inputs
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import canonical_json
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import Sample
from dokimasia.parsing import parse_checkpoint_scores
from dokimasia.prompts import PromptLibrary


def criteria_text(criteria: CriteriaSet) -> str:
    """Return the criteria as the judge is shown them: a JSON array, an object a line, numbered from 1."""
    rows = [
        {
            "n": number,
            "question": criterion.question,
            "ground_truth": criterion.ground_truth,
            "weight": criterion.weight,
        }
        for number, criterion in enumerate(criteria.criteria, start=1)
    ]
    return "[\n" + ",\n".join(canonical_json(row).decode() for row in rows) + "\n]"


async def score_checkpoints(
    sample: Sample,
    criteria: CriteriaSet,
    response: str,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    show_image: bool = False,
    repeat: int = 0,
    attempt: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
    looking: Looking | None = None,
) -> Asked[Sequence[int]]:
    """Return the judge's scores, 1 to 5, in the order of the criteria (5: fully agrees with the ground truth).

    The judge is shown question, criteria with ground truth and the response; with `show_image` also the image, and
    with `looking` the image and tools to look closer with. A later `attempt` is a new draw for the same repeat.
    """
    show_image = show_image or looking is not None
    expected = len(criteria.criteria)
    return await ask_judge(
        "checkpoints",
        {**question_inputs(sample), "criteria": criteria_text(criteria), "response": response},
        parse=lambda text: parse_checkpoint_scores(text, expected),
        structured=schemas.checkpoint_scores(expected),
        shown=("question", "criteria", "response", *(("image",) if show_image and sample.images else ())),
        gateway=gateway,
        judge=judge,
        images=sample.images if show_image else (),
        repeat=draw(repeat, attempt),
        rejected=rejected,
        library=library,
        looking=looking,
    )
