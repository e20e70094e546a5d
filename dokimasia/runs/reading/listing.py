"""The runs of a home as a list: what each is, how far it came, what it is called."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from dokimasia.runs.figures import forked_from, limits_of
from dokimasia.storage.home import Home
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.questions import open_questions
from dokimasia.storage.runs import Run, list_runs

FIELDS = frozenset({"id", "method", "command", "data_name", "seed", "fresh", "status", "created_at", "updated_at"})


def described(run: Run, label: Label, *, questions: int = 0, why: str = "") -> dict[str, Any]:
    """Return what a list says of a run, ready for JSON.

    Args:
        run: the run.
        label: what it is called.
        questions: how many questions of it wait for people.
        why: why it was interrupted or failed, where that is known.
    """
    more = {"forked_from": forked_from(run), "open_questions": questions, "why": why, "limits": limits_of(run)}
    more |= label._asdict()
    return run.model_dump(mode="json", include=set(FIELDS)) | more


def waiting_questions(home: Home) -> Counter[str]:
    """Return how many questions of each run wait for people, by the run's id."""
    return Counter(question.run for question in open_questions(home))


def end_reasons(home: Home, runs: Iterable[Run]) -> dict[str, str]:
    """Return why runs were interrupted or failed, in a sentence, by the run's id; nothing of others."""
    ids = [run.id for run in runs if run.status in ("interrupted", "failed")]
    sql = "SELECT run_id, data FROM events WHERE run_id IN ({marks}) AND kind = 'ended' ORDER BY id"
    return {row["run_id"]: str(orjson.loads(row["data"])["why"]) for row in home.rows_among(sql, ids)}


def described_now(home: Home, run: Run) -> dict[str, Any]:
    """Return what a list says of one run, ready for JSON."""
    label, questions = labels(home).get(run.id, Label()), waiting_questions(home)[run.id]
    return described(run, label, questions=questions, why=end_reasons(home, [run]).get(run.id, ""))


def listed(
    home: Home,
    *,
    tags: tuple[str, ...] = (),
    wanted: Callable[[Run], bool] = lambda run: True,
    text: str = "",
) -> list[tuple[Run, Label]]:
    """Return the runs of a home, the newest first, with what each is called.

    Args:
        home: open for reading at least.
        tags: only runs that have all of these.
        wanted: only runs of which this is true.
        text: only runs whose id, name, tags, command or data hold this text, whatever the case.
    """
    called: Mapping[str, Label] = labels(home)
    sought = text.casefold()
    found = [(run, called.get(run.id, Label())) for run in list_runs(home) if wanted(run)]
    return [
        (run, label)
        for run, label in found
        if set(tags) <= set(label.tags)
        and sought in "\n".join((run.id, run.method, run.command, run.data_name, label.name, *label.tags)).casefold()
    ]
