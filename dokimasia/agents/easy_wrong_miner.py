"""The easy-wrong miner: finds what a pool of responses really gets wrong against the golden caption, and forbids it."""

from collections.abc import Sequence

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import canonical_json
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.rubric import WrittenRubric
from dokimasia.parsing.rubrics import parse_easy_wrong
from dokimasia.prompts import PromptLibrary


def responses_text(texts: Sequence[str]) -> str:
    """Return a pool as the judge is shown it: a JSON array, an object a line, numbered from 1, without names."""
    rows = [canonical_json({"response": number, "text": text}).decode() for number, text in enumerate(texts, start=1)]
    return "[\n" + ",\n".join(rows) + "\n]"


async def mine_easy_wrong(
    caption: str,
    responses: Sequence[str],
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Sequence[WrittenRubric]]:
    """Return rubrics for the errors of a pool, perhaps none; the judge is shown golden caption and responses alone."""
    return await ask_judge(
        "easy_wrong",
        {"caption": caption, "responses": responses_text(responses)},
        parse=lambda text: parse_easy_wrong(text, len(responses)),
        shown=("caption", "responses"),
        gateway=gateway,
        judge=judge,
        rejected=rejected,
        library=library,
    )
