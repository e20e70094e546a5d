"""Acceptance of a refinement: reading the source run, making the plan, and estimating the calls."""

from collections.abc import Iterable, Iterator, Mapping

from dokimasia.algorithms.closed_loop import failed_atoms
from dokimasia.domain.call import ModelSpec, model_names
from dokimasia.domain.refinement import Arm
from dokimasia.errors import ConfigError, InputError
from dokimasia.methods.evaluation import ANSWER_TOKENS, VERDICT_TOKENS, EvaluationPlan, scoring
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.refinement.request import (
    LIMITS,
    SEEN_BY_JUDGE,
    STRATEGIES,
    WITHHELD,
    RefinementPlan,
    RefinementRequest,
    Strategy,
)
from dokimasia.methods.refinement.source import (
    SourceAnswer,
    SourceRun,
    most_shown,
    peers_for,
    read_source,
    refined_part,
)
from dokimasia.runs.estimate import (
    INSTRUCTION_TOKENS,
    UPPER_BOUND,
    Estimate,
    ExpectedCalls,
    SampleSize,
    size_of,
    total_estimate,
)
from dokimasia.runs.plans import as_configured_now, prompts_used
from dokimasia.runs.samples import part_of
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, load_samples, run_samples

NAME = "refine"
POINT_TOKENS, HINT_TOKENS = 40, 80


async def accept(request: RefinementRequest, session: Session) -> Accepted[RefinementPlan]:
    """Validate a request, and return its plan and estimate.

    Raises:
        NotFound: there is no such run, or it is not an evaluation.
        InputError: the run is a refinement or not finished, its failures cannot be determined, or the options do not fit it.
    """
    home = session.opened
    run = resolve_run(home, request.run, of_method(EVALUATION.name, done=True))
    if run.method == NAME:
        raise InputError(_already_refined(home, run))
    samples = list(load_samples(home, run.id))
    part = part_of(samples, subsample=request.subsample, seed=request.seed)
    source = read_source(home, run).part(part)
    sizes = {sample.id: size_of(sample) for sample in samples if sample.id in part}
    _check_references(run, request, sizes.values())
    plan = plan_of(
        request, as_configured_now(source.plan, session.settings), session, run=run.id, source_hash=source.digest
    )
    return Accepted(
        plan=plan,
        estimate=estimate(plan, source, sizes),
        data_name=run.data_name,
        data_hash=run.data_hash,
        places=[place for place in run_samples(home, run.id) if place.sample_id in part],
        needs=(run.id,),
        request=request.model_copy(update={"run": run.id}),
    )


def resumable(session: Session, run: Run, plan: RefinementPlan, request: RefinementRequest) -> None:
    """Check that the answers of the source run have not changed.

    Raises:
        InputError: the answers have changed.
    """
    home = session.opened
    if refined_part(home, run, plan.source).digest != plan.taken:
        raise InputError(
            f"run {run.id} refines run {plan.source}, whose answers have changed since (such as by a retry of what "
            "had failed); refine it anew"
        )


def _already_refined(home: Home, run: Run) -> str:
    """Return why a refinement is not refined, and what to request instead."""
    source = run.plan_as(RefinementPlan).source
    reader = "show" if run.status == "done" else "resume"
    refused = f"run {run.id} is a refinement, and refined answers are not taken up again"
    if run.status == "done" and all(row.arm == "original" for row in results(home, run.id)):
        return f"{refused}; it took up none, and says why, and which option would (dokimasia show {run.id})"
    return (
        f"{refused}: refine its evaluation, with more rounds or another strategy (dokimasia refine {source} --rounds 2), or "
        f"see what it came to (dokimasia {reader} {run.id})"
    )


def _check_references(run: Run, request: RefinementRequest, sizes: Iterable[SampleSize]) -> None:
    if request.threshold is not None or any(size.reference for size in sizes):
        return
    raise InputError(
        f"no sample of run {run.id} has a reference answer, and without one nobody can say which final answers are "
        "wrong: add `reference_answer` to the data and evaluate it again (the ledger answers what did not change), or "
        "take up what scores low by the criteria: --threshold 3"
    )


