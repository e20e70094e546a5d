"""The mapper: a judge that assigns each criterion to exactly one path of a fixed list, or to none (ATOM, section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.agents.tree_texts import criteria_lines
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.growth import TreeCriterion
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.proposals import parse_mapping, said_to_fit_nowhere
from dokimasia.prompts import PromptLibrary

PROMPT = "tree_map"


@dataclass(frozen=True, slots=True)
class Mapped:
    """The path of each criterion, in order, None for none; `none` are the numbers (from 1) said to fit nowhere.

    A criterion that is neither placed nor among `none` had no line that could be used; `problems` say why.
    """

    paths: tuple[str | None, ...]
    none: frozenset[int]
    problems: tuple[str, ...] = ()


async def map_criteria(
    criteria: Sequence[TreeCriterion],
    *,
    paths: Sequence[str],
    gateway: Gateway,
    judge: ModelSpec,
    repeat: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Mapped]:
    """Return the path under which the judge places each criterion.

    Args:
        criteria: at least one.
        paths: the fixed list: leaves, or in a big tree first categories or parents, one of which is then descended into.
        gateway: the way to the model.
        judge: the judge and how it is sampled.
        repeat: which independent draw.
        rejected: the earlier reply to send back; what answers it is read leniently.
        library: prompts that replace the package's own.
    """
    return await ask_judge(
        PROMPT,
        {"paths": "\n".join(paths), "criteria": criteria_lines(criteria)},
        parse=lambda text: _read(text, len(criteria), paths, strict=rejected is None),
        shown=("paths", "criteria"),
        gateway=gateway,
        judge=judge,
        repeat=repeat,
        rejected=rejected,
        library=library,
    )


def _read(text: str, expected: int, paths: Sequence[str], *, strict: bool) -> Mapped:
    problems: tuple[str, ...] = ()
    try:
        found = parse_mapping(text, expected, paths)
    except UnparsableReply as problem:
        if strict:
            raise
        problems = tuple(problem.reason.split("; "))
        found = parse_mapping(text, expected, paths, strict=False)
    none = said_to_fit_nowhere(text, expected) if None in found else frozenset[int]()
    return Mapped(found, none, problems)
