"""Agreement of planted people with each other, and of a planted judge with them: every interval of `annotate agreement`."""

from functools import cache

import numpy as np

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.domain.annotation import Annotation, AnnotationUnit
from dokimasia.people.annotation.agreement import agreement_figures
from dokimasia.people.annotation.rated import put_together
from dokimasia.simulation.people import PEOPLE, SimulatedPerson, rating_chances
from dokimasia.simulation.truths.people import expected_agreement

LOW, HIGH = -2, 2
SHARES = (0.2, 0.3, 0.2, 0.2, 0.1)
"""How often each verdict is the true one, from much worse to much better."""

JUDGE = SimulatedPerson("judge", noise=0.35, careless=0.1)
CASES, MODELS, FEW = 51, 3, 12
ALIKE = 0.4
"""The share of cases in which one verdict is true of all models."""

MISSING = 0.2


@cache
def truths() -> dict[str, float]:
    """Return what the coefficients come to, and the mean of what holds for people."""
    found = dict(expected_agreement(SHARES, PEOPLE, JUDGE, low=LOW, high=HIGH))
    means = [
        sum(
            share * sum(chance * rating for rating, chance in enumerate(row, LOW))
            for share, row in zip(SHARES, rows, strict=True)
        )
        for rows in (rating_chances(person, LOW, HIGH) for person in PEOPLE)
    ]
    return {**found, "mean of people": sum(means) / len(means)}


def people(seed: int) -> Seed:
    """Verdicts of four people and a judge on three models' responses to 51 cases, and on one model's to twelve."""
    few = {f"{name}, 12 cases": one for name, one in _world(seed, FEW, 1).items()}
    return Seed({**_world(seed, CASES, MODELS), **few}, {})


def _world(seed: int, cases: int, models: int) -> dict[str, Trial]:
    """Return the intervals of one world, and of alpha also with a fifth of the annotations missing."""
    generator = np.random.default_rng(seed)
    annotations: list[Annotation] = []
    judged: dict[AnnotationUnit, float] = {}
    for case in range(cases):
        drawn = generator.choice(len(SHARES), models, p=SHARES)
        if generator.random() < ALIKE:
            drawn[:] = drawn[0]
        for model, true in enumerate(drawn):
            unit = AnnotationUnit(f"case {case}", "verdict", f"model {model}", "baseline")
            for person in PEOPLE:
                value = generator.choice(len(SHARES), p=rating_chances(person, LOW, HIGH)[true]) + LOW
                annotations.append(Annotation(unit, person.name, float(value), cluster=f"{case}"))
            judged[unit] = float(generator.choice(len(SHARES), p=rating_chances(JUDGE, LOW, HIGH)[true]) + LOW)
    found = agreement_figures(put_together(annotations), {"judge": judged}, {"verdict": (LOW, HIGH)})["verdict"]
    left = [one for one in annotations if generator.random() >= MISSING]
    thin = agreement_figures(put_together(left), {}, {"verdict": (LOW, HIGH)})["verdict"].chance_corrected
    if found.together is None or found.chance_corrected is None or thin is None:
        raise ValueError("people of a calibrated world rate the same things")
    truth, intervals = truths(), dict[str, Trial]()
    for who, one in (("judge", found.judges["judge"]), ("people", found.together)):
        intervals[f"{who} mae"] = trial(one.mae, truth[f"{who} mae"])
        intervals[f"{who} consistency"] = trial(one.consistency, truth[f"{who} consistency"])
        intervals[f"{who} kappa"] = trial(one.kappa, truth[f"{who} kappa"])
    intervals["pair kappa"] = trial(found.pairs[0].kappa, truth["pair kappa"])
    intervals["Fleiss' kappa"] = trial(found.chance_corrected.fleiss, truth["fleiss"])
    for scale in ("nominal", "ordinal", "interval"):
        intervals[f"alpha, {scale}"] = trial(getattr(found.chance_corrected, f"alpha_{scale}"), truth[f"alpha {scale}"])
        intervals[f"alpha, {scale}, a fifth missing"] = trial(getattr(thin, f"alpha_{scale}"), truth[f"alpha {scale}"])
    intervals["mean of people"] = trial(found.ratings.mean, truth["mean of people"])
    return intervals
