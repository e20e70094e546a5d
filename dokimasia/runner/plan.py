"""What a run is: everything that decides its results, hashed into its id, and the work items that it consists of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dokimasia.agents import BLIND, PromptLibrary
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.options import GraphOptions
from dokimasia.graphs.drive import GRAPHS
from dokimasia.prompts import default_library

RUN_ID_LENGTH = 16


class EvaluationPlan(Value):
    """An evaluation by its content: data, judge, candidates, arms, repeats, options, prompts, seed.

    `data` hashes the samples' ids and contents in order; `criteria` names an imported collection, `responses` hashes a
    file of answers that exist already; `fresh` tells deliberate re-runs of the same plan apart.
    """

    data: str
    judge: ModelSpec
    candidates: tuple[ModelSpec, ...]
    repeats: int = 1
    no_image: bool = False
    show_image: bool = False
    limit: int | None = None
    seed: int = 0
    criteria: str | None = None
    responses: str | None = None
    prompts: dict[str, str]
    fresh: int = 0

    @property
    def options(self) -> GraphOptions:
        """The plan as the graphs need it."""
        models = {spec.ref.name: spec for spec in (*self.candidates, self.judge)}
        return GraphOptions(judge=self.judge.ref.name, models=models, show_image=self.show_image)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms of every candidate: with the image, and with `no_image` also without."""
        return ("", BLIND) if self.no_image else ("",)

    def identity(self) -> dict[str, Any]:
        """What is hashed: models by what they are asked and how they are sampled, never how they are reached or priced."""
        return {
            "command": "evaluate",
            "data": self.data,
            "judge": _model_identity(self.judge),
            "candidates": sorted((_model_identity(spec) for spec in self.candidates), key=lambda one: one["name"]),
            "repeats": self.repeats,
            "arms": list(self.arms),
            "show_image": self.show_image,
            "limit": self.limit,
            "seed": self.seed,
            "criteria": self.criteria,
            "responses": self.responses,
            "prompts": dict(self.prompts),
            "graphs": {name: graph.VERSION for name, graph in sorted(GRAPHS.items())},
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


def prompt_identity(library: PromptLibrary | None) -> dict[str, str]:
    """Return the prompts of the evaluation with version and hash."""
    known = (library or default_library()).identity()
    return {name: known[name] for name in ("candidate", "checkpoints", "criteria", "equivalence", "repair", "solver")}


def _model_identity(spec: ModelSpec) -> dict[str, Any]:
    return {
        "name": spec.ref.name,
        "model": spec.ref.model,
        "endpoint": spec.ref.endpoint,
        "sampling": spec.sampling.model_dump(mode="json", exclude_none=True),
    }
