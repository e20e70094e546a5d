"""Coverage of rates and scores by a few people's labels where all labels of real judges' answers are known.

`python -m benchmarks.human_labels FOLDER [--splits 1000] [--labels 60] [--json]`, where FOLDER holds `genai-bench`, `llmbar`,
`pandalm` and `dsg-tifa160`. For each judge and set some answers, drawn at random, keep people's labels, and of the others only
what the judge said is known. The rate, or mean score, of all labels has to lie within the 95 % interval. *In the set* the answers
stay as they are, so that most intervals cover too often: they are for the population of samples. *In the population* each split
first draws as many answers of the set with replacement. Sets that are not there are left out.
"""

import argparse
import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from dokimasia.algorithms.correction import Powered, RatedAnswers, powered_rate, stratified_mean

SPLITS, LABELS = 1000, 60
GENERATION, EDITING = "image_generation", "image_edition"


class Set(NamedTuple):
    """One judge on one set: what people and the judge say of each answer, its stratum and cluster, and the scale."""

    name: str
    judge: str
    true: list[float]
    said: list[float]
    strata: list[str]
    clusters: list[str]
    scale: tuple[float, float] = (0.0, 1.0)


class Cell(NamedTuple):
    """What came of one judge, set and estimator."""

    set: str
    judge: str
    estimator: str
    n: int
    truth: float
    in_set: float
    in_population: float
    width: float
    width_alone: float


def genai_bench(folder: Path) -> Iterator[Set]:
    """Yield how often people find the left picture better; replies that say nothing are no decisions."""
    for path in sorted(folder.glob("genai-bench/*.jsonl.gz")):
        task, judge = path.name.removesuffix(".jsonl.gz").split(".", 1)
        with gzip.open(path, "rt") as lines:
            rows = [json.loads(line) for line in lines]
        rows = [row for row in rows if row["model_vote"] in ("[[A>B]]", "[[B>A]]", "[[A=B=Good]]", "[[A=B=Bad]]")]
        yield Set(
            f"genai-bench {task}",
            judge,
            [float(row["human_vote"] == "leftvote") for row in rows],
            [float(row["model_vote"] == "[[A>B]]") for row in rows],
            [""] * len(rows),
            [str(row.get("prompt", row["idx"])) for row in rows],
        )


def llmbar(folder: Path) -> Iterator[Set]:
    """Yield how often the first output is the better one by the gold label; the strata are the five sets."""
    found: dict[str, list[tuple[float, float, str, str]]] = defaultdict(list)
    for path in sorted(folder.glob("llmbar/*.*.*.json.gz")):
        name, judge, prompt = path.name.removesuffix(".json.gz").split(".")
        for place, row in enumerate(_json(path)):
            winner = str(row["results"][0].get("swap = False", {}).get("winner"))
            if winner in ("1", "2"):
                found[f"{judge} {prompt}"].append(
                    (float(row["label"] == 1), float(winner == "1"), name, f"{name} {place}")
                )
    for judge, rows in found.items():
        true, said, strata, clusters = (list(column) for column in zip(*rows, strict=True))
        yield Set("llmbar", judge, true, said, strata, clusters)


def pandalm(folder: Path) -> Iterator[Set]:
    """Yield how often most people find the first response better; the strata are kinds of application."""
    gold = folder / "pandalm/testset-v1.json.gz"
    if not gold.exists():
        return
    rows = _json(gold)
    votes = [Counter(str(row[f"annotator{person}"]) for person in (1, 2, 3)).most_common(1)[0][0] for row in rows]
    for file, field in (("gpt-3.5-turbo", "gpt_result"), ("pandalm-7b", "pandalm_result")):
        replies = [str(row[field]) for row in _json(folder / f"pandalm/{file}-testset-v1.json.gz")]
        kept = [place for place, reply in enumerate(replies) if reply in ("0", "1", "2", "Tie")]
        yield Set(
            "pandalm",
            file,
            [float(votes[place] == "1") for place in kept],
            [float(replies[place] == "1") for place in kept],
            [str(rows[place]["motivation_app"]) for place in kept],
            [str(rows[place]["instruction"]) + str(rows[place]["input"]) for place in kept],
        )