def plan_of(
    request: RefinementRequest, source: EvaluationPlan, session: Session, *, run: str, source_hash: str
) -> RefinementPlan:
    """Return the plan of a refinement of an evaluation; `run` is its id, `source_hash` the digest of its answers.

    Raises:
        InputError: the run has no judge.
        ConfigError: a model is not in the run or cannot be called, or the strategy needs a peer and there is none.
    """
    judge = source.judge_of("score")
    arms = STRATEGIES[request.strategy]
    candidates = {spec.ref.name: spec for spec in source.candidates}
    models = _select_models(request.models, candidates, "--models", run)
    peers: list[str] = []
    if "peer" in arms:
        peers = _select_models(request.peers, candidates, "--peers", run)
        _check_peers(request.strategy, models, peers, list(candidates))

    def spec_to_ask(name: str) -> ModelSpec:
        if candidates[name] in source.asked:
            return candidates[name]
        try:
            return session.model(name)
        except ConfigError as error:
            raise ConfigError(
                f"the answers of {name} were read from a file, and to answer again the model has to be reached: {error}"
            ) from error

    options = request.model_dump(include={*LIMITS, "threshold", "seed", "withhold"})
    if request.withhold is None:
        options["withhold"] = WITHHELD[request.protocol]
    return RefinementPlan(
        source=run,
        taken=source_hash,
        judge=judge,
        candidates=tuple(map(spec_to_ask, models)),
        peers=tuple(map(spec_to_ask, peers)),
        arms=arms,
        **options,
        **source.model_dump(include=SEEN_BY_JUDGE),
        scored_as=source.protocol,
        prompts=prompts_used(session.library, _prompts(arms, request, source)),
    )


def _prompts(arms: tuple[Arm, ...], request: RefinementRequest, source: EvaluationPlan) -> set[str]:
    """Return the names of the prompts of the arms and of scoring, which is done as in the source run."""
    names = {"equivalence", "repair"}
    names.add("checkpoints_published" if source.protocol == "published" else "checkpoints")
    if request.protocol == "published":
        names.add("answer_again_published")
        if "again" in arms:
            names.add("candidate_plain")
    else:
        names.add("answer_again")
    if "peer" in arms:
        names |= {"peer_hint", "hint_rewrite"}
    if request.leak_judge and ("self" in arms or "peer" in arms):
        names.add("leak_check")
    return names


def _select_models(names: tuple[str, ...], candidates: dict[str, ModelSpec], option: str, run: str) -> list[str]:
    unknown = sorted(set(names) - set(candidates))
    if unknown:
        raise ConfigError(
            f"{option}: {', '.join(unknown)} did not answer in run {run}; its models are: {', '.join(candidates)}"
        )
    return [name for name in candidates if not names or name in names]


def _check_peers(strategy: Strategy, models: list[str], peers: list[str], candidates: list[str]) -> None:
    if any(peer != model for model in models for peer in peers):
        return
    why = f"only peer named is {peers[0]} itself; leave --peers out or name another of {', '.join(candidates)}"
    if len(candidates) == 1:
        why = f"run has one model only, {candidates[0]}"
    raise ConfigError(
        f"--strategy {strategy} needs a peer: another model of the same run that got right what a model got wrong, and "
        f"the {why}. --strategy self refines without a peer, by the questions of the failed criteria; or evaluate the data "
        "with two models or more"
    )


