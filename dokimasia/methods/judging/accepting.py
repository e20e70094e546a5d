"""How a comparison of judging methods is accepted: data, responses and rankings read and held against each other."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dokimasia.agents.schemas import takes_schema
from dokimasia.datasets.rankings import GivenRanking, read_rankings, unknown_in
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import value_id
from dokimasia.domain.judging.judgements import HumanRanking, HumanRankings
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.judging.request import JudgingPlan, JudgingRequest, chosen_methods
from dokimasia.methods.judging.units import asked_methods, bases_of, count_items, ranked_models
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, SampleSize, added_up
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.responses import check_unchanged, files_text, read_given
from dokimasia.runs.session import Accepted, Entries, Session
from dokimasia.storage.runs import Run

Texts = dict[str, dict[str, str]]
"""Texts of responses by sample and model."""

PROMPTS: dict[str, tuple[str, ...]] = {
    "pointwise": ("pointwise",),
    "batch": ("batch_ranking",),
    "scan": ("scan_criteria", "scan_scores"),
    "atom-no-chain": ("criteria_no_chain",),
    "atom-no-decomposition": ("solver", "equivalence", "aspect_scores"),
}
FEWEST_AUXILIARY = 2
RESPONSE_TOKENS, CHAIN_TOKENS, CRITERIA_TOKENS, CHECK_TOKENS, SCORES_TOKENS, WORD_TOKENS = 300, 600, 400, 120, 60, 15


async def accept(request: JudgingRequest, session: Session) -> Accepted[JudgingPlan]:
    """Read and check everything that a comparison needs.

    Raises:
        InputError: data, files, configuration or options cannot be used.
    """
    methods = chosen_methods(request)
    if not request.judges:
        raise ConfigError("--judges names no judge")
    session.models(request.judges, "--judges")
    judges = tuple(map(session.judge, request.judges))
    responses = texts_of(request.responses)
    found = await asyncio.to_thread(session.entries, request)
    rankings = _rankings(request, found, responses)
    ranked = ranked_models(rankings.rankings)
    if not ranked:
        raise DataError(
            f"{request.rankings}: nobody ranks two responses to one sample of {request.data}, so there is no pair to compare"
        )
    auxiliary = _auxiliary(request, methods, ranked)
    plan = JudgingPlan(
        data=found.hash,
        limit=request.limit,
        seed=request.seed,
        judges=judges,
        methods=methods,
        responses=_hash(request.responses),
        auxiliary=auxiliary,
        rankings=value_id(rankings),
        orders=request.orders if "batch" in methods else 1,
        repeats=request.repeats,
        protocol=request.protocol,
        show_image=request.show_image,
        prompts=prompts_used(session.library, _prompts(methods, request.protocol, judges)),
    )
    sizes = {one.place.sample_id: one.size for one in found.known}
    asked = (one for sample, models in ranked.items() for one in _asked(plan, sizes[sample], len(models)))
    accepted = found.accepted(plan, added_up(asked, len(ranked), items=count_items(plan, ranked)))
    left = sum(place.sample_id not in ranked for place in found.places)
    return Accepted(
        plan=plan,
        estimate=accepted.estimate,
        places=accepted.places,
        skipped=accepted.skipped,
        first=accepted.first,
        values=(rankings,),
        notes={"without_rankings": left},
    )


def resumable(session: Session, run: Run, plan: JudgingPlan, request: JudgingRequest) -> None:
    """Check that the files of responses are those that the run was accepted with.

    Raises:
        DataError: one has changed.
    """
    check_unchanged(request.responses, plan.responses, run.id)
    check_unchanged(auxiliary_of(plan, request), plan.auxiliary, run.id)


def auxiliary_of(plan: JudgingPlan, request: JudgingRequest) -> tuple[Path, ...]:
    """Return the file of auxiliary responses that a comparison draws on, if it does."""
    return (request.auxiliary,) if plan.auxiliary and request.auxiliary is not None else ()


def texts_of(paths: Sequence[Path]) -> Texts:
    """Return the response of each model to each sample; nothing where no file is named.

    Raises:
        DataError: a file cannot be used, or a model has several responses to a sample, of which people ranked one.
    """
    responses, found = read_given(paths), Texts()
    for one in () if responses is None else responses.given.values():
        if one.repeat:
            raise DataError(
                f"{one.place}: {one.model} has several responses to sample {one.sample_id!r} (repeat {one.repeat}); keep "
                "the one that people ranked"
            )
        found.setdefault(one.sample_id, {})[one.model] = one.text
    return found


def _rankings(request: JudgingRequest, found: Entries, responses: Texts) -> HumanRankings:
    """Return what people said of the samples that are judged; with --limit, rankings of later samples are passed over."""
    samples = {place.sample_id: responses.get(place.sample_id, {}) for place in found.places}
    models = {model for one in samples.values() for model in one}

    def unknown(one: GivenRanking) -> Iterator[str]:
        if request.limit is None or one.sample_id in samples:
            yield from unknown_in(one, samples, models, responses=files_text(request.responses))

    given = [one for one in read_rankings(request.rankings, unknown=unknown) if one.sample_id in samples]
    return HumanRankings(
        rankings=tuple(
            HumanRanking(sample=one.sample_id, annotator=one.annotator, scores=dict(one.scores)) for one in given
        )
    )


def _auxiliary(request: JudgingRequest, methods: tuple[str, ...], ranked: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the hash of the auxiliary responses, checked to be of others than are judged, and enough of them."""
    if request.auxiliary is None or "scan" not in methods:
        return None
    texts = texts_of([request.auxiliary])
    judged = {model for models in ranked.values() for model in models}
    both = sorted(judged & {model for one in texts.values() for model in one})
    if both:
        raise ConfigError(
            f"--auxiliary: {', '.join(both)} {'is' if len(both) == 1 else 'are'} judged, too; scan draws its criteria from "
            f"models that are never judged: take them out of {request.auxiliary}"
        )
    few = [sample for sample in ranked if len(texts.get(sample, {})) < FEWEST_AUXILIARY]
    if few:
        named = ", ".join(few[:3]) + (", …" if len(few) > 3 else "")
        raise DataError(
            f"{request.auxiliary}: {len(few)} of {len(ranked)} samples have fewer than {FEWEST_AUXILIARY} responses to compare "
            f"({named}); add some, or leave scan out of --methods"
        )
    return _hash([request.auxiliary])


