"""The hinter: a peer that solved an atom points the way to it without giving it away (ATOM, section 3.5, strategy 2)."""

from collections.abc import Sequence

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.refinement import FoundLeak
from dokimasia.domain.sample import Sample
from dokimasia.parsing.hints import parse_hint
from dokimasia.prompts import PromptLibrary

OWN_ANSWER_LIMIT = 20_000
"""Characters of a peer's own answer that it is shown again."""


async def give_hint(
    sample: Sample,
    point: str,
    own_answer: str,
    *,
    gateway: Gateway,
    peer: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[str]:
    """Return a peer's hint on one atom.

    It is shown image, question, the atom's question (`point`) and its own answer; never a ground truth or the
    reference answer, and not the answer of the model that the hint is for.
    """
    return await ask_judge(
        "peer_hint",
        {**question_inputs(sample), "point": point, "own_answer": own_answer[:OWN_ANSWER_LIMIT]},
        parse=parse_hint,
        shown=_shown(sample),
        gateway=gateway,
        judge=peer,
        images=sample.images,
        rejected=rejected,
        library=library,
    )


async def rewrite_hint(
    sample: Sample,
    point: str,
    own_answer: str,
    hint: str,
    leaks: Sequence[FoundLeak],
    *,
    gateway: Gateway,
    peer: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[str]:
    """Return the second wording of a hint that gives something away; the peer is shown which passages of its hint do."""
    inputs = {
        **question_inputs(sample),
        "point": point,
        "own_answer": own_answer[:OWN_ANSWER_LIMIT],
        "hint": hint,
        "given_away": "\n".join(f"- {leak.excerpt or 'the hint as a whole'}" for leak in leaks),
    }
    return await ask_judge(
        "hint_rewrite",
        inputs,
        parse=parse_hint,
        shown=(*_shown(sample), "hint", "given_away"),
        gateway=gateway,
        judge=peer,
        images=sample.images,
        rejected=rejected,
        library=library,
    )


def _shown(sample: Sample) -> tuple[str, ...]:
    return (*(("image",) if sample.images else ()), "question", "point", "own_answer")
