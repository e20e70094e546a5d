"""The request of an audit, its plan, and its acceptance."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from dokimasia.domain.call import STORED, ModelSpec
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.options import GraphOptions, Protocol, scoring_prompt
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.domain.rubric import RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.methods.rubrics import RubricPlan, read_sets, sets_id, sets_of_run
from dokimasia.people.passports import BLIND_BELOW, BlindBelow, JudgeChoice, JudgeUse, Passports, chosen_judge, held
from dokimasia.report.figures import several
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Estimate, ExpectedCalls, size_of, total_estimate
from dokimasia.runs.plans import AnswersPlan, JudgedPlan, OutsideIdentity, as_configured, prompts_used
from dokimasia.runs.requests import (
    JUDGE_HELP,
    RESPONSES_HELP,
    STORED_TOO,
    BlindArm,
    DataRequest,
    DataSets,
    Models,
    Option,
    ProtocolChoice,
    Repeats,
    run_or_file,
)
from dokimasia.runs.responses import (
    ResponsesFiles,
    candidates_of,
    check_no_blind_arm,
    check_unchanged,
    read_answer_files,
    repeats_of,
)
from dokimasia.runs.session import Accepted, Session, hash_of
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.runs import Run

DESCRIPTION_TOKENS, RUBRIC_TOKENS, RESULT_TOKENS, REASONED_TOKENS = 900, 600, 260, 1000


def judge_use(protocol: Protocol, *, reasons: bool = False) -> JudgeUse:
    """Return what an audit uses its judge for, and the prompt it uses."""
    prompt = scoring_prompt("rubric_assessment", published=protocol == "published", reasons=reasons)
    return JudgeUse("judging by gated rubrics", ("gated",), prompt)


class AuditRequest(DataRequest):
    """Audit models on the images of DATA by gated rubrics: a description that fails one must-right rubric scores zero.

    A line of DATA needs only `id` and `image`; rubrics are found by the sample's name, else by its image. A file of
    rubrics needs no other run. With --responses, existing descriptions are audited and their models are not asked. The
    same command continues an interrupted audit, or prints its results. With several DATA, or a file of a suite, each
    data set is a run, and the board over them is printed.
    """

    VERB: ClassVar[str] = "audit"

    data: DataSets
    rubrics: Annotated[Path, Option(metavar="RUN|FILE", read=run_or_file, continues="rubrics")] = Field(
        description="A run that made rubrics, or a file of them."
    )
    models: Models = Field(default=(), description=f"The models to audit, separated by commas.{STORED_TOO}")
    judge: Annotated[str | None, Option(models=True)] = Field(default=None, description=JUDGE_HELP)
    repeats: Repeats = 1
    no_image: BlindArm = Field(default=False, description="Also ask every model without the image (arm NAME#blind).")
    show_image: bool = Field(default=False, description="Also show the judge the image.")
    reasons: bool = Field(default=False, description="Ask the judge for a one-sentence reason for each rubric.")
    prompt: Annotated[str | None, Option()] = Field(
        default=None, description="What the models are asked, in place of a full description."
    )
    responses: ResponsesFiles = Field(default=(), description=f"Audit {RESPONSES_HELP}")
    protocol: ProtocolChoice = "default"
    passports: Passports = ()
    blind_below: BlindBelow = BLIND_BELOW
    choose_judge: JudgeChoice = ()


class AuditPlan(AnswersPlan, JudgedPlan):
    """The plan of an audit; `rubrics` is a hash of the rubric sets' demands, and `sets` are their ids by sample.

    `reasons` says whether the judge gives a reason for each rubric; the prompt for reasons is in `prompts`.
    """

    KIND: ClassVar[str] = "audit"

    rubrics: str
    sets: Annotated[dict[str, str], OutsideIdentity]
    protocol: Protocol = "default"
    reasons: Annotated[bool, OutsideIdentity] = False

    @property
    def models(self) -> dict[str, ModelSpec]:
        """All models of the plan by displayed name; a model with existing answers may share the judge's name."""
        if not any(spec.ref.endpoint == STORED for spec in self.candidates):
            return super().models
        return {spec.ref.name: spec for spec in (*self.candidates, self.judge)}

    @property
    def options(self) -> GraphOptions:
        """The options of the graph."""
        return GraphOptions(
            judge=self.judge.ref.name,
            models=self.models,
            show_image=self.show_image,
            published=self.protocol == "published",
            reasons=self.reasons,
        )


