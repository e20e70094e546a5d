"""The request of a run of duels, its plan, its acceptance, and the estimate of its calls."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from dokimasia.agents import Ask
from dokimasia.agents.duel import (
    answer_described,
    answer_request,
    compare_responses,
    describe_images,
    say_what_to_observe,
    score_factuality,
)
from dokimasia.domain.call import STORED, ModelRef, ModelSpec, model_name
from dokimasia.domain.duel import (
    AGAIN,
    PLACES,
    REFERENCE,
    TEXT,
    CaseCriteria,
    Described,
    DuelOptions,
    FactualityBy,
    Instruction,
    Place,
    criteria_of,
    factuality_by,
    ground_truth_of,
    reference_response,
    task_of,
)
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import Response
from dokimasia.domain.options import Protocol, prompt_of_protocol
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import shortened
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.duel.elsewhere import Scores, read_scores
from dokimasia.people.passports import (
    BLIND_BELOW,
    PAIRWISE,
    BlindBelow,
    JudgeChoice,
    JudgeUse,
    Passports,
    chosen_judge,
    held,
)
from dokimasia.prompts import PromptLibrary, Rendered, render
from dokimasia.runs.estimate import (
    CHARACTERS_PER_TOKEN,
    Estimate,
    ExpectedCalls,
    frame_tokens,
    greedy_notes,
    size_of,
    total_estimate,
)
from dokimasia.runs.plans import (
    AnswerItem,
    AnswersPlan,
    AnyOrder,
    JudgedPlan,
    OutsideIdentity,
    model_identity,
    prompts_used,
    two_of_one_name,
)
from dokimasia.runs.requests import (
    JUDGE_HELP,
    RESPONSES_HELP,
    STORED_TOO,
    BlindArm,
    DataRequest,
    DataSets,
    Judge,
    Models,
    Option,
    Repeats,
)
from dokimasia.runs.responses import Responses, ResponsesFiles, candidates_of, check_no_blind_arm, read_answer_files
from dokimasia.runs.session import Accepted, Session, hash_of
from dokimasia.storage.results import ResultRow

ANSWER_TOKENS, JUDGED_TOKENS, OBSERVED_TOKENS = 700, 500, 60
PUBLISHED_TEMPERATURE, PUBLISHED_TOKENS = 0.0, 4096
"""Greedy decoding, and the maximum number of tokens of an answer (Creation-MMBench, section 4)."""

MOST_NAMED = 5
PLACEHOLDER_RESPONSES = ("(one answer)", "(the other answer)")

ResponsesByModel = dict[str, dict[str, tuple[Response, ...]]]
"""Existing answers, one per repeat, by model and sample."""

Sees = Literal["image", "text"]


class DuelRequest(DataRequest):
    """Compare models' answers to the cases of DATA with a baseline's: a judge sees each pair in both orders.

    In a line of DATA, `meta` may contain `criteria` (a text, or `subjective` and `factuality`), `task_name` and
    `ground_truth`. The same command continues interrupted duels, or prints their results. With several DATA, or a file
    of a suite, each data set is a run, and the board over them is printed.
    """

    VERB: ClassVar[str] = "duel"

    data: DataSets
    models: Models = Field(
        default=(), description=f"The models to compare with the baseline, separated by commas.{STORED_TOO}"
    )
    baseline: Judge = Field(description="A model, or `reference` for the reference answers of the data.")
    judge: Annotated[str | None, Option(models=True)] = Field(default=None, description=JUDGE_HELP)
    single: bool = Field(
        default=False, description="Judge in one order only, the model's answer before the baseline's."
    )
    noise_floor: bool = Field(
        default=False, description="Also compare a second, separately drawn answer of the baseline with its first."
    )
    factuality: FactualityBy = Field(
        default="text",
        description="What visual factuality is judged by: the ground truth, the images as well, or it is not asked. A case "
        "without a ground truth is judged by its images.",
    )
    judge_sees: Sees = Field(default="image", description="Whether the judge of the duels is shown the images.")
    protocol: Protocol = Field(
        default="default",
        description="published: as in the paper, without this project's departures (see docs/departures.md).",
    )
    repeats: Repeats = 1
    no_image: BlindArm = Field(default=False, description="Also ask every model without the image (arm NAME#blind).")
    describer: Annotated[str | None, Option(models=True)] = Field(
        default=None,
        description="Also ask every model by a description of the images that this model writes (arm NAME#text).",
    )
    descriptions: Instruction = Field(
        default="generic",
        description="What a description is asked for: all that an image shows, or that and what the request turns on.",
    )
    text_models: Models = Field(
        default=(), description="Language models that answer by the descriptions alone, separated by commas."
    )
    responses: ResponsesFiles = Field(default=(), description=f"Judge {RESPONSES_HELP}")
    scores: Annotated[Path | None, Option(exists=True, file=True)] = Field(
        default=None,
        description="Scores of the models elsewhere, to hold theirs against: model, rating and perhaps benchmark a line.",
    )
    passports: Passports = ()
    blind_below: BlindBelow = BLIND_BELOW
    choose_judge: JudgeChoice = ()


class DuelPlan(AnswersPlan, JudgedPlan):
    """The plan of duels; `baseline` is None if existing answers named `baseline_name` take its place.

    `text_models` are language models that answer from the `describer`'s descriptions alone; candidates then answer from
    the descriptions, too. `elsewhere` are scores of the models in other benchmarks. `given` are the ids of existing
    answers by model and sample, one per repeat; `given_hash` is their hash. Models with existing answers are not asked.
    """

    KIND: ClassVar[str] = "duel"

    baseline: ModelSpec | None
    baseline_name: str
    single: bool = False
    noise_floor: bool = False
    factuality: FactualityBy = "text"
    judge_sees: Sees = "image"
    protocol: Protocol = "default"
    describer: ModelSpec | None = None
    descriptions: Instruction = "generic"
    text_models: Annotated[tuple[ModelSpec, ...], AnyOrder] = ()
    given_hash: str | None = None
    elsewhere: Scores | None = None
    given: Annotated[dict[str, dict[str, tuple[str, ...]]], OutsideIdentity] = Field(default_factory=dict)

    @property
    def published(self) -> bool:
        """Whether the judge is asked, and models sampled, as in the paper."""
        return self.protocol == "published"

    @property
    def places(self) -> tuple[Place, ...]:
        """The orders in which the judge compares the answers."""
        if self.single:
            return PLACES[:1]
        return PLACES

    @property
    def _asked_candidates(self) -> tuple[ModelSpec, ...]:
        return tuple(spec for spec in self.candidates if spec.ref.name not in self.given)

    @property
    def answering(self) -> tuple[ModelSpec, ...]:
        """The models that answer with the images, the baseline last."""
        baseline = () if self.baseline is None else (self.baseline,)
        return (*self._asked_candidates, *baseline)

    @property
    def answering_described(self) -> tuple[ModelSpec, ...]:
        """The models that answer from a description of the images."""
        if self.describer is None:
            return ()
        return (*self._asked_candidates, *self.text_models)

    @property
    def models(self) -> dict[str, ModelSpec]:
        """All models that the run calls, by displayed name.

        Raises:
            ConfigError: two models with different settings have the same name.
        """
        models: dict[str, ModelSpec] = {}
        describer = () if self.describer is None else (self.describer,)
        for spec in (*self.answering, *self.answering_described, *describer, self.judge):
            if model_identity(models.setdefault(spec.ref.name, spec)) != model_identity(spec):
                raise two_of_one_name(spec)
        return models

    @property
    def options(self) -> DuelOptions:
        """The options of the graph."""
        return DuelOptions(
            judge=self.judge.ref.name,
            models=self.models,
            baseline=self.baseline_name,
            places=self.places,
            judge_sees=self.judge_sees,
            factuality=self.factuality,
            published=self.published,
            describer=model_name(self.describer) or "",
            descriptions=self.descriptions,
        )

    @property
    def per_sample(self) -> int:
        """Number of answers to a sample to compare with the baseline's."""
        return super().per_sample + (len(self.answering_described) + self.noise_floor) * self.repeats

    def items(self, sample_id: str) -> Iterator[AnswerItem]:
        """The answers to compare with the baseline's, in a fixed order; the baseline's second answer comes last."""
        yield from super().items(sample_id)
        arms = [(spec.ref.name, TEXT) for spec in self.answering_described]
        if self.noise_floor:
            arms.append((self.baseline_name, AGAIN))
        for name, arm in arms:
            for repeat in range(self.repeats):
                yield AnswerItem(f"{self.KIND}/{sample_id}/{name}/{arm}/{repeat}", name, arm, repeat)

    def opponent_of(self, row: ResultRow) -> str:
        """Return the name of the model that a result's answer was compared with."""
        return self.baseline_name

    def existing_response(self, model: str, sample_id: str, repeat: int) -> str | None:
        """Return the id of a model's existing answer; None if the model is asked. A reference has no repeats."""
        ids = self.given.get(model, {}).get(sample_id)
        if ids is None:
            return None
        return ids[0 if model == REFERENCE else repeat]


