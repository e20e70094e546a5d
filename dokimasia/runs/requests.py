"""Requests: frozen models whose fields define every option's name, help, type, range and default."""

import re
import shlex
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, Field, JsonValue, ValidationError, WithJsonSchema, WrapValidator
from pydantic.fields import FieldInfo

from dokimasia.domain.hub import SCHEME, HubPath, as_data_path
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.options import Protocol
from dokimasia.errors import ConfigError, InputError
from dokimasia.plugins import prompt_folder
from dokimasia.storage.naming import LAST

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ -]{0,78}[A-Za-z0-9._-])?")

MOST_SEED = 2**63 - 1
"""The largest seed: the maximum of an SQLite integer."""
MOST_SAMPLES = 1_000_000_000
"""The largest limit on samples, or on a draw from them."""
MOST_REPLY_TOKENS = 10_000_000
"""The largest token limit of one reply."""
MOST_REPEATS = 10_000
"""The most answers, or judgements, that can be requested for one thing."""
MOST_MODELS = 1_000
"""The most models in one option."""

OUT_OF_RANGE = ("greater_than_equal", "greater_than", "less_than_equal", "less_than")
"""The error types, as named by pydantic, of a number outside its range."""

Q = TypeVar("Q", bound="RunRequest")

JUDGE_HELP = "The judge: a name from dokimasia.toml or any LiteLLM name."
RESPONSES_HELP = (
    "existing answers: JSON lines, CSV or Parquet with id, model, response, repeat (such as an export), "
    "or VLMEvalKit's xlsx, tsv or json with index, prediction (NAME=FILE, or MODEL_DATASET.xlsx); once for each file."
)
"""The help of an option shared by several methods, following a verb."""


@dataclass(frozen=True, slots=True)
class Option:
    """How a field of a request appears on the command line, beyond what its type implies.

    Attributes:
        argument: whether it is a positional argument.
        flags: the option's flags; by default `--` and the field's name.
        metavar: the placeholder for its value in the help.
        repeated: whether the option is repeated for each value; otherwise commas separate values.
        exists: whether the path must exist.
        file: whether the path must be a file.
        several: whether the command line takes several values, each for its own request.
        hub: whether a data set of the Hugging Face Hub can replace the path.
        written: whether the path is written to, which rules it out over HTTP.
        continues: the method whose finished runs are accepted as values.
        models: whether its values are names of models, which a fork may replace.
        read: converts the given value to the field's.
        label: whether it names or tags the run; such labels may change, so the stored command omits them.
        hidden: whether it is available only from Python.
    """

    argument: bool = False
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    repeated: bool = False
    exists: bool = False
    file: bool = False
    several: bool = False
    hub: bool = False
    written: bool = False
    continues: str = ""
    models: bool = False
    read: Callable[[Any], Any] | None = None
    label: bool = False
    hidden: bool = False


def check_label(text: str) -> str:
    """Return a name or tag of a run, checked.

    Raises:
        ValueError: it has other characters, or is the word `last`.
    """
    if text == LAST or not _NAME.fullmatch(text):
        raise ValueError(
            f"{text[:100]!r} cannot be a name: names have at most 80 characters, which are letters, digits, dots, dashes, "
            f"underscores and spaces, and are not {LAST!r}"
        )
    return text


RunLabel = Annotated[
    str, AfterValidator(check_label), WithJsonSchema({"type": "string", "pattern": f"^{_NAME.pattern}$"})
]
"""A name or a tag of a run."""

LIMITS = ("max_cost", "max_calls", "max_tokens")
"""The fields that limit what a run spends."""

NOBODY = "none"
"""The word for an empty list of names on the command line, where omitting the option means something else."""

PLAIN = Option()
"""An option fully described by its field's type."""


def option_of(field: FieldInfo) -> Option:
    """Return how a field appears on the command line."""
    return next((option for option in field.metadata if isinstance(option, Option)), PLAIN)


