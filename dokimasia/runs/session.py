"""What a method accepts a request with: the configuration, the home, the prompts, and the data that the request names."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
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
from dokimasia.storage.runs import Run, RunSample, keep_samples, load_samples

P = TypeVar("P", bound=RunPlan)

PAGE = 500
"""Samples that are kept in one transaction while a data file is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(Generic[P]):
    """What a request came to once everything that it names was read and checked; nothing was sent.

    Attributes:
        plan: what the run is.
        estimate: what it will ask at most.
        data_name: what its data are called, by default as the request's data file.
        data_hash: a hash of its data, by default the plan's.
        places: its samples, which lie in the home already; or
        samples: its samples, which are still to be kept.
        values: what is kept with the run.
        skipped: what of the data was left out and why, a text each.
        notes: what the figures need to know beside the plan; stored as it is, by name.
        needs: ids of other runs that it cannot go on without until it is finished.
        keep: what else is kept once the run is accepted.
        first: the first sample, from which a preview is made.
        request: what is kept as asked, where names in it were resolved that mean something else later, such as `last`.
    """

    plan: P
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
    request: RunRequest | None = None


class SampleEntry(NamedTuple):
    """What a run remembers of a sample in memory: its place, whether it has an image, its size; the sample is stored."""

    place: RunSample
    seen: bool
    size: SampleSize


@dataclass(slots=True)
class Entries:
    """The samples of a data file, or of the run that is forked, as a run remembers them."""

    known: list[SampleEntry] = field(default_factory=list[SampleEntry])
    skipped: list[str] = field(default_factory=list[str])
    first: Sample | None = None

    @property
    def places(self) -> list[RunSample]:
        """Where each sample stands."""
        return [entry.place._replace(position=position) for position, entry in enumerate(self.known)]

    @property
    def hash(self) -> str:
        """A hash of the samples' names and contents in order."""
        return hash_of([(entry.place.sample_id, entry.place.sample) for entry in self.known])

    @property
    def sizes(self) -> list[SampleSize]:
        """The size of each sample."""
        return [entry.size for entry in self.known]

    @property
    def sizes_of_images(self) -> list[SampleSize]:
        """The sizes of samples, one for all that share their images."""
        return list({entry.place.cluster: entry.size for entry in self.known}.values())

    def accepted(self, plan: P, estimate: Estimate, *, needs: Sequence[str] = ()) -> Accepted[P]:
        """Return what a plan over these samples is accepted as."""
        skipped, first = self.skipped, self.first
        return Accepted(plan=plan, estimate=estimate, places=self.places, skipped=skipped, first=first, needs=needs)


def hash_of(samples: Sequence[tuple[str, str]]) -> str:
    """Return a hash of samples by their names and the ids of their contents, in order."""
    return digest("data", [list(sample) for sample in samples])


