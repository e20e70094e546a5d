"""How duels are accepted: the cases with their criteria, the answers that exist, models, baseline and judge."""

import asyncio
from collections.abc import Collection, Sequence

from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.duel import REFERENCE, CaseCriteria, criteria_of, factuality_by, ground_truth_of, task_of
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.judgement import Response
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.duel.request import DuelPlan, DuelRequest, check_request
from dokimasia.methods.passports import PAIRWISE, JudgeUse, chosen_judge, held
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.estimate import CHARACTERS_PER_TOKEN, Asking, Estimate, added_up, frame_tokens, size_of
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.responses import candidates_of, read_given
from dokimasia.runs.session import Accepted, Session, hash_of

ANSWER_TOKENS, JUDGED_TOKENS, OBSERVED_TOKENS = 700, 500, 60

Given = dict[str, dict[str, tuple[Response, ...]]]
"""Answers that exist, one a repeat, by model and sample."""


async def accept(request: DuelRequest, session: Session) -> Accepted[DuelPlan]:
    """Read the cases and the answers that exist, and find the models.

    Raises:
        InputError: data, answers, configuration or options cannot be used.
    """
    check_request(request)
    way = JudgeUse("comparison in pairs", PAIRWISE, "duel_verdict", one_order=request.single)
    chosen = chosen_judge(request.judge, request.choose_judge, request.passports, session, way)
    if chosen.judge is None:
        raise ConfigError("name the judge with --judge, or several with --choose-judge and their passports")
    request = request.model_copy(update={"judge": chosen.judge, "choose_judge": (), "passports": chosen.passports})
    samples, skipped = await asyncio.to_thread(session.samples, request)
    if not samples:
        raise DataError(f"{request.data}: no case in it; duels need at least one line with id and prompt")
    samples, unanswered = _answered(request, samples)
    criteria = [_checked(request, sample) for sample in samples]
    given, repeats, left_out = _given(request, samples, [sample.id for sample, _ in unanswered])
    left_out += [said for _, said in unanswered]
    if request.noise_floor and request.baseline in given:
        raise ConfigError(
            f"--responses has the baseline's answers, so a second one cannot be drawn: leave out --noise-floor, or "
            f"the answers of {request.baseline}"
        )
    rivals = [name for name in request.models or given if name != request.baseline]
    if not (rivals or request.noise_floor or request.text_models):
        raise ConfigError("--responses has the answers of the baseline alone; name models with --models")
    candidates = tuple(
        ModelSpec(ref=ModelRef(name=name, model=name, endpoint="file"))
        if name in given
        else session.models([name], "--models")[0]
        for name in rivals
    )
    unseen = [sample.id for sample in samples if not sample.images]
    if request.describer is not None and unseen:
        raise DataError(
            f"{request.data}: {len(unseen)} of {len(samples)} samples have no image to be described ({_some(unseen)}): leave "
            "them out, or --describer"
        )
    kept = [one for by_sample in given.values() for several in by_sample.values() for one in several]
    ids = {model: {id: tuple(map(value_id, several)) for id, several in one.items()} for model, one in given.items()}
    factuality = any(factuality_by(sample, request.factuality) != "none" for sample in samples)
    names = ["duel_verdict", "repair", *(["duel_factuality"] if factuality else [])]
    plan = DuelPlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in samples]),
        limit=request.limit,
        seed=request.seed,
        judge=session.model(chosen.judge),
        candidates=candidates,
        baseline=None if request.baseline in given else session.model(request.baseline),
        baseline_name=request.baseline,
        repeats=repeats,
        no_image=request.no_image,
        single=request.single,
        noise_floor=request.noise_floor,
        factuality=request.factuality,
        judge_sees=request.judge_sees,
        describer=None if request.describer is None else session.model(request.describer),
        descriptions=request.descriptions,
        text_models=session.models(request.text_models, "--text-models") if request.text_models else (),
        given_hash=digest("given", [[model, one] for model, one in sorted(ids.items())]) if ids else None,
        given=ids,
        prompts={},
    )
    if plan.asked:
        names.append("candidate_plain")
    if plan.described:
        names += ["describe", "candidate_described", *(["observe"] if plan.descriptions == "specific" else [])]
    plan = plan.model_copy(update={"prompts": prompts_used(session.library, names)})
    estimate = _expected(plan, samples, criteria, session.library)
    left_out = [*skipped, *left_out]
    accepted = Accepted(
        plan=plan, estimate=estimate, samples=samples, values=kept, skipped=left_out, first=samples[0], request=request
    )
    return await held(accepted, request, session, judges=(plan.judge,), ways=(way,), chosen=chosen.why)


def _checked(request: DuelRequest, sample: Sample) -> CaseCriteria:
    """Return a case's criteria; what else is read of its `meta` is checked, too."""
    try:
        task_of(sample)
        ground_truth_of(sample)
        return criteria_of(sample)
    except DataError as problem:
        raise DataError(f"{request.data}: {problem}") from None


