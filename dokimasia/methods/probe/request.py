"""The request and the plan of a probe, and its arms: the settings under which each judge is asked."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from dokimasia.domain.blindspots import EVALUATORS, IN_USE, PUBLISHED, Evaluator, Task, paradigm_of
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import LOOKS, GraphOptions
from dokimasia.domain.wording import is_or_are
from dokimasia.errors import ConfigError
from dokimasia.graphs.versions import CHECKPOINT_SCORING, COGNITIVE_REPLAY, VERSIONS
from dokimasia.runs.plans import WAY, DataPlan
from dokimasia.runs.requests import MOST_SAMPLES, SUBSAMPLE_HELP, Models, Option, RunRequest, Subsample, run_or_file
from dokimasia.tools.registry import VERSION as TOOLS_VERSION

ALL = "all"
MOST_RETESTS = 20
GRAPHS: dict[str, tuple[str, ...]] = {
    "checkpoints": (COGNITIVE_REPLAY, CHECKPOINT_SCORING),
    "gated": ("gold_rubrics", "rubric_audit"),
    "right-or-wrong": ("deciding",),
}
"""The graphs of evaluators that use a graph of their own; all others use the probe's."""

BLIND_TO_IMAGES: tuple[Evaluator, ...] = ("gated", "right-or-wrong")
"""Evaluators that do not show the image, so that tools have nothing to inspect."""

TOOLS, TOOLS_MARK = "tools", "+tools"
HIGHEST_EFFORT = "high"
"""The judges' default reasoning effort."""

_EFFORT = re.compile(r"[a-z]{2,16}")

SamplingBy = Literal["published", "own"]
"""`published`: temperature 0 and the highest reasoning effort unless configured; `own`: as configured."""


class ProbeRequest(RunRequest):
    """Measure which errors judges miss in DATA: perturbed answers, from `dokimasia perturb` or a folder of them.

    Each judge is shown the original answer and the answer with one error, or with a harmless change, under every named
    evaluator; an error is undetected if the judge neither marks it down nor prefers the original. The same command
    continues an interrupted run, or prints its results.
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
    looks: int = Field(default=LOOKS, ge=1, le=100, description="With --tools: maximum looks per request.")
    sampling: SamplingBy = Field(
        default="published",
        description="published: temperature 0 and reasoning effort high for the nine, where the configuration says "
        "neither; own: as configured.",
    )
    padded: bool = Field(
        default=False,
        description="Judge each right answer and one of its errors once more behind sentences that say nothing: the length "
        "bias of judges of texts.",
    )
    unchecked: bool = Field(
        default=False, description="Take perturbations on which nobody has decided as what they were meant to be."
    )
    for_verdict: Annotated[bool, Option(hidden=True)] = Field(
        default=False, description="Refuse perturbations on which no verdict on a judge is possible."
    )
    limit: int | None = Field(
        default=None, ge=1, le=MOST_SAMPLES, description="Only the first N samples that have perturbations."
    )
    subsample: Subsample = Field(default=None, description=f"{SUBSAMPLE_HELP} (with --limit: from its samples).")

    @property
    def makes_home(self) -> bool:
        """Whether the probe creates a missing home; it does for a file of perturbations."""
        return self.data.exists()


class Arm(NamedTuple):
    """A setting of a judge: a reasoning effort, with or without tools.

    `judge` is the user's name for it, `spec` the model's settings for published evaluators, and `in_use` those for
    evaluators in use (None without any).
    """

    judge: str
    budget: str
    tools: bool
    spec: ModelSpec
    in_use: ModelSpec | None

    @property
    def model(self) -> str:
        """The judge's name with its budget, which identifies the model."""
        return self.spec.ref.name

    @property
    def name(self) -> str:
        """The displayed name: `J`, `J@low`, `J+tools`, `J@low+tools`."""
        if self.tools:
            return f"{self.model}{TOOLS_MARK}"
        return self.model

    @property
    def row_fields(self) -> dict[str, str]:
        """The fields of a result row that name the arm."""
        return {"model": self.model, "arm": TOOLS if self.tools else ""}

    def spec_for(self, evaluator: Evaluator) -> ModelSpec:
        """Return the judge's settings under an evaluator."""
        if evaluator in IN_USE and self.in_use is not None:
            return self.in_use
        return self.spec


