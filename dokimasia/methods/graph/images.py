"""Runs of the package's own graphs over images: accepted, carried out, continued and read again, each kind in one place.

Their data need only an id and an image; a question that the data put is not asked.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.ports import Transport
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.graph.plan import GraphItem, GraphPlan
from dokimasia.methods.graph.running import GraphResult, carry_out
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.estimate import Estimate, SampleSize, size_of
from dokimasia.runs.lifecycle import next_fresh, run_row, without_limits
from dokimasia.runs.observer import Observer
from dokimasia.runs.samples import DataRequest, check_accepted, check_prompts, read_samples
from dokimasia.runs.services import Stop, check_prices, with_known_price
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, add_samples, create_run, load_samples, run_samples

Q = TypeVar("Q", bound=DataRequest)
P = TypeVar("P", bound=GraphPlan)


@dataclass(frozen=True, slots=True)
class ImageItem(GraphItem):
    """One image's walk through a graph of ours."""

    @property
    def name(self) -> str:
        """The item's name, unique in its run."""
        return f"image/{self.sample_id}"


@dataclass(frozen=True, slots=True)
class ImageRun(Generic[Q, P]):
    """A kind of run.

    Attributes:
        kind: its name, in a run's options and in its result rows.
        graph: what every sample goes through.
        request: what the user asks.
        plan: what a run is.
        prompts: those that the graph asks by.
        plan_of: from a request, the settings, the fields that every plan shares, to the plan.
        command: the command line that repeats a request.
        summary: a run's figures, ready for JSON.
        expected: what the run will ask of which model, from the sizes of its images; each is asked about once.
    """

    kind: str
    graph: GraphFile
    request: type[Q]
    plan: type[P]
    prompts: tuple[str, ...]
    plan_of: Callable[[Q, Settings, dict[str, Any]], P]
    command: Callable[[Q], str]
    summary: Callable[[Home, Run], dict[str, Any]]
    expected: Callable[[P, list[SampleSize]], Estimate]


async def run_images(
    kind: ImageRun[Q, P],
    request: Q,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GraphResult:
    """Do what is asked over a data set, or continue that run, or, where it is finished, return its figures without any call.

    Raises:
        InputError: the data or the configuration cannot be used; what is finished is kept.
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    library = default_library().overridden(*request.prompts)
    with Home.open(settings.home, write=True) as home:
        samples, skipped = await asyncio.to_thread(_read_images, request, home)
        shared = {
            "graph": kind.graph.NAME,
            "version": kind.graph.VERSION,
            "data": digest("data", [[sample.id, value_id(sample)] for sample in samples]),
            "limit": request.limit,
            "seed": request.seed,
            "prompts": _prompts(kind, library),
        }
        plan = kind.plan_of(request, settings, shared)
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.options.models, max_cost=request.max_cost)
        run, new = await create_run(home, _run_row(kind, plan, request, skipped))
        if new or len(run_samples(home, run.id)) != len(samples):
            await add_samples(home, run.id, samples)
        return await _carry_out(kind, home, run, plan, request, settings, observer, stop, transports, library)


async def resume_images(
    kind: ImageRun[Q, P],
    run: Run,
    *,
    settings: Settings,
    request: Q | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GraphResult:
    """Go on with an accepted run, from the store alone.

    Raises:
        ConfigError: the graph or its prompts are of another version than the run's.
        Interrupted: the run was asked to stop again.
    """
    plan, accepted = read_image_plan(kind, run)
    request = request or without_limits(accepted)
    if plan.version != kind.graph.VERSION:
        raise ConfigError(
            f"run {run.id} was accepted with version {plan.version} of {kind.kind}, which is at version "
            f"{kind.graph.VERSION} now: give its command anew; the ledger answers what did not change"
        )
    library = default_library().overridden(*request.prompts)
    check_prompts(plan.prompts, library.identity(), request.prompts, run.id)
    with Home.open(settings.home, write=True, create=False) as home:
        check_accepted(home, run.id, plan.data)
        return await _carry_out(kind, home, run, plan, request, settings, observer, stop, transports, library)


def read_image_plan(kind: ImageRun[Q, P], run: Run) -> tuple[P, Q]:
    """Return the plan and the request that a run was accepted with.

    Raises:
        NotFound: the run is of another kind.
    """
    if run.options.get("kind") != kind.kind:
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not {kind.kind!r}")
    return kind.plan.model_validate(run.options["plan"]), kind.request.model_validate(run.options["request"])


def resolve_models(settings: Settings, names: tuple[str, ...], what: str) -> tuple[ModelSpec, ...]:
    """Return models by name, with the price of simulated ones.

    Args:
        settings: the configuration.
        names: as the user gave them.
        what: the option that named them.

    Raises:
        ConfigError: a model is not known, or named twice.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"{what} names {', '.join(twice)} twice")
    return tuple(with_known_price(resolve_model(settings, name)) for name in names)


def simulated(specs: tuple[ModelSpec, ...]) -> list[str]:
    """Return the shown names of simulated models, so that every report can say so."""
    return sorted({spec.ref.name for spec in specs if "sim" in spec.ref.model.split("/")[:-1]})


async def _carry_out(
    kind: ImageRun[Q, P],
    home: Home,
    run: Run,
    plan: P,
    request: Q,
    settings: Settings,
    observer: Observer | None,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    library: PromptLibrary,
) -> GraphResult:
    expected = None
    if run.status != "done":
        sizes = {sample.cluster: size_of(sample) for sample in load_samples(home, run.id)}
        places = len(run_samples(home, run.id))
        expected = kind.expected(plan, list(sizes.values())).model_copy(update={"samples": places})
    return await carry_out(
        home,
        run,
        plan,
        request,
        kind.graph,
        settings,
        observer,
        stop,
        transports,
        library,
        kind=kind.kind,
        summary=kind.summary,
        expected=expected,
    )


def _read_images(request: DataRequest, home: Home) -> tuple[list[Sample], list[str]]:
    """Return the samples that have an image, and what is wrong with the others where they are left out."""
    samples, problems = read_samples(request.model_copy(update={"prompt": None}), home.blobs, need_prompt=False)
    skipped = [problem.message for problem in problems]
    blind = [sample.id for sample in samples if not sample.images]
    if blind:
        listed = ", ".join(blind[:5]) + (", …" if len(blind) > 5 else "")
        message = f"{request.data}: without an image there is nothing to look at: {listed}"
        if request.on_bad_sample == "fail" or len(blind) == len(samples):
            raise DataError(f"{message}\n(--on-bad-sample skip leaves such samples out)")
        skipped.append(message)
    return [sample for sample in samples if sample.images], skipped


def _prompts(kind: ImageRun[Q, P], library: PromptLibrary) -> dict[str, str]:
    known = library.identity()
    return {name: known[name] for name in sorted((*kind.prompts, "repair"))}


def _run_row(kind: ImageRun[Q, P], plan: P, request: Q, skipped: list[str]) -> Run:
    return run_row(
        plan,
        request,
        graph=plan.graph,
        command=kind.command(request),
        data_name=request.data.name,
        data_hash=plan.data,
        seed=plan.seed,
        kind=kind.kind,
        skipped=skipped,
    )


def samples_by_name(home: Home, run: Run) -> dict[str, Sample]:
    """Return a run's samples by name, in order."""
    return {sample.id: sample for sample in load_samples(home, run.id)}
