"""A run's scores criterion by criterion, under the keys that capability trees know criteria by."""

from dokimasia.algorithms.scoring import normalise
from dokimasia.methods.tree.reading.view import Measured
from dokimasia.runs.figures import shown_name
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, judgement_scores
from dokimasia.storage.trees.lookup import criteria_counts, criterion_key


def measured_of(home: Home, run: Run) -> Measured:
    """Return what a run measured of each model on each criterion, 0 to 100, the mean over scored repeats.

    A criterion without a score in any repeat is kept with the kind of its first failure; where a sample has no criteria
    at all, nothing can be said of them. A set that several samples have counts for the first by name.
    """
    judged = judgement_scores(home, run.id)
    values: dict[str, dict[str, list[float]]] = {}
    failed: dict[str, dict[str, str]] = {}
    sample_of: dict[str, str] = {}
    made = criteria_counts(home, run.id)
    for row in results(home, run.id):
        if row.kind != "score" or not row.criteria_id:
            continue
        name = shown_name(row.model, row.arm)
        scores = judged.get(row.judgement_id or "", ())
        for number in range(1, made.get(row.criteria_id, 0) + 1):
            key = criterion_key(row.criteria_id, number)
            sample_of[key] = min(sample_of.get(key, row.sample_id), row.sample_id)
            if row.failure is not None or len(scores) < number:
                failed.setdefault(name, {}).setdefault(key, row.failure or "unparsable")
            else:
                values.setdefault(name, {}).setdefault(key, []).append(normalise(scores[number - 1]))
    means = {name: {key: sum(each) / len(each) for key, each in keys.items()} for name, keys in values.items()}
    failures = {
        name: {key: kind for key, kind in kinds.items() if key not in means.get(name, {})}
        for name, kinds in failed.items()
    }
    return Measured(scores=means, failures=failures, sample_of=sample_of)
