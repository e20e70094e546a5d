"""The request of an evaluation, its acceptance, and the estimate of its calls."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA, PUBLISHED_COUNT
from dokimasia.domain.options import LOOKS, TOLERANCE, GraphOptions, scoring_prompt
from dokimasia.domain.wording import shortened
from dokimasia.errors import ConfigError, DataError, InputError, NotFound
from dokimasia.methods.evaluation.missing_calls import JUDGE_ANSWER, missing_calls
from dokimasia.methods.evaluation.plan import EvaluationPlan, QuestionStyle, prompts_of_evaluation
from dokimasia.people.passports import (
    BLIND_BELOW,
    EVALUATION_USES,
    BlindBelow,
    JudgeChoice,
    JudgeUse,
    Passports,
    chosen_judge,
    held,
)
from dokimasia.prompts import PromptLibrary
from dokimasia.report.figures import several
from dokimasia.runs.estimate import (
    INSTRUCTION_TOKENS,
    Estimate,
    ExpectedCalls,
    SampleSize,
    frame_tokens,
    total_estimate,
)
from dokimasia.runs.requests import (
    JUDGE_HELP,
    RESPONSES_HELP,
    STORED_TOO,
    BlindArm,
    DataRequest,
    DataSets,
    Invocation,
    Models,
    Option,
    ProtocolChoice,
    Repeats,
)
from dokimasia.runs.responses import (
    Responses,
    ResponsesFiles,
    candidates_of,
    check_no_blind_arm,
    check_unchanged,
    read_answer_files,
    repeats_of,
)
from dokimasia.runs.session import Accepted, Session, StoredSamples
from dokimasia.storage.criteria import load_collection
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, RunSample
from dokimasia.storage.trees.versions import mappings, named_tree
from dokimasia.tools.registry import select_tools

MAX_LOOKS = 100
"""Upper limit of `--looks`."""


class EvaluationRequest(DataRequest):
    """Evaluate models on DATA: JSON lines, CSV, Excel, a VLMEvalKit TSV, Parquet, a folder of images, or hf://ORG/NAME.

    With several DATA, or a file of a suite (YAML or TOML), each data set is a run, and the board over them is printed.

    If the data have reference answers, rules decide whether an answer is right, and the judge decides where no rule
    can. Without --judge there are only rules, and an answer that they cannot decide is a failure.

    The judge replays the reasoning once per sample and draws atomic criteria from it; every candidate answers; the
    judge scores all criteria of an answer in one call. The same command continues an interrupted run, or prints its
    results.
    """

    VERB: ClassVar[str] = "evaluate"

    data: DataSets
    judge: Annotated[str | None, Option(models=True)] = Field(
        default=None, description=f"{JUDGE_HELP} Without one, rules alone decide whether answers are right."
    )
    models: Models = Field(default=(), description=f"The candidates, separated by commas.{STORED_TOO}")
    repeats: Repeats = 1
    ask: QuestionStyle | None = Field(
        default=None,
        description="Prompt style: show (say what the answer rests on, then the answer on a line of its own; "
        "the default) or plain (the bare question).",
    )
    protocol: ProtocolChoice = "default"
    tolerance: float = Field(
        default=TOLERANCE,
        ge=0,
        le=1,
        description="How far a number may lie from the reference, relative to the larger.",
    )
    min_score: float | None = Field(
        default=None, ge=1, le=5, description=Invocation.model_fields["min_score"].description
    )
    criteria_count: Annotated[str | None, Option(metavar="N[-M]")] = Field(
        default=None,
        description=f"Criteria per sample, as in 3-5; by default {MIN_CRITERIA}-{MAX_CRITERIA}, as many as the question "
        f"needs (as published: {PUBLISHED_COUNT[0]}-{PUBLISHED_COUNT[1]}).",
    )
    no_image: BlindArm = Field(
        default=False, description="Also ask every candidate without the image (arm NAME#blind)."
    )
    show_image: bool = Field(default=False, description="Also show the judge the image when it scores answers.")
    reasons: bool = Field(default=False, description="Ask the judge for a one-sentence reason for each score.")
    tools: tuple[str, ...] = Field(
        default=(),
        description="Tools for the judge to look closer with: crop,zoom,... or all. Shows it the image.",
    )
    looks: int = Field(default=LOOKS, ge=1, le=MAX_LOOKS, description="With --tools: maximum looks per request.")
    criteria: str | None = Field(
        default=None, description="Score by an imported collection of criteria (see: dokimasia criteria)."
    )
    tree: Annotated[str | None, Option(metavar="TREE")] = Field(
        default=None, description="Show the judge each criterion's path in this capability tree (or version of one)."
    )
    responses: ResponsesFiles = Field(default=(), description=f"Score {RESPONSES_HELP}")
    passports: Passports = ()
    blind_below: BlindBelow = BLIND_BELOW
    choose_judge: JudgeChoice = ()


async def accept(request: EvaluationRequest, session: Session) -> Accepted[EvaluationPlan]:
    """Validate a request, and return its plan, its estimate and its samples.

    Raises:
        InputError: the data, the configuration or the options are unusable.
    """
    responses = read_answer_files(request.responses, request.data)
    check_request(request, session, responses)
    data = await asyncio.to_thread(session.store_samples, request)
    uses = judge_uses(request, data)
    choice = chosen_judge(request.judge, request.choose_judge, request.passports, session, *uses)
    request = request.model_copy(update={"judge": choice.judge, "choose_judge": (), "passports": choice.passports})
    if not data.entries:
        raise DataError(f"{request.data}: no sample in it; an evaluation needs at least one line with id and prompt")
    candidates, left_out = candidates_of(
        responses,
        request,
        models=request.models,
        samples={sample.sample_id for sample in data.places},
        ask=lambda names: session.models(names, "--models"),
    )
    data.skipped += left_out
    tools = select_tools(request.tools)
    judge = None
    if request.judge is None:
        _check_options_without_judge(request)
        _check_references(request, data)
    else:
        judge = session.judge(request.judge)
    default: QuestionStyle = "plain" if request.protocol == "published" else "show"
    plan = EvaluationPlan(
        data=data.hash,
        judge=judge,
        candidates=candidates,
        repeats=repeats_of(request.repeats, responses, candidates),
        ask=request.ask or default,
        protocol=request.protocol,
        tolerance=request.tolerance,
        criteria_count=_criteria_count(request),
        no_image=request.no_image,
        show_image=request.show_image,
        reasons=request.reasons,
        tools=tools,
        looks=request.looks if tools else LOOKS,
        limit=request.limit,
        seed=request.seed,
        criteria=request.criteria,
        tree=None if request.tree is None else _mapped_tree(session.opened, request.tree),
        responses=None if responses is None else responses.hash,
        prompts={},
    )
    plan = plan.model_copy(update={"prompts": prompts_of_evaluation(plan, session.library)})
    if plan.criteria is not None:
        _check_collection(session.opened, plan.criteria, data.places)
    acceptance = data.accepted(plan, estimate(plan, data.sizes, session.library))
    count_missing = partial(missing_calls, plan, session.library, data.spread, responses)
    acceptance = replace(acceptance, request=request, missing_calls=count_missing)
    return await with_passports(acceptance, request, session, data, chosen=choice.why)


def check_request(request: EvaluationRequest, session: Session, responses: Responses | None) -> None:
    """Check the parts of a request that need no data, before samples are stored.

    Raises:
        InputError: an option is invalid or conflicts with another, or a model is unknown.
    """
    if request.reasons and request.protocol == "published":
        raise ConfigError("--reasons: as published the judge gives scores alone; leave out --reasons or --protocol")
    _criteria_count(request)
    select_tools(request.tools)
    if request.judge is not None:
        session.model(request.judge)
    elif not request.choose_judge:
        _check_options_without_judge(request)
    if responses is not None:
        check_no_blind_arm(request.no_image)
    elif not request.models:
        raise ConfigError("name at least one candidate with --models, or existing answers with --responses FILE")
    else:
        session.models(request.models, "--models")


def judge_uses(request: EvaluationRequest, stored: StoredSamples) -> tuple[JudgeUse, ...]:
    """Return how an evaluation uses its judge, which decides what is right only if there are reference answers."""
    prompt = scoring_prompt(published=request.protocol == "published", reasons=request.reasons)
    by_checkpoints, deciding = EVALUATION_USES
    by_checkpoints = by_checkpoints._replace(prompt=prompt)
    if not any(size.reference for size in stored.sizes):
        return (by_checkpoints,)
    return by_checkpoints, deciding


async def with_passports(
    accepted: Accepted[EvaluationPlan],
    request: EvaluationRequest,
    session: Session,
    stored: StoredSamples,
    *,
    chosen: str = "",
) -> Accepted[EvaluationPlan]:
    """Return the acceptance with the information from its judges' passports."""
    plan = accepted.plan
    judges = () if plan.judge is None else (plan.judge_of("score"),)
    uses = judge_uses(request, stored)
    return await held(accepted, request, session, judges=judges, ways=uses, tools=bool(plan.tools), chosen=chosen)


