"""Fingerprints of simulated models: planted profiles that differ are told apart by their reports, twins of one are not.

`python -m benchmarks.fingerprints [--quick] [--seeds N] [--json]`. Each seed has a world of its own and fourteen models: the
five that ship, two that are as good as each other at different things, and a twin of each (the same profile under another
name, other draws); reports are written from one half of the
samples, on a capability tree grown from them, and matched to answers of the other half, thirty of each model a trial.
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import Options, run_benchmark, say, scratch
from benchmarks.figures import Figure, Report
from dokimasia.algorithms.statistics import clopper_pearson
from dokimasia.log import configure
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.fingerprints import FingerprintRequest, match_fingerprints
from dokimasia.methods.tree import grow_tree
from dokimasia.settings import load_settings
from dokimasia.simulation.profiles import CandidateProfile, profiles
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world

SHIPPED = ("sim/strong", "sim/steady", "sim/nearsighted", "sim/hasty", "sim/weak")
SPECIALISTS = (
    CandidateProfile(name="sim/seer", base=0.85, overrides={"<Reasoning>": 0.4, "<Knowledge>": 0.4}),
    CandidateProfile(name="sim/thinker", base=0.85, overrides={"<Perception>": 0.6}),
)
MODELS = (*SHIPPED, *(one.name for one in SPECIALISTS))
TWIN = "-twin"
JUDGE, MATCHER = "sim/judge-noisy", "sim/judge"
SAMPLES, RESPONSES, TRIALS, SEEDS = 1_200, 30, 20, 2
QUICK = 240
APART, LEVEL = 0.9, 0.95


def measure(options: Options) -> Report:
    """Match reports in each seed's world."""
    configure(level="error")
    samples = QUICK if options.quick else SAMPLES
    rows: list[dict[str, Any]] = []
    for seed in range(1, (1 if options.quick else options.seeds or SEEDS) + 1):
        say(f"seed {seed}: {samples} samples, {2 * len(MODELS)} models")
        with scratch() as folder:
            rows += asyncio.run(matched(folder, samples, seed))
    other = [row for row in rows if not row["twins"]]
    twins = [row for row in rows if row["twins"]]
    right, trials = sum(row["right"] for row in twins), sum(row["trials"] for row in twins)
    half = clopper_pearson(right, trials, LEVEL)
    figures = (
        Figure("matchings", sum(row["trials"] for row in rows), "", 0 if options.quick else 200, "at least"),
        Figure(
            "pairs of different profiles matched in more than half", _share(other, "above_half"), "", APART, "at least"
        ),
        Figure("pairs of different profiles told apart", _share(other, "apart")),
        Figure("different profiles, share matched rightly", _accuracy(other), "", APART, "at least"),
        Figure("twins, share matched rightly", _accuracy(twins)),
        Figure("twins, lower end of the 95 % interval", round(half.low, 4), "", 0.5, "at most"),
        Figure("twins, upper end of the 95 % interval", round(half.high, 4), "", 0.5, "at least"),
        Figure("twins told apart", _share(twins, "apart")),
        Figure("matchings that failed", sum(row["failed"] for row in rows), "", 0, "at most"),
    )
    notes = (
        "apart: guessing does as well or better with an adjusted p of at most 0.05 (Benjamini and Hochberg over all pairs).",
        f"{RESPONSES} answers of each model a trial, at most {TRIALS} trials a pair, which share no sample.",
    )
    return Report("fingerprints", figures, tuple(rows), notes)


async def matched(folder: Path, samples: int, seed: int) -> list[dict[str, Any]]:
    """Return a row a pair of one seed's world."""
    known = {**profiles(), **{one.name: one for one in SPECIALISTS}}
    for name in MODELS:
        profile = known[name]
        if isinstance(profile, CandidateProfile):
            known[name + TWIN] = profile.model_copy(update={"name": name + TWIN})
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    data = folder / "world.jsonl"
    write_world(data, samples, seed)
    models = tuple(name + ending for name in MODELS for ending in ("", TWIN))
    transports = {"sim": SimTransport(models=known)}
    request = EvaluationRequest(data=data, judge=JUDGE, models=models, seed=seed)
    run = (await evaluate(request, settings=settings, transports=transports)).run
    await grow_tree(judge=MATCHER, run=run, settings=settings, transports=transports)
    asked = FingerprintRequest(run=run, judge=MATCHER, responses=RESPONSES, trials=TRIALS)
    result = await match_fingerprints(asked, settings=settings, transports=transports)
    return [
        {
            "seed": seed,
            "first": row["first"],
            "second": row["second"],
            "twins": row["first"].removesuffix(TWIN) == row["second"].removesuffix(TWIN),
            "trials": row["trials"],
            "right": row["right"],
            "failed": row["trials"] - row["n"],
            "apart": row["apart"],
            "above_half": row["above_half"],
        }
        for row in result.summary["by_judge"]["pairs"]
    ]


def _share(rows: Sequence[dict[str, Any]], name: str) -> float:
    return round(sum(bool(row[name]) for row in rows) / len(rows), 4)


def _accuracy(rows: Sequence[dict[str, Any]]) -> float:
    return round(sum(row["right"] for row in rows) / sum(row["trials"] for row in rows), 4)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("fingerprints", __doc__, measure, arguments, add=add_options)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--seeds", type=int, metavar="N", help="worlds")


if __name__ == "__main__":
    raise SystemExit(main())
