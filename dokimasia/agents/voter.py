"""The voter: names the best of several descriptions of an image (PerceptionRubrics, 3.3.1 and C.3)."""

from collections.abc import Sequence

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.agents.reviewer import review_inputs
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.review import DESCRIBE_REQUEST, Ballot
from dokimasia.domain.sample import Sample
from dokimasia.parsing import parse_ballot
from dokimasia.prompts import PromptLibrary


async def vote_for_best(
    sample: Sample,
    texts: Sequence[str],
    *,
    gateway: Gateway,
    voter: ModelSpec,
    request: str = DESCRIBE_REQUEST,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Ballot]:
    """Return a voter's critiques of candidates and its vote, which it is shown in this order beside the image."""
    inputs, shown = review_inputs(texts, request)
    return await ask_judge(
        "peer_vote",
        inputs,
        parse=lambda text: parse_ballot(text, len(texts)),
        shown=shown,
        gateway=gateway,
        judge=voter,
        images=sample.images,
        rejected=rejected,
        library=library,
    )
