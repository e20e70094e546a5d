"""The identity of an evaluation: all that decides its results, and the steps of its graphs."""

from collections.abc import Collection
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from dokimasia.agents import PromptLibrary
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA
from dokimasia.domain.identity import Value
from dokimasia.domain.options import LOOKS, TOLERANCE, GraphOptions, Protocol
from dokimasia.errors import InputError
from dokimasia.graphs.versions import CHECKPOINT_SCORING, COGNITIVE_REPLAY, VERSIONS
from dokimasia.runs.plans import AnswersPlan, model_identity, prompts_used, two_of_one_name
from dokimasia.tools.registry import VERSION as TOOLS_VERSION

Ask = Literal["show", "plain"]


class GraphStep(NamedTuple):
    """A node of the graphs: what it does, whom it asks (nobody: a rule), and which steps it needs.

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
"""In the order in which they run."""

NAMES = tuple(step.name for step in STEPS)
JUDGED = tuple(step.name for step in STEPS if step.asks == "judge")
REPLAYED = NAMES[: NAMES.index("answer")]
"""The steps that bring a sample's criteria."""


def from_step(name: str | None) -> tuple[GraphStep, ...]:
    """Return the step of that name and those after it.

    Raises:
        InputError: there is none; the message lists all with what they do.
    """
    if name in NAMES:
        return STEPS[NAMES.index(name) :]
    width = max(map(len, NAMES))
    listed = "\n".join(f"  {step.name:<{width}}  {step.does}" for step in STEPS)
    problem = f"an evaluation has no step {name!r}"
    if name is None:
        problem = "name the step to begin at with --from"
    raise InputError(f"{problem}; its steps are, in order:\n{listed}")


def redone(changed: Collection[str]) -> frozenset[str]:
    """Return the steps to run again when some have changed: those, and all that need one of them."""
    again: set[str] = set()
    for step in STEPS:
        if step.name in changed or again.intersection(step.needs):
            again.add(step.name)
    return frozenset(again)


class Fork(Value):
    """Where a run branched off another: the run, the step, the steps that run again, and what was taken over.

    `taken` hashes the outcomes that are taken over by their ids, so that a fork of a run that has changed since is
    another fork.
    """

    parent: str
    node: str
    redone: tuple[str, ...]
    taken: str