class Material(NamedTuple):
    """The samples of an audit, each with its rubric set.

    `source` is the origin of the sets: the file, or the id of the run that made them. `missing` are the names of samples
    without rubrics. `pool` are the resolved names of the models whose responses chose the rubrics.
    """

    samples: list[Sample]
    sets: list[RubricSet]
    source: Path
    skipped: list[str]
    missing: list[str]
    pool: list[str]


async def accept(request: AuditRequest, session: Session) -> Accepted[AuditPlan]:
    """Validate a request, and return its plan, its estimate, and the samples with their rubrics.

    Raises:
        InputError: data, rubrics, configuration or options are unusable.
    """
    if request.reasons and request.protocol == "published":
        raise ConfigError("--reasons: as published the judge gives results alone; leave out --reasons or --protocol")
    use = judge_use(request.protocol, reasons=request.reasons)
    choice = chosen_judge(request.judge, request.choose_judge, request.passports, session, use)
    if choice.judge is None:
        raise ConfigError("name the judge with --judge, or several with --choose-judge and their passports")
    request = request.model_copy(update={"judge": choice.judge, "choose_judge": (), "passports": choice.passports})
    responses = read_answer_files(request.responses, request.data)
    if responses is not None:
        check_no_blind_arm(request.no_image)
    elif not request.models:
        raise ConfigError("name at least one model with --models, or existing descriptions with --responses FILE")
    material = await asyncio.to_thread(_material, request, session)
    candidates, left_out = candidates_of(
        responses,
        request,
        models=request.models,
        samples={sample.id for sample in material.samples},
        others=material.missing,
        ask=lambda names: session.models(names, "--models"),
    )
    if session.source_run is not None:
        resumable(session, session.source_run, session.source_run.plan_as(AuditPlan), request)
    plan = AuditPlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in material.samples]),
        limit=request.limit,
        seed=request.seed,
        judge=session.model(choice.judge),
        rubrics=sets_id(material.sets),
        sets={sample.id: value_id(rubrics) for sample, rubrics in zip(material.samples, material.sets, strict=True)},
        candidates=candidates,
        repeats=repeats_of(request.repeats, responses, candidates),
        no_image=request.no_image,
        show_image=request.show_image,
        responses=None if responses is None else responses.hash,
        protocol=request.protocol,
        reasons=request.reasons,
        prompts=prompts_used(session.library, ("candidate_plain", "repair", use.prompt)),
    )
    acceptance = Accepted(
        plan=plan,
        estimate=_expected(plan, material.samples),
        samples=material.samples,
        values=material.sets,
        skipped=[*material.skipped, *left_out],
        notes={"without_rubrics": material.missing, "pool": material.pool},
        request=request.model_copy(update={"rubrics": material.source}),
    )
    return await held(acceptance, request, session, judges=(plan.judge,), ways=(use,), chosen=choice.why)


def resumable(session: Session, run: Run, plan: AuditPlan, request: AuditRequest) -> None:
    """Check that the file of descriptions has not changed since the run was accepted.

    Raises:
        DataError: the file has changed.
    """
    check_unchanged(request.responses, request.data, plan.responses, run.id)


def models_to_ask(
    home: Home, run: Run, plan: AuditPlan, retry: Collection[FailureKind] = ()
) -> Mapping[str, ModelSpec]:
    """Return the models that an audit calls: the judge, and candidates without existing descriptions."""
    return {spec.ref.name: spec for spec in (*plan.asked, plan.judge)}


def rubric_sets(home: Home, plan: AuditPlan) -> dict[str, RubricSet]:
    """Return an audit's rubric sets by sample."""
    sets = find_values(home, RubricSet, plan.sets.values())
    return {sample: sets[id] for sample, id in plan.sets.items()}