def check_request(request: DuelRequest) -> None:
    """Check that the options can be combined.

    Raises:
        ConfigError: options contradict each other; the message names them and a solution.
    """
    if request.baseline in request.models:
        raise ConfigError(
            f"--models names the baseline {request.baseline!r}, and its answer is no rival of itself: --noise-floor draws a "
            "second one"
        )
    if request.noise_floor and request.baseline == REFERENCE:
        raise ConfigError("--noise-floor draws a second answer of the baseline, and a reference answer cannot be drawn")
    if request.responses:
        check_no_blind_arm(request.no_image)
    if request.text_models and request.describer is None:
        raise ConfigError("--text-models answer by descriptions of the images: name who writes them with --describer")
    if overlap := sorted({*request.text_models} & {*request.models, request.baseline}):
        raise ConfigError(
            f"--text-models names {overlap[0]!r}, which is shown the images, too; with --describer every one of --models "
            "answers by the descriptions as well"
        )
    if request.responses and request.describer is not None and not request.text_models:
        raise ConfigError("--describer asks models anew, which --responses does not; name them with --text-models")
    if not (request.models or request.text_models or request.noise_floor) and not request.responses:
        raise ConfigError("name at least one model with --models, or existing answers with --responses FILE")


async def accept(request: DuelRequest, session: Session, *, sparse: bool = False) -> Accepted[DuelPlan]:
    """Validate a request, and return its plan, estimate and cases, with existing answers.

    With `sparse`, a case is kept if the files have answers of two of its models; the plan then lacks the other answers.

    Raises:
        InputError: data, answers, configuration or options are unusable.
    """
    check_request(request)
    prompt = prompt_of_protocol("duel_verdict", published=request.protocol == "published")
    judge_use = JudgeUse("comparison in pairs", PAIRWISE, prompt, one_order=request.single)
    choice = chosen_judge(request.judge, request.choose_judge, request.passports, session, judge_use)
    if choice.judge is None:
        raise ConfigError("name the judge with --judge, or several with --choose-judge and their passports")
    request = request.model_copy(update={"judge": choice.judge, "choose_judge": (), "passports": choice.passports})
    samples, skipped = await asyncio.to_thread(session.samples, request)
    if not samples:
        raise DataError(f"{request.data}: no case in it; duels need at least one line with id and prompt")
    responses = read_answer_files(request.responses, request.data)
    samples, unanswered = _answered_samples(request, responses, samples, sparse=sparse)
    criteria = [_checked_criteria(request, sample) for sample in samples]
    existing = _existing_responses(request, responses, samples, list(unanswered), sparse=sparse)
    candidates = _candidates(request, session, existing.responses)
    _check_images(request, samples)
    plan = _plan(request, session, samples, candidates, existing)
    if request.scores is not None:
        names = sorted({spec.ref.name for spec in (*plan.candidates, *plan.text_models)} | {plan.baseline_name})
        plan = plan.model_copy(update={"elsewhere": await asyncio.to_thread(read_scores, request.scores, names)})
    plan = plan.model_copy(update={"prompts": prompts_used(session.library, _prompt_names(plan, samples))})
    acceptance = Accepted(
        plan=plan,
        estimate=with_greedy_notes(expected_calls(plan, samples, criteria, session.library), plan),
        samples=samples,
        values=existing.values,
        skipped=[*skipped, *existing.left_out, *unanswered.values()],
        first=samples[0],
        request=request,
    )
    return await held(acceptance, request, session, judges=(plan.judge,), ways=(judge_use,), chosen=choice.why)


