"""What a run is: everything that decides its results, hashed into its id, and the work items that it consists of."""

from collections.abc import Collection
from typing import ClassVar, Literal

from pydantic import Field

from dokimasia.agents import PromptLibrary
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA
from dokimasia.domain.identity import Value
from dokimasia.domain.options import LOOKS, TOLERANCE, GraphOptions, Protocol
from dokimasia.errors import InputError
from dokimasia.graphs.versions import CHECKPOINT_SCORING, COGNITIVE_REPLAY, VERSIONS
from dokimasia.methods.evaluation.steps import JUDGED, REPLAYED
from dokimasia.runs.plans import AnswersPlan, model_identity, prompts_used, two_of_one_name
from dokimasia.tools.registry import VERSION as TOOLS_VERSION

Ask = Literal["show", "plain"]


class Fork(Value):
    """Where a run branched off another: the run, the step, the steps that are done again, and what was taken over.

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
    is put: bare, or with the request to show what the answer rests on; `protocol` is whose way is gone wherever the two
    differ; `tolerance` is how far a number may lie from the reference, relative to the larger; `criteria_count` is the
    least and the greatest number of criteria of a sample.
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
        judges = {node: spec.ref.name for node, spec in self.judges.items()}
        return GraphOptions(
            judge=self.judge_name or self.candidates[0].ref.name,
            judges=judges,
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
        found: dict[str, ModelSpec] = {}
        for spec in (*self.candidates, *self.judges.values(), *([] if self.judge is None else [self.judge])):
            other = found.pop(spec.ref.name, spec)
            given = self.responses is not None and other in self.candidates
            schemas = other not in self.candidates
            if not given and model_identity(other, schemas=schemas) != model_identity(spec, schemas=schemas):
                raise two_of_one_name(spec)
            found[spec.ref.name] = spec
        return found

    @property
    def rows_per_sample(self) -> int:
        """How many rows a sample comes to: its answers, and its criteria where there is a judge to make them."""
        return self.per_sample + (self.judge is not None)

    @property
    def judge_name(self) -> str:
        """The shown name of the judge that scores; empty where there is none."""
        return "" if self.judge is None else self.judge_of("score").ref.name

    def judge_of(self, step: str) -> ModelSpec:
        """The judge that serves a step.

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
        """The models that have to be reached for some steps to be done, by name."""
        candidates = self.candidates if "answer" in steps and self.responses is None else ()
        judges = [self.judge_of(step) for step in JUDGED if step in steps]
        return {spec.ref.name: spec for spec in (*candidates, *judges)}

    @property
    def asks(self) -> frozenset[str]:
        """The steps that ask a model: all, but for what is imported, read from a file, or taken over."""
        imported = set(REPLAYED) if self.criteria is not None else set[str]()
        imported |= {"judge_criteria"} if self.protocol == "published" else set()
        given = {"answer"} if self.responses is not None else set[str]()
        steps = {*(JUDGED if self.judge is not None else ()), "answer"} - imported - given
        return frozenset(steps if self.fork is None else steps & set(self.fork.redone))


def replay_item(sample_id: str) -> str:
    """Return the name of the work item that replays a sample's reasoning."""
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
    """Return the prompts of the evaluation with version and hash.

    `structured` is one where a judge takes a schema, `looking` where it is offered tools.
    """
    used = ["candidate_plain" if ask == "plain" else "candidate"]
    if judged:
        drawing = ["criteria", "criteria_check", "checkpoints"]
        used += ["criteria_published", "checkpoints_published"] if protocol == "published" else drawing
        used += ["equivalence", "repair", "solver"]
        used += (["structured"] if structured_output else []) + (["looking"] if tools else [])
    return prompts_used(library, used)


def graphs_of(plan: EvaluationPlan) -> dict[str, int]:
    """Return the graphs of an evaluation with their versions, and that of its tools where it offers any."""
    names = (*((COGNITIVE_REPLAY,) if plan.judge is not None else ()), CHECKPOINT_SCORING)
    return {name: VERSIONS[name] for name in names} | ({"tools": TOOLS_VERSION} if plan.tools else {})
