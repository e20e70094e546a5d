"""The reviewer: compares candidates with the image, ranks them and writes a better one (PerceptionRubrics, 3.3.1)."""

from collections.abc import Sequence

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import canonical_json
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.review import DESCRIBE_REQUEST, Comparison
from dokimasia.domain.sample import Sample
from dokimasia.parsing import parse_peer_review
from dokimasia.prompts import PromptLibrary


def candidates_text(texts: Sequence[str]) -> str:
    """Return candidates as a reviewer is shown them: a JSON array, an object a line, numbered from 1, without names.

    Inside a JSON string no candidate can pass for the beginning of another one.
    """
    rows = [canonical_json({"candidate": number, "text": text}).decode() for number, text in enumerate(texts, start=1)]
    return "[\n" + ",\n".join(rows) + "\n]"


def review_inputs(texts: Sequence[str], request: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the inputs of a prompt on candidates, and what is shown: a request other than the ordinary one, too."""
    inputs, shown = {"candidates": candidates_text(texts)}, ("image", "candidates")
    if request == DESCRIBE_REQUEST:
        return inputs, shown
    return {**inputs, "request": request}, (*shown, "request")


async def review_candidates(
    sample: Sample,
    texts: Sequence[str],
    *,
    gateway: Gateway,
    reviewer: ModelSpec,
    request: str = DESCRIBE_REQUEST,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Comparison]:
    """Return a reviewer's critiques, ranking and rewrite of candidates, which it is shown in this order beside the image."""
    inputs, shown = review_inputs(texts, request)
    return await ask_judge(
        "peer_review",
        inputs,
        parse=lambda text: parse_peer_review(text, len(texts)),
        shown=shown,
        gateway=gateway,
        judge=reviewer,
        images=sample.images,
        rejected=rejected,
        library=library,
    )