class EvaluationPlan(AnswersPlan):
    """An evaluation by its content: data, judge, candidates, arms, repeats, options, prompts, seed.

    Without a `judge` no criteria are made, and rules alone decide whether an answer is right. `ask` is how the question
    is put: bare, or with the request to show what the answer rests on; `protocol` is whose protocol is followed wherever
    the two differ; `tolerance` is how far a number may lie from the reference, relative to the larger; `criteria_count`
    is the least and the greatest number of criteria of a sample.
    `tree` is the version of a capability tree whose paths the judge is shown with the criteria.
    `data` hashes the samples' ids and contents in order; `criteria` names an imported collection; `tools` are offered to
    the judge, `looks` times an ask at most; `fresh` tells deliberate re-runs of the same plan apart. In a fork, `judges`
    are those of the steps that `judge` does not serve, and `fork` says what the run branched off.
    """

    KIND: ClassVar[str] = "score"

    judge: ModelSpec | None = None
    ask: Ask = "show"
    protocol: Protocol = "ours"
    tolerance: float = TOLERANCE
    criteria_count: tuple[int, int] = (MIN_CRITERIA, MAX_CRITERIA)
    tools: tuple[str, ...] = ()
    looks: int = LOOKS
    criteria: str | None = None
    tree: str | None = None
    judges: dict[str, ModelSpec] = Field(default_factory=dict)
    fork: Fork | None = None

    @property
    def options(self) -> GraphOptions:
        """The plan as the graphs need it."""
        return GraphOptions(
            judge=self.judge_name or self.candidates[0].ref.name,
            judges={step: spec.ref.name for step, spec in self.judges.items()},
            models=self.models,
            plain=self.ask == "plain",
            published=self.protocol == "published",
            tolerance=self.tolerance,
            criteria_count=self.criteria_count,
            show_image=self.show_image,
            tools=self.tools,
            looks=self.looks,
        )

    @property
    def models(self) -> dict[str, ModelSpec]:
        """All models of the plan by name, the judge last.

        Raises:
            ConfigError: two that are asked differently bear one name.
        """
        specs = [*self.candidates, *self.judges.values()]
        if self.judge is not None:
            specs.append(self.judge)
        models: dict[str, ModelSpec] = {}
        for spec in specs:
            other = models.pop(spec.ref.name, spec)
            candidate = other in self.candidates
            answered_before = candidate and self.responses is not None
            if not answered_before and model_identity(other, schemas=not candidate) != model_identity(
                spec, schemas=not candidate
            ):
                raise two_of_one_name(spec)
            models[spec.ref.name] = spec
        return models

    @property
    def rows_per_sample(self) -> int:
        """Number of rows of a sample: its answers, and its criteria where there is a judge to make them."""
        return self.per_sample + (self.judge is not None)

    @property
    def judge_name(self) -> str:
        """The shown name of the judge that scores; empty where there is none."""
        return "" if self.judge is None else self.judge_of("score").ref.name

    def judge_of(self, step: str) -> ModelSpec:
        """Return the judge that serves a step.

        Raises:
            InputError: rules alone decided, without a judge and without criteria.
        """
        judge = self.judges.get(step, self.judge)
        if judge is None:
            raise InputError(
                "this evaluation was decided by rules alone, so it has no criteria and no scores by them: evaluate the "
                "same data with --judge (answers that were paid for are not asked again)"
            )
        return judge

    def models_for(self, steps: Collection[str]) -> dict[str, ModelSpec]:
        """Return the models that some steps ask, by name."""
        specs: list[ModelSpec] = []
        if "answer" in steps and self.responses is None:
            specs += self.candidates
        specs += [self.judge_of(step) for step in JUDGED if step in steps]
        return {spec.ref.name: spec for spec in specs}

    @property
    def asks(self) -> frozenset[str]:
        """The steps that ask a model: all but those whose results are imported, read from a file, or taken over."""
        steps = {"answer"}
        if self.judge is not None:
            steps.update(JUDGED)
        if self.criteria is not None:
            steps.difference_update(REPLAYED)
        if self.protocol == "published":
            steps.discard("judge_criteria")
        if self.responses is not None:
            steps.discard("answer")
        if self.fork is not None:
            steps.intersection_update(self.fork.redone)
        return frozenset(steps)


def replay_item(sample_id: str) -> str:
    """Return the name of the item that replays a sample's reasoning."""
    return f"replay/{sample_id}"


def prompts_of_evaluation(
    library: PromptLibrary,
    *,
    judged: bool = True,
    ask: Ask = "show",
    protocol: Protocol = "ours",
    structured_output: bool = False,
    tools: bool = False,
) -> dict[str, str]:
    """Return the prompts of an evaluation with version and hash.

    `structured_output` says that a judge takes a schema, `tools` that it is offered tools.
    """
    names = ["candidate_plain" if ask == "plain" else "candidate"]
    if judged and protocol == "published":
        names += ["criteria_published", "checkpoints_published"]
    elif judged:
        names += ["criteria", "criteria_check", "checkpoints"]
    if judged:
        names += ["equivalence", "repair", "solver"]
        if structured_output:
            names.append("structured")
        if tools:
            names.append("looking")
    return prompts_used(library, names)


def graphs_of(plan: EvaluationPlan) -> dict[str, int]:
    """Return the graphs of an evaluation with their versions, and that of its tools where it offers any."""
    versions = {CHECKPOINT_SCORING: VERSIONS[CHECKPOINT_SCORING]}
    if plan.judge is not None:
        versions = {COGNITIVE_REPLAY: VERSIONS[COGNITIVE_REPLAY], **versions}
    if plan.tools:
        versions["tools"] = TOOLS_VERSION
    return versions