def resumable(session: Session, run: Run, plan: EvaluationPlan, request: EvaluationRequest) -> None:
    """Check that the response files have not changed, and that no minimum score is set without a judge.

    Raises:
        DataError: a file has changed.
        ConfigError: a minimum score is set, but there is no judge.
    """
    if plan.judge is None:
        _check_scored(request)
    check_unchanged(request.responses, request.data, plan.responses, run.id)


def _criteria_count(request: EvaluationRequest) -> tuple[int, int]:
    """Return the smallest and the largest number of criteria of a sample.

    Raises:
        InputError: the option is not a valid number or range, or contradicts the published protocol.
    """
    count = None if request.criteria_count is None else _read_count(request.criteria_count)
    if request.protocol == "published":
        if count not in (None, PUBLISHED_COUNT):
            raise ConfigError("--criteria-count: as published a sample has 3 to 5 criteria; leave out one of the two")
        return PUBLISHED_COUNT
    return count or (MIN_CRITERIA, MAX_CRITERIA)


def _read_count(text: str) -> tuple[int, int]:
    """Return the two numbers of `3-5`; `4` gives the same number twice."""
    least, dash, most = text.partition("-")
    try:
        count = (int(least), int(most if dash else least))
    except ValueError:
        count = (0, 0)
    if not MIN_CRITERIA <= count[0] <= count[1] <= MAX_CRITERIA:
        raise InputError(
            f"--criteria-count {text}: write a number from {MIN_CRITERIA} to {MAX_CRITERIA}, or two such as 3-5"
        )
    return count


