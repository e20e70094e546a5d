"""The plan of an evaluation, with everything that decides its results, and the steps of its graphs."""

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from dokimasia.agents import PromptLibrary
from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.call import STORED, ModelSpec
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA
from dokimasia.domain.identity import Value
from dokimasia.domain.options import LOOKS, TOLERANCE, GraphOptions, Protocol, scoring_prompt
from dokimasia.errors import InputError
from dokimasia.graphs.versions import CHECKPOINT_SCORING, COGNITIVE_REPLAY, VERSIONS
from dokimasia.runs.plans import (
    AnswersPlan,
    OutsideIdentity,
    model_identity,
    prompts_used,
    two_of_one_name,
)
from dokimasia.tools.registry import VERSION as TOOLS_VERSION

QuestionStyle = Literal["show", "plain"]


class GraphStep(NamedTuple):
    """A node of the graphs: its task, the role that it asks (none: a rule decides), and the steps that it depends on.

    `prompts` are the prompts that only this step uses; shared ones such as `repair` are not listed.
    """

    name: str
    does: str
    asked_role: Literal["judge", "candidate", "nobody"]
    prompts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


ANSWER = GraphStep("answer", "the candidates answer", "candidate", ("candidate", "candidate_plain"))

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
    ANSWER,
    GraphStep(
        "score",
        "the judge scores each answer, criterion by criterion",
        "judge",
        ("checkpoints", "checkpoints_published", "checkpoints_reasons"),
        ("judge_criteria", "answer"),
    ),
)
"""All steps, in the order of execution."""

NAMES = tuple(step.name for step in STEPS)
JUDGED = tuple(step.name for step in STEPS if step.asked_role == "judge")
REPLAYED = NAMES[: NAMES.index("answer")]
"""The steps that make a sample's criteria."""


def from_step(name: str | None) -> tuple[GraphStep, ...]:
    """Return the named step and all later ones.

    Raises:
        InputError: there is no such step; the message lists all steps.
    """
    if name in NAMES:
        return STEPS[NAMES.index(name) :]
    width = max(map(len, NAMES))
    steps = "\n".join(f"  {step.name:<{width}}  {step.does}" for step in STEPS)
    problem = f"an evaluation has no step {name!r}"
    if name is None:
        problem = "name the step to begin at with --from"
    raise InputError(f"{problem}; its steps are, in order:\n{steps}")


def steps_to_rerun(changed: Collection[str]) -> frozenset[str]:
    """Return the steps to rerun after a change: the changed steps and all that depend on them."""
    rerun: set[str] = set()
    for step in STEPS:
        if step.name in changed or rerun.intersection(step.needs):
            rerun.add(step.name)
    return frozenset(rerun)


class Fork(Value):
    """The point where a run branched off its parent: the step, the steps that run again, and what is reused.

    `taken` is a hash of the reused outcomes, so a fork made after the parent has changed is a different fork.
    """

    parent: str
    node: str
    redone: tuple[str, ...]
    taken: str


