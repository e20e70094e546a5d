"""What a run is: everything that decides its results, hashed into its id, and the work items that it consists of."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from dokimasia.agents import PromptLibrary
from dokimasia.agents.candidate import BLIND
from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.options import LOOKS, GraphOptions
from dokimasia.errors import ConfigError
from dokimasia.graphs.versions import VERSIONS
from dokimasia.prompts import default_library
from dokimasia.runner.steps import JUDGED
from dokimasia.tools.registry import VERSION as TOOLS_VERSION

RUN_ID_LENGTH = 16


class Fork(Value):
    """Where a run branched off another: the run, the step, the steps that are done again, and what was taken over.

    `taken` hashes the outcomes that are taken over by their ids, so that a fork of a run that has changed since is
    another fork.
    """

    parent: str
    node: str
    redone: tuple[str, ...]
    taken: str


class EvaluationPlan(Value):
    """An evaluation by its content: data, judge, candidates, arms, repeats, options, prompts, seed.

    `data` hashes the samples' ids and contents in order; `criteria` names an imported collection, `responses` hashes a
    file of answers that exist already; `tools` are offered to the judge, `looks` times an ask at most; `fresh` tells
    deliberate re-runs of the same plan apart. In a fork, `judges` are those of the steps that `judge` does not serve,
    and `fork` says what the run branched off.
    """

    data: str
    judge: ModelSpec
    candidates: tuple[ModelSpec, ...]
    repeats: int = 1
    no_image: bool = False
    show_image: bool = False
    tools: tuple[str, ...] = ()
    looks: int = LOOKS
    limit: int | None = None
    seed: int = 0
    criteria: str | None = None
    responses: str | None = None
    prompts: dict[str, str]
    fresh: int = 0
    judges: dict[str, ModelSpec] = Field(default_factory=dict)
    fork: Fork | None = None

    @property
    def options(self) -> GraphOptions:
        """The plan as the graphs need it."""
        models = {spec.ref.name: spec for spec in self.specs()}
        judges = {node: spec.ref.name for node, spec in self.judges.items()}
        return GraphOptions(
            judge=self.judge.ref.name,
            judges=judges,
            models=models,
            show_image=self.show_image,
            tools=self.tools,
            looks=self.looks,
        )

    def specs(self) -> tuple[ModelSpec, ...]:
        """All models of the plan, the judge last.

        Raises:
            ConfigError: two that are asked differently bear one name.
        """
        found: dict[str, ModelSpec] = {}
        for spec in (*self.candidates, *self.judges.values(), self.judge):
            other = found.pop(spec.ref.name, spec)
            given = self.responses is not None and other in self.candidates
            same = model_identity if other in self.candidates else judge_identity
            if not given and same(other) != same(spec):
                raise ConfigError(
                    f"two models of this run are called {spec.ref.name!r} and are not the same; give one of them another "
                    "name in dokimasia.toml"
                )
            found[spec.ref.name] = spec
        return tuple(found.values())

    def judge_of(self, step: str) -> ModelSpec:
        """The judge that serves a step."""
        return self.judges.get(step, self.judge)

    def models_for(self, steps: Collection[str]) -> dict[str, ModelSpec]:
        """The models that have to be reached for some steps to be done, by name."""
        candidates = self.candidates if "answer" in steps and self.responses is None else ()
        judges = [self.judge_of(step) for step in JUDGED if step in steps]
        return {spec.ref.name: spec for spec in (*candidates, *judges)}

    @property
    def asks(self) -> frozenset[str]:
        """The steps that ask a model: all, but for what is imported, read from a file, or taken over."""
        imported = {"write_chain", "judge_chain", "extract_criteria"} if self.criteria is not None else set[str]()
        given = {"answer"} if self.responses is not None else set[str]()
        steps = {*JUDGED, "answer"} - imported - given
        return frozenset(steps if self.fork is None else steps & set(self.fork.redone))

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms of every candidate: with the image, and with `no_image` also without."""
        return ("", BLIND) if self.no_image else ("",)

    def identity(self) -> dict[str, Any]:
        """What is hashed: models by what they are asked and how they are sampled, never how they are reached or priced."""
        forked: dict[str, Any] = {}
        if self.fork is not None:
            forked["fork"] = self.fork.model_dump(mode="json")
            forked["judges"] = {node: judge_identity(spec) for node, spec in sorted(self.judges.items())}
        tools: dict[str, Any] = {}
        if self.tools:
            tools["tools"] = {"names": list(self.tools), "looks": self.looks, "version": TOOLS_VERSION}
        return {
            **forked,
            **tools,
            "command": "evaluate",
            "data": self.data,
            "judge": judge_identity(self.judge),
            "candidates": sorted((model_identity(spec) for spec in self.candidates), key=lambda one: one["name"]),
            "repeats": self.repeats,
            "arms": list(self.arms),
            "show_image": self.show_image,
            "limit": self.limit,
            "seed": self.seed,
            "criteria": self.criteria,
            "responses": self.responses,
            "prompts": dict(self.prompts),
            "graphs": dict(sorted(VERSIONS.items())),
            "fresh": self.fresh,
        }

    @property
    def run_id(self) -> str:
        """The run's id: 16 hexadecimal digits over its identity."""
        return digest("run", self.identity())[:RUN_ID_LENGTH]

    def items(self, sample_id: str) -> Iterator["ScoreItem"]:
        """The answers that are asked and scored for one sample, in a fixed order."""
        for candidate in self.candidates:
            for arm in self.arms:
                for repeat in range(self.repeats):
                    yield ScoreItem(sample_id, candidate.ref.name, arm, repeat)


@dataclass(frozen=True, slots=True)
class ScoreItem:
    """One answer of one candidate to one sample, to be scored."""

    sample_id: str
    model: str
    arm: str
    repeat: int

    @property
    def name(self) -> str:
        """The item's name, unique in its run."""
        return f"score/{self.sample_id}/{self.model}/{self.arm}/{self.repeat}"


def replay_item(sample_id: str) -> str:
    """Return the name of the work item that replays a sample's reasoning."""
    return f"replay/{sample_id}"


def prompt_identity(
    library: PromptLibrary | None, *, structured_output: bool = False, tools: bool = False
) -> dict[str, str]:
    """Return the prompts of the evaluation with version and hash.

    `structured` is one where a judge takes a schema, `looking` where it is offered tools.
    """
    known = (library or default_library()).identity()
    used = ("candidate", "checkpoints", "criteria", "equivalence", "repair", "solver")
    added = (*(("structured",) if structured_output else ()), *(("looking",) if tools else ()))
    return {name: known[name] for name in (*used, *added)}


def model_identity(spec: ModelSpec) -> dict[str, Any]:
    """Return what of a model decides its results: what it is asked as and how it is sampled."""
    return {
        "name": spec.ref.name,
        "model": spec.ref.model,
        "endpoint": spec.ref.endpoint,
        "sampling": spec.sampling.model_dump(mode="json", exclude_none=True),
    }


def judge_identity(spec: ModelSpec) -> dict[str, Any]:
    """Return what of a judge decides its results: as for any model, and whether it is held to JSON schemas."""
    return model_identity(spec) | ({"structured_output": True} if takes_schema(spec) else {})