def _check_collection(home: Home, collection: str, samples: Sequence[RunSample]) -> None:
    """Check that a collection of criteria has a set for every sample."""
    digests = {entry.sample_digest for entry in load_collection(home, collection)}
    if not digests:
        raise NotFound(
            f"no criteria collection {collection!r} in {home.path}; import one: dokimasia criteria import FILE"
        )
    uncovered = [sample.sample_id for sample in samples if sample.digest not in digests]
    if uncovered:
        names = shortened(uncovered, 3)
        raise InputError(
            f"criteria {collection} have nothing for {len(uncovered)} of {several(len(samples), 'sample')} ({names}): "
            "their question, image, options or reference differ from those that the criteria were made for; leave --criteria out "
            "to have the judge make them"
        )


def _mapped_tree(home: Home, tree: str) -> str:
    """Return the id of the named tree version; it must have mapped criteria."""
    version = named_tree(home, tree)
    if not mappings(home, version.id, tree=version.tree):
        raise InputError(
            f"--tree: no criterion is mapped in {version.tree}@{version.position} ({version.phase}): name another version "
            f"(dokimasia tree list {version.tree}), or finish its growth with dokimasia resume {version.run_id}"
        )
    return version.id


def _check_options_without_judge(request: EvaluationRequest) -> None:
    """Check that no option needs a judge."""
    options = {
        "--criteria": request.criteria,
        "--tree": request.tree,
        "--tools": request.tools,
        "--show-image": request.show_image,
        "--reasons": request.reasons,
        "--passport": request.passports,
    }
    for option, value in options.items():
        if value:
            raise ConfigError(
                f"{option} is for a judge, and there is none: name one with --judge, or leave {option} out"
            )
    _check_scored(request)


def _check_references(request: EvaluationRequest, data: StoredSamples) -> None:
    """Check that rules have something to decide: at least one reference answer."""
    if not any(size.reference for size in data.sizes):
        raise ConfigError(
            f"{request.data}: no sample has a reference answer, so rules cannot decide whether an answer is right: "
            "name a judge with --judge, or add `reference_answer` to the data"
        )


def _check_scored(request: EvaluationRequest) -> None:
    """Check that no minimum score is set, since without a judge there are no scores."""
    if request.min_score is not None:
        raise ConfigError(
            "--min-score: without a judge there are no scores, so no model could reach it: name a judge with --judge, or "
            "hold right answers to --min-accuracy"
        )


