"""The check whether a judge is good enough: plants errors, probes the judge, and compares the result with limits."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from dokimasia.domain.blindspots import EVALUATORS, NEUTRAL, Evaluator, Task
from dokimasia.errors import ConfigError, InputError
from dokimasia.methods.perturb import METHOD as PERTURB
from dokimasia.methods.perturb import PerturbRequest
from dokimasia.methods.probe import METHOD as PROBE
from dokimasia.methods.probe import ProbeRequest
from dokimasia.methods.probe.passports import check_of
from dokimasia.methods.probe.request import choose_evaluators
from dokimasia.operations.operation import OperationContext
from dokimasia.operations.runs import one_run
from dokimasia.people.checks.filled import import_checks, read_checks
from dokimasia.people.passports import EVALUATION_USES, JudgeCheck, write_passport
from dokimasia.runs.lifecycle import RunResult, place_of, run
from dokimasia.runs.observer import Observer
from dokimasia.runs.requests import MOST_SAMPLES, SUBSAMPLE_HELP, Option, RunRequest, Subsample, run_or_file
from dokimasia.runs.services import Stop
from dokimasia.runs.verbs import request_of
from dokimasia.runs.wording import python_verb
from dokimasia.settings import Settings
from dokimasia.storage.home import Home

LABELLER = "labels"
"""The labeller of a line in a file of labels that names nobody."""

PLANTED = "-errors"
"""What follows the name of a check in the name of its run that plants errors."""

UNMEASURED = ("min_score", "min_accuracy", "fresh")
"""Fields that a check does not accept."""


class JudgeCheckRequest(RunRequest):
    """Say whether JUDGE is good enough: suitable, suitable with correction, not suitable, or cannot tell, and why.

    Errors are planted in right answers (--perturber), and the judge is asked about each of them. Its missed errors,
    false alarms, steadiness, position and length bias and failures of form are compared with limits; with --labels and
    --reference, so is its disagreement. The cost of a judgement, in money and time, is shown with them. Each part is a
    run of the home: the same command resumes it, and nothing is paid twice.
    """

    VERB: ClassVar[str] = "judges check"

    judge: Annotated[str, Option(argument=True, models=True)]
    data: Annotated[Path, Option(metavar="RUN|FILE", read=run_or_file)] = Field(
        description="With --perturber: data with right answers, in which it plants errors. Else: planted errors, as a run of "
        "perturb, or a file or folder of perturbations."
    )
    perturber: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="Who plants the errors: ideally a model from a different maker than the judge's."
    )
    checker: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="Who checks the planted errors (default: the reference, or else the perturber)."
    )
    reference: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="Another judge that is asked the same, to compare the judge with."
    )
    labels: Annotated[Path | None, Option(metavar="FILE", exists=True, file=True)] = Field(
        default=None, description="People's labels of the planted errors: a filled form of `dokimasia decide --export`."
    )
    evaluators: tuple[str, ...] = Field(
        default=("single-axes", "pairwise-axes", "right-or-wrong"),
        description=f"How the judge is asked, separated by commas: {', '.join(EVALUATORS)} (default: single-axes, "
        "pairwise-axes and right-or-wrong; checkpoints, by which evaluate scores, has the judge make criteria of every sample "
        "first, which costs more calls). Each is asked about every error and has a verdict of its own: name those that you "
        "use.",
    )
    task: Task = Field(default="image-to-text", description="What the answers are: a text on an image, or an image.")
    dimensions: Annotated[tuple[str, ...], Option(metavar="NAME,...")] = Field(
        default=(), description="With --perturber: dimensions of error, or groups such as VG (default: all)."
    )
    per: int | None = Field(
        default=20, ge=1, le=MOST_SAMPLES, description="With --perturber: samples of each dimension, drawn evenly."
    )
    limit: int | None = Field(default=None, ge=1, le=MOST_SAMPLES, description="Only the first N samples.")
    subsample: Subsample = Field(default=None, description=f"{SUBSAMPLE_HELP} (with --limit: from its samples).")
    output: Annotated[Path | None, Option(flags=("-o", "--output"), metavar="FILE", file=True, written=True)] = Field(
        default=None, description="Write the judge's passport to this file, for --passport."
    )

    @property
    def makes_home(self) -> bool:
        """Whether the check creates a missing home, as it does for data from a file."""
        return self.data.exists()

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges to probe: the judge, and the reference."""
        if self.reference is None:
            return (self.judge,)
        return (self.judge, self.reference)

    @property
    def left_out(self) -> tuple[Evaluator, ...]:
        """The evaluators that stand for the ways in which `evaluate` judges and by which the judge is not asked."""
        ways = [way for way in EVALUATION_USES if way.task == self.task]
        return tuple(way.evaluators[0] for way in ways if not set(way.evaluators).intersection(self.evaluators))

    @property
    def _shared(self) -> dict[str, Any]:
        """The fields that both runs take unchanged."""
        return {name: getattr(self, name) for name in RunRequest.model_fields if name not in {"name", *UNMEASURED}}

    @property
    def planting(self) -> PerturbRequest | None:
        """The run that plants the errors; None if the data are planted errors.

        Raises:
            ConfigError: the data are not a file, the reference is the judge, an evaluator is unknown, no error is to be
                planted, or an option applies only to planting.
            DataError: the labels cannot be read.
        """
        if self.reference == self.judge:
            raise ConfigError(f"--reference: {self.judge} is the judge itself: name another model")
        choose_evaluators(self.evaluators, (self.task,))
        if self.labels is not None:
            read_checks(self.labels)  # before a call is paid for
        if self.perturber is None:
            if self.dimensions or self.checker:
                raise ConfigError(
                    "--dimensions and --checker are for planting errors: name who plants them with --perturber"
                )
            if self.data.is_file() and not any("perturbed" in line for line in _beginning(self.data)):
                raise ConfigError(
                    f"--data: {self.data} holds no planted errors: name who plants them in its right answers with --perturber"
                )
            return None
        if not self.data.is_file() and not self.data.is_dir():
            raise ConfigError(
                f"--perturber plants errors in a file of data, and there is none called {self.data}: name one, or leave "
                "--perturber out where --data names a run of perturb"
            )
        if self.dimensions and set(self.dimensions) == {NEUTRAL}:
            raise ConfigError(
                f"--dimensions: {NEUTRAL} alone plants no error, and a judge is measured by errors: name dimensions of error; "
                "harmless changes are planted beside them in any case"
            )
        return PerturbRequest(
            data=self.data,
            perturber=self.perturber,
            checker=self.checker or self.reference,
            task=self.task,
            dimensions=self.dimensions and (*self.dimensions, "score_neutral"),
            per=self.per,
            limit=self.limit,
            subsample=self.subsample,
            judges=self.judges,
            name=self.name and f"{self.name}{PLANTED}",
            **self._shared,
        )

    def probing(self, data: Path, *, spent: float = 0.0) -> ProbeRequest:
        """Return the run that asks the judges about planted errors.

        Args:
            data: the planted errors: a run by its id, or a file.
            spent: US dollars already spent on planting them, which count towards the limit.
        """
        planted = self.perturber is not None
        shared = self._shared
        if (
            self.max_failures is None
        ):  # format failures are part of the measurement: only a judge without a reply stops the run
            shared["max_failures"] = "99%"
        if self.max_cost is not None:
            shared["max_cost"] = max(0.0, self.max_cost - spent)
        return ProbeRequest(
            data=data,
            judges=self.judges,
            evaluators=self.evaluators,
            padded=True,
            unchecked=True,
            for_verdict=True,
            limit=None if planted else self.limit,
            subsample=None if planted else self.subsample,
            name=self.name,
            **shared,
        )


