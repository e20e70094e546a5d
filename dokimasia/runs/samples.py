"""What the user asks of an evaluation, and what stands in the files that are named in it."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from dokimasia.agents import PromptLibrary
from dokimasia.datasets import Problem, open_dataset, problems_text, read_responses
from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.domain.options import LOOKS
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, InputError, NotFound
from dokimasia.gateway.budget import Budget
from dokimasia.prompts import default_library
from dokimasia.runs.estimate import SampleSize, size_of
from dokimasia.runs.readers import bring_reader
from dokimasia.storage.criteria import load_collection
from dokimasia.storage.home import Home
from dokimasia.storage.putting import PutAside
from dokimasia.storage.runs import keep_samples, run_samples

PAGE = 500
"""Samples that are kept in one transaction while a data file is read."""

MAX_LOOKS = 100
"""The most looks an ask that can be asked for."""

Responses = dict[tuple[str, str, int], str]


class DataRequest(Value):
    """What every run over a data set is asked: the file, how much of it, whose prompts, and what may be spent.

    Paths are kept absolute. `prompt` is the question of samples that have none of their own, such as the images of a
    folder. `prompts` are folders whose prompts replace the package's own of the same name. `max_cost` is in US
    dollars. `fresh` makes a new run of the same plan, which the ledger answers where it can.
    """

    data: Path
    limit: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)
    prompt: str | None = None
    prompts: tuple[Path, ...] = ()
    fresh: bool = False
    on_bad_sample: str = Field(default="fail", pattern="^(fail|skip)$")
    allow_fetch: bool = False
    max_cost: float | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)
    keep_checkpoints: bool = False

    @property
    def budget(self) -> Budget:
        """The limits on what this sitting may spend; no part of the run's identity."""
        return Budget(max_cost=self.max_cost, max_calls=self.max_calls, max_tokens=self.max_tokens)


class EvaluationRequest(DataRequest):
    """What the user asks of an evaluation: a data file, a judge and candidates by name, and the options.

    `tools` names what the judge is offered to look closer with (`all`: whatever works on this machine), `looks` how
    often it may use them in one ask.
    """

    judge: str
    models: tuple[str, ...] = ()
    repeats: int = Field(default=1, ge=1)
    no_image: bool = False
    show_image: bool = False
    tools: tuple[str, ...] = ()
    looks: int = Field(default=LOOKS, ge=1, le=MAX_LOOKS)
    criteria: str | None = None
    responses: Path | None = None

    @property
    def command(self) -> str:
        """The command as a person would repeat it: every option that differs from its default, paths by their names."""
        words = ["evaluate", self.data.name, "--judge", self.judge]
        if self.models:
            words += ["--models", ",".join(self.models)]
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in {"data", "judge", "models"} or value == field.get_default(call_default_factory=True):
                continue
            option = f"--{name.replace('_', '-')}"
            if name == "tools":
                value = ",".join(value)
            for one in value if isinstance(value, tuple) else (value,):
                words += [option] if one is True else [option, one.name if isinstance(one, Path) else str(one)]
        return " ".join(words)


class Accepted(NamedTuple):
    """What a run remembers of a sample in memory: its name, content ids, cluster and size; the sample itself is stored."""

    id: str
    digest: str
    value: str
    cluster: str
    size: SampleSize


def accepted(sample: Sample) -> Accepted:
    """Return what is remembered of a sample."""
    return Accepted(sample.id, sample.digest, value_id(sample), sample.cluster, size_of(sample))


def read_samples(
    request: DataRequest, blobs: BlobStore, *, need_prompt: bool = True
) -> tuple[list[Sample], tuple[Problem, ...]]:
    """Read the whole file once: its samples, and what had to be skipped where that was asked for.

    Raises:
        DataError: naming all that is wrong, by file and line.
    """
    samples: list[Sample] = []
    problems = _read(request, blobs, samples.append, need_prompt=need_prompt)
    return samples, problems


def keep_accepted(request: DataRequest, home: Home) -> tuple[list[Accepted], tuple[Problem, ...]]:
    """Read the whole file once and keep its samples in the home as it goes, so that memory holds none of them.

    Samples of a file that turns out to be bad stay as values of no run; keeping them again changes nothing.

    Raises:
        DataError: naming all that is wrong, by file and line.
    """
    known: list[Accepted] = []
    waiting: list[Sample] = []

    def keep(sample: Sample) -> None:
        waiting.append(sample)
        if len(waiting) == PAGE:
            flush()

    def flush() -> None:
        if waiting:
            images.settle()
            keep_samples(home, waiting)
            known.extend(map(accepted, waiting))
            waiting.clear()

    with PutAside(home.blobs) as images:
        problems = _read(request, images, keep)
        flush()
    return known, problems