LOOK_TOKENS, LOOK_CALL_TOKENS = 1500, 60
CHAIN_TOKENS, CRITERIA_TOKENS, VERDICT_TOKENS, ANSWER_TOKENS, SCORES_TOKENS = 600, 400, 40, 300, 60
CHECK_TOKENS, REASONED_TOKENS = 120, 240
CHAIN_TEXT, CRITERIA_TEXT, ANSWER_TEXT = 150, 220, 90
"""Tokens of a chain, of criteria and of an answer as part of a later prompt, without reasoning tokens."""


def estimate(plan: EvaluationPlan, sizes: Iterable[SampleSize], library: PromptLibrary) -> Estimate:
    """Return the estimated calls and tokens of a plan for samples of these sizes."""
    samples = list(sizes)
    options = plan.options
    frames = {name: frame_tokens(library, name) for name in plan.prompts}
    calls = (call for size in samples for call in _calls_of_sample(plan, options, size, frames))
    return total_estimate(calls, len(samples), items=len(samples) * plan.rows_per_sample)


def _calls_of_sample(
    plan: EvaluationPlan, options: GraphOptions, size: SampleSize, frames: Mapping[str, int]
) -> Iterator[ExpectedCalls]:
    steps = plan.steps_that_ask
    published = "_published" if plan.protocol == "published" else ""
    equivalence = frames.get("equivalence", 0) + size.text + size.reference * 2
    if "write_chain" in steps:
        solver = plan.judge_of("write_chain")
        input_tokens = frames["solver"] + size.text + size.images_for(solver) + size.reference
        yield ExpectedCalls(solver, 1, input_tokens, CHAIN_TOKENS, "write_chain")
        if plan.tools and size.images:
            yield from _looks(solver, input_tokens, plan.looks, step="write_chain")
    if "extract_criteria" in steps:
        extractor = plan.judge_of("extract_criteria")
        input_tokens = frames[f"criteria{published}"] + size.text + size.images_for(extractor) + CHAIN_TEXT
        yield ExpectedCalls(extractor, 1, input_tokens, CRITERIA_TOKENS, "extract_criteria")
    if "judge_criteria" in steps:
        input_tokens = frames["criteria_check"] + size.text + CHAIN_TEXT + CRITERIA_TEXT
        yield ExpectedCalls(plan.judge_of("judge_criteria"), 1, input_tokens, CHECK_TOKENS, "judge_criteria")
    if "judge_chain" in steps and size.reference:
        yield ExpectedCalls(plan.judge_of("judge_chain"), 1, equivalence, VERDICT_TOKENS, "judge_chain", True)
    for candidate in plan.candidates:
        for arm in plan.arms:
            if "answer" in steps and candidate in plan.asked:
                frame = frames["candidate_plain" if plan.ask == "plain" else "candidate"]
                pictures = 0 if arm else size.images_for(candidate)
                yield ExpectedCalls(candidate, plan.repeats, frame + size.text + pictures, ANSWER_TOKENS, "answer")
            if "score" in steps:
                frame = frames[scoring_prompt(published=options.published, reasons=options.reasons)]
                yield from scoring(plan.judge_of("score"), options, size, times=plan.repeats, frame=frame)
                if size.reference:
                    judge = plan.judge_of("score")
                    yield ExpectedCalls(judge, plan.repeats, equivalence, VERDICT_TOKENS, JUDGE_ANSWER, True)


def scoring(
    judge: ModelSpec, options: GraphOptions, size: SampleSize, *, times: int, frame: int = INSTRUCTION_TOKENS
) -> Iterator[ExpectedCalls]:
    """Yield the calls that score `times` answers by all criteria; `frame` is the bare prompt's length in tokens."""
    pictures = size.images_for(judge) if options.show_image or options.tools else 0
    sent = frame + size.text + CRITERIA_TEXT + ANSWER_TEXT + pictures
    yield ExpectedCalls(judge, times, sent, REASONED_TOKENS if options.reasons else SCORES_TOKENS, "score")
    if options.tools and size.images:
        yield from _looks(judge, sent, options.looks, times=times, step="score")


def _looks(spec: ModelSpec, input_tokens: int, looks: int, *, times: int = 1, step: str) -> Iterator[ExpectedCalls]:
    """Yield the calls of an ask with tools: every look may be another call that sends all earlier messages again."""
    for look in range(looks + 1):
        yield ExpectedCalls(spec, times, input_tokens + look * LOOK_TOKENS, LOOK_CALL_TOKENS, step)
