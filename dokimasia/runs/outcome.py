"""How a run ended, compared with its limits on failures and its thresholds, and which failures can be retried."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from dokimasia.domain.call import PEOPLE
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.errors import ConfigError, DokimasiaError, InputError, Interrupted
from dokimasia.log import Redactor
from dokimasia.plugins import broken_plugin
from dokimasia.report.figures import cost_text, several
from dokimasia.runs.figures import limits_of
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.requests import Invocation
from dokimasia.settings import Settings
from dokimasia.storage.decisions import import_filed
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import has_answers, open_questions
from dokimasia.storage.results import events, failed_by_model, record_event, result_failures
from dokimasia.storage.runs import AT_WORK, Run, RunStatus, get_run, set_status
from dokimasia.storage.spending import spent_by
from dokimasia.storage.threads import leave_queue

End = Literal["complete", "failures", "spending", "below", "waiting"]
"""`failures`: more items failed than allowed; `spending`: a limit left items open; `below`: a model misses a threshold;
`waiting`: people have to answer.
"""

ENDED = "ended"
"""The kind of event that records each end of a run, and why."""

LIMIT_NAMES = {"max_cost": "spending limit", "max_calls": "limit on requests", "max_tokens": "limit on tokens"}
"""Names of the limits on a run, by the field of the request that sets them."""

REACHED = "was reached and some results are missing"
SPENT = f"the spending limit {REACHED}"

BLIND = "#blind"


class RunEnding(BaseModel):
    """How a run ended, and the sentence that says why if it is not `complete`."""

    end: str = ""
    why: str = ""


def check_measures(method: AnyMethod, request: Invocation) -> None:
    """Check that the method's figures have every measure that the request sets a threshold for.

    Raises:
        ConfigError: one is missing.
    """
    for name, least in _thresholds(request).items():
        if least is not None and name not in method.scores.measures:
            raise ConfigError(f"--min-{name}: {method.title} gives its models no {name}")


def outcome_of(
    method: AnyMethod, home: Home, run: Run, request: Invocation, figures: JsonObject, *, by_object: bool = False
) -> tuple[End, str]:
    """Return how a finished run ended, and a sentence that gives the reason if it is not `complete`.

    `by_object` states that chat models were given as objects, which only a program can provide again.
    """
    why = _too_many(home, run, request.max_failures)
    if why:
        failures = result_failures(home, run.id)
        kinds = ", ".join(f"{kind} {count}" for kind, count in failures.items())
        return "failures", "; ".join((f"{why} ({kinds})", *_ways_out(method, run, failures, by_object)))
    low = [
        f"{model} has {'none' if value is None else f'{value:.4g}'}, below --min-{name} {least:g}"
        for name, least in _thresholds(request).items()
        if least is not None
        for model, value in _measured(method, figures, name).items()
        if value is None or value < least
    ]
    if low:
        return ("below", "; ".join(low))
    return ("complete", "")


async def record_end(home: Home, run: Run, end: str, why: str, settings: Settings) -> None:
    """Store how a run ended this time, and the sentence that gives the reason, with keys redacted.

    Raises:
        StorageError: the home could not be written.
    """
    ending = RunEnding(end=end, why=Redactor(settings.secrets)(why))
    await record_event(home, run.id, ENDED, ending.model_dump())


def check_cancellable(run: Run) -> None:
    """Check that a run can be cancelled.

    Raises:
        InputError: it is done or failed.
    """
    if run.status in ("done", "failed"):
        raise InputError(f"run {run.id} is {run.status}: there is nothing to cancel")


async def remove_from_queue(home: Home, run: Run, before: str, settings: Settings) -> RunStatus:
    """Remove an idle run from the queue, durably; return its status: `before` if it had ended, else interrupted.

    Raises:
        StorageError: the home could not be written.
    """
    status: RunStatus = before if before in ("done", "failed") else "interrupted"
    if status == "interrupted":
        await record_end(home, run, status, "", settings)
    await leave_queue(home, run.id, status=status)
    return status


def outcome_of_error(problem: BaseException) -> tuple[str, str]:
    """Return how an error ends a run, and its message, which is empty for a stopped run."""
    if isinstance(problem, Interrupted | asyncio.CancelledError):
        return "interrupted", ""
    if isinstance(problem, DokimasiaError):
        return "failed", str(problem)
    return "failed", broken_plugin(problem) or f"internal error: {type(problem).__name__}: {problem}"


def last_end(home: Home, run: Run) -> RunEnding:
    """Return how a run last ended; empty for a queued or running run, or one that has not ended."""
    ends = [] if run.status in AT_WORK else events(home, run.id, kind=ENDED)
    if ends:
        return RunEnding.model_validate(ends[-1].data)
    return RunEnding()


def why_ended(home: Home, run: Run) -> str:
    """Return the reason for a run's last end other than `complete`; empty for a queued or running run."""
    return last_end(home, run).why


