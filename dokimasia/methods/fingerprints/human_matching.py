"""Human matching: export of a test's figures and anonymous trials, and import of a reader's decisions."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import BaseModel, Field

from dokimasia.datasets.lines import Problem, read_rows
from dokimasia.domain.diagnosis.fingerprint import FingerprintMatch, FingerprintTask
from dokimasia.domain.identity import unit_interval
from dokimasia.errors import InputError, NotFound
from dokimasia.graphs.fingerprinting import anonymous_reports
from dokimasia.methods.diagnosis import reports_of, runs_on, write_tables
from dokimasia.methods.fingerprints.figures import BY_HAND, FingerprintFigures, fingerprint_figures
from dokimasia.methods.fingerprints.request import NAME
from dokimasia.methods.fingerprints.trials import item_of, tasks_of
from dokimasia.report.fields import as_json
from dokimasia.report.figures import several
from dokimasia.runs.reading.exporting import make_folder, write_whole
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.results import ResultRow, record_results, results
from dokimasia.storage.runs import Run, SqliteValueStore

SHEET, TRIALS, DATA = "matches.csv", "trials", "trials.jsonl"
COLUMNS = ("trial", "task", "report_1_is")
MOST_NAMED = 20
LONGEST_NAME = 80
_TICKS = re.compile(r"`{3,}")


class Bundle(NamedTuple):
    """The files for a reader: the number of trials, the sheet, and whether an existing sheet was kept."""

    trials: int
    sheet: Path
    sheet_existed: bool


class ReaderDecision(NamedTuple):
    """A line of a reader's file: the line number, the task's id, and the decision on report 1 (None if undecided)."""

    line: int
    task: str
    letter: str | None


def write_all(home: Home, run: Run, folder: Path) -> Iterator[str]:
    """Write a test's trials for a reader and its figures into a folder, and yield messages for the user.

    Raises:
        InputError: there are no reports to match, or the folder cannot be used.
    """
    bundle = write_bundle(home, run, folder)
    files = export_figures(fingerprint_figures(home, run), folder)
    yield f"wrote {several(len(files), 'file')} with figures, and {several(bundle.trials, 'trial')} for a reader, to {folder}"
    if bundle.sheet_existed:
        yield f"{bundle.sheet} was there and is left as it is"
    yield (
        f"To match them by hand, save {bundle.sheet} under the reader's name, put A or B into report_1_is, and: "
        f"dokimasia diagnose {run.id} --fingerprint --matches NAME.csv --home {home.path}"
    )


def export_figures(figures: FingerprintFigures, folder: Path) -> list[Path]:
    """Write a test's tables as CSV and PNG, and its figures as JSON, into a folder; equal figures give equal bytes.

    Raises:
        InputError: the folder cannot be written.
    """
    simulated = bool(figures.simulated)
    return write_tables(folder, "fingerprints", as_json(figures), figures.assets, simulated=simulated)


def write_bundle(home: Home, run: Run, folder: Path) -> Bundle:
    """Write the trials for a reader, in a random order, and a sheet for the decisions.

    `trials/001.md` and so on contain the two reports and both models' answers, `trials.jsonl` the same for programs, and
    `matches.csv` a line per trial. The solution stays in the home. A sheet with decisions is kept.

    Raises:
        InputError: there are no reports to match, the folder has the sheet of another test, or it cannot be written.
    """
    reports = reports_of(home, run.id)
    seed = run.seed
    tasks = [(id, task) for id, task in tasks_of(home, run) if task.first in reports and task.second in reports]
    tasks.sort(key=lambda task: (unit_interval("bundle", seed, task[0]), task[0]))
    if not tasks:
        raise InputError(f"run {run.id} has no reports to match yet: go on with dokimasia resume {run.id}")
    path = folder / SHEET
    sheet_existed = path.exists()
    if sheet_existed and _of_another_test(path, dict(tasks_of(home, run))):
        raise InputError(f"{path} belongs to another test than {run.id}: name another folder with --export")
    make_folder(folder / TRIALS)
    lines: list[bytes] = []
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, (id, task) in enumerate(tasks, start=1):
        first, second = anonymous_reports(task, reports[task.first], reports[task.second])
        answers = [orjson.loads(line) for line in task.answers.splitlines()]
        questions = [TrialQuestion.model_validate(answer) for answer in answers]
        page = "\n".join(_page(number, len(tasks), first, second, questions))
        write_whole(folder / TRIALS / f"{number:03}.md", page.encode())
        row = {
            "trial": number,
            "task": id,
            "report_1": first,
            "report_2": second,
            "answers": answers,
            "report_1_is": None,
        }
        lines.append(orjson.dumps(row))
        writer.writerow((number, id, ""))
    write_whole(folder / DATA, b"\n".join([*lines, b""]))
    if not sheet_existed:
        write_whole(path, sheet.getvalue().encode())
    return Bundle(len(tasks), path, sheet_existed)


def _of_another_test(path: Path, tasks: Mapping[str, FingerprintTask]) -> bool:
    """Return whether a file is a sheet with tasks of another test; files of other kinds are ignored."""
    try:
        ids = {decision.task for decision in _read_sheet(path) if decision.task}
    except InputError:
        return False
    return bool(ids) and not ids & tasks.keys()


async def take_matches(home: Home, text: str, path: Path) -> tuple[Run, int]:
    """Import a reader's decisions, all or none; return their test and the number of new ones.

    Args:
        home: the home, open for writing.
        text: the beginning of the id of a test or of its evaluation; `last` is the newest test.
        path: the sheet (.csv with columns `task` and `report_1_is`), or JSON lines with these keys. The decision is A, B,
            or empty. The file's name without extension is the reader's name.

    Raises:
        InputError: there are unusable lines; the message names each, and nothing is stored.
        NotFound: there is no such test.
    """
    decisions, problems = _read_decisions(path)
    run = _test_of(home, text, {decision.task for decision in decisions})
    tasks = dict(tasks_of(home, run))
    name = path.stem[:LONGEST_NAME]
    earlier = _earlier_letters(home, run, name)
    decided: list[ReaderDecision] = []
    first_lines: dict[str, int] = {}
    for decision in decisions:
        problem = _problem_of(decision, run, tasks, first_lines, earlier, name)
        if problem is not None:
            problems.append(Problem(decision.line, decision.task, f"{path}, line {decision.line}: {problem}"))
        elif decision.letter is not None:
            decided.append(decision)
        first_lines.setdefault(decision.task, decision.line)
    if problems:
        problems.sort(key=lambda problem: problem.line)
        messages = [problem.message for problem in problems[:MOST_NAMED]]
        if len(problems) > MOST_NAMED:
            messages.append(f"and {len(problems) - MOST_NAMED} more")
        raise InputError("\n".join([*messages, "nothing was taken in"]))
    if not decided:
        raise InputError(f"{path} holds no decision: put A or B into report_1_is")
    store = SqliteValueStore(home, run.id)
    rows = [await _row(store, run, decision, tasks[decision.task], name) for decision in decided]
    return run, await record_results(home, rows)


async def _row(
    store: SqliteValueStore, run: Run, decision: ReaderDecision, task: FingerprintTask, name: str
) -> ResultRow:
    match = FingerprintMatch.model_validate(
        {"task": decision.task, "said": decision.letter, "right": decision.letter == task.truth, "by": name}
    )
    return ResultRow(
        run_id=run.id,
        item=f"{item_of(task)}/{name}",
        kind=BY_HAND,
        sample_id="",
        model=task.first,
        arm=task.second,
        repeat=task.trial - 1,
        value_ids=(decision.task, await store.put(match)),
        outcome="scored",
        score=float(match.right),
    )


def _problem_of(
    decision: ReaderDecision,
    run: Run,
    tasks: Mapping[str, FingerprintTask],
    first_lines: Mapping[str, int],
    earlier: Mapping[str, str],
    name: str,
) -> str | None:
    """Return the problem of a decision; None without one."""
    id, letter = decision.task, decision.letter
    if not id:
        return "no task is named: write the task's id, as in the sheet that --export wrote"
    if id not in tasks:
        return f"run {run.id} has no task {id[:40]!r}"
    if id in first_lines:
        return f"task {id[:40]} stands on line {first_lines[id]} already"
    if letter not in (None, "A", "B"):
        return f"task {id[:40]}: report_1_is is {letter[:40]!r}, and has to be A, B or empty"
    if letter is not None and earlier.get(id, letter) != letter:
        return (
            f"task {id[:40]}: {name} has decided {earlier[id]} before, and a decision is not changed once it is counted; "
            "a file of another name counts as another reader"
        )
    return None


def _test_of(home: Home, text: str, ids: set[str]) -> Run:
    """Return the test that a text refers to; for an evaluation, the test that has most of the file's trials."""
    run = resolve_run(home, text, of_method(NAME))
    tests = [run] if run.method == NAME else list(runs_on(home, run.id, NAME))
    if not tests:
        raise NotFound(
            f"run {run.id} has no test of fingerprints yet: make one with --fingerprint --judge M --export DIR"
        )

    def matching_tasks(test: Run) -> int:
        tasks = test.texts("tasks")
        return len(ids.intersection(tasks))

    return max(tests, key=matching_tasks)


