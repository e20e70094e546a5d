"""What a refinement is: the run whose failures it takes up, the arms and their limits, hashed into its id."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.options import LOOKS, GraphOptions
from dokimasia.domain.refinement import ARMS, Arm
from dokimasia.errors import ConfigError
from dokimasia.gateway.budget import Budget
from dokimasia.graphs.refinement import refinement
from dokimasia.methods.evaluation.plan import RUN_ID_LENGTH, EvaluationPlan, judge_identity, model_identity
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.services import with_known_price
from dokimasia.settings import Settings, resolve_model

KIND = "refine"
"""What a run's options, and its result rows, say of a run of this kind."""

MAX_ROUNDS, MAX_JUDGEMENTS = 5, 5

Strategy = Literal["again", "retry", "self", "peer", "all"]

STRATEGIES: dict[Strategy, tuple[Arm, ...]] = {
    "again": ("original", "again"),
    "retry": ("original", "retry"),
    "self": ("original", "again", "retry", "self"),
    "peer": ("original", "again", "retry", "peer"),
    "all": ARMS,
}
"""The arms of each strategy: feedback is always held against the same prompt anew and against a bare retry."""

PROMPTS: dict[Arm, tuple[str, ...]] = {
    "original": ("equivalence", "checkpoints", "repair"),
    "again": ("candidate",),
    "retry": ("retry",),
    "self": ("retry", "self_feedback"),
    "peer": ("retry", "self_feedback", "peer_feedback", "peer_hint", "hint_rewrite"),
}


class RefinementRequest(Value):
    """What the user asks of a refinement of a run (`run`: its whole id).

    `models` are those whose failures are taken up, `peers` those that may give hints; empty means all of the run.
    `threshold` takes up answers whose weighted score lies below it in place of those whose final answer is wrong.
    `withhold` is the share of the failed atoms that no feedback names. `judgements` are independent draws of the judge
    for every new answer. `leak_judge` has the judge look for leaks in what the certain rules let pass. `show_answer`
    shows the model its earlier answer. `max_cost` is in US dollars.
    """

    run: str
    strategy: Strategy = "all"
    rounds: int = Field(default=1, ge=1, le=MAX_ROUNDS)
    threshold: float | None = Field(default=None, gt=1, le=5)
    models: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    withhold: float = Field(default=0.5, ge=0, lt=1)
    judgements: int = Field(default=1, ge=1, le=MAX_JUDGEMENTS)
    leak_judge: bool = True
    show_answer: bool = False
    seed: int = Field(default=0, ge=0)
    prompts: tuple[Path, ...] = ()
    fresh: bool = False
    max_cost: float | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)

    @property
    def budget(self) -> Budget:
        """The limits on what this sitting may spend; no part of the run's identity."""
        return Budget(max_cost=self.max_cost, max_calls=self.max_calls, max_tokens=self.max_tokens)

    @property
    def command(self) -> str:
        """The command as a person would repeat it: every option that differs from its default."""
        words = ["refine", self.run, "--strategy", self.strategy]
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in {"run", "strategy", "prompts"} or value == field.get_default(call_default_factory=True):
                continue
            option = f"{'--no' if value is False else '-'}-{name.replace('_', '-')}"
            given = [] if isinstance(value, bool) else [",".join(value) if isinstance(value, tuple) else str(value)]
            words += [option, *given]
        for folder in self.prompts:
            words += ["--prompts", folder.name]
        return " ".join(words)


