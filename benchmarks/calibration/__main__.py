"""Run the calibration: `python -m benchmarks.calibration [--json] [--seeds 400] [--workers 2]`."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.calibration import (
    arenas,
    audits,
    boards,
    contrasts,
    corrections,
    diagnoses,
    duels,
    evaluations,
    gates,
    judging,
    labels,
    modes,
    passports,
    people,
    planted_trees,
    probes,
    refinements,
    reviews,
    rubric_power,
    samples,
    speaking,
    strata,
    taxonomies,
    undecided,
)
from benchmarks.calibration.trials import Seed
from benchmarks.calibration.verdicts import FULL, Verdict, judge, table

FAMILIES: dict[str, Callable[[int], Seed]] = {
    "board": boards.boards,
    "gate": gates.gates,
    "evaluation": evaluations.evaluation,
    "comparison": evaluations.comparison,
    "clusters": evaluations.clusters,
    "speaking": speaking.speaking,
    "both speaking": speaking.both_speaking,
    "equal skill": speaking.equal_skill,
    "rules alone": undecided.rules_alone,
    "means": samples.means,
    "rates": samples.rates,
    "correlations": samples.correlations,
    "agreement": samples.agreement,
    "power": samples.power,
    "taxonomy": taxonomies.taxonomy,
    "refinement": refinements.refinement,
    "planted tree": planted_trees.planted_tree,
    "diagnosis": diagnoses.diagnosis,
    "modes": modes.modes,
    "equal models": contrasts.equal_models,
    "worse model": contrasts.worse_model,
    "equal modes": contrasts.equal_modes,
    "reviews": reviews.reviews,
    "rubrics": rubric_power.rubric_power,
    "audits": audits.audits,
    "judging": judging.judging,
    "people": people.people,
    "labels": labels.labels,
    "passports": passports.passports,
    "duels": duels.duels,
    "arenas": arenas.arenas,
    "corrections": corrections.corrections,
    "strata": strata.strata,
    "probes": probes.probes,
    "tied kinds": probes.tied,
    "strategies": probes.strategies,
}


def at_seed(seed: int, families: Sequence[str]) -> dict[str, Seed]:
    """Return what each family yields at one seed."""
    return {family: FAMILIES[family](seed) for family in families}


def calibrate(
    seeds: int = FULL, *, families: Sequence[str] = tuple(FAMILIES), workers: int = 1
) -> dict[str, list[Verdict]]:
    """Return every figure's verdict by family, over consecutive seeds from 0."""
    if workers > 1:
        with ProcessPoolExecutor(workers) as pool:
            drawn = list(pool.map(at_seed, range(seeds), [families] * seeds, chunksize=max(1, seeds // (8 * workers))))
    else:
        drawn = [at_seed(seed, families) for seed in range(seeds)]
    return {family: judge([one[family] for one in drawn]) for family in families}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the verdicts; return 1 if a rule was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--seeds", type=int, default=FULL, help="consecutive seeds from 0 (400: the rules as stated)")
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    if chosen.seeds < 1:
        parser.error("--seeds is at least 1")
    started = time.perf_counter()
    verdicts = calibrate(chosen.seeds, families=chosen.families, workers=chosen.workers)
    every = [one for several in verdicts.values() for one in several]
    broken = [one.name for one in every if not one.kept]
    if chosen.json:
        figures = {family: [one.as_json() for one in several] for family, several in verdicts.items()}
        print(json.dumps({"seeds": chosen.seeds, "kept": not broken, "broken": broken, "families": figures}, indent=2))
    else:
        print(table(verdicts))
        print(f"{len(every) - len(broken)} of {len(every)} rules kept, {time.perf_counter() - started:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
