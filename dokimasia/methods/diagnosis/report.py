"""What a run's report says of its diagnosis: the tables that were kept, and the atoms behind what is marked in them."""

from typing import Any

from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.methods.diagnosis.diagnosing import kept, kept_id
from dokimasia.methods.diagnosis.evidence import evidence_of
from dokimasia.methods.diagnosis.material import by_category, gather
from dokimasia.methods.diagnosis.results import latest_words, words_summary
from dokimasia.methods.tree import find_tree_of_run
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

ATOMS = 5
MOST = 60
"""Rows whose evidence a report holds, at most: the marked ones first, then each model's lowest leaves."""

MOST_CITED = 120
"""Rows beside them that places of the words lead to, at most."""


def report_diagnosis(home: Home, run: Run) -> dict[str, Any] | None:
    """Return what a report says of a run's diagnosis, ready for JSON; None where the run was not diagnosed.

    Returns:
        What `domain.diagnosis.tables.Diagnosis` holds, with a note where the tree was changed since, `evidence` {`ASSET:ROW`:
        what `methods.diagnosis.evidence.evidence` returns}, `words` (what `methods.diagnosis.results.words_summary` returns of
        the newest report in words; None without one), and `cited`, the rows that places of the words lead to (none where
        the words are of other tables).
    """
    diagnosis = kept(home, run)
    if diagnosis is None:
        return None
    if diagnosis.grouping == "category":
        gathered = by_category(home, run, seed=diagnosis.seed)
    else:
        gathered = gather(home, run, tree=f"{diagnosis.tree}@{diagnosis.position}", seed=diagnosis.seed)
    notes = [*diagnosis.notes, *_changed_since(home, run, diagnosis)]
    rows = evidence_rows(diagnosis)
    written = latest_words(home, run.id)
    words = None if written is None else words_summary(home, written)
    cited: list[str] = []
    if words is not None and words["diagnosis"] == kept_id(home, run):
        sentences = (sentence for report in words["reports"] for sentence in report["sentences"])
        places = (place for sentence in sentences for place in sentence["places"])
        cited = list(dict.fromkeys(place["row"] for place in places if place["row"]))
        rows = list(dict.fromkeys([*rows, *cited[:MOST_CITED]]))
    elif words is not None:
        notes.append(
            f"The reports in words (run {words['run']}) were written from other tables than these: write them anew with "
            f"dokimasia diagnose {run.id} --write --judge {words['judge']}"
        )
    return {
        **diagnosis.model_dump(mode="json"),
        "notes": notes,
        "evidence": evidence_of(home, run, gathered, diagnosis, rows, limit=ATOMS),
        "words": words,
        "cited": cited,
    }


def evidence_rows(diagnosis: Diagnosis) -> list[str]:
    """Return the rows whose atoms a report shows: marked leaves and nodes, then the lowest three leaves of each model."""
    marked: list[str] = []
    low: list[str] = []
    for asset in diagnosis.assets:
        if asset.family not in ("nodes", "leaves"):
            continue
        for number, row in enumerate(asset.rows, start=1):
            if row.mark in ("weak", "strong"):
                marked.append(f"{asset.id}:{number}")
            elif asset.family == "leaves" and number <= 3:
                low.append(f"{asset.id}:{number}")
    return [*marked, *low][:MOST]


def _changed_since(home: Home, run: Run, diagnosis: Diagnosis) -> list[str]:
    now = find_tree_of_run(home, run)
    if now is None or now.id == diagnosis.version:
        return []
    made = f"{diagnosis.tree}@{diagnosis.position}" if diagnosis.tree else "the data's categories"
    return [
        f"This diagnosis was made on {made}; the run's tree is now {now.tree}@{now.position}: its mapping is out of date. "
        f"Make it anew with dokimasia diagnose {run.id}"
    ]
