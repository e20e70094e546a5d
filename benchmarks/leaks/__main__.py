"""`python -m benchmarks.leaks`: what the filter stops of an author unseen; `--write` fits on all and keeps the weights."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson

from benchmarks.leaks.fitting import AUTHORS, Hint, Model, fit, read

WEIGHTS = Path(__file__).parents[2] / "dokimasia" / "algorithms" / "leak_weights.json"
CLEAN = 0.025
"""Share of clean hints of unseen authors that may be dropped: it sets the threshold."""
LEAST = 0.02


def table(author: Sequence[Hint], scores: Sequence[float], threshold: float) -> str:
    """Return what is stopped by form, as text."""
    seen, stopped = Counter[str](), Counter[str]()
    for hint, score in zip(author, scores, strict=True):
        seen[hint.form or "clean"] += 1
        stopped[hint.form or "clean"] += score >= threshold
    return ", ".join(f"{form} {stopped[form]}/{seen[form]}" for form in sorted(seen))


def main() -> None:
    """Leave each author out in turn, set the threshold on all of their clean hints, print; write if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="fit on all authors and keep the weights")
    parser.add_argument("--only", nargs="*", default=list(AUTHORS), help="authors to leave out")
    options = parser.parse_args()
    authors = {name: read(name) for name in AUTHORS}
    unseen: dict[str, list[float]] = {}
    for name in options.only:
        model = fit([hints for other, hints in authors.items() if other != name], least=LEAST)
        unseen[name] = [model.score(hint) for hint in authors[name]]
    clean = [
        score
        for name, scores in unseen.items()
        for hint, score in zip(authors[name], scores, strict=True)
        if hint.form is None
    ]
    threshold = round(float(np.quantile(clean, 1 - CLEAN)) + 0.005, 2)
    print(f"threshold {threshold}")
    for name, scores in unseen.items():
        print(f"{name}: {table(authors[name], scores, threshold)}")
    if options.write:
        _write(fit(list(authors.values()), least=LEAST), threshold)


def _write(model: Model, threshold: float) -> None:
    kept = {
        "threshold": threshold,
        "intercept": model.intercept,
        "words": sorted(model.words),
        "coefficients": dict(sorted(model.coefficients.items())),
    }
    WEIGHTS.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2) + b"\n")
    print(f"{len(model.coefficients)} coefficients, {WEIGHTS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