class ExistingResponses(NamedTuple):
    """Existing answers, their number per sample, and the omitted lines of their files."""

    responses: ResponsesByModel
    repeats: int
    left_out: list[str]

    @property
    def values(self) -> list[Response]:
        """All answers."""
        values: list[Response] = []
        for by_sample in self.responses.values():
            for repeats in by_sample.values():
                values += repeats
        return values

    @property
    def ids(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """The ids of the answers by model and sample."""
        ids: dict[str, dict[str, tuple[str, ...]]] = {}
        for model, by_sample in self.responses.items():
            ids[model] = {sample_id: tuple(map(value_id, repeats)) for sample_id, repeats in by_sample.items()}
        return ids


def _plan(
    request: DuelRequest,
    session: Session,
    samples: Sequence[Sample],
    candidates: tuple[ModelSpec, ...],
    existing: ExistingResponses,
) -> DuelPlan:
    ids = existing.ids
    return DuelPlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in samples]),
        limit=request.limit,
        seed=request.seed,
        judge=_sampled(request, session.model(request.judge or "")),
        candidates=candidates,
        baseline=None if request.baseline in ids else _sampled(request, session.model(request.baseline)),
        baseline_name=request.baseline,
        repeats=existing.repeats,
        no_image=request.no_image,
        single=request.single,
        noise_floor=request.noise_floor,
        factuality=request.factuality,
        judge_sees=request.judge_sees,
        protocol=request.protocol,
        describer=None if request.describer is None else _sampled(request, session.model(request.describer)),
        descriptions=request.descriptions,
        text_models=tuple(_sampled(request, spec) for spec in session.models(request.text_models, "--text-models")),
        given_hash=digest("given", [[model, by_sample] for model, by_sample in sorted(ids.items())]) if ids else None,
        given=ids,
        prompts={},
    )


