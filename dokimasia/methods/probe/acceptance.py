"""Acceptance of a probe: reading perturbations, resolving judges, and estimating calls; and previews of its prompts."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dokimasia.agents import Ask
from dokimasia.agents.asking import rendered_asks
from dokimasia.agents.blindspots import (
    Judged,
    compare_answers,
    prompt_of,
    read_justification,
    score_answer,
    write_reference,
)
from dokimasia.agents.evaluation import (
    PLACEHOLDER_CRITERIA,
    criteria_previews,
    judge_equivalence,
    score_criteria,
    write_chain,
)
from dokimasia.agents.rubrics import assess_response, write_must_right
from dokimasia.agents.schemas import takes_schema
from dokimasia.algorithms.criteria import COUNT, counted
from dokimasia.domain.blindspots import IN_USE, PUBLISHED, Evaluator, Probe, Task, paradigm_of
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.density import DOMAINS, domain_of
from dokimasia.domain.identity import value_id
from dokimasia.domain.options import LOOKS
from dokimasia.domain.rubric import Rubric, RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import has_or_have, shortened
from dokimasia.errors import ConfigError
from dokimasia.methods.probe.perturbations import probes_of
from dokimasia.methods.probe.request import (
    Arm,
    ProbePlan,
    ProbeRequest,
    check_budgets,
    choose_evaluators,
    with_budgets,
)
from dokimasia.methods.probe.units import (
    READ,
    Gold,
    changes_final_answer,
    count_items,
    golds_of,
    judged_probes,
    padded_probes,
    planted,
    probes_asked,
    probes_by_sample,
    stored_probes,
    to_store,
    unjudged_probes,
)
from dokimasia.people.passports import material_note
from dokimasia.prompts import PromptLibrary, Rendered
from dokimasia.prompts.dimensions import error_dimensions, error_dimensions_id
from dokimasia.runs.estimate import (
    CHARACTERS_PER_TOKEN,
    INSTRUCTION_TOKENS,
    Estimate,
    ExpectedCalls,
    SampleSize,
    greedy_notes,
    size_of,
    total_estimate,
)
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.samples import part_of
from dokimasia.runs.session import Accepted, Session, hash_of, skipped_entries
from dokimasia.storage.memory import MemoryBlobs
from dokimasia.storage.runs import load_samples
from dokimasia.tools.registry import select_tools

ITEMS = "items.jsonl"
"""Name of the file in a folder of perturbations."""

WHY_LEFT_OUT = {
    "incorrect": "people found them incorrect",
    "not_relevant": "people found them not relevant",
    "gold_wrong": "people found the gold answer itself wrong",
    "not_sure": "people were not sure of them",
    "undecided": "nobody has decided on them (--unchecked takes them as they were meant)",
    "valid_of_neutral": "people found harm in what was meant to be harmless",
}
"""Reasons why perturbations are left out, by label."""

REFERENCE_TEMPERATURE = 1.0
"""The default temperature for writing new references."""

PROMPTS_IN_USE: dict[str, tuple[str, ...]] = {
    "checkpoints": ("solver", "equivalence", "criteria", "criteria_check", "checkpoints"),
    "gated": (
        *(f"must_right_{domain}" for domain in DOMAINS),
        "domain",
        "easy_wrong",
        "rubric_repair",
        "rubric_assessment",
    ),
    "right-or-wrong": ("equivalence",),
}
"""The prompts of `evaluate` and `audit`, by the evaluator that uses them."""

FRAME_TOKENS = 700
"""Tokens of a published evaluator's prompt, including axes and levels."""
JUDGEMENT_TOKENS, READING_TOKENS, WORD_TOKENS = 300, 40, 60
CHAIN_TOKENS, CRITERIA_TOKENS, CHECK_TOKENS, RUBRIC_TOKENS = 600, 400, 120, 500
LOOK_TOKENS, LOOK_CALL_TOKENS = 1500, 60


class ProbeMaterial(NamedTuple):
    """The material of a probe: samples in order, the probes of each, and what was left out and why."""

    samples: list[Sample]
    probes: list[Probe]
    skipped: list[str]
    request: ProbeRequest


