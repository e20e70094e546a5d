"""The leak judge: an optional second look at a feedback or hint before it is sent; the rules look first."""

from collections.abc import Sequence

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import Sample
from dokimasia.parsing.hints import parse_leak
from dokimasia.prompts import PromptLibrary


async def judge_leak(
    sample: Sample,
    text: str,
    secrets: Sequence[str],
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[bool]:
    """Return whether the judge finds that a text gives away any of the secrets in this question.

    It is shown question, secrets (ground truths and the final answer) and the text; no image.
    """
    return await ask_judge(
        "leak_check",
        {**question_inputs(sample), "secrets": "\n".join(f"- {secret}" for secret in secrets), "text": text},
        parse=parse_leak,
        shown=("question", "secrets", "text"),
        gateway=gateway,
        judge=judge,
        rejected=rejected,
        library=library,
    )
