"""The steps of an evaluation, which are the nodes of its graphs: what each does, whom it asks, and what it needs."""

from collections.abc import Collection
from typing import Literal, NamedTuple

from dokimasia.errors import InputError


class GraphStep(NamedTuple):
    """One node: its name, what it does, whom it asks (nobody: a rule), and which steps it needs.

    `prompts` are those that it alone asks by; others, such as `repair`, serve every step that asks a judge.
    """

    name: str
    does: str
    asks: Literal["judge", "candidate", "nobody"]
    prompts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


STEPS: tuple[GraphStep, ...] = (
    GraphStep("write_chain", "the judge writes the reference chain of a sample", "judge", ("solver",)),
    GraphStep("check_chain", "a rule checks the chain's answer against the reference", "nobody", (), ("write_chain",)),
    GraphStep(
        "judge_chain",
        "the judge says whether they agree where no rule can",
        "judge",
        ("equivalence",),
        ("check_chain",),
    ),
    GraphStep(
        "extract_criteria",
        "the judge draws atomic criteria from the chain",
        "judge",
        ("criteria", "criteria_published"),
        ("judge_chain",),
    ),
    GraphStep(
        "judge_criteria",
        "the judge takes a second look at the criteria",
        "judge",
        ("criteria_check",),
        ("extract_criteria",),
    ),
    GraphStep("answer", "the candidates answer", "candidate", ("candidate", "candidate_plain")),
    GraphStep(
        "score",
        "the judge scores each answer, criterion by criterion",
        "judge",
        ("checkpoints", "checkpoints_published"),
        ("judge_criteria", "answer"),
    ),
)
"""In the order in which they come."""

NAMES = tuple(step.name for step in STEPS)
JUDGED = tuple(step.name for step in STEPS if step.asks == "judge")
REPLAYED = tuple(step.name for step in STEPS[: NAMES.index("answer")])
"""The steps that bring a sample's criteria."""


def from_step(name: str | None) -> tuple[GraphStep, ...]:
    """Return the step of that name and those that come after it.

    Raises:
        InputError: there is none; the message lists all with what they do.
    """
    if name not in NAMES:
        width = max(map(len, NAMES))
        listed = "\n".join(f"  {step.name:<{width}}  {step.does}" for step in STEPS)
        said = "name the step to begin at with --from" if name is None else f"an evaluation has no step {name!r}"
        raise InputError(f"{said}; its steps are, in order:\n{listed}")
    return STEPS[NAMES.index(name) :]


def before_step(name: str) -> tuple[GraphStep, ...]:
    """Return the steps that come before the named one."""
    return STEPS[: NAMES.index(name)]


def redone(changed: Collection[str]) -> frozenset[str]:
    """Return the steps that have to be done again when some have changed: those, and all that need one of them."""
    again: set[str] = set()
    for step in STEPS:
        if step.name in changed or any(need in again for need in step.needs):
            again.add(step.name)
    return frozenset(again)