def _answered(request: DuelRequest, samples: list[Sample]) -> tuple[list[Sample], list[tuple[Sample, str]]]:
    """Return the cases that are judged, and those that are left out, as was asked, for want of an answer, with why.

    Where every case would be left out, none is, so that what each model lacks is said.
    """
    responses = read_given(request.responses)
    if responses is None or request.on_bad_sample == "fail":
        return samples, []
    of_files = {model for _, model, _ in responses.given}
    wanted = _of_files(request, of_files) or sorted(of_files)
    kept: list[Sample] = []
    unanswered: list[tuple[Sample, str]] = []
    for one in samples:
        lacking = [
            name for name in wanted if any((one.id, name, n) not in responses.given for n in range(responses.repeats))
        ]
        if lacking:
            unanswered.append(
                (one, f"{responses.path}: sample {one.id!r} is left out: no answer of {', '.join(lacking)}")
            )
        else:
            kept.append(one)
    return (kept, unanswered) if kept else (samples, [])


def _of_files(request: DuelRequest, of_files: Collection[str]) -> list[str]:
    """Return the models that the request names whose answers the files have to have; none where it takes all of them."""
    return [*request.models, *({request.baseline} & {*of_files})] if request.models else []


def _given(request: DuelRequest, samples: Sequence[Sample], others: Sequence[str]) -> tuple[Given, int, list[str]]:
    """Return the answers that exist, of the file that is named and of the reference; how many repeats; what was left out."""
    given: Given = {}
    repeats, left_out = request.repeats, list[str]()
    responses = read_given(request.responses)
    if responses is not None:
        repeats = responses.repeats
        own = _of_files(request, {model for _, model, _ in responses.given})
        found = candidates_of(responses, request, models=own, samples=[one.id for one in samples], others=others)
        left_out = found.left_out
        lacks: list[str] = []
        for model in (spec.ref.name for spec in found.models):
            lacking = [
                one.id for one in samples if not all((one.id, model, n) in responses.given for n in range(repeats))
            ]
            if lacking:
                lacks.append(f"{model} has fewer than {repeats} answers (repeats from 0) to {_some(lacking)}")
        if lacks:
            raise DataError(
                f"{responses.path}: {'; '.join(lacks)}; every answer is held against one of the same repeat, so give as many "
                "of each"
            )
        for model in (spec.ref.name for spec in found.models):
            given[model] = {
                sample.id: tuple(
                    Response(
                        sample=sample.digest, model=model, repeat=n, text=responses.given[sample.id, model, n].text
                    )
                    for n in range(repeats)
                )
                for sample in samples
            }
    if request.baseline == REFERENCE:
        lacking = [sample.id for sample in samples if not (sample.reference_text or "").strip()]
        if lacking:
            raise DataError(
                f"{request.data}: {len(lacking)} of {len(samples)} samples have no reference answer ({_some(lacking)}): add "
                "`reference_answer`, or name a model as --baseline"
            )
        given[REFERENCE] = {
            sample.id: (Response(sample=sample.digest, model=REFERENCE, text=sample.reference_text or ""),)
            for sample in samples
        }
    return given, repeats, left_out


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _expected(
    plan: DuelPlan, samples: Sequence[Sample], criteria: Sequence[CaseCriteria], library: PromptLibrary
) -> Estimate:
    asked: list[Asking] = []
    frames = {name: frame_tokens(library, name) for name in plan.prompts}
    for sample, one in zip(samples, criteria, strict=True):
        size = size_of(sample)
        for spec in plan.asked:
            own_arms = plan.arms if spec is not plan.baseline else ("",) * (1 + plan.noise_floor)
            for arm in own_arms:
                sent = size.text + (0 if arm else size.images_for(spec))
                asked.append(Asking(spec, plan.repeats, sent, ANSWER_TOKENS))
        if plan.describer is not None:
            images = len(sample.images)
            sent = frames["describe"] + size.images_for(plan.describer) // images
            asked.append(Asking(plan.describer, images, sent, ANSWER_TOKENS))
            if plan.descriptions == "specific":
                asked.append(Asking(plan.describer, 1, frames["observe"] + size.text, OBSERVED_TOKENS))
            told = frames["candidate_described"] + size.text + images * ANSWER_TOKENS
            asked += [Asking(spec, plan.repeats, told, ANSWER_TOKENS) for spec in plan.described]
        shown = size.text + 2 * ANSWER_TOKENS
        seen = size.images_for(plan.judge)
        calls = plan.per_sample * len(plan.places)
        for name, text, sees in (
            ("duel_verdict", one.subjective, plan.judge_sees),
            ("duel_factuality", one.factuality, factuality_by(sample, plan.factuality)),
        ):
            if sees != "none":
                sent = frames[name] + shown + len(text) // CHARACTERS_PER_TOKEN + (seen if sees == "image" else 0)
                asked.append(Asking(plan.judge, calls, sent, JUDGED_TOKENS))
    return added_up(asked, len(samples), items=len(samples) * plan.per_sample)