def _earlier_letters(home: Home, run: Run, name: str) -> dict[str, str]:
    """Return a reader's earlier decisions, by task."""
    rows = [row for row in results(home, run.id) if row.kind == BY_HAND and row.item.endswith(f"/{name}")]
    matches = find_values(home, FingerprintMatch, [row.value_ids[1] for row in rows])
    return {match.task: match.said for match in matches.values() if match.by == name}


def _read_decisions(path: Path) -> tuple[list[ReaderDecision], list[Problem]]:
    """Return the lines of a sheet or a JSONL file, and the problems of unreadable ones."""
    if path.suffix.casefold() == ".csv":
        return _read_sheet(path), []
    decisions: list[ReaderDecision] = []
    problems: list[Problem] = []
    for row in read_rows(path):
        if isinstance(row, Problem):
            problems.append(row)
            continue
        cell = row.fields.get("report_1_is")
        letter = None if cell is None else _letter(cell)
        decisions.append(ReaderDecision(row.line, str(row.fields.get("task") or ""), letter))
    return decisions, problems


def _read_sheet(path: Path) -> list[ReaderDecision]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start + 1}); save the sheet as UTF-8") from error
    header = text.partition("\n")[0]
    separator = ";" if header.count(";") > header.count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    missing_columns = [name for name in COLUMNS[1:] if name not in (reader.fieldnames or ())]
    if missing_columns:
        raise InputError(f"{path}, line 1: the sheet has no column {' and none '.join(missing_columns)}")
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from error
    return [ReaderDecision(line, (row["task"] or "").strip(), _letter(row["report_1_is"] or "")) for line, row in rows]