def _hash(paths: Sequence[Path]) -> str:
    found = read_given(paths)
    return "" if found is None else found.hash


def _prompts(methods: tuple[str, ...], protocol: str, judges: tuple[ModelSpec, ...]) -> set[str]:
    used = {"repair"} | {prompt for method in methods for prompt in PROMPTS.get(method, ())}
    atomic = {"atom", "atom-no-weights"} & set(methods)
    ours = protocol == "ours"
    if atomic:
        used |= {"solver", "equivalence", "criteria" if ours else "criteria_published"}
        used |= {"criteria_check"} if ours else set()
    if atomic or "atom-no-chain" in methods:
        used |= {"checkpoints" if ours else "checkpoints_published"}
    return used | ({"structured"} if any(map(takes_schema, judges)) else set())


def _asked(plan: JudgingPlan, size: SampleSize, responses: int) -> Iterator[Asking]:
    """Yield what the judges are asked of one sample, at most."""
    told = INSTRUCTION_TOKENS + size.text
    for judge in plan.judges:
        seen = told + size.images_for(judge)
        shown = seen if plan.show_image else told
        times = responses * plan.repeats
        bases, methods = bases_of(plan), asked_methods(plan)
        if "chain" in bases:
            yield Asking(judge, 2 if size.reference else 1, seen + size.reference, CHAIN_TOKENS)
            if size.reference:
                yield Asking(judge, 2, told + 2 * size.reference, WORD_TOKENS)
        if "criteria" in bases:
            yield Asking(judge, 2, seen + CHAIN_TOKENS, CRITERIA_TOKENS)
            if plan.protocol == "ours":
                yield Asking(judge, 2, told + CHAIN_TOKENS + CRITERIA_TOKENS, CHECK_TOKENS)
        if "chainless" in bases:
            yield Asking(judge, 2, seen + size.reference, CRITERIA_TOKENS)
        if "compared" in bases:
            yield Asking(judge, 1, seen + 3 * RESPONSE_TOKENS, CRITERIA_TOKENS)
        for method in methods:
            if method == "batch":
                yield Asking(judge, plan.orders, seen + responses * RESPONSE_TOKENS, WORD_TOKENS)
            elif method in ("pointwise", "scan"):
                more = CRITERIA_TOKENS if method == "scan" else 0
                yield Asking(judge, times, seen + more + RESPONSE_TOKENS, SCORES_TOKENS if more else WORD_TOKENS)
            else:
                more = CHAIN_TOKENS if method == "atom-no-decomposition" else CRITERIA_TOKENS
                yield Asking(judge, times, shown + more + RESPONSE_TOKENS, SCORES_TOKENS)
