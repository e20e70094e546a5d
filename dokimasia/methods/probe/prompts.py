"""The prompts that a probe asks by: those of the evaluators that are named, and of what their judgements rest on."""

from collections.abc import Iterator, Sequence

from dokimasia.agents.blindspots import prompt_of
from dokimasia.domain.blindspots import PUBLISHED, Evaluator, Task
from dokimasia.domain.density import DOMAINS

IN_USE: dict[str, tuple[str, ...]] = {
    "checkpoints": ("solver", "equivalence", "criteria", "criteria_check", "checkpoints"),
    "gated": (*(f"must_right_{domain}" for domain in DOMAINS), "domain", "rubric_repair", "rubric_assessment"),
    "right-or-wrong": ("equivalence",),
}
"""By evaluator, the prompts of `evaluate` and `audit` that it asks by."""


def prompts_of(
    evaluators: Sequence[Evaluator],
    tasks: Sequence[Task],
    *,
    structured: bool,
    tools: bool,
    reader: bool,
    new_references: bool,
) -> set[str]:
    """Return the names of the prompts that a probe asks by."""
    found = {"repair", *(prompt for one in evaluators for prompt in _of(one, tasks))}
    found |= {"structured"} if structured else set()
    found |= {"looking"} if tools else set()
    found |= {"justification"} if reader else set()
    return found | ({"new_reference"} if new_references and "image-to-text" in tasks else set())


def _of(evaluator: Evaluator, tasks: Sequence[Task]) -> Iterator[str]:
    if evaluator in PUBLISHED:
        yield from (prompt_of(evaluator, task) for task in tasks)
    else:
        yield from IN_USE[evaluator]