def with_greedy_notes(estimate: Estimate, plan: DuelPlan) -> Estimate:
    """Return an estimate with notes on models that the published protocol samples greedily and this plan does not."""
    if plan.protocol != "published":
        return estimate
    notes = greedy_notes(plan.models.values(), "Creation-MMBench")
    return estimate.model_copy(update={"notes": (*estimate.notes, *notes)})


def _sampled(request: DuelRequest, spec: ModelSpec) -> ModelSpec:
    """Return a model with its sampling: greedy with 4,096 tokens as published, unless configured otherwise."""
    if request.protocol != "published":
        return spec
    configured = spec.sampling
    temperature = PUBLISHED_TEMPERATURE if configured.temperature is None else configured.temperature
    sampling = {"temperature": temperature, "max_tokens": configured.max_tokens or PUBLISHED_TOKENS}
    return spec.model_copy(update={"sampling": configured.model_copy(update=sampling)})


def _prompt_names(plan: DuelPlan, samples: Sequence[Sample]) -> list[str]:
    names = [prompt_of_protocol("duel_verdict", published=plan.published), "repair"]
    if any(factuality_by(sample, plan.factuality, published=plan.published) != "none" for sample in samples):
        names.append(prompt_of_protocol("duel_factuality", published=plan.published))
    if plan.answering:
        names.append("candidate_plain")
    if plan.answering_described:
        names += ["describe_images", "candidate_described"]
        if plan.descriptions == "specific":
            names.append("observe")
    return names


def _candidates(request: DuelRequest, session: Session, existing: ResponsesByModel) -> tuple[ModelSpec, ...]:
    """Return the models to compare with the baseline; the endpoint of those with existing answers is `file`."""
    if request.noise_floor and request.baseline in existing:
        raise ConfigError(
            f"--responses has the baseline's answers, so a second one cannot be drawn: leave out --noise-floor, or "
            f"the answers of {request.baseline}"
        )
    rivals = [name for name in dict.fromkeys([*request.models, *existing]) if name != request.baseline]
    if not (rivals or request.noise_floor or request.text_models):
        raise ConfigError("--responses has the answers of the baseline alone; name models with --models")
    candidates: list[ModelSpec] = []
    for name in rivals:
        if name in existing:
            candidates.append(ModelSpec(ref=ModelRef(name=name, model=name, endpoint=STORED)))
        else:
            candidates += [_sampled(request, spec) for spec in session.models([name], "--models")]
    return tuple(candidates)


