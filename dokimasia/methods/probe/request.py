"""What a probe of judges is asked, and what decides its results."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.domain.blindspots import EVALUATORS, IN_USE, PUBLISHED, Evaluator, Task, paradigm_of
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import LOOKS, GraphOptions
from dokimasia.errors import ConfigError
from dokimasia.graphs.versions import CHECKPOINT_SCORING, COGNITIVE_REPLAY, VERSIONS
from dokimasia.methods.probe.arms import Arm, arms_from
from dokimasia.runs.plans import DataPlan
from dokimasia.runs.requests import MOST_SAMPLES, Models, Option, RunRequest, run_or_file
from dokimasia.tools.registry import VERSION as TOOLS_VERSION

ALL = "all"
MOST_RETESTS = 20
GRAPHS: dict[str, tuple[str, ...]] = {
    "checkpoints": (COGNITIVE_REPLAY, CHECKPOINT_SCORING),
    "gated": ("gold_rubrics", "rubric_audit"),
    "right-or-wrong": ("deciding",),
}
"""By evaluator in use, the graphs that it asks by; all others ask by the one that probes."""

_EFFORT = re.compile(r"[a-z]{2,16}")

SamplingBy = Literal["published", "own"]
"""`published`: at temperature 0 and the highest reasoning effort where the configuration says neither; `own`: as configured."""


class ProbeRequest(RunRequest):
    """Measure which errors judges do not see in DATA: perturbed answers, from `dokimasia perturb` or a folder of them.

    Each judge is shown the answer as it was and with one error in it, or with a harmless change, under every evaluator that is
    named; what it does not mark down or prefer went undetected. The same command continues an interrupted run, or prints
    its results.
    """

    VERB: ClassVar[str] = "probe"

    data: Annotated[Path, Option(argument=True, metavar="DATA", read=run_or_file, continues="perturb")]
    judges: Models = Field(description="The judges, separated by commas.")
    task: Task | None = Field(
        default=None,
        description="What is judged: texts on images, or images made by a prompt (default: what DATA holds).",
    )
    evaluators: tuple[str, ...] = Field(
        default=(),
        description=f"Evaluators or paradigms, separated by commas: {', '.join(EVALUATORS)}; single, pairwise; all. By "
        "default the nine published; the last three are asked by the prompts of evaluate and audit, and make criteria first.",
    )
    retests: int = Field(
        default=1,
        ge=0,
        le=MOST_RETESTS,
        description="How often the unchanged answer is judged once more: the noise floor.",
    )
    reader: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="A model that says of every justification whether it names the error."
    )
    budgets: tuple[str, ...] = Field(
        default=(),
        description="Reasoning efforts, such as low,medium,high: each judge is asked under each, shown as J@low.",
    )
    new_references: Annotated[str | None, Option(models=True)] = Field(
        default=None,
        description="Judge by new references, too, which this model writes (text-to-image: makes of the gold image).",
    )
    tools: tuple[str, ...] = Field(
        default=(),
        description="Ask each judge also with tools to look closer with, crop,zoom,... or all; shown as J+tools.",
    )
    looks: int = Field(default=LOOKS, ge=1, le=100, description="With --tools: looks an ask at most.")
    sampling: SamplingBy = Field(
        default="published",
        description="published: temperature 0 and reasoning effort high for the nine, where the configuration says "
        "neither; own: as configured.",
    )
    temperature: float | None = Field(
        default=None, ge=0, le=10, description="Ask the judges at this temperature, whatever else says otherwise."
    )
    unchecked: bool = Field(
        default=False, description="Take perturbations on which nobody has decided as what they were meant to be."
    )
    limit: int | None = Field(
        default=None, ge=1, le=MOST_SAMPLES, description="Only the first N samples that have perturbations."
    )

    @property
    def makes_home(self) -> bool:
        """A file of perturbations makes the home that it needs; a run of `perturb` has one."""
        return self.data.exists()


class ProbePlan(DataPlan):
    """A probe by its content.

    `probes` is the id of what is put to the judges, which lies in the home. `judges` are the judges, each under every budget in
    turn, as the published evaluators ask them; `in_use` are the same as the evaluators in use ask them, empty where there
    are none. `writer` makes new references. `dimensions` are the ids of the dimensions by task.
    """

    probes: str
    judges: tuple[ModelSpec, ...]
    in_use: tuple[ModelSpec, ...] = ()
    evaluators: tuple[Evaluator, ...]
    retests: int = 1
    reader: ModelSpec | None = None
    budgets: tuple[str, ...] = ()
    writer: ModelSpec | None = None
    tools: tuple[str, ...] = ()
    looks: int = LOOKS
    dimensions: dict[Task, str]

    @property
    def models(self) -> dict[str, ModelSpec]:
        """Every model by its shown name; a judge that is sampled in two ways is reached in one."""
        several = (self.reader, self.writer, *self.in_use, *self.judges)
        return {spec.ref.name: spec for spec in several if spec is not None}

    @property
    def judge_name(self) -> str:
        """The judge's shown name, where there is one alone."""
        return self.judges[0].ref.name if len(self.judges) == 1 else ""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Every way in which a judge is asked: under each budget, and with tools beside without."""
        return arms_from(self.judges, self.in_use, self.budgets, tools=bool(self.tools))

    def options_of(self, arm: Arm, evaluator: Evaluator) -> GraphOptions:
        """The plan as the graphs need it where a judge is asked under an evaluator."""
        spec = arm.in_use if evaluator in IN_USE and arm.in_use is not None else arm.spec
        tools = self.tools if arm.tools else ()
        return GraphOptions(judge=spec.ref.name, models={spec.ref.name: spec}, tools=tools, looks=self.looks)


def chosen_evaluators(named: Sequence[str], tasks: Sequence[Task]) -> tuple[Evaluator, ...]:
    """Return the evaluators that are asked, in their fixed order; by default those that are published.

    Raises:
        ConfigError: one is not known, or is of text alone and there are images to judge.
    """
    if not named:
        return PUBLISHED
    texts = all(task == "image-to-text" for task in tasks)
    known = {ALL, *EVALUATORS, *map(paradigm_of, EVALUATORS)}
    for one in named:
        if one not in known:
            raise ConfigError(
                f"--evaluators: there is no evaluator {one!r}; there are {', '.join(EVALUATORS)}, the paradigms single and "
                f"pairwise, and {ALL}"
            )
    chosen: tuple[Evaluator, ...] = tuple(
        one
        for one in EVALUATORS
        if {one, paradigm_of(one)} & set(named) or (ALL in named and (texts or one in PUBLISHED))
    )
    if tasks and not texts and (wrong := [one for one in chosen if one in IN_USE]):
        raise ConfigError(
            f"--evaluators: {', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} how evaluate and audit judge texts, and "
            "here images are judged, for which there are no such criteria: leave them out (text-to-image has the nine)"
        )
    return chosen


def chosen_budgets(named: Sequence[str]) -> tuple[str, ...]:
    """Return the reasoning efforts that judges are asked under, in the order given.

    Raises:
        ConfigError: one is no word, or named twice.
    """
    for one in named:
        if not _EFFORT.fullmatch(one):
            raise ConfigError(f"--budgets: {one!r} is no reasoning effort; write words such as low,medium,high")
        if named.count(one) > 1:
            raise ConfigError(f"--budgets names {one} twice")
    return tuple(named)


def graphs_of(plan: ProbePlan) -> dict[str, int]:
    """Return the graphs of a probe with their versions, and that of its tools where it offers any."""
    names = {"probing", *(name for one in plan.evaluators for name in GRAPHS.get(one, ()))}
    return {name: VERSIONS[name] for name in sorted(names)} | ({"tools": TOOLS_VERSION} if plan.tools else {})
