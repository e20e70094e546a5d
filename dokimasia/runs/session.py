"""The surroundings in which a method accepts a request: configuration, home, prompts, and the request's data."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import shortened
from dokimasia.endpoints.capabilities import with_capabilities
from dokimasia.errors import ConfigError, DataError
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.estimate import Estimate, SampleSize, size_of
from dokimasia.runs.plans import RunPlan, with_known_price
from dokimasia.runs.requests import DataRequest, RunRequest
from dokimasia.runs.samples import read_data
from dokimasia.runs.services import check_simulated
from dokimasia.settings import Settings, resolve_model
from dokimasia.storage.content.putting import BackgroundWriter
from dokimasia.storage.home import Home
from dokimasia.storage.memory import MemoryBlobs
from dokimasia.storage.runs import Run, RunSample, keep_samples, list_runs, load_samples

P = TypeVar("P", bound=RunPlan)
P_co = TypeVar("P_co", bound=RunPlan, covariant=True)

FOLLOWED = 100
"""The number of samples whose calls an estimate looks up in the ledger; at most twice as many."""

PAGE = 500
"""Samples stored in one transaction while a data file is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(Generic[P_co]):
    """An accepted request, with everything it names read and checked, and nothing sent.

    Attributes:
        plan: the run's plan.
        estimate: the calls and costs at most.
        data_name: the name of its data; by default that of the request's data file.
        data_hash: a hash of its data; by default the plan's.
        places: its samples, if they are stored in the home already.
        samples: its samples, if they are still to be stored.
        values: values that are stored with the run.
        skipped: why parts of the data were left out, a text each.
        notes: what the figures need beside the plan, by name; stored as it is.
        needs: ids of other runs that it reads until it is finished, and which cannot be deleted before.
        keep: stores what else belongs to the run once it is accepted.
        first: the first sample, from which the preview is made.
        spread: some of its samples, over which the estimate looks through the ledger; by default those that are stored.
        missing_calls: counts the calls on these samples that a home's ledger lacks, by step and model; by default the
            stages of the run are rehearsed instead.
        request: the request that is stored; by default the one that was made. Names in it such as `last`, which mean
            another run later, are replaced by what they mean.
    """

    plan: P_co
    estimate: Estimate
    data_name: str = ""
    data_hash: str = ""
    places: Sequence[RunSample] = ()
    samples: Sequence[Sample] = ()
    values: Sequence[Value] = ()
    skipped: Sequence[str] = ()
    notes: Mapping[str, object] = field(default_factory=dict[str, object])
    needs: Sequence[str] = ()
    keep: Callable[[Home, Run], Awaitable[None]] | None = None
    first: Sample | None = None
    spread: Sequence[Sample] = ()
    missing_calls: Callable[[Home], Awaitable[Mapping[tuple[str, str], int]]] | None = None
    request: RunRequest | None = None


class SampleEntry(NamedTuple):
    """A stored sample in memory while a run is accepted: its place in the run, whether it has an image, its size."""

    sample: RunSample
    has_image: bool
    size: SampleSize


@dataclass(slots=True)
class StoredSamples:
    """The samples of a data file, or of the forked run, without their texts and images.

    Attributes:
        entries: the samples, in order.
        skipped: a text for each skipped line of the file, with the reason.
        first: the first sample.
        spread: every nth sample: all of a few, otherwise from `FOLLOWED` to twice as many.
    """

    entries: list[SampleEntry] = field(default_factory=list[SampleEntry])
    skipped: list[str] = field(default_factory=list[str])
    first: Sample | None = None
    spread: list[Sample] = field(default_factory=list[Sample])
    _taken: int = 0
    _step: int = 1

    def spread_out(self, sample: Sample) -> None:
        """Add the next sample to `spread` if it is its turn."""
        if self._taken % self._step == 0:
            self.spread.append(sample)
            if len(self.spread) > 2 * FOLLOWED:
                self.spread = self.spread[::2]
                self._step *= 2
        self._taken += 1

    @property
    def places(self) -> list[RunSample]:
        """The samples with their positions in the run."""
        return [entry.sample._replace(position=position) for position, entry in enumerate(self.entries)]

    @property
    def hash(self) -> str:
        """A hash of the samples' names and contents in order."""
        return hash_of([(entry.sample.sample_id, entry.sample.value_id) for entry in self.entries])

    @property
    def sizes(self) -> list[SampleSize]:
        """The size of each sample."""
        return [entry.size for entry in self.entries]

    @property
    def sizes_of_images(self) -> list[SampleSize]:
        """The sizes of samples, one for all samples of a cluster, which share their images."""
        return list({entry.sample.cluster: entry.size for entry in self.entries}.values())

    def accepted(self, plan: P, estimate: Estimate, *, needs: Sequence[str] = ()) -> Accepted[P]:
        """Return the accepted request of a plan over these samples."""
        return Accepted(
            plan=plan,
            estimate=estimate,
            places=self.places,
            skipped=self.skipped,
            first=self.first,
            spread=self.spread,
            needs=needs,
        )


def hash_of(samples: Sequence[tuple[str, str]]) -> str:
    """Return a hash of samples by their names and the ids of their contents, in order."""
    return digest("data", [list(sample) for sample in samples])