def _check_images(request: DuelRequest, samples: Sequence[Sample]) -> None:
    without_images = [sample.id for sample in samples if not sample.images]
    if request.describer is not None and without_images:
        raise DataError(
            f"{request.data}: {len(without_images)} of {len(samples)} samples have no image to be described "
            f"({shortened(without_images, MOST_NAMED)}): leave them out, or --describer"
        )


def _checked_criteria(request: DuelRequest, sample: Sample) -> CaseCriteria:
    """Return a case's criteria, after checking the other fields read from its `meta`."""
    try:
        task_of(sample)
        ground_truth_of(sample)
        return criteria_of(sample)
    except DataError as problem:
        raise DataError(f"{request.data}: {problem}") from None


def _answered_samples(
    request: DuelRequest, responses: Responses | None, samples: list[Sample], *, sparse: bool
) -> tuple[list[Sample], dict[str, str]]:
    """Return the cases to judge, and the reasons why cases without an answer are left out.

    If every case would be left out, all are kept, so that the error names what each model lacks.
    """
    if responses is None or request.on_bad_sample == "fail":
        return samples, {}
    names = _models_in_files(request, responses)
    complete: list[Sample] = []
    left_out: dict[str, str] = {}
    for sample in samples:
        missing_models = [name for name in names if not _answered_by(responses, sample, name)]
        enough = sparse and len({*request.models, request.baseline}) - len(missing_models) > 1
        if missing_models and not enough:
            reason = f"sample {sample.id!r} is left out: no answer of {', '.join(missing_models)}"
            left_out[sample.id] = f"{responses.path}: {reason}"
        else:
            complete.append(sample)
    if complete:
        return (complete, left_out)
    return (samples, {})


def _answered_by(responses: Responses, sample: Sample, model: str) -> bool:
    return all((sample.id, model, repeat) in responses.given for repeat in range(responses.repeats))


def _models_in_files(request: DuelRequest, responses: Responses) -> list[str]:
    """Return the models whose answers come from the files: the named models, or all of them, and the baseline."""
    baseline = [request.baseline] if request.baseline in responses.models else []
    return list(dict.fromkeys([*responses.stored(request.models), *baseline]))


def _existing_responses(
    request: DuelRequest,
    responses: Responses | None,
    samples: Sequence[Sample],
    excluded: Sequence[str],
    *,
    sparse: bool,
) -> ExistingResponses:
    """Return the answers from files and references; `others` are samples that the run leaves out."""
    existing = ExistingResponses({}, request.repeats, [])
    if responses is not None:
        existing = _responses_of_files(request, responses, samples, excluded, sparse=sparse)
    if request.baseline == REFERENCE:
        lacking = [sample.id for sample in samples if not (sample.reference_text or "").strip()]
        if lacking:
            raise DataError(
                f"{request.data}: {len(lacking)} of {len(samples)} samples have no reference answer "
                f"({shortened(lacking, MOST_NAMED)}): add "
                "`reference_answer`, or name a model as --baseline"
            )
        existing.responses[REFERENCE] = {sample.id: (reference_response(sample),) for sample in samples}
    return existing


def _responses_of_files(
    request: DuelRequest, responses: Responses, samples: Sequence[Sample], excluded: Sequence[str], *, sparse: bool
) -> ExistingResponses:
    repeats = responses.repeats
    models = _models_in_files(request, responses)
    candidates = candidates_of(
        responses,
        request,
        models=models,
        samples=[sample.id for sample in samples],
        others=excluded,
        sparse=sparse,
        ask=lambda names: (),
    )
    lacks: list[str] = []
    for model in models:
        unanswered = [sample.id for sample in samples if not _answered_by(responses, sample, model)]
        if unanswered and not sparse:
            lacks.append(
                f"{model} has fewer than {repeats} answers (repeats from 0) to {shortened(unanswered, MOST_NAMED)}"
            )
    if lacks:
        raise DataError(
            f"{responses.path}: {'; '.join(lacks)}; every answer is held against one of the same repeat, so give as many "
            "of each"
        )
    existing: ResponsesByModel = {}
    for model in models:
        existing[model] = {
            sample.id: tuple(_response_of_file(responses, sample, model, repeat) for repeat in range(repeats))
            for sample in samples
            if not sparse or _answered_by(responses, sample, model)
        }
    return ExistingResponses(existing, repeats, candidates.left_out)