@dataclass(frozen=True, slots=True)
class Session:
    """What a request is accepted with.

    Attributes:
        settings: home, configuration and keys.
        home: the home; open for writing, or in a dry run for reading, or None where a dry run has none.
        library: the prompts that the run will ask by.
        forked: the run whose samples are taken in place of the data file, where one is forked.
        given: what a program hands in beside the request.
        dry: nothing is kept.
        transports: names of the ways to a model that replace the package's own.
    """

    settings: Settings
    home: Home | None
    library: PromptLibrary
    forked: Run | None = None
    given: object = None
    dry: bool = False
    transports: Collection[str] = ()

    @property
    def opened(self) -> Home:
        """The home of a request that needs one.

        Raises:
            ConfigError: there is none.
        """
        if self.home is None:
            raise ConfigError(
                f"{self.settings.home}: there is no home here; name one with --home, or run something first"
            )
        return self.home

    def model(self, name: str) -> ModelSpec:
        """Return a model by name, with the price of a simulated one.

        Raises:
            ConfigError: it is not known.
        """
        spec = with_known_price(resolve_model(self.settings, name))
        if "sim" not in self.transports:
            check_simulated(spec)
        return spec

    def judge(self, name: str) -> ModelSpec:
        """Return a judge by name, with its capabilities settled, which decide how it is asked.

        Raises:
            ConfigError: it is not known.
        """
        return with_capabilities(self.model(name), self.settings.home)

    def models(self, names: Sequence[str], option: str) -> tuple[ModelSpec, ...]:
        """Return models by name.

        Args:
            names: as the user gave them.
            option: the option that named them.

        Raises:
            ConfigError: a model is not known, or named twice.
        """
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ConfigError(f"{option} names {', '.join(twice)} twice")
        return tuple(map(self.model, names))

    def entries(self, request: DataRequest, *, images: bool = False, need_prompt: bool | None = None) -> Entries:
        """Read a request's data once and keep the samples as they are read, so that memory holds none of them.

        Samples of a file that turns out to be bad stay as values of no run; keeping them again changes nothing.

        Args:
            request: names the data.
            images: only samples with an image are wanted, and the question that the data put is not asked.
            need_prompt: whether a sample needs a question; by default where not only its image is wanted.

        Raises:
            DataError: naming all that is wrong, by file and line.
        """
        entries = Entries()
        waiting: list[Sample] = []
        blobs = MemoryBlobs() if self.dry else BackgroundWriter(self.opened.blobs)

        def take(sample: Sample) -> None:
            if entries.first is None and (sample.images or not images):
                entries.first = sample
            waiting.append(sample)
            if len(waiting) == PAGE:
                flush()

        def flush() -> None:
            if isinstance(blobs, BackgroundWriter) and self.forked is None and waiting:
                blobs.settle()
                keep_samples(self.opened, waiting)
            entries.known.extend(map(_entry, waiting))
            waiting.clear()

        with blobs if isinstance(blobs, BackgroundWriter) else nullcontext():
            if self.forked is not None:
                for sample in load_samples(self.opened, self.forked.id):
                    take(sample)
                entries.skipped = left_out(self.forked)
            else:
                data_request = request.model_copy(update={"prompt": None}) if images else request
                needs = not images if need_prompt is None else need_prompt
                entries.skipped = list(read_data(data_request, blobs, take, need_prompt=needs))
            flush()
        if images:
            _drop_blind(entries, request)
        return entries

    def samples(self, request: DataRequest, *, need_prompt: bool = True) -> tuple[list[Sample], list[str]]:
        """Read a request's data as a whole: its samples, and what had to be left out.

        Raises:
            DataError: naming all that is wrong, by file and line.
        """
        if self.forked is not None:
            return list(load_samples(self.opened, self.forked.id)), left_out(self.forked)
        samples: list[Sample] = []
        blobs: BlobStore = MemoryBlobs() if self.dry else self.opened.blobs
        return samples, list(read_data(request, blobs, samples.append, need_prompt=need_prompt))


def left_out(run: Run) -> list[str]:
    """Return what of a run's data was left out when it was accepted."""
    return run.texts("skipped")


def _entry(sample: Sample) -> SampleEntry:
    place = RunSample(0, value_id(sample), sample.id, sample.digest, sample.cluster)
    return SampleEntry(place, bool(sample.images), size_of(sample))


def _drop_blind(entries: Entries, request: DataRequest) -> None:
    """Leave out samples without an image, or refuse them."""
    blind = [entry.place.sample_id for entry in entries.known if not entry.seen]
    if not blind:
        return
    message = f"{request.data}: without an image there is nothing to look at: "
    if request.on_bad_sample == "fail" or len(blind) == len(entries.known):
        listed = ", ".join(blind[:5]) + (", …" if len(blind) > 5 else "")
        raise DataError(f"{message}{listed}\n(--on-bad-sample skip leaves such samples out)")
    entries.skipped += [f"{message}{name}" for name in blind]
    entries.known = [entry for entry in entries.known if entry.seen]