@dataclass(frozen=True, slots=True)
class Session:
    """The surroundings in which a request is accepted.

    Attributes:
        settings: home, configuration and keys.
        home: the home, open for writing, or in a dry run for reading; None if a dry run has no home.
        library: the prompts of the run.
        source_run: the forked or resumed run, whose samples replace the data file; None for a new run.
        given: objects that a program passes with the request.
        dry: whether nothing is stored.
        transports: names of transports that replace the package's own.
        sampling: sampling settings of the request, which override the configured ones of its models.
    """

    settings: Settings
    home: Home | None
    library: PromptLibrary
    source_run: Run | None = None
    given: object = None
    dry: bool = False
    transports: Collection[str] = ()
    sampling: Mapping[str, float | int] = field(default_factory=dict[str, float | int])

    @property
    def opened(self) -> Home:
        """The home.

        Raises:
            ConfigError: there is no home.
        """
        if self.home is None:
            raise ConfigError(
                f"{self.settings.home}: there is no home here; name one with --home, or run something first"
            )
        return self.home

    def model(self, name: str) -> ModelSpec:
        """Return a model by name, with the price of a simulated one, and the sampling that the request sets.

        A model that is no longer configured is read from the home's newest run with it.

        Raises:
            ConfigError: it is unknown.
        """
        try:
            spec = with_known_price(resolve_model(self.settings, name))
        except ConfigError:
            runs = [] if self.home is None else list_runs(self.home)
            stored = next((model for run in runs if (model := run.model_of(name)) is not None), None)
            if stored is None:
                raise
            spec = ModelSpec.model_validate(stored)
        if "sim" not in self.transports:
            check_simulated(spec)
        if not self.sampling or spec.ref.person or spec.edits_images:
            return spec
        return spec.model_copy(update={"sampling": spec.sampling.model_copy(update=dict(self.sampling))})

    def judge(self, name: str) -> ModelSpec:
        """Return a judge by name, with the capabilities that decide how it is asked.

        Raises:
            ConfigError: it is unknown.
        """
        return with_capabilities(self.model(name), self.settings.home)

    def models(self, names: Sequence[str], option: str) -> tuple[ModelSpec, ...]:
        """Return models by name.

        Args:
            names: the names given by the user.
            option: the option that names them, for messages.

        Raises:
            ConfigError: a model is unknown, or named twice.
        """
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ConfigError(f"{option} names {', '.join(twice)} twice")
        return tuple(map(self.model, names))

    def store_samples(
        self, request: DataRequest, *, images: bool = False, need_prompt: bool | None = None
    ) -> StoredSamples:
        """Read a request's data once, store each sample as it is read, and return what was stored.

        Samples are not held in memory. Samples of a faulty file stay stored as values without a run.

        Args:
            request: names the data.
            images: whether samples without an image are left out or refused; the data's question is not asked.
            need_prompt: whether a sample needs a question; by default the opposite of `images`.

        Raises:
            DataError: the message names every fault, by file and line.
        """
        stored = StoredSamples()
        waiting: list[Sample] = []
        blobs = MemoryBlobs() if self.dry else BackgroundWriter(self.opened.blobs)

        def take(sample: Sample) -> None:
            if stored.first is None and (sample.images or not images):
                stored.first = sample
            waiting.append(sample)
            stored.spread_out(sample)
            if len(waiting) == PAGE:
                flush()

        def flush() -> None:
            if isinstance(blobs, BackgroundWriter) and self.source_run is None and waiting:
                blobs.settle()
                places = keep_samples(self.opened, waiting)  # which has hashed them
            else:
                places = [
                    RunSample(0, value_id(sample), sample.id, sample.digest, sample.cluster) for sample in waiting
                ]
            for sample, place in zip(waiting, places, strict=True):
                stored.entries.append(SampleEntry(place, bool(sample.images), size_of(sample)))
            waiting.clear()

        with blobs if isinstance(blobs, BackgroundWriter) else nullcontext():
            if self.source_run is not None:
                for sample in load_samples(self.opened, self.source_run.id):
                    take(sample)
                stored.skipped = skipped_entries(self.source_run)
            else:
                data_request = request.model_copy(update={"prompt": None}) if images else request
                needs = not images if need_prompt is None else need_prompt
                stored.skipped = list(read_data(data_request, blobs, take, need_prompt=needs))
            flush()
        if images:
            _drop_blind(stored, request)
        return stored

    def samples(self, request: DataRequest, *, need_prompt: bool = True) -> tuple[list[Sample], list[str]]:
        """Read a request's data into memory; return its samples, and the reason for each skipped line.

        Raises:
            DataError: the message names every fault, by file and line.
        """
        if self.source_run is not None:
            return list(load_samples(self.opened, self.source_run.id)), skipped_entries(self.source_run)
        samples: list[Sample] = []
        blobs: BlobStore = MemoryBlobs() if self.dry else self.opened.blobs
        return samples, list(read_data(request, blobs, samples.append, need_prompt=need_prompt))


def skipped_entries(run: Run) -> list[str]:
    """Return the reasons for which parts of a run's data were skipped when it was accepted."""
    return run.texts("skipped")


def _drop_blind(stored: StoredSamples, request: DataRequest) -> None:
    """Leave out samples without an image, or refuse them."""
    blind = [entry.sample.sample_id for entry in stored.entries if not entry.has_image]
    if not blind:
        return
    message = f"{request.data}: without an image there is nothing to look at: "
    if request.on_bad_sample == "fail" or len(blind) == len(stored.entries):
        raise DataError(f"{message}{shortened(blind, 5)}\n(--on-bad-sample skip leaves such samples out)")
    stored.skipped += [f"{message}{name}" for name in blind]
    stored.entries = [entry for entry in stored.entries if entry.has_image]
