"""The solver: a judge that replays the reasoning to a question as a textbook would (ATOM, section 3.1)."""

from dokimasia.agents import schemas
from dokimasia.agents.asking import Asked, ask_judge, draw
from dokimasia.agents.looking import Looking
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import ReferenceChain
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import Sample
from dokimasia.parsing import parse_chain, parse_equivalence
from dokimasia.prompts import PromptLibrary, choices_text


def question_inputs(sample: Sample) -> dict[str, str]:
    """Return the inputs that every prompt about a sample shares: the question and, where there are any, its options."""
    inputs = {"question": sample.prompt}
    if sample.choices:
        inputs["choices"] = choices_text(sample.choices)
    return inputs


async def write_chain(
    sample: Sample,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    attempt: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
    looking: Looking | None = None,
) -> Asked[ReferenceChain]:
    """Return the judge's reference chain for a sample; it sees image, question and the reference answer if there is one.

    A later `attempt` is a new draw. With `looking` it is offered tools to look closer with.
    """
    inputs = question_inputs(sample)
    shown = ["image", "question"] if sample.images else ["question"]
    if sample.reference_answer is not None:
        inputs["reference_answer"] = sample.reference_answer
        shown.append("reference_answer")
    return await ask_judge(
        "solver",
        inputs,
        parse=parse_chain,
        shown=shown,
        gateway=gateway,
        judge=judge,
        images=sample.images,
        repeat=draw(0, attempt),
        rejected=rejected,
        library=library,
        looking=looking,
    )


async def judge_equivalence(
    sample: Sample,
    answer: str,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    attempt: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[bool]:
    """Return whether the judge holds an answer to say the same as the sample's reference answer.

    A later `attempt` is a new draw.

    Raises:
        ValueError: if the sample has no reference answer.
    """
    if sample.reference_answer is None:
        raise ValueError(f"sample {sample.id} has no reference answer to compare with")
    return await ask_judge(
        "equivalence",
        {**question_inputs(sample), "answer": answer, "reference_answer": sample.reference_answer},
        parse=parse_equivalence,
        structured=schemas.equivalence(),
        shown=("question", "answer", "reference_answer"),
        gateway=gateway,
        judge=judge,
        repeat=draw(0, attempt),
        rejected=rejected,
        library=library,
    )