def estimate(plan: RefinementPlan, source: SourceRun, sizes: Mapping[str, SampleSize]) -> Estimate:
    """Return an upper estimate of a refinement's calls and tokens.

    The worst case is assumed: every scored answer that is not known to be right (with a threshold: every answer below
    it) failed, can be fed back and goes through all rounds of all arms; rules settle no final answer; every hint is
    rewritten once; and leak checks are repeated after each omitted piece. The total is an upper bound; so, nearly, are
    the calls of a single peer.

    Args:
        plan: the plan of the refinement.
        source: the answers of the source run.
        sizes: sizes of the run's samples, by name.
    """
    names = model_names(plan.candidates)
    answers = [answer for answer in source.answers if answer.model in names]
    candidates = answers
    if plan.threshold is None:
        candidates = [answer for answer in answers if sizes[answer.sample_id].reference]
    may_fail = [answer for answer in candidates if _may_fail(answer, plan.threshold)]
    calls: list[ExpectedCalls] = []
    for answer in candidates:
        calls += _verdicts(plan, sizes[answer.sample_id], times=0 if answer.final else 1)
    if plan.leak_judge and plan.names_points:
        for id, count in {answer.sample_id: len(answer.scores) for answer in may_fail}.items():
            calls.append(_leak_check(plan, sizes[id], count * POINT_TOKENS, times=count))
    peers = {}
    if "peer" in plan.arms:
        peers = peers_for({answer: failed_atoms(answer.scores) for answer in may_fail}, source, plan)
    for answer in may_fail:
        size = sizes[answer.sample_id]
        calls += scoring(plan.judge, plan.options, size, times=plan.judgements)
        for arm in plan.arms[1:]:
            calls += _rounds(plan, answer, size, arm)
        if answer.key in peers:
            solvers = dict.fromkeys(name for order in peers[answer.key].values() for name, _ in order)
            calls += _hints(plan, size, len(most_shown(answer, plan)), list(solvers))
    items = len(answers) + len(may_fail) * (len(plan.arms) - 1)
    return total_estimate(calls, len(sizes), items=items, notes=[BOUND_NOTE] if may_fail else [])


BOUND_NOTE = (
    f"{UPPER_BOUND}: every answer that may have failed is taken to fail, to be fed back, and to go through "
    "all rounds of all arms; answers that are right need fewer, and so do those whose named criteria are solved early"
)


def _may_fail(answer: SourceAnswer, threshold: float | None) -> bool:
    if threshold is None:
        return answer.verdict in ("wrong", None)
    return answer.score < threshold


def _rounds(plan: RefinementPlan, answer: SourceAnswer, size: SampleSize, arm: Arm) -> Iterator[ExpectedCalls]:
    """Yield the calls of all rounds of an arm, without the hints."""
    model = plan.models[answer.model]
    input_tokens = INSTRUCTION_TOKENS + size.text + size.images_for(model)
    if arm in ("self", "peer"):
        tokens = POINT_TOKENS + HINT_TOKENS if arm == "peer" else POINT_TOKENS
        input_tokens += len(most_shown(answer, plan)) * tokens
    if not plan.hide_answer:
        input_tokens += ANSWER_TOKENS
    deciding = 0 if plan.protocol == "published" else plan.rounds - 1
    yield ExpectedCalls(model, plan.rounds, input_tokens, ANSWER_TOKENS)
    yield from _verdicts(plan, size, times=plan.rounds)
    yield from scoring(plan.judge, plan.options, size, times=plan.rounds * plan.judgements + deciding)


def _verdicts(plan: RefinementPlan, size: SampleSize, *, times: int) -> Iterator[ExpectedCalls]:
    """Yield the calls that decide whether final answers are right; none without a reference answer."""
    if size.reference:
        input_tokens = INSTRUCTION_TOKENS + size.text + size.reference * 2
        yield ExpectedCalls(plan.judge, times, input_tokens, VERDICT_TOKENS)


def _hints(plan: RefinementPlan, size: SampleSize, points: int, solvers: list[str]) -> Iterator[ExpectedCalls]:
    """Yield the calls of an answer's hints: each round with as few peers as possible and two wordings, all checked."""
    writers = points if plan.protocol == "published" else min(points, len(solvers))
    input_tokens = INSTRUCTION_TOKENS + size.text + points * POINT_TOKENS + 2 * ANSWER_TOKENS
    for round in range(plan.rounds if solvers else 0):
        for number in range(writers):
            peer = plan.models[solvers[(round + number) % len(solvers)]]
            rewritings = points if number == 0 else 0
            yield ExpectedCalls(peer, 1 + rewritings, input_tokens + size.images_for(peer), points * HINT_TOKENS)
        if plan.leak_judge:
            yield _leak_check(plan, size, points * (POINT_TOKENS + HINT_TOKENS), times=1 + 2 * points)


def _leak_check(plan: RefinementPlan, size: SampleSize, text: int, *, times: int) -> ExpectedCalls:
    """Return the calls in which the judge checks a text for leaks."""
    return ExpectedCalls(plan.judge, times, INSTRUCTION_TOKENS + size.text + size.reference + text, VERDICT_TOKENS)
