"""Suites: one command over several data sets, each with its own run; one estimate, one limit and a board at the end."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import click
from pydantic import BeforeValidator, Field, ValidationError

from dokimasia.cli.backend import Backend
from dokimasia.cli.requests import made
from dokimasia.cli.shared import console, grid, print_json, say
from dokimasia.domain.hub import HubPath, as_data_path
from dokimasia.domain.identity import Value
from dokimasia.errors import DataError, list_faults
from dokimasia.report.figures import cost_text, several
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.requests import LIMITS, RunLabel, RunRequest

if TYPE_CHECKING:
    from dokimasia.cli.drawing import PreviewShown
    from dokimasia.cli.outcomes import RunOutcome
    from dokimasia.domain.identity import JsonObject

SUITE_FILES = (".yaml", ".yml", ".toml")
"""The endings of files that name data sets."""

LONGEST_PART = 40
"""The maximum number of characters of a data set's name in the name of its run."""


class SuiteData(Value):
    """A data set of a suite: its path or name, and how it is read."""

    data: str
    map: str | tuple[str, ...] = ()
    prompt: str | None = None
    limit: int | None = None
    subsample: int | None = None

    def asked(self, folder: Path) -> dict[str, object]:
        """Return the options of the data set's run; its path is relative to the folder of the suite's file."""
        path = as_data_path(self.data)
        options = self.model_dump(exclude_none=True, exclude={"data", "map"})
        if self.map:
            options["columns"] = (self.map,) if isinstance(self.map, str) else self.map
        return {**options, "data": path if isinstance(path, HubPath) else folder / path}


def _as_data(value: object) -> object:
    if isinstance(value, str):
        return {"data": value}
    return value


class SuiteFile(Value):
    """A file that names a suite and its data sets."""

    name: RunLabel
    data: dict[RunLabel, Annotated[SuiteData, BeforeValidator(_as_data)]] = Field(min_length=1)


class SuiteRun(NamedTuple):
    """How the run of a data set ended, as `--json` prints it."""

    data: str
    run: str
    name: str | None
    end: str
    why: str


class SuiteTotal(NamedTuple):
    """The samples, calls and US dollars of all runs; the cost is None if that of any is unknown."""

    samples: int
    calls: int
    cost: float | None


class Member(NamedTuple):
    """A data set of a suite: its name, and the request of its run."""

    title: str
    request: RunRequest


def is_suite(data: Sequence[Path]) -> bool:
    """Return whether arguments name several data sets, or a file of them."""
    return len(data) > 1 or data[0].suffix.lower() in SUITE_FILES


def members_of(method: AnyMethod, asked: Mapping[str, object], data: Sequence[Path]) -> list[Member]:
    """Return the data sets of a suite with their requests; in a named suite, runs are named `SUITE.DATA`.

    Raises:
        DataError: a suite file cannot be used; the message names the file and the place in it.
        click.UsageError: the arguments cannot be combined.
    """
    if asked.get("responses"):
        raise click.UsageError("--responses has the answers to one data set: evaluate each data set by itself")
    files = [path for path in data if path.suffix.lower() in SUITE_FILES]
    name = asked.get("name")
    if not files:
        options = {_title(path): {"data": path} for path in data}
        if len(options) < len(data):
            twice = Counter(map(_title, data)).most_common(1)[0][0]
            raise click.UsageError(f"two data sets are called {twice!r}: name them in a file of a suite")
    elif len(data) > 1:
        raise click.UsageError(f"{files[0]} is a file of a suite, which stands alone: add the other data to it")
    else:
        suite = read_suite(files[0])
        name = name or suite.name
        options = {title: entry.asked(files[0].absolute().parent) for title, entry in suite.data.items()}
        for title, run_options in options.items():
            path = run_options["data"]
            if not isinstance(path, HubPath) and isinstance(path, Path) and not path.exists():
                raise DataError(f"{files[0]}, data set {title!r}: there is no {path}")
    members: list[Member] = []
    for title, run_options in options.items():
        labels: dict[str, object] = {}
        if name is not None:
            tags = asked.get("tags")
            tags = tags if isinstance(tags, tuple) else ()
            labels = {"name": f"{name}.{title[:LONGEST_PART]}", "tags": (*tags, name)}
        members.append(Member(title, made(method.request, {**asked, **run_options, **labels})))
    return members


def read_suite(path: Path) -> SuiteFile:
    """Return the suite in a YAML or TOML file.

    Raises:
        DataError: the file cannot be read, or is not a suite.
    """
    from dokimasia.domain.user_yaml import read_user_yaml

    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text) if path.suffix.lower() == ".toml" else read_user_yaml(text, f"suite {path}")
        return SuiteFile.model_validate(content)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{path} cannot be read as a suite: {error}") from error
    except ValidationError as error:
        fault = list_faults(error)[0]
        raise DataError(
            f"{path}, {fault.field or 'the file'}: {fault.message}; a suite has a `name`, and under `data` the name "
            "of each data set with its path, or with `data` and `map`, `prompt`, `limit`, `subsample`"
        ) from error