def _read(
    request: DataRequest, blobs: BlobStore, take: Callable[[Sample], None], *, need_prompt: bool = True
) -> tuple[Problem, ...]:
    count = 0
    problems: list[Problem] = []
    bring_reader(request.data)
    reading = open_dataset(
        request.data,
        blobs=blobs,
        allow_fetch=request.allow_fetch,
        need_prompt=need_prompt,
        prompt=request.prompt,
        limit=request.limit,
    )
    for found in reading:
        if isinstance(found, Sample):
            count += 1
            take(found)
        else:
            problems.append(found)
    if problems and (request.on_bad_sample == "fail" or not count):
        hint = "" if not count else "\n(--on-bad-sample skip leaves such samples out; dokimasia data check names all)"
        raise DataError(problems_text(problems) + hint)
    return tuple(problems)


def check_accepted(home: Home, run_id: str, data: str) -> None:
    """Refuse to go on with a run whose process died while its samples were being kept.

    Raises:
        InputError: the samples that are there are not all that the run was accepted with.
    """
    kept = [[place.sample_id, place.sample] for place in run_samples(home, run_id)]
    if digest("data", kept) != data:
        raise InputError(
            f"run {run_id} was stopped before all of its samples were kept ({len(kept)} are): give the command that began "
            "it once more, with the data file"
        )


def library_of(folders: Sequence[Path], *, more: bool = False) -> PromptLibrary | None:
    """Return the package's prompts with those of the folders in their place; None where there are no folders.

    Args:
        folders: later ones win.
        more: whether a folder may hold prompts of other names, too.

    Raises:
        ConfigError: a folder is not there or a prompt of it cannot be used, with the file.
    """
    return default_library().overridden(*folders, more=more) if folders else None


def check_prompts(accepted: Mapping[str, str], now: Mapping[str, str], folders: Sequence[Path], run_id: str) -> None:
    """Refuse to go on with a run under other prompts (version and hash by name) than it was accepted with.

    Raises:
        ConfigError: naming the prompts that differ and the folders that were read.
    """
    changed = [name for name, version in sorted(accepted.items()) if now.get(name) != version]
    if not changed:
        return
    listed = ", ".join(f"{name} was {accepted[name]}, is {now.get(name, 'missing')}" for name in changed)
    place = f" (read from {', '.join(map(str, folders))})" if folders else ""
    raise ConfigError(
        f"run {run_id} was accepted with other prompts{place}: {listed}. Restore them, name the folder that has them "
        "with --prompts, or evaluate anew or fork; the ledger answers what did not change"
    )


def answered_by(request: EvaluationRequest, samples: Sequence[Accepted], responses: Responses) -> tuple[ModelSpec, ...]:
    """Return the models whose answers are in the file, checked to have answered every sample."""
    if request.no_image:
        raise ConfigError("--no-image asks the candidates anew, which --responses does not; leave one of them out")
    named = list(dict.fromkeys(model for _, model, _ in responses))
    wanted = list(request.models) or named
    for model in wanted:
        missing = [sample.id for sample in samples if (sample.id, model, 0) not in responses]
        if missing:
            raise DataError(
                f"{request.responses}: {model} has no answer to {len(missing)} of {len(samples)} samples "
                f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); add them, choose models with --models, "
                f"or shorten the data with --limit"
            )
    return tuple(ModelSpec(ref=ModelRef(name=model, model=model, endpoint="file")) for model in wanted)


def read_answers(request: EvaluationRequest) -> tuple[Responses | None, str | None]:
    if request.responses is None:
        return None, None
    responses = {
        (answer.sample_id, answer.model, answer.repeat): answer.text for answer in read_responses(request.responses)
    }
    if not responses:
        raise DataError(f"{request.responses}: no answer in it")
    return responses, hashlib.sha256(request.responses.read_bytes()).hexdigest()[:32]


def check_collection(home: Home, collection: str, samples: Sequence[Accepted]) -> None:
    known = {entry.sample_digest for entry in load_collection(home, collection)}
    if not known:
        raise NotFound(
            f"no criteria collection {collection!r} in {home.path}; import one: dokimasia criteria import FILE"
        )
    missing = [sample.id for sample in samples if sample.digest not in known]
    if missing:
        raise InputError(
            f"criteria {collection} have nothing for {len(missing)} of {len(samples)} samples "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}): their question, image, options or reference "
            "differ from those that the criteria were made for; leave --criteria out to have the judge make them"
        )