def _beginning(path: Path) -> list[str]:
    """Return the first lines of a file, up to 64 KiB; undecodable bytes are replaced."""
    with path.open("rb") as file:
        return file.read(2**16).decode(errors="replace").splitlines()


def no_verdict_yet(run: str, why: str) -> InputError:
    """Return the error of a check with a run that did not end as complete."""
    return InputError(f"there is no verdict yet: run {run} ended before its end ({why}); the same call goes on")


def _check_finished(result: RunResult) -> None:
    if result.end != "complete":
        raise no_verdict_yet(result.run, result.why or result.end)


@python_verb(JudgeCheckRequest)
async def check_judge(
    judge: str,
    data: str | Path | RunResult,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    home: str | Path | None = None,
    **fields: object,
) -> JudgeCheck:
    """Return whether a judge is good enough, with its measurements.

    Args:
        judge: the judge: a name from dokimasia.toml or any LiteLLM name.
        data: data with right answers, or planted errors: a run of perturb, a file or a folder.
        settings: home, configuration and keys; read from the environment by default.
        observer: receives the progress of both runs.
        stop: lets other code ask the runs to stop.
        home: the folder of the home; by default that of the settings.
        fields: other fields of `JudgeCheckRequest`, such as `perturber`, `labels`, `reference`, `max_cost` or `output`.

    Raises:
        InputError: the data, the labels or the options cannot be used, or a run stopped early, for example by
            `max_cost`.
        Interrupted: it was asked to stop; the same call continues it.
    """
    configuration, _ = place_of(settings, home, data)
    request = request_of(JudgeCheckRequest, "check_judge", {"judge": judge, "data": data, **fields})
    services: dict[str, Any] = {"settings": configuration, "observer": observer, "stop": stop}
    planted, spent = request.data, 0.0
    if (planting := request.planting) is not None:
        result = await run(PERTURB, planting, **services)
        _check_finished(result)
        with Home.open(configuration.home, write=False) as opened:
            detail = one_run(OperationContext(settings=configuration, home=opened), result.run)
        planted, spent = Path(result.run), detail.spent.cost
    if request.labels is not None:
        import_checks(configuration, str(planted), request.labels, who=LABELLER)
    result = await run(PROBE, request.probing(planted, spent=spent), **services)
    _check_finished(result)
    with Home.open(configuration.home, write=False) as opened:
        check, passport = check_of(
            opened, request.judge, (result.run,), reference=request.reference or "", seed=request.seed
        )
    if request.output is not None:
        write_passport(passport, request.output)
    return check