def describe_limits(home: Home, run: Run) -> list[str]:
    """Return a text for each limit on a run's spending: the amount spent, and the limit."""
    spent = spent_by(home, run.id)
    cost, calls, tokens = limits_of(run).values()
    parts = [] if cost is None else [f"{_dollars(spent.cost)} of at most {_dollars(cost)}"]
    parts += [] if calls is None else [f"{spent.calls:,} of at most {several(calls, 'request')}"]
    return parts + ([] if tokens is None else [f"{spent.tokens:,} of at most {several(tokens, 'token')}"])


def _dollars(value: float) -> str:
    """Return US dollars in cents, or with four digits if there is a fraction of a cent."""
    if value == round(value, 2):
        return f"${value:,.2f}"
    return cost_text(value)


def describe_spending(home: Home, run: Run, request: Invocation) -> str:
    """Return a sentence with a run's limits, its spending, and the option that raises or lifts the nearest limit."""
    spent = spent_by(home, run.id)._asdict()
    limits = {name: most for name, most in request.spending_limits.items() if most is not None}
    if not limits:
        return f"{SPENT}: that is a limit of the service. Ask whoever runs it for more, then resume the run"
    nearest = max(
        limits, key=lambda name: spent[name.removeprefix("max_")] / (limits[name] or 1e-9), default="max_cost"
    )
    option = f"--{nearest.replace('_', '-')}"
    used = ", ".join(describe_limits(home, run))
    reached = f"the {LIMIT_NAMES[nearest]} {REACHED}"
    return f"{reached}: {used} spent so far. Raise it by a larger {option}, or lift it by {option} none"


def pending_people(home: Home, run: Run) -> str:
    """Return whom a run waits for, with their numbers of questions and the commands to answer them."""
    questions = Counter(question.person for question in open_questions(home, run=run.id))
    parts = [
        f"{several(count, 'question')} {'waits' if count == 1 else 'wait'} for {PEOPLE}/{person}: "
        f"`dokimasia decide {run.id} --who {person}`"
        for person, count in sorted(questions.items())
    ]
    return "; ".join(parts) or f"people have answered: `dokimasia resume {run.id}` goes on"


async def is_still_waiting(home: Home, run: Run) -> bool:
    """Return whether a run waits for people and none has answered yet, in the home or in a file next to it."""
    if run.status != "waiting":
        return False
    await import_filed(home)
    return not has_answers(home, run.id)


def python_way(run: Run, arguments: str = "") -> str:
    """Return how a program continues a run whose chat models it gave as objects."""
    return f"call `resume({run.id!r}, {arguments}chat_models=...)` in Python with the same chat models"


