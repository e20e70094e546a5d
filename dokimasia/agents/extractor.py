"""The criteria extractor: a judge that turns a reference chain into atomic criteria (ATOM, section 3.1, equation 1)."""

from collections.abc import Sequence

from dokimasia.agents import schemas
from dokimasia.agents.asking import Asked, ask_judge, draw
from dokimasia.agents.solver import question_inputs
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import Criterion, ReferenceChain
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import Sample
from dokimasia.parsing import parse_criteria
from dokimasia.prompts import PromptLibrary


def chain_text(chain: ReferenceChain) -> str:
    """Return a chain as a judge is shown it: its reasoning, then its final answer on a line of its own."""
    return f"{chain.reasoning}\n\nFinal answer: {chain.answer}"


async def extract_criteria(
    sample: Sample,
    chain: ReferenceChain,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    attempt: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Sequence[Criterion]]:
    """Return the judge's criteria as it wrote them; whether they keep the rules is for the caller to check.

    It sees image, question and the chain, not the reference answer. A later `attempt` is a new draw.
    """
    return await ask_judge(
        "criteria",
        {**question_inputs(sample), "chain": chain_text(chain)},
        parse=lambda text: parse_criteria(text, image_count=len(sample.images)),
        structured=schemas.criteria(len(sample.images)),
        shown=("image", "question", "chain") if sample.images else ("question", "chain"),
        gateway=gateway,
        judge=judge,
        images=sample.images,
        repeat=draw(0, attempt),
        rejected=rejected,
        library=library,
    )