async def accept(request: ProbeRequest, session: Session) -> Accepted[ProbePlan]:
    """Validate a request, and return its plan, its estimate, and the samples with their probes.

    Raises:
        InputError: the perturbations, the configuration or the options are unusable.
    """
    if not request.judges:
        raise ConfigError("--judges names no judge")
    session.models(request.judges, "--judges")
    choose_evaluators(request.evaluators, ())  # Invalid options are reported before the data are read.
    check_budgets(request.budgets)
    tools = select_tools(request.tools)
    material = await asyncio.to_thread(_material, request, session)
    perturbations = planted(material.probes)
    tasks: list[Task] = sorted({probe.item.task for probe in material.probes})
    evaluators = choose_evaluators(request.evaluators, tasks)
    note = ""
    if request.for_verdict:
        images = len({probe.cluster for probe in perturbations if not probe.neutral})
        note = material_note(images, str(request.data))
    if request.new_references is not None and "reference" not in evaluators:
        raise ConfigError(
            "--new-references are for the evaluator `reference`, which --evaluators does not name: add it, or leave them out"
        )
    if evaluators == ("right-or-wrong",) and not any(changes_final_answer(probe.item) for probe in perturbations):
        raise ConfigError(
            f"--evaluators: right-or-wrong judges final answers alone, and none of the {len(perturbations)} perturbations "
            "changes one: name an evaluator that judges the whole answer, such as single-axes or pairwise-axes"
        )
    judges = [session.judge(name) for name in request.judges]
    reader = None if request.reader is None else session.judge(request.reader)
    in_use: tuple[ModelSpec, ...] = with_budgets(
        judges, request.budgets, published=False, temperature=request.temperature
    )
    plan = ProbePlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in material.samples]),
        limit=request.limit,
        seed=request.seed,
        probes=value_id(to_store(material.probes)),
        judges=with_budgets(
            judges, request.budgets, published=request.sampling == "published", temperature=request.temperature
        ),
        in_use=in_use if set(evaluators) & set(IN_USE) else (),
        evaluators=evaluators,
        retests=request.retests,
        reader=reader,
        budgets=request.budgets,
        writer=_writer(session, request.new_references),
        tools=tools,
        looks=request.looks if tools else LOOKS,
        dimensions={task: error_dimensions_id(task) for task in tasks},
        prompts={},
    )
    asked_by_schema = [*judges, reader] if reader is not None else judges
    prompts = prompts_of(plan, structured=any(map(takes_schema, asked_by_schema)))
    plan = plan.model_copy(update={"prompts": prompts_used(session.library, prompts)})
    items = {value_id(probe.item): probe.item for probe in material.probes}
    expected = estimate(plan, material.samples, probes_by_sample(material.probes), session.library)
    if note:
        expected = expected.model_copy(update={"notes": (note, *expected.notes)})
    return Accepted(
        plan=plan,
        estimate=expected,
        data_name=material.request.data.name,
        samples=material.samples,
        values=[*items.values(), to_store(material.probes)],
        skipped=material.skipped,
        first=material.samples[0],
        request=material.request,
    )


def _material(request: ProbeRequest, session: Session) -> ProbeMaterial:
    """Return the material from a file, a run of `perturb`, or the forked probe."""
    if session.source_run is not None:
        plan = session.source_run.plan_as(ProbePlan)
        samples = list(load_samples(session.opened, session.source_run.id))
        return ProbeMaterial(samples, stored_probes(session.opened, plan), skipped_entries(session.source_run), request)
    source = request.data
    if (source / ITEMS).is_file():
        source /= ITEMS
    blobs = MemoryBlobs() if session.dry or session.home is None else session.home.blobs
    perturbations = probes_of(source, session.home, task=request.task, unchecked=request.unchecked, blobs=blobs)
    samples = list(perturbations.samples.values())
    selection = part_of(samples, limit=request.limit, subsample=request.subsample, seed=request.seed)
    samples = [sample for sample in samples if sample.id in selection]
    digests = {sample.digest for sample in samples}
    probes = [probe for probe in perturbations.probes if probe.item.sample in digests]
    if request.padded:
        probes += [*padded_probes(probes)]
    if perturbations.run:
        request = request.model_copy(update={"data": Path(perturbations.run)})
    skipped: list[str] = []
    for label, count in perturbations.left_out.items():
        subject = "perturbation does" if count == 1 else "perturbations do"
        skipped.append(f"{count} {subject} not enter: {WHY_LEFT_OUT.get(label, label)}")
    return ProbeMaterial(samples, probes, skipped, request)


def _writer(session: Session, name: str | None) -> ModelSpec | None:
    """Return the writer of new references, whose temperature differs from the judges'."""
    if name is None:
        return None
    spec = replace(session, sampling={}).model(name)  # Its references must differ, whatever the judges' sampling.
    if spec.sampling.temperature is not None:
        return spec
    return spec.model_copy(update={"sampling": spec.sampling.model_copy(update={"temperature": REFERENCE_TEMPERATURE})})