def sets_for(
    samples: Sequence[Sample], sets: Sequence[RubricSet], source: str
) -> tuple[list[tuple[Sample, RubricSet]], list[str]]:
    """Return each sample with its rubric set, found by name or else by its images, and the names of samples without one.

    Samples without a set, such as those with a discarded review, are not audited.

    Raises:
        DataError: no sample has a set, or the set of a sample's name was made for another image.
    """
    by_name = {rubrics.sample_id: rubrics for rubrics in sets}
    by_images: dict[tuple[str, ...], list[RubricSet]] = {}
    for rubrics in sets:
        if rubrics.images:
            by_images.setdefault(rubrics.images, []).append(rubrics)
    matched: list[tuple[Sample, RubricSet]] = []
    unmatched: list[str] = []
    for sample in samples:
        images = tuple(image.sha256 for image in sample.images)
        by_id, same_images = by_name.get(sample.id), by_images.get(images, [])
        rubric_set: RubricSet | None = None
        if by_id is not None and (not by_id.images or by_id.images == images):
            rubric_set = by_id
        elif len(same_images) == 1:
            rubric_set = same_images[0]
        elif by_id is not None:
            raise DataError(
                f"{source}: the rubrics of sample {sample.id!r} were made for another image than the data has under that "
                "name; rubrics can only be used on the images that they were made for"
            )
        if rubric_set is None or not rubric_set.rubrics:
            unmatched.append(sample.id)
        else:
            matched.append((sample, rubric_set))
    if not matched:
        raise DataError(f"{source} has no rubrics for any of the {several(len(samples), 'sample')} of the data")
    return matched, unmatched


def _material(request: AuditRequest, session: Session) -> Material:
    if session.source_run is not None:
        return _of_fork(request, session, session.source_run)
    sets, source, names, pool = _sets(request, session)
    data_samples, skipped = session.samples(request.model_copy(update={"prompt": None}), need_prompt=False)
    prompt = request.prompt if request.prompt and request.prompt.strip() else DESCRIBE_REQUEST
    matched, unmatched = sets_for([sample.asked(prompt) for sample in data_samples], sets, names)
    samples, rubrics = [sample for sample, _ in matched], [rubrics for _, rubrics in matched]
    return Material(samples, rubrics, source, skipped, unmatched, pool_models(rubrics, pool, session.settings))


def _of_fork(request: AuditRequest, session: Session, forked: Run) -> Material:
    """Return the samples and rubric sets of the forked audit."""
    samples, skipped = session.samples(request)
    sets = rubric_sets(session.opened, forked.plan_as(AuditPlan))
    unmatched = forked.texts("without_rubrics")
    rubrics = [sets[sample.id] for sample in samples]
    return Material(samples, rubrics, request.rubrics, skipped, list(unmatched), forked.texts("pool"))


def pool_models(sets: Iterable[RubricSet], pool: Iterable[ModelSpec], settings: Settings) -> list[str]:
    """Return the resolved names of the models whose responses chose rubrics, in alphabetical order.

    Args:
        sets: the rubric sets, with the displayed names of their pools.
        pool: the pool of the run that made them; empty for sets from a file, whose names are resolved by the
            configuration.
        settings: the configuration.
    """
    resolved = {spec.ref.name: spec.ref.model for spec in pool}
    names = {name for rubrics in sets for name in rubrics.pool}
    for name in names - set(resolved):
        spec = as_configured(settings, name)
        resolved[name] = name if spec is None else spec.ref.model
    return sorted({resolved[name] for name in names})


def _sets(request: AuditRequest, session: Session) -> tuple[list[RubricSet], Path, str, tuple[ModelSpec, ...]]:
    """Return the rubric sets of the named file or run, their origin, a name for messages, and the run's pool."""
    path = request.rubrics
    if path.is_file():
        return read_sets(path), path, str(path), ()
    if path.suffix or len(path.parts) > 1:
        raise NotFound(f"{path}: there is no such file of rubrics")
    run = resolve_run(session.opened, str(path), of_method("rubrics", done=True))
    if run.status != "done":
        raise DataError(f"run {run.id} is {run.status}: finish its rubrics first (dokimasia resume {run.id})")
    return sets_of_run(session.opened, run), Path(run.id), f"run {run.id}", run.plan_as(RubricPlan).pool


def _expected(plan: AuditPlan, samples: Sequence[Sample]) -> Estimate:
    calls: list[ExpectedCalls] = []
    reply_tokens = REASONED_TOKENS if plan.reasons else RESULT_TOKENS
    for size in map(size_of, samples):
        judge_tokens = INSTRUCTION_TOKENS + RUBRIC_TOKENS + DESCRIPTION_TOKENS
        if plan.show_image:
            judge_tokens += size.images_for(plan.judge)
        for spec in plan.candidates:
            for arm in plan.arms:
                answer_tokens = size.text + (0 if arm else size.images_for(spec))
                if spec in plan.asked:
                    calls.append(ExpectedCalls(spec, plan.repeats, answer_tokens, DESCRIPTION_TOKENS, "answer"))
                calls.append(ExpectedCalls(plan.judge, plan.repeats, judge_tokens, reply_tokens, "judge"))
    return total_estimate(calls, len(samples), items=len(samples) * plan.per_sample)
