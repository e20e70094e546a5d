"""How a probe is accepted: its perturbations read and kept, its judges found, and how each of them is asked."""

import asyncio
from pathlib import Path
from typing import NamedTuple

from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.blindspots import IN_USE, Probe, Task
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import value_id
from dokimasia.domain.options import LOOKS
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.methods.checks import probes_of
from dokimasia.methods.probe.arms import under_each
from dokimasia.methods.probe.expected import estimate
from dokimasia.methods.probe.items import by_sample, kept, probes_kept
from dokimasia.methods.probe.prompts import prompts_of
from dokimasia.methods.probe.request import ProbePlan, ProbeRequest, chosen_budgets, chosen_evaluators
from dokimasia.prompts.dimensions import error_dimensions_id
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Accepted, Session, hash_of, left_out
from dokimasia.storage.memory import MemoryBlobs
from dokimasia.storage.runs import load_samples
from dokimasia.tools.registry import named

ITEMS = "items.jsonl"
"""What the file is called in a folder of perturbations."""

WHY = {
    "incorrect": "people found them incorrect",
    "not_relevant": "people found them not relevant",
    "not_sure": "people were not sure of them",
    "undecided": "nobody has decided on them (--unchecked takes them as they were meant)",
    "valid_of_neutral": "people found harm in what was meant to be harmless",
}
"""Why a perturbation does not enter, by what was said of it."""

WRITTEN_AT = 1.0
"""The temperature at which new references are written, unless the configuration says another one."""


class ProbeMaterial(NamedTuple):
    """What is put to the judges: the samples in order, the probes of each, and what was left out and why."""

    samples: list[Sample]
    probes: list[Probe]
    skipped: list[str]
    request: ProbeRequest


async def accept(request: ProbeRequest, session: Session) -> Accepted[ProbePlan]:
    """Read the perturbations, and find the judges, the reader and who makes new references.

    Raises:
        InputError: the perturbations, the configuration or the options cannot be used.
    """
    if not request.judges:
        raise ConfigError("--judges names no judge")
    session.models(request.judges, "--judges")
    chosen_evaluators(request.evaluators, ())  # options that cannot be used are told before the data are read
    budgets, tools = chosen_budgets(request.budgets), named(request.tools)
    found = await asyncio.to_thread(_material, request, session)
    tasks: list[Task] = sorted({one.item.task for one in found.probes})
    evaluators = chosen_evaluators(request.evaluators, tasks)
    if request.new_references is not None and "reference" not in evaluators:
        raise ConfigError(
            "--new-references are for the evaluator `reference`, which --evaluators does not name: add it, or leave them out"
        )
    judges = [session.judge(name) for name in request.judges]
    asked = under_each(judges, budgets, published=request.sampling == "published", temperature=request.temperature)
    in_use = under_each(judges, budgets, published=False, temperature=request.temperature)
    reader = None if request.reader is None else session.judge(request.reader)
    writer = None if request.new_references is None else _writer(session, request.new_references)
    plan = ProbePlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in found.samples]),
        limit=request.limit,
        seed=request.seed,
        probes=value_id(kept(found.probes)),
        judges=asked,
        in_use=in_use if {*evaluators} & {*IN_USE} else (),
        evaluators=evaluators,
        retests=request.retests,
        reader=reader,
        budgets=budgets,
        writer=writer,
        tools=tools,
        looks=request.looks if tools else LOOKS,
        dimensions={task: error_dimensions_id(task) for task in tasks},
        prompts=prompts_used(
            session.library,
            prompts_of(
                evaluators,
                tasks,
                structured=any(map(takes_schema, (*judges, *filter(None, (reader,))))),
                tools=bool(tools),
                reader=reader is not None,
                new_references=writer is not None,
            ),
        ),
    )
    items = list({value_id(one.item): one.item for one in found.probes}.values())
    return Accepted(
        plan=plan,
        estimate=estimate(plan, found.samples, by_sample(found.probes), session.library),
        data_name=found.request.data.name,
        samples=found.samples,
        values=[*items, kept(found.probes)],
        skipped=found.skipped,
        first=found.samples[0],
        request=found.request,
    )


def _material(request: ProbeRequest, session: Session) -> ProbeMaterial:
    """Return what is put to the judges: of a file, of a run of `perturb`, or of the probe that is forked."""
    if session.forked is not None:
        plan = ProbePlan.model_validate(session.forked.options["plan"])
        samples = list(load_samples(session.opened, session.forked.id))
        return ProbeMaterial(samples, probes_kept(session.opened, plan), left_out(session.forked), request)
    source = request.data / ITEMS if (request.data / ITEMS).is_file() else request.data
    blobs = MemoryBlobs() if session.dry or session.home is None else session.home.blobs
    found = probes_of(source, session.home, task=request.task, unchecked=request.unchecked, blobs=blobs)
    samples = list(found.samples.values())[: request.limit]
    entered = {sample.digest for sample in samples}
    if found.run:
        request = request.model_copy(update={"data": Path(found.run)})
    skipped = [
        f"{count} {'perturbation does' if count == 1 else 'perturbations do'} not enter: {WHY.get(reason, reason)}"
        for reason, count in found.left_out.items()
    ]
    return ProbeMaterial(samples, [one for one in found.probes if one.item.sample in entered], skipped, request)


def _writer(session: Session, name: str) -> ModelSpec:
    """Return who makes new references, sampled otherwise than at the temperature of judges."""
    spec = session.model(name)
    if spec.sampling.temperature is not None:
        return spec
    return spec.model_copy(update={"sampling": spec.sampling.model_copy(update={"temperature": WRITTEN_AT})})