class ProbePlan(DataPlan):
    """The plan of a probe.

    `probes` is the id of the probes in the home. `judges` are the judges under every budget, with the settings for
    published evaluators; `in_use` are the same with those for evaluators in use (empty without any). `writer` makes new
    references. `dimensions` are the ids of the dimensions by task.
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
        """All models by displayed name; a judge with two settings is one model."""
        specs = (self.reader, self.writer, *self.in_use, *self.judges)
        return {spec.ref.name: spec for spec in specs if spec is not None}

    @property
    def judge_name(self) -> str:
        """The judge's displayed name; empty with several judges."""
        if len(self.judges) == 1:
            return self.judges[0].ref.name
        return ""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """All arms: each budget without tools and, if there are any, with tools."""
        budgets = self.budgets or ("",)
        arms: list[Arm] = []
        for number, spec in enumerate(self.judges):
            budget = budgets[number % len(budgets)]
            judge = spec.ref.name
            if budget:
                judge = judge.removesuffix(f"{WAY}{budget}")
            in_use = self.in_use[number] if self.in_use else None
            arms.append(Arm(judge, budget, False, spec, in_use))
            if self.tools:
                arms.append(Arm(judge, budget, True, spec, in_use))
        return tuple(arms)

    def evaluators_of(self, arm: Arm) -> list[tuple[Evaluator, bool]]:
        """Return the evaluators of an arm in order, each with whether it uses new references."""
        evaluators: list[tuple[Evaluator, bool]] = []
        for evaluator in self.evaluators:
            if not arm.tools or evaluator not in BLIND_TO_IMAGES:
                evaluators.append((evaluator, False))
        if self.writer is not None:
            evaluators.append(("reference", True))
        return evaluators

    def options_of(self, arm: Arm, evaluator: Evaluator) -> GraphOptions:
        """Return the options of the graphs for an arm and an evaluator."""
        tools = self.tools if arm.tools else ()
        return options_of_model(arm.spec_for(evaluator)).model_copy(update={"tools": tools, "looks": self.looks})


def options_of_model(spec: ModelSpec) -> GraphOptions:
    """Return the options of a graph that asks a single model."""
    return GraphOptions(judge=spec.ref.name, models={spec.ref.name: spec})


def choose_evaluators(names: Sequence[str], tasks: Sequence[Task]) -> tuple[Evaluator, ...]:
    """Return the chosen evaluators in their fixed order; by default the published ones.

    Raises:
        ConfigError: an evaluator is unknown, or judges only texts while there are images to judge.
    """
    if not names:
        return PUBLISHED
    valid_names = {ALL, *EVALUATORS, *map(paradigm_of, EVALUATORS)}
    for name in names:
        if name not in valid_names:
            raise ConfigError(
                f"--evaluators: there is no evaluator {name!r}; there are {', '.join(EVALUATORS)}, the paradigms single and "
                f"pairwise, and {ALL}"
            )
    texts_alone = all(task == "image-to-text" for task in tasks)
    selection: list[Evaluator] = []
    for evaluator in EVALUATORS:
        by_all = ALL in names and (texts_alone or evaluator in PUBLISHED)
        if by_all or evaluator in names or paradigm_of(evaluator) in names:
            selection.append(evaluator)
    of_texts = [evaluator for evaluator in selection if evaluator in IN_USE]
    if of_texts and not texts_alone:
        raise ConfigError(
            f"--evaluators: {', '.join(of_texts)} {is_or_are(len(of_texts))} how evaluate and audit judge "
            "texts, and here images are judged, for which there are no such criteria: leave them out (text-to-image has "
            "the nine)"
        )
    return tuple(selection)


def check_budgets(budgets: Sequence[str]) -> None:
    """Check the reasoning efforts.

    Raises:
        ConfigError: an effort is not a word, or is repeated.
    """
    for budget in budgets:
        if not _EFFORT.fullmatch(budget):
            raise ConfigError(f"--budgets: {budget!r} is no reasoning effort; write words such as low,medium,high")
        if budgets.count(budget) > 1:
            raise ConfigError(f"--budgets names {budget} twice")


def with_budget(spec: ModelSpec, budget: str, *, published: bool, temperature: float | None) -> ModelSpec:
    """Return a judge's settings under a reasoning effort (empty for none).

    Configured sampling settings are kept, since the probe measures the judge as it is used; without them, `published`
    uses temperature 0 and the highest effort. Parameters that a LiteLLM model does not accept are not sent.

    Args:
        spec: the configured judge.
        budget: the requested effort.
        published: whether to sample as published.
        temperature: the requested temperature.
    """
    configured = spec.sampling
    if temperature is None:
        temperature = configured.temperature
    if temperature is None and published:
        temperature = 0.0
    effort = budget or configured.reasoning_effort or (HIGHEST_EFFORT if published else None)
    sampling = configured.model_copy(update={"temperature": temperature, "reasoning_effort": effort})
    name = f"{spec.ref.name}{WAY}{budget}" if budget else spec.ref.name
    return spec.model_copy(update={"sampling": sampling, "ref": spec.ref.model_copy(update={"name": name})})


def with_budgets(
    judges: Sequence[ModelSpec], budgets: Sequence[str], *, published: bool, temperature: float | None
) -> tuple[ModelSpec, ...]:
    """Return every judge under each reasoning effort.

    Raises:
        ConfigError: two of them have the same name.
    """
    specs: list[ModelSpec] = []
    for judge in judges:
        for budget in budgets or ("",):
            specs.append(with_budget(judge, budget, published=published, temperature=temperature))
    names = [spec.ref.name for spec in specs]
    clashes = sorted({name for name in names if names.count(name) > 1})
    if clashes:
        raise ConfigError(
            f"--budgets: {clashes[0]!r} is both a judge and a judge under a budget; name one of them otherwise in dokimasia.toml"
        )
    return tuple(specs)


def graphs_of(plan: ProbePlan) -> dict[str, int]:
    """Return the versions of the graphs of a probe, and of the tools if it has any."""
    names = {"probing"}
    for evaluator in plan.evaluators:
        names.update(GRAPHS.get(evaluator, ()))
    versions = {name: VERSIONS[name] for name in sorted(names)}
    if plan.tools:
        versions["tools"] = TOOLS_VERSION
    return versions
