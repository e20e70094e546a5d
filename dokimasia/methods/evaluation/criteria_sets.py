"""The criteria of a run as figures: how many a sample has, what a second look found, and where the final answer is all."""

from collections import Counter
from typing import Any, get_args

import orjson

from dokimasia.domain.criterion import Defect
from dokimasia.runs.reading.rates import mean, share
from dokimasia.storage.home import Home

_SETS = """
SELECT s.cluster, c.body FROM run_samples s
JOIN results r ON r.run_id = s.run_id AND r.sample_id = s.sample_id AND r.kind = 'replay'
JOIN criteria_sets c ON c.id = r.criteria_id
WHERE s.run_id = ? AND s.position >= ? AND s.position < ? ORDER BY s.position
"""
PAGE = 1_000


def criteria_figures(home: Home, run_id: str) -> dict[str, Any]:
    """Return the figures of a run's sets of criteria, ready for JSON."""
    clusters: list[str] = []
    only_final: list[bool] = []
    counts: list[float] = []
    checked = 0
    faults: Counter[tuple[str, str]] = Counter()
    [(end,)] = home.all("SELECT coalesce(max(position) + 1, 0) FROM run_samples WHERE run_id = ?", (run_id,))
    for start in range(0, end, PAGE):
        for cluster, body in home.all(_SETS, (run_id, start, start + PAGE)):
            found: dict[str, Any] = orjson.loads(body)  # a large run has many, and each was checked when it was kept
            clusters.append(cluster)
            only_final.append(all(one["final"] for one in found["criteria"]))
            counts.append(len(found["criteria"]))
            checked += found["checked"]
            faults.update((fault["defect"], fault["became"]) for fault in found["faults"])
    known = (defect for defect in get_args(Defect) if any(defect == one for one, _ in faults))
    return {
        "sets": len(counts),
        "points": mean(counts),
        "only_final": {key: value for key, value in share(only_final, clusters).items() if key != "bounds"},
        "checked": checked,
        "faults": {
            defect: {became: faults[defect, became] for became in ("mended", "dropped", "left")} for defect in known
        },
    }