def flags_of(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Return the flags of a field on the command line."""
    return option_of(field).flags or (_dashed(name),)


def kind_of(field: FieldInfo) -> Any:
    """Return the type of a field's values without None and without annotations."""
    kind = field.annotation
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(option for option in get_args(kind) if option is not types.NoneType)
    if get_origin(kind) is Annotated:
        return get_args(kind)[0]
    return kind


def bounds_of(field: FieldInfo) -> JsonObject:
    """Return the bounds of a field's numbers by `ge`, `gt`, `le` and `lt`."""
    return {
        name: getattr(constraint, name)
        for constraint in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if getattr(constraint, name, None) is not None
    }


def prompt_folders(names: Sequence[str]) -> tuple[Path, ...]:
    """Return the absolute folders named by --prompts: existing folders, or else those of plug-ins."""
    return tuple(Path(name).absolute() if Path(name).is_dir() else prompt_folder(name) for name in names)


Models = Annotated[tuple[str, ...], Option(models=True), Field(max_length=MOST_MODELS)]
"""Names of models, separated by commas on the command line."""

ProtocolChoice = Annotated[
    Protocol,
    Field(description="published: as in the paper, without this project's departures (see docs/departures.md)."),
]
"""The protocol to follow where the paper's and this project's differ."""

BlindArm = Annotated[bool, Option(flags=("--blind-arm",))]
"""Whether every model is also asked without the image."""

STORED_TOO = " With --responses: models to ask beside the stored answers, or models of the files to take."
"""The end of the help of an option that names models, where stored answers are possible."""

Judge = Annotated[str, Option(models=True), Field(description=JUDGE_HELP)]
"""The name of one model."""

Repeats = Annotated[int, Field(ge=1, le=MOST_REPEATS, description="Answers and judgements per sample.")]
"""The number of answers and judgements of every sample."""


def run_or_file(path: Path) -> Path:
    """Return a file's absolute path; any other text, such as the beginning of a run's id, is unchanged."""
    if path.exists():
        return path.absolute()
    return path


RunOrFile = Annotated[Path, Option(metavar="RUN|FILE", read=run_or_file)]
"""A file, or, if no such file exists, a run by the beginning of its id or as `last`."""


PromptFolders = Annotated[tuple[Path, ...], Option(metavar="DIR", repeated=True, read=prompt_folders)]
"""Folders whose prompts replace those of the same name, or the names of plug-ins that provide some."""


class Invocation(Value):
    """What holds for one invocation and decides nothing of what a run is: limits, and what the run is called.

    `max_cost` is in US dollars. Limits on spending, `name` and `tags` stay with the run; the limits count what all its
    invocations spend.
    """

    max_cost: float | None = Field(
        default=None, ge=0, le=1e9, description="Stop before spending more than this many US dollars on the run in all."
    )
    max_calls: int | None = Field(
        default=None, ge=0, le=10**12, description="Maximum number of requests to send for the run in all."
    )
    max_tokens: int | None = Field(
        default=None, ge=0, le=10**15, description="Maximum number of tokens to use for the run in all."
    )
    max_failures: Annotated[str | None, Option(metavar="N|N%")] = Field(
        default=None,
        pattern=r"^([0-9]+|[0-9]+(\.[0-9]+)?%)$",
        description="Mark the run as failed (exit code 3) if more items fail (default: all of a model's, or more than half).",
    )
    min_score: float | None = Field(
        default=None, ge=-1e6, le=1e6, description="Exit with 5 if a model's mean score is below."
    )
    min_accuracy: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Exit with 5 if a model's strict accuracy is below this, or could be once failed answers count as wrong.",
    )
    workers: int = Field(
        default=1, ge=1, le=4096, description="Number of worker processes (more than one requires Ray)."
    )
    engine: Literal["process", "ray"] | None = Field(
        default=None, description="Where graphs run (default: in this process; by Ray with several workers)."
    )
    address: Annotated[str | None, Option(metavar="auto|ray://HOST:PORT")] = Field(
        default=None, description="The Ray cluster that the workers run on (default: one of this machine)."
    )
    name: Annotated[RunLabel | None, Option(label=True)] = Field(
        default=None, description="Name this run; the name works anywhere a run ID does."
    )
    force: Annotated[bool, Option(label=True)] = Field(
        default=False, description="Take this name from the run that has it now."
    )
    tags: Annotated[tuple[RunLabel, ...], Option(flags=("--tag",), metavar="TAG", repeated=True, label=True)] = Field(
        default=(), description="Put this tag on the run; `runs --tag TAG` lists those that have it."
    )

    @property
    def spending_limits(self) -> dict[str, JsonValue]:
        """The limits on the run's total spending, None for no limit; not part of its identity."""
        return {name: getattr(self, name) for name in LIMITS}

    @property
    def remote_workers(self) -> int:
        """The number of other processes that walk graphs; 0 if this process does.

        Raises:
            ConfigError: the request asks for this process and also for several, or for an address.
        """
        remote = self.workers > 1 or self.address is not None
        if remote and self.engine == "process":
            raise ConfigError("--engine process is this process alone: leave out --workers and --address")
        if remote or self.engine == "ray":
            return self.workers
        return 0

    @property
    def worker_flags(self) -> str:
        """The options for another command with the same workers; empty if this process walks graphs."""
        if not self.remote_workers:
            return ""
        several = f" --workers {self.workers}" if self.workers > 1 else " --engine ray"
        return several + (f" --address {shlex.quote(self.address)}" if self.address else "")

    @property
    def allows_every_failure(self) -> bool:
        """Whether every failure is allowed, so that not even an unreachable model stops the run."""
        return (
            self.max_failures is not None and self.max_failures.endswith("%") and float(self.max_failures[:-1]) >= 100
        )

    @property
    def invocation(self) -> dict[str, Any]:
        """The fields that apply only to this invocation, by name."""
        return {name: getattr(self, name) for name in Invocation.model_fields}


