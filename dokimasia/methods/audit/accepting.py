"""How an audit is accepted: its rubric sets and its data read, each sample with its set, and its models found."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.domain.rubric import RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.methods.audit.request import AuditPlan, AuditRequest
from dokimasia.methods.audit.results import rubric_sets
from dokimasia.methods.passports import JudgeUse, chosen_judge, held
from dokimasia.methods.rubrics import read_sets, sets_id, sets_of_run
from dokimasia.report.figures import several
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, added_up, size_of
from dokimasia.runs.method import Accepted
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.responses import candidates_of, check_no_blind_arm, check_unchanged, read_given
from dokimasia.runs.session import Session, hash_of
from dokimasia.storage.home import Home
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.runs import Run

WAY = JudgeUse("judging by gated rubrics", ("gated",), "rubric_assessment")

DESCRIPTION_TOKENS, RUBRIC_TOKENS, RESULT_TOKENS = 900, 350, 160


class Material(NamedTuple):
    """The samples as the models are asked about them, each with its rubric set.

    `source` is where the sets are from: the file, or the id of the run that made them. `missing` are the names of samples
    of the data without rubrics.
    """

    samples: list[Sample]
    sets: list[RubricSet]
    source: Path
    skipped: list[str]
    missing: list[str]


async def accept(request: AuditRequest, session: Session) -> Accepted[AuditPlan]:
    """Read data and rubrics, and find judge and models.

    Raises:
        InputError: data, rubrics, configuration or options cannot be used.
    """
    chosen = chosen_judge(request.judge, request.choose_judge, request.passports, session, WAY)
    if chosen.judge is None:
        raise ConfigError("name the judge with --judge, or several with --choose-judge and their passports")
    request = request.model_copy(update={"judge": chosen.judge, "choose_judge": (), "passports": chosen.passports})
    responses = read_given(request.responses)
    if not request.models and responses is None:
        raise ConfigError("name at least one model with --models, or descriptions that exist with --responses FILE")
    found = await asyncio.to_thread(_material, request, session)
    if responses is None:
        candidates, left_out = session.models(request.models, "--models"), []
    else:
        check_no_blind_arm(request.no_image)
        names = {sample.id for sample in found.samples}
        candidates, left_out = candidates_of(
            responses, request, models=request.models, samples=names, others=found.missing
        )
        if session.forked is not None:
            resumable(session, session.forked, AuditPlan.model_validate(session.forked.options["plan"]), request)
    plan = AuditPlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in found.samples]),
        limit=request.limit,
        seed=request.seed,
        judge=session.model(chosen.judge),
        rubrics=sets_id(found.sets),
        sets={sample.id: value_id(one) for sample, one in zip(found.samples, found.sets, strict=True)},
        candidates=candidates,
        repeats=request.repeats if responses is None else responses.repeats,
        no_image=request.no_image,
        show_image=request.show_image,
        responses=None if responses is None else responses.hash,
        prompts=prompts_used(session.library, ("candidate_plain", "repair", "rubric_assessment")),
    )
    accepted = Accepted(
        plan=plan,
        estimate=_expected(plan, found.samples),
        samples=found.samples,
        values=found.sets,
        skipped=[*found.skipped, *left_out],
        notes={"without_rubrics": found.missing},
        request=request.model_copy(update={"rubrics": found.source}),
    )
    return await held(accepted, request, session, judges=(plan.judge,), ways=(WAY,), chosen=chosen.why)


def resumable(session: Session, run: Run, plan: AuditPlan, request: AuditRequest) -> None:
    """Check that the file of descriptions is the one that the run was accepted with.

    Raises:
        DataError: it has changed.
    """
    check_unchanged(request.responses, plan.responses, run.id)


def reached(home: Home, run: Run, plan: AuditPlan, retry: Collection[FailureKind] = ()) -> Mapping[str, ModelSpec]:
    """Return the models that an audit has to reach: the judge alone where the descriptions exist already."""
    return plan.models if plan.responses is None else {plan.judge.ref.name: plan.judge}


def sets_for(
    samples: Sequence[Sample], sets: Sequence[RubricSet], source: str
) -> tuple[list[tuple[Sample, RubricSet]], list[str]]:
    """Return each sample with its rubric set (the one of its name, else the only one of its images), and who has none.

    A sample that has none, such as one whose review was discarded, is no part of the audit and is named.

    Raises:
        DataError: no sample has a set, or the set of a sample's name was made for another image.
    """
    by_name = {one.sample_id: one for one in sets}
    by_images: dict[tuple[str, ...], list[RubricSet]] = {}
    for one in sets:
        if one.images:
            by_images.setdefault(one.images, []).append(one)
    found: list[tuple[Sample, RubricSet]] = []
    missing: list[str] = []
    for sample in samples:
        images = tuple(image.sha256 for image in sample.images)
        named, same = by_name.get(sample.id), by_images.get(images, [])
        one: RubricSet | None = None
        if named is not None and (not named.images or named.images == images):
            one = named
        elif len(same) == 1:
            one = same[0]
        elif named is not None:
            raise DataError(
                f"{source}: the rubrics of sample {sample.id!r} were made for another image than the data has under that "
                "name; rubrics can only be used on the images that they were made for"
            )
        if one is None or not one.rubrics:
            missing.append(sample.id)
        else:
            found.append((sample, one))
    if not found:
        raise DataError(f"{source} has no rubrics for any of the {several(len(samples), 'sample')} of the data")
    return found, missing


def _material(request: AuditRequest, session: Session) -> Material:
    if session.forked is not None:
        return _of_fork(request, session, session.forked)
    sets, source, named = _sets(request, session)
    read, skipped = session.samples(request.model_copy(update={"prompt": None}), need_prompt=False)
    wanted = request.prompt if request.prompt and request.prompt.strip() else DESCRIBE_REQUEST
    found, missing = sets_for([sample.asked(wanted) for sample in read], sets, named)
    return Material([sample for sample, _ in found], [one for _, one in found], source, skipped, missing)


def _of_fork(request: AuditRequest, session: Session, forked: Run) -> Material:
    """Return the samples and rubric sets of the audit that is forked."""
    samples, skipped = session.samples(request)
    sets = rubric_sets(session.opened, AuditPlan.model_validate(forked.options["plan"]))
    missing: Any = forked.options["without_rubrics"]
    return Material(samples, [sets[sample.id] for sample in samples], request.rubrics, skipped, list(missing))


def _sets(request: AuditRequest, session: Session) -> tuple[list[RubricSet], Path, str]:
    """Return the rubric sets that the user names, a file before a run, where they are from, and what to call them."""
    path = request.rubrics
    if path.is_file():
        return read_sets(path), path, str(path)
    if path.suffix or len(path.parts) > 1:
        raise NotFound(f"{path}: there is no such file of rubrics")
    run = resolve_run(session.opened, str(path), of_method("rubrics", done=True))
    if run.status != "done":
        raise DataError(f"run {run.id} is {run.status}: finish its rubrics first (dokimasia resume {run.id})")
    return sets_of_run(session.opened, run), Path(run.id), f"run {run.id}"


def _expected(plan: AuditPlan, samples: Sequence[Sample]) -> Estimate:
    asked: list[Asking] = []
    for size in map(size_of, samples):
        judged = (
            INSTRUCTION_TOKENS
            + RUBRIC_TOKENS
            + DESCRIPTION_TOKENS
            + (size.images_for(plan.judge) if plan.show_image else 0)
        )
        for spec in plan.candidates:
            for arm in plan.arms:
                sent = size.text + (0 if arm else size.images_for(spec))
                if plan.responses is None:
                    asked.append(Asking(spec, plan.repeats, sent, DESCRIPTION_TOKENS))
                asked.append(Asking(plan.judge, plan.repeats, judged, RESULT_TOKENS))
    return added_up(asked, len(samples), items=len(samples) * plan.per_sample)
