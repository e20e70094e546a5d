"""The options for passports, shared by evaluations, audits, duels and reviews."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol

from pydantic import Field

from dokimasia.domain.blindspots import Evaluator, Task
from dokimasia.runs.requests import Models, Option

BLIND_BELOW = 0.5
"""The bound of blindness: a judge is blind to a kind of error if the whole interval of its detection rate is below."""


def passport_files(named: Sequence[str | Path]) -> tuple[Path, ...]:
    """Return the absolute paths of the files that --passport names."""
    return tuple(Path(name).absolute() for name in named)


Passports = Annotated[
    tuple[Path, ...],
    Option(flags=("--passport",), metavar="FILE", repeated=True, read=passport_files),
    Field(
        description="The passport of a judge (see: dokimasia passport), checked against this run; warns where the judge "
        "is blind. Once for each judge."
    ),
]
"""Files of passports, once for each."""

BlindBelow = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="With --passport: warn of kinds of error of which a judge surely detects less than this share.",
    ),
]
"""The bound of blindness, by default `BLIND_BELOW`."""

JudgeChoice = Annotated[
    Models,
    Field(
        description="In place of --judge: of these models, separated by commas, take the one whose --passport shows the "
        "best detection, less false alarms, for this way of judging."
    ),
]
"""The models of which a run takes the judge."""


Way = tuple[Task, Evaluator]
"""A task and an evaluator; each such pair is measured separately."""


class PassportOptions(Protocol):
    """The passport options of a request."""

    @property
    def passports(self) -> tuple[Path, ...]: ...
    @property
    def blind_below(self) -> float: ...


class JudgeUse(NamedTuple):
    """One way in which a run uses its judge.

    Attributes:
        what: the way in words.
        evaluators: the evaluators that represent it in a passport, closest first; the first that was measured counts.
        prompt: the run's prompt.
        one_order: whether pairs are judged in one order only.
        task: the task of the judged answers.
    """

    what: str
    evaluators: tuple[Evaluator, ...]
    prompt: str
    one_order: bool = False
    task: Task = "image-to-text"


PAIRWISE: tuple[Evaluator, ...] = ("pairwise-rules", "pairwise-axes-rules", "pairwise-vanilla", "pairwise-axes")
"""The evaluators that represent comparisons by criteria, closest first."""

EVALUATION_USES = (
    JudgeUse("scoring by checkpoints", ("checkpoints",), "checkpoints"),
    JudgeUse("deciding whether an answer is right", ("right-or-wrong",), "equivalence"),
)
"""How an evaluation uses its judge: for scores and, if there are reference answers, for what is right."""