class RefinementPlan(Value):
    """A refinement by its content: the source run and what was taken from it, models, peers, judge, arms, options, prompts.

    `taken` hashes the answers and judgements of the source run, so that a refinement of a run that has changed since is
    another one.
    """

    source: str
    taken: str
    judge: ModelSpec
    candidates: tuple[ModelSpec, ...]
    peers: tuple[ModelSpec, ...] = ()
    arms: tuple[Arm, ...]
    rounds: int = 1
    threshold: float | None = None
    withhold: float = 0.5
    judgements: int = 1
    leak_judge: bool = True
    show_answer: bool = False
    show_image: bool = False
    tools: tuple[str, ...] = ()
    looks: int = LOOKS
    seed: int = 0
    prompts: dict[str, str]
    fresh: int = 0

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        models = {spec.ref.name: spec for spec in (*self.peers, *self.candidates, self.judge)}
        return GraphOptions(
            judge=self.judge.ref.name,
            models=models,
            show_image=self.show_image,
            tools=self.tools,
            looks=self.looks,
        )

    @property
    def run_id(self) -> str:
        """The run's id: 16 hexadecimal digits over everything that decides its results."""
        identity: dict[str, Any] = self.model_dump(mode="json", exclude={"judge", "candidates", "peers"})
        identity |= {
            "command": KIND,
            "judge": judge_identity(self.judge),
            "candidates": sorted((model_identity(spec) for spec in self.candidates), key=lambda one: one["name"]),
            "peers": sorted((model_identity(spec) for spec in self.peers), key=lambda one: one["name"]),
            "graph": refinement.VERSION,
        }
        return digest("run", identity)[:RUN_ID_LENGTH]


def plan_of(
    request: RefinementRequest,
    source: EvaluationPlan,
    taken: str,
    settings: Settings,
    library: PromptLibrary | None,
) -> RefinementPlan:
    """Return the plan of a request on an evaluation.

    Raises:
        ConfigError: a model is not one of the run's or cannot be reached, or no peer is there for the strategy.
    """
    arms = STRATEGIES[request.strategy]
    known = {spec.ref.name: spec for spec in source.candidates}
    models = _among(request.models, known, "--models", request.run)
    peers = _among(request.peers, known, "--peers", request.run) if "peer" in arms else []
    if "peer" in arms:
        _check_peers(request.strategy, models, peers, list(known))

    def reached(name: str) -> ModelSpec:
        if source.responses is None:
            return known[name]
        try:
            return with_known_price(resolve_model(settings, name))
        except ConfigError as error:
            raise ConfigError(
                f"the answers of {name} were read from a file, and to answer again the model has to be reached: {error}"
            ) from error

    return RefinementPlan(
        source=request.run,
        taken=taken,
        judge=source.judge_of("score"),
        candidates=tuple(map(reached, models)),
        peers=tuple(map(reached, peers)),
        arms=arms,
        rounds=request.rounds,
        threshold=request.threshold,
        withhold=request.withhold,
        judgements=request.judgements,
        leak_judge=request.leak_judge,
        show_answer=request.show_answer,
        show_image=source.show_image,
        tools=source.tools,
        looks=source.looks,
        seed=request.seed,
        prompts=prompts_of(arms, library, leak_judge=request.leak_judge),
    )


def prompts_of(arms: tuple[Arm, ...], library: PromptLibrary | None, *, leak_judge: bool) -> dict[str, str]:
    """Return the prompts that the arms ask by, with version and hash."""
    known = (library or default_library()).identity()
    used = {name for arm in arms for name in PROMPTS[arm]}
    if leak_judge and {"self", "peer"} & set(arms):
        used.add("leak_check")
    return {name: known[name] for name in sorted(used)}


def _among(named: tuple[str, ...], known: dict[str, ModelSpec], option: str, run: str) -> list[str]:
    strangers = sorted(set(named) - set(known))
    if strangers:
        raise ConfigError(
            f"{option}: {', '.join(strangers)} did not answer in run {run}; its models are: {', '.join(known)}"
        )
    return [name for name in known if not named or name in named]


def _check_peers(strategy: Strategy, models: list[str], peers: list[str], known: list[str]) -> None:
    if any(peer != model for model in models for peer in peers):
        return
    why = (
        f"run has one model only, {known[0]}"
        if len(known) == 1
        else f"only peer named is {peers[0]} itself; leave --peers out or name another of {', '.join(known)}"
    )
    raise ConfigError(
        f"--strategy {strategy} needs a peer: another model of the same run that got right what a model got wrong, and "
        f"the {why}. --strategy self refines without a peer, by the questions of the failed atoms; or evaluate the data "
        "with two models or more"
    )