class RunRequest(Invocation):
    """What every run can be asked: its seed, whose prompts, what may be spent, whether it begins anew.

    Paths are kept absolute.
    """

    VERB: ClassVar[str] = ""
    """Its name on the command line, such as `tree grow`."""

    seed: int = Field(default=0, ge=0, le=MOST_SEED, description="Seed of draws and intervals.")
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=10,
        description="Sampling temperature of every model of the run (default: as configured, else the provider's).",
    )
    top_p: float | None = Field(
        default=None, gt=0, le=1, description="Nucleus sampling (top-p) of every model of the run."
    )
    max_reply_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MOST_REPLY_TOKENS,
        description="Maximum number of tokens per reply of every model of the run.",
    )
    prompts: PromptFolders = Field(
        default=(),
        description="A folder (or a plug-in's name) whose prompts replace those of the same name; its versions are "
        "recorded.",
    )
    keep_checkpoints: bool = Field(default=False, description="Keep every step of every graph for inspection (slower).")
    fresh: bool = Field(
        default=False,
        description="Start a new run even if an identical one exists. Cached calls are reused.",
    )

    @property
    def sampling_settings(self) -> dict[str, float | int]:
        """The sampling settings that the request sets for every model, by their names in `Sampling`."""
        settings = {"temperature": self.temperature, "top_p": self.top_p, "max_tokens": self.max_reply_tokens}
        return {name: value for name, value in settings.items() if value is not None}

    @property
    def makes_home(self) -> bool:
        """Whether the run creates a missing home; one that continues from another run does not."""
        return False

    @property
    def command(self) -> str:
        """The command as a person would repeat it: every option that differs from its default, paths by their names.

        Labels are omitted, since they stay with the run and may have changed.
        """
        return self.as_command()

    def as_command(self, *, called: bool = False) -> str:
        """Return the command as `command` does, with the run's labels if `called`."""
        arguments: list[str] = []
        options: list[str] = []
        for name, field in fields_in_order(type(self)):
            value = getattr(self, name)
            how = option_of(field)
            if value is None or how.hidden or (how.label and not called):
                continue
            if how.argument:
                arguments.append(_as_word(value))
            elif field.is_required() or value != field.get_default(call_default_factory=True):
                options += _option_words(how.flags[0] if how.flags else _dashed(name), value, repeated=how.repeated)
        words = [shlex.quote(word) if " " in word else word for word in (*arguments, *options)]
        return " ".join([self.VERB, *words])


HubNames = WrapValidator(
    lambda value, check: as_data_path(value) if isinstance(value, str) and value.startswith(SCHEME) else check(value)
)
"""Accepts a data set of the Hugging Face Hub in place of a path."""

SUBSAMPLE_HELP = "Only N samples, drawn with the seed and balanced over categories"

Subsample = Annotated[int | None, Field(ge=1, le=MOST_SAMPLES)]
"""The number of samples to draw; None for all."""


DataSets = Annotated[Path, Option(argument=True, exists=True, several=True, hub=True), HubNames]
"""The data of a method with a board: the command line takes several data sets, or a suite file, with one run each."""


