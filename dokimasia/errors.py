"""Every error that Dokimasia raises on purpose.

DokimasiaError
├── InputError               the user's mistake: exit code 2
│   ├── DataError            a data file: names file and line
│   ├── ConfigError          dokimasia.toml, an option, a model's name
│   ├── DecidedMeanwhile     somebody else decided on the same item first
│   └── NotFound             a run, sample or file that is not there
├── UnparsableReply          a model's text does not say what was asked
├── ToolFailure              a tool cannot do what a model asked of it: the model is told
├── TransportError           one try brought no usable envelope
├── CallFailed               a call has no answer after all tries, may not be paid for, or waits for a person
├── Unreachable              a model's first calls all fail for its key, its name or its address: the run stops
├── StorageError             the home folder: damaged, missing, full
│   ├── HomeLocked           another process writes here: exit code 2
│   ├── ImpossibleHome       no folder can be there, or be written: exit code 2
│   ├── NewerHome            written by a newer version: exit code 2
│   └── OlderHome            written by an older version that is not read, or not by readers: exit code 2
└── Interrupted              stopped by the user; resumable: exit code 130
"""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

AttemptKind = Literal[
    "rate_limit",
    "timeout",
    "connection",
    "server_error",
    "empty_body",
    "not_json",
    "broken_envelope",
    "empty_choices",
    "auth",
    "bad_request",
    "context_overflow",
    "not_found",
    "unsupported",
    "unknown",
]


class DokimasiaError(Exception):
    """The base of all errors. `exit_code` is the command line's exit code."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with all attributes, whatever the constructor's arguments."""
        return _as_it_was, (type(self), self.args, self.__dict__)


def _as_it_was(type_: type[DokimasiaError], args: tuple[Any, ...], said: dict[str, Any]) -> DokimasiaError:
    error = type_.__new__(type_, *args)
    error.args = args
    error.__dict__.update(said)
    return error


class InputError(DokimasiaError):
    """The user's mistake: the message states what is wrong, where, and what to do."""

    exit_code = 2


class DataError(InputError):
    """A data file that cannot be used; the message names file and line or id."""


class ConfigError(InputError):
    """A configuration, option or model name that cannot be used."""


class DecidedMeanwhile(InputError):
    """Somebody decided on the same item while this decision was being made; nothing was overwritten."""


class NotFound(InputError):
    """Something named does not exist."""


class UnparsableReply(DokimasiaError):
    """A model's text does not contain what was asked; `reason` explains why, quoting at most a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ToolFailure(DokimasiaError):
    """A tool cannot do what a model asked; the message is written for the model, and states what would work."""


class TransportError(DokimasiaError):
    """One try brought no usable envelope.

    Attributes:
        kind: the kind of failure.
        retryable: whether the same request may succeed later.
        status: the HTTP status, if there was one.
        retry_after: the wait requested by the endpoint, in seconds, or None.
    """

    def __init__(
        self,
        kind: AttemptKind,
        message: str,
        *,
        retryable: bool,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: AttemptKind = kind
        self.retryable = retryable
        self.status = status
        self.retry_after = retry_after


class CallFailed(DokimasiaError):
    """A call has no answer: after all tries (`api_error`), because of its length (`context_overflow`) or the budget
    (`budget`), or not yet, since a person is asked (`waiting`).

    `last` is the failure of its last try, if there was one.
    """

    def __init__(
        self,
        kind: Literal["api_error", "context_overflow", "budget", "waiting"],
        reason: str,
        *,
        last: TransportError | None = None,
    ) -> None:
        super().__init__(f"{kind}: {reason}")
        self.kind: Literal["api_error", "context_overflow", "budget", "waiting"] = kind
        self.reason = reason
        self.last = last


class Unreachable(DokimasiaError):
    """A model cannot be called at all: its key, its name or its address is wrong, or its server is down."""


class StorageError(DokimasiaError):
    """The home folder is damaged, missing something, or cannot be written."""


class HomeLocked(StorageError):
    """Another process writes to this home; the message names it.

    `service` is the address of the service that does, empty if it is another command.
    """

    exit_code = 2

    def __init__(self, message: str, *, service: str = "") -> None:
        super().__init__(message)
        self.service = service


class ImpossibleHome(StorageError):
    """No home can be created at the requested place, or it cannot be opened or written; the message names the place."""

    exit_code = 2


class NewerHome(StorageError):
    """The home was written by a newer version of Dokimasia."""

    exit_code = 2


class OlderHome(StorageError):
    """The home was written by an older version: it is no longer readable, or has to be migrated first."""

    exit_code = 2


class Interrupted(DokimasiaError):
    """Stopped by the user; all finished calls are kept, and the message states how to continue."""

    exit_code = 130


class LoopRunning(DokimasiaError, RuntimeError):
    """A function for callers without an event loop was called inside one; the message states what to write instead."""

    exit_code = 2


class Fault(NamedTuple):
    """What is wrong with a field of a model.

    Attributes:
        field: the path to the field, such as `candidates.0.name`; empty where it is the model as a whole.
        message: what is wrong, as pydantic or the validator says it.
        kind: pydantic's name for the kind of mistake, such as `missing`.
    """

    field: str
    message: str
    kind: str

    @classmethod
    def of(cls, details: "ErrorDetails") -> "Fault":
        """Return a fault from the details of an error of pydantic."""
        field = ".".join(map(str, details["loc"]))
        return cls(field, details["msg"].removeprefix("Value error, "), details["type"])

    def __str__(self) -> str:
        """Return the message, after the field that it is about."""
        if self.field:
            return f"{self.field}: {self.message}"
        return self.message


def list_faults(error: "ValidationError") -> list[Fault]:
    """Return what is wrong with the fields of a model, in order, without the values themselves."""
    return [Fault.of(details) for details in error.errors(include_url=False, include_input=False)]


def faults_of(error: "ValidationError") -> str:
    """Return the faults of a model's fields, as `a.b: message; c: message`, without the values themselves."""
    return "; ".join(map(str, list_faults(error)))