def prompts_of(plan: ProbePlan, *, structured: bool) -> set[str]:
    """Return the names of the prompts of a probe; `structured` says whether some replies follow a schema."""
    names = {"repair"}
    for evaluator in plan.evaluators:
        if evaluator in PUBLISHED:
            names.update(prompt_of(evaluator, task) for task in plan.dimensions)
        else:
            names.update(PROMPTS_IN_USE[evaluator])
    if structured:
        names.add("structured")
    if plan.tools:
        names.add("looking")
    if plan.reader is not None:
        names.add("justification")
    if plan.writer is not None and "image-to-text" in plan.dimensions:
        names.add("new_reference")
    return names


def estimate(
    plan: ProbePlan, samples: Sequence[Sample], probes: Mapping[str, Sequence[Probe]], library: PromptLibrary
) -> Estimate:
    """Return an upper estimate of a probe's calls and tokens.

    Its notes mention what the number of items does not show: calls for the judges' criteria and for looks, and gold
    answers that are too short for their dimension.
    """
    calls: list[ExpectedCalls] = []
    for sample in samples:
        calls += _calls_of_sample(plan, sample, golds_of(probes[sample.id]))
    total = total_estimate(calls, len(samples), items=count_items(plan, probes))
    return total.model_copy(update={"notes": tuple(_notes(plan, probes))})


def _notes(plan: ProbePlan, probes: Mapping[str, Sequence[Probe]]) -> Iterator[str]:
    all_probes = planted(probe for group in probes.values() for probe in group)
    for evaluator, count in unjudged_probes(plan.evaluators, all_probes).items():
        yield (
            f"{evaluator} judges final answers alone, which {count} of the {len(all_probes)} perturbations leave as they are: "
            "it is not asked about these"
        )
    short = list(_too_short(all_probes))
    if short:
        names = shortened(short, 3)
        yield (
            f"{len(short)} of the gold answers {has_or_have(len(short))} too few words for their dimension, "
            f"which cannot work on them: {names}"
        )
    if set(plan.evaluators) - set(IN_USE):
        yield from greedy_notes(plan.judges, "FOCUS")
    if plan.tools:
        yield "with tools every look that --looks allows is counted, so most of these calls may never be sent"
    with_criteria = [name for name in plan.evaluators if name in IN_USE and name != "right-or-wrong"]
    if with_criteria:
        yield (
            f"for {' and '.join(with_criteria)} every judge first makes criteria of its own, which is part of the calls"
        )


def _too_short(probes: Iterable[Probe]) -> Iterator[str]:
    """Yield the sample and the dimension of each probe whose gold answer has too few words for the dimension."""
    for probe in probes:
        item = probe.item
        dimension = error_dimensions(item.task).get(item.dimension)
        if item.gold and dimension is not None and len(item.gold.split()) < dimension.least_words:
            yield f"{item.sample_id} ({dimension.name})"


def _calls_of_sample(plan: ProbePlan, sample: Sample, golds: Sequence[Gold]) -> Iterator[ExpectedCalls]:
    size = size_of(sample)
    if plan.writer is not None:
        yield ExpectedCalls(
            plan.writer, 1, INSTRUCTION_TOKENS + size.text + size.images_for(plan.writer), JUDGEMENT_TOKENS
        )
    for arm in plan.arms:
        for evaluator, _ in plan.evaluators_of(arm):
            yield from _calls_of_basis(arm, evaluator, size, golds)
            for gold in golds:
                yield from _calls_of_gold(plan, arm, evaluator, size, gold)


def _calls_of_basis(arm: Arm, evaluator: Evaluator, size: SampleSize, golds: Sequence[Gold]) -> Iterator[ExpectedCalls]:
    """Yield the calls for criteria or rubrics; an arm with tools reuses those of the arm without."""
    judge = arm.in_use
    if judge is None or arm.tools:
        return
    input_tokens = INSTRUCTION_TOKENS + size.text + size.images_for(judge)
    if evaluator == "checkpoints":
        yield ExpectedCalls(judge, 2 if size.reference else 1, input_tokens + size.reference, CHAIN_TOKENS)
        yield ExpectedCalls(judge, 2 if size.reference else 0, INSTRUCTION_TOKENS + 2 * size.reference, WORD_TOKENS)
        yield ExpectedCalls(judge, 2, input_tokens + CHAIN_TOKENS, CRITERIA_TOKENS)
        yield ExpectedCalls(judge, 2, INSTRUCTION_TOKENS + size.text + CHAIN_TOKENS + CRITERIA_TOKENS, CHECK_TOKENS)
    elif evaluator == "gated":
        for gold in golds:
            yield ExpectedCalls(judge, 4, input_tokens + _tokens_of(gold), RUBRIC_TOKENS)