class DataRequest(RunRequest):
    """What every run over a data set is asked: the file, how much of it, and what to do with its bad lines.

    `prompt` is the question of samples that have none of their own, such as the images of a folder.
    """

    data: Annotated[Path, Option(argument=True, exists=True, hub=True), HubNames]
    limit: int | None = Field(default=None, ge=1, le=MOST_SAMPLES, description="Only the first N samples.")
    subsample: Subsample = Field(default=None, description=f"{SUBSAMPLE_HELP} (with --limit: from its samples).")
    prompt: str | None = Field(
        default=None, description="The question of samples that have none of their own, such as the images of a folder."
    )
    columns: Annotated[tuple[str, ...], Option(flags=("--map",), metavar="FIELD=COLUMN", repeated=True)] = Field(
        default=(),
        description="The column of a field, or a template of several, as in prompt='{question} {options}'; commas separate "
        "several fields without a template.",
    )
    on_bad_sample: Literal["fail", "skip"] = Field(
        default="fail", description="What to do with a line of the data that cannot be used."
    )
    allow_fetch: bool = Field(default=False, description="Fetch images that the data names by https URL.")
    allow_outside: bool = Field(
        default=False, description="Read images whose paths lead out of the folder of the data."
    )

    @property
    def takes_part(self) -> bool:
        """Whether the run uses only part of the data."""
        return self.limit is not None or self.subsample is not None

    @property
    def makes_home(self) -> bool:
        """A run over a data set creates its home if needed."""
        return True


def stored_request(kind: type[Q], stored: Mapping[str, JsonValue]) -> Q:
    """Return a stored request, even if a number in it is outside the range accepted today.

    This way a run of an earlier version can be shown, exported and deleted; `check_range` refuses to continue it.

    Raises:
        ValidationError: it is not such a request.
    """
    try:
        return kind.model_validate(stored)
    except ValidationError as error:
        faults = error.errors()
        if any(len(fault["loc"]) != 1 or fault["type"] not in OUT_OF_RANGE for fault in faults):
            raise
        beyond = {str(fault["loc"][0]): next(iter(fault.get("ctx", {}).values())) for fault in faults}
        return kind.model_validate({**stored, **beyond}).model_copy(update={name: stored[name] for name in beyond})


def check_range(request: "RunRequest", run: str) -> None:
    """Check that the numbers of a stored request lie in their ranges, before its run continues.

    Raises:
        InputError: one does not; the message names the run, the option, its value and its bound.
    """
    try:
        type(request).model_validate(request.model_dump())
    except ValidationError as error:
        for fault in error.errors():
            if fault["type"] in OUT_OF_RANGE:
                field, (bound,) = str(fault["loc"][0]), fault.get("ctx", {}).values()
                raise InputError(
                    f"run {run} was accepted by an earlier version with --{field.replace('_', '-')} {fault['input']}, and the "
                    f"bound is {bound} now: ask for it anew within the bound (what is answered is not asked again)"
                ) from None


def fields_in_order(request: type[RunRequest]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield a request's fields in reading order: its own first, then those shared with other requests."""
    fields = request.model_fields
    method_fields = [name for name in fields if name not in _SHARED_ORDER]
    shared = [name for name in _SHARED_ORDER if name in fields]
    yield from ((name, fields[name]) for name in (*method_fields, *shared))


_SHARED_ORDER = (
    "data",
    "limit",
    "subsample",
    "seed",
    "temperature",
    "top_p",
    "max_reply_tokens",
    "prompt",
    "columns",
    "prompts",
    "on_bad_sample",
    "allow_fetch",
    "allow_outside",
    *Invocation.model_fields,
    "keep_checkpoints",
    "fresh",
)


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _as_word(value: object) -> str:
    if not isinstance(value, HubPath) and isinstance(value, Path):
        return value.name
    return str(value)


def _option_words(flag: str, value: object, *, repeated: bool) -> list[str]:
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag.removeprefix('--')}"]
    if isinstance(value, dict):
        return [word for name, part in sorted(value.items()) for word in (flag, f"{name}={part}")]
    if isinstance(value, tuple):
        if repeated:
            return [word for part in value for word in (flag, _as_word(part))]
        return [flag, ",".join(map(_as_word, value)) or NOBODY]
    return [flag, _as_word(value)]