def _letter(value: object) -> str | None:
    text = str(value).strip()
    if len(text) == 1:
        return text.upper()
    return text or None


class TrialPoint(BaseModel):
    """A point that a good answer gets right."""

    question: str
    ground_truth: str


class TrialQuestion(BaseModel):
    """A question of a trial, and what both models answered."""

    n: int
    question: str
    reference: str | None = None
    points: tuple[TrialPoint, ...] = ()
    a: str = Field(alias="A")
    b: str = Field(alias="B")


def _page(number: int, count: int, first: str, second: str, questions: Sequence[TrialQuestion]) -> Iterator[str]:
    """Yield the lines of a trial's page; model texts are fenced with longer fences than any they contain."""
    yield f"# Trial {number} of {count}"
    yield ""
    yield "Two models answered the questions below; they are called A and B throughout. Each of the two reports is about one"
    yield f"of them. Whom is report 1 about? Put A or B beside trial {number} into the sheet."
    for title, text in (("Report 1", first), ("Report 2", second)):
        yield from ("", f"## {title}", "", *_fenced(text))
    yield from ("", "## Answers")
    for question in questions:
        yield from ("", f"### Question {question.n}", "", *_fenced(question.question))
        if question.reference:
            yield from ("", "Reference:", "", *_fenced(question.reference))
        if question.points:
            points = "\n".join(f"- {point.question} {point.ground_truth}" for point in question.points)
            yield from ("", "What a good answer gets right:", "", *_fenced(points))
        for letter, answer in (("A", question.a), ("B", question.b)):
            yield from ("", f"**{letter}** answered:", "", *_fenced(answer))
    yield ""


def _fenced(text: str) -> list[str]:
    ticks = "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(text))])
    return [f"{ticks}text", text, ticks]