def _calls_of_gold(
    plan: ProbePlan, arm: Arm, evaluator: Evaluator, size: SampleSize, gold: Gold
) -> Iterator[ExpectedCalls]:
    """Yield the calls for a gold answer, its perturbations and its padded answers: one per judgement, two per pair."""
    probes = judged_probes(evaluator, gold)
    if not probes:
        return
    judge = arm.spec_for(evaluator)
    input_tokens = FRAME_TOKENS + size.text + _tokens_judged(arm, evaluator, size, gold)
    received = WORD_TOKENS if evaluator in IN_USE else JUDGEMENT_TOKENS
    paradigm = paradigm_of(evaluator)
    orders = 2 if paradigm == "pairwise" else 1
    comparisons = plan.retests + len(probes) * orders
    padded = (len(probes_asked(evaluator, gold)) - len(probes)) * orders
    count = padded + (comparisons if paradigm == "pairwise" else comparisons + 1)
    yield ExpectedCalls(judge, count, input_tokens, received)
    if arm.tools:
        for look in range(1, plan.looks + 2):
            yield ExpectedCalls(judge, count, input_tokens + look * LOOK_TOKENS, LOOK_CALL_TOKENS)
    if plan.reader is not None and paradigm in READ:
        yield ExpectedCalls(plan.reader, comparisons, INSTRUCTION_TOKENS + JUDGEMENT_TOKENS, READING_TOKENS)


def _tokens_judged(arm: Arm, evaluator: Evaluator, size: SampleSize, gold: Gold) -> int:
    """Return the tokens of an item in a judge's prompt: answers, and images of the sample or under judgement."""
    images = size.images_for(arm.spec_for(evaluator))
    answer = _tokens_of(gold)
    if evaluator in IN_USE:
        return answer + RUBRIC_TOKENS + (images if arm.tools else 0)
    answers = 2 if paradigm_of(evaluator) in ("pairwise", "reference") else 1
    if answer:
        return answers * answer + images
    return answers * images


def _tokens_of(gold: Gold) -> int:
    return len(gold.item.gold) // CHARACTERS_PER_TOKEN


GOLD, PERTURBED = "(the answer as it was)", "(the answer with a change in it)"
RUBRIC = Rubric(stream="must_right", statement="(what a response must say)", polarity="positive")


def previews(plan: ProbePlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts for every judge in the order of the calls, with placeholders for answers."""
    asks: dict[str, Ask[object]] = {ask.prompt: ask for ask in _asks(plan, sample)}
    return rendered_asks(asks.values(), library)


def _asks(plan: ProbePlan, sample: Sample) -> Iterator[Ask[object]]:
    gold: Judged = GOLD
    perturbed: Judged = PERTURBED
    if "text-to-image" in plan.dimensions and sample.images:
        gold = perturbed = sample.images[0]
    for evaluator in plan.evaluators:
        if evaluator in IN_USE:
            yield from _asks_in_use(evaluator, sample)
        elif paradigm_of(evaluator) == "pairwise":
            yield compare_answers(sample, evaluator, gold, perturbed)
        else:
            reference = gold if evaluator == "reference" else None
            yield score_answer(sample, evaluator, perturbed, reference=reference)
    if plan.writer is not None and "image-to-text" in plan.dimensions:
        yield write_reference(sample)
    if plan.reader is not None:
        yield read_justification("(what a judge says beside its judgement)", error="(what was changed)")


def _asks_in_use(evaluator: Evaluator, sample: Sample) -> Iterator[Ask[object]]:
    if evaluator == "checkpoints":
        yield write_chain(sample)
        yield from criteria_previews(sample, count=counted(COUNT))
        yield score_criteria(sample, PLACEHOLDER_CRITERIA, PERTURBED)
    elif evaluator == "gated":
        yield write_must_right(sample, GOLD, domain_of(sample) or DOMAINS[0])
        yield assess_response(sample, RubricSet(sample_id=sample.id, rubrics=(RUBRIC,)), PERTURBED)
    else:
        yield judge_equivalence(sample.model_copy(update={"reference_answer": GOLD}), PERTURBED)