def _response_of_file(responses: Responses, sample: Sample, model: str, repeat: int) -> Response:
    text = responses.given[sample.id, model, repeat].text
    return Response(sample=sample.digest, model=model, repeat=repeat, text=text)


def expected_calls(
    plan: DuelPlan, samples: Sequence[Sample], criteria: Sequence[CaseCriteria], library: PromptLibrary
) -> Estimate:
    """Return the maximum number of calls and their tokens."""
    calls: list[ExpectedCalls] = []
    frames = {name: frame_tokens(library, name) for name in plan.prompts}
    for sample, case_criteria in zip(samples, criteria, strict=True):
        size = size_of(sample)
        for spec in plan.answering:
            arms = plan.arms
            if spec is plan.baseline:
                arms = ("",) * (1 + plan.noise_floor)
            for arm in arms:
                images = 0 if arm else size.images_for(spec)
                calls.append(ExpectedCalls(spec, plan.repeats, size.text + images, ANSWER_TOKENS, "answer"))
        if plan.describer is not None:
            described_tokens = len(sample.images) * ANSWER_TOKENS
            described = frames["describe_images"] + size.images_for(plan.describer)
            calls.append(ExpectedCalls(plan.describer, 1, described, described_tokens, "describe"))
            if plan.descriptions == "specific":
                input_tokens = frames["observe"] + size.text
                calls.append(ExpectedCalls(plan.describer, 1, input_tokens, OBSERVED_TOKENS, "describe"))
            described_case = frames["candidate_described"] + size.text + described_tokens
            for spec in plan.answering_described:
                calls.append(ExpectedCalls(spec, plan.repeats, described_case, ANSWER_TOKENS, "answer"))
        judgements = plan.per_sample * len(plan.places)
        for name, text, sees in (
            (prompt_of_protocol("duel_verdict", published=plan.published), case_criteria.subjective, plan.judge_sees),
            (
                prompt_of_protocol("duel_factuality", published=plan.published),
                case_criteria.factuality,
                factuality_by(sample, plan.factuality, published=plan.published),
            ),
        ):
            if sees == "none":
                continue
            input_tokens = frames[name] + size.text + 2 * ANSWER_TOKENS + len(text) // CHARACTERS_PER_TOKEN
            if sees == "image":
                input_tokens += size.images_for(plan.judge)
            calls.append(ExpectedCalls(plan.judge, judgements, input_tokens, JUDGED_TOKENS, name))
    return total_estimate(calls, len(samples), items=len(samples) * plan.per_sample)


def previews(plan: DuelPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts of candidates, describer and judge for a case, with placeholders for text that models write."""
    criteria = criteria_of(sample)
    asks: list[Ask[object]] = []  # Their replies have different types.
    if plan.answering:
        asks.append(answer_request(sample))
    if plan.answering_described and sample.images:
        if plan.descriptions == "specific":
            asks.append(say_what_to_observe(sample))
        described = Described(describer="", texts=("(what the images show)",))
        asks += [describe_images(sample), answer_described(sample, described)]
    published = plan.published
    sees = plan.judge_sees == "image"
    asks.append(compare_responses(sample, criteria, PLACEHOLDER_RESPONSES, sees=sees, published=published))
    scored_by = factuality_by(sample, plan.factuality, published=published)
    if scored_by != "none":
        sees = scored_by == "image"
        asks.append(score_factuality(sample, criteria, PLACEHOLDER_RESPONSES, sees=sees, published=published))
    return [render(ask.prompt, ask.inputs, images=ask.images, library=library) for ask in asks]