def dsg_tifa160(folder: Path) -> Iterator[Set]:
    """Yield the mean score of four people with the fifth in the judge's place; strata are models, clusters prompts."""
    path = folder / "dsg-tifa160/dsg_tifa160_anns.csv"
    if not path.exists():
        return
    scores: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    with path.open(newline="") as lines:
        for row in csv.DictReader(lines):
            if row["answer"] in ("1", "2", "3", "4", "5"):
                scores[row["model_type"], row["item_id"], row["source_id"]][row["worker_id"]] = float(row["answer"])
    for person in sorted({name for said in scores.values() for name in said}):
        kept = [(place, said) for place, said in scores.items() if person in said and len(said) > 1]
        true = [fmean(score for name, score in said.items() if name != person) for _, said in kept]
        said = [one[person] for _, one in kept]
        yield Set(
            "dsg-tifa160", person, true, said, [one[0] for one, _ in kept], [one[2] for one, _ in kept], (1.0, 5.0)
        )


def _json(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        return json.load(lines)


def measure(one: Set, *, splits: int, labels: int) -> list[Cell]:
    """Return the coverage of each estimator over random splits of one judge's answers."""
    n = len(one.true)
    if n < 2 * labels:
        return []
    truth = fmean(one.true)
    estimators = ["by strata"] if one.scale[1] > 1 else ["labels and judge", "by strata"]
    covers = {name: [0, 0] for name in estimators}
    widths: dict[str, list[tuple[float, float]]] = {name: [] for name in estimators}
    for seed in range(splits):
        for resampled in (False, True):
            generator = np.random.default_rng([seed, int(resampled)])
            places = generator.integers(0, n, n) if resampled else np.arange(n)
            drawn = set(generator.choice(n, labels, replace=False).tolist())
            told = [one.true[place] if at in drawn else None for at, place in enumerate(places)]
            # an answer that is drawn twice stands for two, each an image of its own
            clusters = [f"{at} {place}" if resampled else one.clusters[place] for at, place in enumerate(places)]
            said, strata = [one.said[place] for place in places], [one.strata[place] for place in places]
            for name in estimators:
                found = _estimate(name, said, told, strata, clusters, one.scale)
                if found.interval is None or found.alone is None:
                    continue
                covers[name][resampled] += found.interval.low <= truth <= found.interval.high
                if not resampled:
                    alone = found.alone.interval
                    widths[name].append((found.interval.high - found.interval.low, alone.high - alone.low))
    return [
        Cell(
            one.name,
            one.judge,
            name,
            n,
            round(truth, 3),
            covers[name][0] / splits,
            covers[name][1] / splits,
            round(fmean(width for width, _ in widths[name]), 3),
            round(fmean(width for _, width in widths[name]), 3),
        )
        for name in estimators
        if widths[name]
    ]


def _estimate(
    name: str,
    said: Sequence[float],
    told: Sequence[float | None],
    strata: Sequence[str],
    clusters: Sequence[str],
    scale: tuple[float, float],
) -> Powered:
    if name == "by strata":
        return stratified_mean(RatedAnswers(said, told, strata), clusters=clusters, scale=scale)
    labels = [None if label is None else label == 1 for label in told]
    return powered_rate([value == 1 for value in said], labels, clusters=clusters)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each judge and set and the worst of them; return 1 if none is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.human_labels", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--labels", type=int, default=LABELS, help="answers of each split that keep people's labels")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    readers = (genai_bench, llmbar, pandalm, dsg_tifa160)
    cells = [
        cell
        for read in readers
        for one in read(chosen.folder)
        for cell in measure(one, splits=chosen.splits, labels=chosen.labels)
    ]
    if not cells:
        print(f"{chosen.folder}: no set is there with {2 * chosen.labels} decisions of a judge", file=sys.stderr)
        return 1
    worst = min(cells, key=lambda cell: min(cell.in_set, cell.in_population))
    if chosen.json:
        print(json.dumps({"cells": [cell._asdict() for cell in cells], "worst": worst._asdict()}, indent=2))
        return 0
    for cell in cells:
        print(_line(cell))
    print(f"worst: {_line(worst)}")
    return 0


def _line(cell: Cell) -> str:
    ratio = cell.width / cell.width_alone
    return (
        f"{cell.set}, {cell.judge}, {cell.estimator}: n {cell.n}, truth {cell.truth:.3f}, covers {cell.in_set:.1%} in the set, "
        f"{cell.in_population:.1%} in the population, width {cell.width:.3f}, {ratio:.2f} of labels alone"
    )


if __name__ == "__main__":
    raise SystemExit(main())