def _ways_out(method: AnyMethod, run: Run, failures: Collection[str], by_object: bool) -> Iterator[str]:
    """Yield what the user can do about failures of these kinds."""
    if method.reruns.no_retry is None and any(kind in RETRYABLE for kind in failures):
        them = "the others" if "undecided" in failures else "them"
        if by_object:
            yield f"to ask {them} anew, {python_way(run, 'retry=True, ')}"
        else:
            yield f"`dokimasia resume {run.id} --retry-failed` asks {them} anew"
    if "undecided" in failures:
        yield "a judge decides what rules cannot: give the command again with --judge J (answers are not asked again)"


def _thresholds(request: Invocation) -> dict[str, float | None]:
    return {"score": request.min_score, "accuracy": request.min_accuracy}


def _measured(method: AnyMethod, figures: JsonObject, name: str) -> dict[str, float | None]:
    """Return a measure of each model, None if missing, without arms that hide the image."""
    steps = method.scores.measures[name]
    sighted = {
        model: figures_of_model for model, figures_of_model in figures["models"].items() if not model.endswith(BLIND)
    }
    return {model: _at(figures_of_model, steps) for model, figures_of_model in sighted.items()}


def _at(figures: JsonObject, steps: Sequence[str]) -> float | None:
    value: Any = figures
    for step in steps:
        value = None if value is None else value[step]
    return value


def _too_many(home: Home, run: Run, limit: str | None) -> str:
    """Return a sentence if more items failed than allowed: by default all of a model, or more than half in total."""
    by_model = failed_by_model(home, run.id)
    failed, count = (sum(numbers) for numbers in zip(*by_model.values(), strict=True)) if by_model else (0, 0)
    sentence = f"{failed} of {several(count, 'item')} failed"
    if limit is not None:
        most = float(limit.rstrip("%")) * (count / 100 if limit.endswith("%") else 1)
        if failed > most:
            return f"{sentence}, more than --max-failures {limit}"
        return ""
    lost = [model for model, (bad, all_) in by_model.items() if model and bad == all_]
    if lost:
        return f"{sentence}, all of {', '.join(lost)}"
    if 2 * failed > count:
        return f"{sentence}, more than half"
    return ""


async def settle_status(home: Home, run: Run, *, left: FailureKind | None = None, record: bool = True) -> Run:
    """Set the status of a run whose work has ended, and return its row.

    It is `interrupted` if the budget left items open, `waiting` if only people's answers are missing, else `done`.

    Args:
        home: open for writing.
        run: the run.
        left: the kind of failure that ended its stages early, if any.
        record: whether to store an event.
    """
    failures = result_failures(home, run.id)
    unpaid, waiting = failures.get("budget", 0), failures.get("waiting", 0)
    status: RunStatus = "waiting" if waiting or left == "waiting" else "done"
    if unpaid or left == "budget":
        status = "interrupted"
    if record:
        counted = {"out_of_budget": unpaid, **({"waiting": waiting} if waiting else {})}
        await record_event(home, run.id, "finished", {"status": status, **counted})
    await set_status(home, run.id, status)
    return get_run(home, run.id)


RETRYABLE: tuple[FailureKind, ...] = (
    "unparsable",
    "refused",
    "truncated",
    "context_overflow",
    "api_error",
    "reference_contradicted",
)
"""The kinds of failure that a retry repeats. Open items (`OPEN_KINDS`) are not among them: every resume asks them."""


def retryable(names: str) -> tuple[FailureKind, ...]:
    """Return the kinds of failure in a comma-separated list; an empty list means all.

    Raises:
        InputError: a kind is unknown, or asked by every resume.
    """
    requested = [name.strip() for name in names.split(",") if name.strip()]
    for name in requested:
        if name in OPEN_KINDS:
            done = "asked" if name == "budget" else "answered"
            raise InputError(
                f"what failed as {name} was never {done}: every `dokimasia resume` takes it up, without --kinds"
            )
        if name not in RETRYABLE:
            raise InputError(f"no failure is of kind {name!r}; there are: {', '.join(RETRYABLE)}")
    return tuple(kind for kind in RETRYABLE if not requested or kind in requested)
