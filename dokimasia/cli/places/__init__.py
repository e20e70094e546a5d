"""Where a verb does its work: the home of this process, or a service; verbs talk to a `Place` and know of neither."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from dokimasia.cli.places.checks import Checks
    from dokimasia.cli.places.trees import Trees
    from dokimasia.domain.decision import Action, CheckItem, Decision
    from dokimasia.domain.passport import Passport
    from dokimasia.methods.evaluation.correcting import CorrectionTarget
    from dokimasia.report.fields import RunFigures
    from dokimasia.runs.forking import ForkRequest
    from dokimasia.runs.method import Method
    from dokimasia.runs.outcome import End
    from dokimasia.runs.requests import RunRequest
    from dokimasia.settings import Settings
    from dokimasia.storage.naming import Usable
    from dokimasia.storage.runs import Run


class Done(NamedTuple):
    """A run that was brought as far as it came: its id, how it ended, why that is not as it was wanted, and its figures.

    `summary` is None where nobody has made the figures yet.
    """

    run: str
    end: "End"
    why: str = ""
    summary: Mapping[str, Any] | None = None


class Exported(NamedTuple):
    """A run's rows in a format, how many they are, and what they are called."""

    data: bytes
    rows: int
    row_name: str


class Told(NamedTuple):
    """A report: its bytes, and how many of how many samples it shows."""

    data: bytes
    shown: int
    samples: int


class Place(Protocol):
    """Where runs are and are done."""

    @property
    def settings(self) -> "Settings": ...

    @property
    def where(self) -> str:
        """The options by which another command finds the same place, with a space in front."""
        ...

    @property
    def remote(self) -> bool:
        """Whether nothing of it lies on this machine."""
        ...

    @property
    def trees(self) -> "Trees":
        """Its capability trees."""
        ...

    @property
    def checks(self) -> "Checks":
        """What people decide on in its runs."""
        ...

    @property
    def named(self) -> str:
        """What the place is called in a sentence."""
        ...

    def only_here(self, what: str) -> None:
        """Refuse what is done on a home of this machine alone, where the place is elsewhere.

        Raises:
            click.UsageError: it is.
        """
        ...

    def detach(self) -> None:
        """Leave the runs that are begun to the service."""
        ...

    def find(self, run: str, usable: "Usable | None" = None) -> "Run":
        """Return the run that a user means; `last` is the newest of those that are usable."""
        ...

    def preview(self, method: "Method[Any, Any]", request: "RunRequest") -> dict[str, Any]:
        """Return what a run would be, ask and cost."""
        ...

    def check_keys(self, shown: Mapping[str, Any]) -> None:
        """Refuse a preview where a key is missing that the run would need."""
        ...

    def run(self, method: "Method[Any, Any]", request: "RunRequest") -> Done:
        """Do what a request asks, to its end."""
        ...

    def resume(self, run: "Run", changes: Mapping[str, Any], retry: Sequence[str]) -> Done:
        """Go on with a run, to its end."""
        ...

    def fork_preview(self, run: "Run", request: "ForkRequest") -> dict[str, Any]:
        """Return what a fork would be, ask and cost."""
        ...

    def fork(self, run: "Run", request: "ForkRequest") -> Done:
        """Do a run again with changes, to its end."""
        ...

    def after(self, method: "Method[Any, Any]", run: str, request: "RunRequest") -> Sequence[str]:
        """Do what a method does once a run is done, and return what is to be said of it."""
        ...

    def view(self, run: str, *, figures: "RunFigures | None" = None) -> Mapping[str, Any]:
        """Return a run's figures, with its items where it shows any."""
        ...

    def sample(self, run: str, sample: str, *, raw: bool) -> Mapping[str, Any]:
        """Return one sample of a run whole."""
        ...

    def draw(
        self,
        run: str,
        *,
        figures: "RunFigures | None" = None,
        planted: Mapping[str, Any] | None = None,
    ) -> None:
        """Print the sections of a run's report that a terminal shows."""
        ...

    def export(self, run: "Run", format: str) -> Exported:
        """Return a run's rows in a format."""
        ...

    def form(self, run: "Run", form: str) -> Mapping[str, bytes]:
        """Return a run's files in the form of another program, by name."""
        ...

    def report(self, run: "Run", format: str, samples: int) -> Told:
        """Return a report on a run."""
        ...

    def compare(self, first: str, second: str, *, say: Callable[[str], None], **how: Any) -> dict[str, Any]:
        """Return how two runs differ; `say` is told which runs `last` means."""
        ...

    def standing(self, run: str) -> dict[str, Any]:
        """Return how all stands that people decide on in a run; a service says it."""
        ...

    def decide(
        self,
        item: "CheckItem",
        action: "Action",
        *,
        who: str,
        text: str = "",
        shown: str = "",
        seen: int | None = None,
    ) -> "Decision | None":
        """Keep what a person decided on an item; None where it is left for the process that holds the home.

        Raises:
            DecidedMeanwhile: there are more decisions on it by now than the person had `seen`; their text is kept unfinished.
        """
        ...

    def correct(self, run: str, wanted: "CorrectionTarget", *, who: str) -> Mapping[str, Any]:
        """Keep what a person corrected by hand in a run, and return it."""
        ...

    def runs(self, tags: Sequence[str], *, method: str | None = None) -> list[dict[str, Any]]:
        """Return the runs that have all of these tags, of one method where it is named, the newest first."""
        ...

    def models(self, names: Sequence[str], *, simulated: bool) -> list[dict[str, Any]]:
        """Return what is known of the configured models, or of those that are named."""
        ...

    def passport(self, judge: str, runs: Sequence[str], *, seed: int) -> "Passport":
        """Return what probes measured of a judge: these, or all that asked it."""
        ...

    def rename(self, run: str, name: str) -> str:
        """Call a run otherwise, and return its id."""
        ...

    def cancel(self, run: str, *, at_once: bool) -> dict[str, Any]:
        """Stop a run, or take it out of the queue, and return how it stands; `at_once` gives up its calls in flight.

        Raises:
            InputError: it has ended.
        """
        ...

    def resting(self, run: str) -> tuple["Run", Sequence[tuple[str, str]], tuple[int, int]]:
        """Return a run that is to be deleted, the runs that rest on it (id, command), and its numbers of results and samples."""
        ...

    def delete(self, run: "Run") -> dict[str, Any]:
        """Delete a run, and return what went."""
        ...
