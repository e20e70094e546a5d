"""What a refinement is: the run whose failures it takes up, the arms and their limits."""

from typing import Annotated

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import LOOKS, TOLERANCE, GraphOptions, Protocol
from dokimasia.domain.refinement import ARMS, Arm
from dokimasia.errors import ConfigError
from dokimasia.methods.evaluation import EvaluationPlan
from dokimasia.methods.refinement.request import RefinementRequest, Strategy
from dokimasia.runs.plans import AnyOrder, RunPlan, prompts_used
from dokimasia.runs.session import Session

STRATEGIES: dict[Strategy, tuple[Arm, ...]] = {
    "again": ("original", "again"),
    "retry": ("original", "retry"),
    "self": ("original", "again", "retry", "self"),
    "peer": ("original", "again", "retry", "peer"),
    "all": ARMS,
}
"""The arms of each strategy: feedback is always compared with the same prompt anew and with a bare retry."""

WITHHELD: dict[Protocol, float] = {"ours": 0.5, "published": 0.0}
"""The share of failed atoms that is withheld where nothing else is asked for."""

LIMITS = {"rounds", "judgements", "leak_judge", "hide_answer", "protocol"}
"""How far an arm goes and what it is told: called alike in request, plan and graph."""

SEEN = {"show_image", "tools", "looks", "tolerance"}
"""How the judge and the rules look: called alike in the evaluation's plan, the refinement's, and the graph's options."""


class RefinementPlan(RunPlan):
    """A refinement by its content: the source run and what was taken from it, models, peers, judge, arms, options.

    `taken` hashes the answers and judgements of the source run, so that a refinement of a run that has changed since is
    another one. `protocol` is whose form the feedback has, `scored_as` whose way of scoring the source run went.
    """

    source: str
    taken: str
    judge: ModelSpec
    candidates: Annotated[tuple[ModelSpec, ...], AnyOrder]
    peers: Annotated[tuple[ModelSpec, ...], AnyOrder] = ()
    arms: tuple[Arm, ...]
    rounds: int = 1
    threshold: float | None = None
    withhold: float = 0.5
    judgements: int = 1
    leak_judge: bool = True
    hide_answer: bool = False
    protocol: Protocol = "ours"
    show_image: bool = False
    tools: tuple[str, ...] = ()
    looks: int = LOOKS
    tolerance: float = TOLERANCE
    scored_as: Protocol = "ours"

    @property
    def models(self) -> dict[str, ModelSpec]:
        """All models by name, the judge last: a judge that also answers is asked with its capabilities settled."""
        return {spec.ref.name: spec for spec in (*self.peers, *self.candidates, self.judge)}

    @property
    def judge_name(self) -> str:
        """The judge's shown name."""
        return self.judge.ref.name

    @property
    def names_points(self) -> bool:
        """Whether an arm names points, so that an answer without any leaves all arms alike."""
        return not {"self", "peer"}.isdisjoint(self.arms)

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        published = self.scored_as == "published"
        return GraphOptions(
            judge=self.judge_name, models=self.models, published=published, **self.model_dump(include=SEEN)
        )


def plan_of(
    request: RefinementRequest, source: EvaluationPlan, session: Session, *, run: str, taken: str
) -> RefinementPlan:
    """Return the plan of a request on an evaluation, by the run's id and a hash of what is taken from it.

    Raises:
        InputError: the run has no judge.
        ConfigError: a model is not one of the run's or cannot be reached, or no peer is there for the strategy.
    """
    judge = source.judge_of("score")
    arms = STRATEGIES[request.strategy]
    known = {spec.ref.name: spec for spec in source.candidates}
    models = _among(request.models, known, "--models", run)
    peers = _among(request.peers, known, "--peers", run) if "peer" in arms else []
    if "peer" in arms:
        _check_peers(request.strategy, models, peers, list(known))

    def reached(name: str) -> ModelSpec:
        if source.responses is None:
            return known[name]
        try:
            return session.model(name)
        except ConfigError as error:
            raise ConfigError(
                f"the answers of {name} were read from a file, and to answer again the model has to be reached: {error}"
            ) from error

    given = request.model_dump(include={*LIMITS, "threshold", "seed"})
    given["withhold"] = WITHHELD[request.protocol] if request.withhold is None else request.withhold
    return RefinementPlan(
        source=run,
        taken=taken,
        judge=judge,
        candidates=tuple(map(reached, models)),
        peers=tuple(map(reached, peers)),
        arms=arms,
        **given,
        **source.model_dump(include=SEEN),
        scored_as=source.protocol,
        prompts=prompts_used(session.library, _prompts(arms, request, source)),
    )


def _prompts(arms: tuple[Arm, ...], request: RefinementRequest, source: EvaluationPlan) -> set[str]:
    """Return the names of the prompts that the arms are asked by, and their answers scored as those of the source were."""
    published = request.protocol == "published"
    scoring = "checkpoints_published" if source.protocol == "published" else "checkpoints"
    used = {"equivalence", scoring, "repair", "answer_again_published" if published else "answer_again"}
    used |= {"candidate_plain"} if published and "again" in arms else set[str]()
    used |= {"peer_hint", "hint_rewrite"} if "peer" in arms else set[str]()
    return used | ({"leak_check"} if request.leak_judge and {"self", "peer"} & set(arms) else set[str]())


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