class EvaluationPlan(AnswersPlan):
    """The plan of an evaluation: data, judge, candidates, arms, repeats, options, prompts and seed.

    - `data`: hash of the samples' ids and contents, in order. - `judge`: without one, no criteria are made, and rules
    alone decide whether an answer is right. - `ask`: whether candidates get the bare question, or are also asked to
    show what the answer rests on. - `protocol`: the protocol to follow where Dokimasia's and the published one differ.
    - `tolerance`: permitted deviation of a number from the reference, relative to the larger of the two. -
    `criteria_count`: smallest and largest number of criteria of a sample. - `criteria`: an imported collection of
    criteria. - `tree`: version of a capability tree whose paths the judge sees with the criteria. - `reasons`: whether
    the judge gives a reason for each score; the prompt for reasons is in `prompts`. - `tools`: the judge's tools, with
    at most `looks` uses per ask. - `fresh`: distinguishes deliberate re-runs of the same plan. - `judges`: in a fork,
    the judges of steps that `judge` does not serve. - `fork`: where the run branched off its parent.
    """

    KIND: ClassVar[str] = "score"

    judge: ModelSpec | None = None
    ask: QuestionStyle = "show"
    protocol: Protocol = "default"
    tolerance: float = TOLERANCE
    criteria_count: tuple[int, int] = (MIN_CRITERIA, MAX_CRITERIA)
    reasons: Annotated[bool, OutsideIdentity] = False
    tools: tuple[str, ...] = ()
    looks: int = LOOKS
    criteria: str | None = None
    tree: str | None = None
    judges: dict[str, ModelSpec] = Field(default_factory=dict)
    fork: Fork | None = None

    @property
    def options(self) -> GraphOptions:
        """The options of the graphs."""
        return GraphOptions(
            judge=self.judge_name or self.candidates[0].ref.name,
            judges={step: spec.ref.name for step, spec in self.judges.items()},
            models=self.models,
            plain=self.ask == "plain",
            published=self.protocol == "published",
            tolerance=self.tolerance,
            criteria_count=self.criteria_count,
            show_image=self.show_image,
            reasons=self.reasons,
            tools=self.tools,
            looks=self.looks,
        )

    @property
    def models(self) -> dict[str, ModelSpec]:
        """All models of the plan by name, the judge last.

        Raises:
            ConfigError: two models with different settings have the same name.
        """
        specs = [*self.candidates, *self.judges.values()]
        if self.judge is not None:
            specs.append(self.judge)
        models: dict[str, ModelSpec] = {}
        for spec in specs:
            namesake = models.pop(spec.ref.name, spec)
            is_candidate = namesake in self.candidates
            answered_before = is_candidate and namesake.ref.endpoint == STORED
            if not answered_before and model_identity(namesake, schemas=not is_candidate) != model_identity(
                spec, schemas=not is_candidate
            ):
                raise two_of_one_name(spec)
            models[spec.ref.name] = spec
        return models

    @property
    def rows_per_sample(self) -> int:
        """Number of result rows per sample: one for each answer and, with a judge, one for the criteria."""
        return self.per_sample + (self.judge is not None)

    @property
    def judge_name(self) -> str:
        """The displayed name of the judge that scores; empty without a judge."""
        if self.judge is None:
            return ""
        return self.judge_of("score").ref.name

    def judge_of(self, step: str) -> ModelSpec:
        """Return the judge of a step.

        Raises:
            InputError: the evaluation has no judge.
        """
        judge = self.judges.get(step, self.judge)
        if judge is None:
            raise InputError(
                "this evaluation was decided by rules alone, so it has no criteria and no scores by them: evaluate the "
                "same data with --judge (answers that were paid for are not asked again)"
            )
        return judge

    def models_for(self, steps: Collection[str]) -> dict[str, ModelSpec]:
        """Return the models that the steps call, by name."""
        specs: list[ModelSpec] = []
        if "answer" in steps:
            specs += self.asked
        specs += [self.judge_of(step) for step in JUDGED if step in steps]
        return {spec.ref.name: spec for spec in specs}

    @property
    def steps_that_ask(self) -> frozenset[str]:
        """The steps that call a model: all whose results are not imported, read from a file, or reused."""
        steps = {"answer"}
        if self.judge is not None:
            steps.update(JUDGED)
        if self.criteria is not None:
            steps.difference_update(REPLAYED)
        if self.protocol == "published":
            steps.discard("judge_criteria")
        if not self.asked:
            steps.discard("answer")
        if self.fork is not None:
            steps.intersection_update(self.fork.redone)
        return frozenset(steps)


def replay_item(sample_id: str) -> str:
    """Return the name of a sample's replay item."""
    return f"replay/{sample_id}"


def prompts_of_evaluation(plan: EvaluationPlan, library: PromptLibrary) -> dict[str, str]:
    """Return the prompts of an evaluation with version and hash; those stored in the plan are not read again."""
    names = ["candidate_plain" if plan.ask == "plain" else "candidate"]
    if plan.judge is None:
        return prompts_used(library, names)
    published = plan.protocol == "published"
    names += ["criteria_published"] if published else ["criteria", "criteria_check"]
    names += [scoring_prompt(published=published, reasons=plan.reasons), "equivalence", "repair", "solver"]
    if any(takes_schema(plan.judge_of(step)) for step in JUDGED):
        names.append("structured")
    if plan.tools:
        names.append("looking")
    return prompts_used(library, names)


def graphs_of(plan: EvaluationPlan) -> dict[str, int]:
    """Return the versions of the graphs of an evaluation, and of the tools if it has any."""
    versions = {CHECKPOINT_SCORING: VERSIONS[CHECKPOINT_SCORING]}
    if plan.judge is not None:
        versions = {COGNITIVE_REPLAY: VERSIONS[COGNITIVE_REPLAY], **versions}
    if plan.tools:
        versions["tools"] = TOOLS_VERSION
    return versions