def run_suite(
    method: AnyMethod,
    backend: Backend,
    members: Sequence[Member],
    *,
    dry_run: bool = False,
    show_prompts: bool = False,
    as_json: bool,
) -> int:
    """Run all data sets of a suite in turn and print their board, or with `dry_run` the estimate of all.

    All data are read before anything is sent. A limit on spending applies to all runs together: each run gets what the
    others leave. Return the exit code: that of the first run that did not end as wanted.

    Raises:
        click.UsageError: runs are to be left to a service.
    """
    from dokimasia import operations
    from dokimasia.cli.drawing import PreviewShown
    from dokimasia.cli.running import exit_code

    if backend.detached:
        raise click.UsageError("--detach leaves one run to a service: begin each data set of a suite by itself")
    previews = [backend.preview(method, member.request) for member in members]
    estimates = [PreviewShown.model_validate(preview) for preview in previews]
    if dry_run or show_prompts:
        _print_estimate(members, previews, estimates, prompts=show_prompts, as_json=as_json)
    else:
        say(f"suite of {several(len(members), 'data set')}: {_in_words(estimates)}")
    for preview in previews:
        backend.check_keys(preview)
    if dry_run or show_prompts:
        return 0
    outcomes: list[RunOutcome] = []
    remaining = {name: getattr(members[0].request, name) for name in LIMITS}
    code = 0
    for position, member in enumerate(members):
        say(f"{position + 1}/{len(members)} {member.title}")
        outcome = backend.run(method, member.request.model_copy(update=remaining))
        outcomes.append(outcome)
        code = code or exit_code(outcome, backend.where)
        if outcome.end == "spending":
            others = ", ".join(later.title for later in members[position + 1 :])
            say(
                f"the limit holds for the whole suite, which the same command with a larger limit continues; not begun: "
                f"{others or 'none'}"
            )
            break
        spent = backend.call(operations.runs.one_run, run=outcome.run).spent.model_dump()
        for name, limit in remaining.items():
            if limit is not None:
                remaining[name] = max(0, limit - spent[name.removeprefix("max_")])
    _print_results(backend, members, outcomes, as_json=as_json)
    return code


def _print_results(
    backend: Backend, members: Sequence[Member], outcomes: "Sequence[RunOutcome]", *, as_json: bool
) -> None:
    """Print the runs of a suite and the board of those with results."""
    from dokimasia import operations
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.report.board import board_blocks

    runs = [
        SuiteRun(member.title, outcome.run, member.request.name, outcome.end, outcome.why)
        for member, outcome in zip(members, outcomes, strict=False)
    ]
    with_results = ",".join(outcome.run for outcome in outcomes if outcome.end != "spending")
    board = None
    if with_results:
        board = backend.call(operations.runs.board, runs=with_results, tag=None, seed=members[0].request.seed)
    if as_json:
        print_json({"runs": [run._asdict() for run in runs], "board": board})
        return
    table = grid("data set", "run", "name", "end")
    for run in runs:
        table.add_row(run.data, run.run, run.name or "", run.end)
    console().print(table)
    if board is not None:
        print_blocks(board_blocks(board))


def _print_estimate(
    members: Sequence[Member],
    previews: "Sequence[JsonObject]",
    estimates: "Sequence[PreviewShown]",
    *,
    prompts: bool,
    as_json: bool,
) -> None:
    """Print what each run of a suite would ask and cost, and the totals."""
    from dokimasia.cli.drawing import print_prompts

    if as_json:
        each = [{"data": member.title, **preview} for member, preview in zip(members, previews, strict=True)]
        print_json({"data": each, "total": _total(estimates)._asdict()})
        return
    table = grid("data set", "run")
    for name in ("samples", "calls", "cost"):
        table.add_column(name, justify="right")
    for member, preview in zip(members, estimates, strict=True):
        cost = cost_text(preview.cost, _known_cost(preview))
        table.add_row(member.title, preview.run, f"{preview.samples:,}", f"{preview.calls:,}", cost)
    console().print(table)
    console().print(_in_words(estimates), style="bold")
    notes = dict.fromkeys(note for preview in estimates for note in preview.notes)
    for note in notes:
        console().print(f"note: {note}", style="yellow", markup=False)
    if prompts:
        for member, preview in zip(members, estimates, strict=True):
            console().rule(member.title)
            print_prompts(preview)


def _in_words(estimates: "Sequence[PreviewShown]") -> str:
    total = _total(estimates)
    known = sum(map(_known_cost, estimates))
    samples, calls = several(total.samples, "sample"), several(total.calls, "call")
    return f"estimated cost {cost_text(total.cost, known)}: {samples}, about {calls}"


def _total(estimates: "Sequence[PreviewShown]") -> SuiteTotal:
    costs = [preview.cost for preview in estimates if preview.cost is not None]
    return SuiteTotal(
        samples=sum(preview.samples for preview in estimates),
        calls=sum(preview.calls for preview in estimates),
        cost=sum(costs) if len(costs) == len(estimates) else None,
    )


def _known_cost(preview: "PreviewShown") -> float:
    return sum(model.cost or 0.0 for model in preview.models.values())


def _title(path: Path) -> str:
    """Return the title of a data set, reduced to characters allowed in the name of a run."""
    name = path.name if isinstance(path, HubPath) else path.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "data"
