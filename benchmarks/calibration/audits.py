"""An audit's figures: gates and rubrics that hold at rates of each image's own, two judges, ratings, and lengths."""

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, tested, trial
from dokimasia.algorithms.statistics import kendall
from dokimasia.methods.audit.analyses import Rating, agreement, consistency, length_bias, two_judges
from dokimasia.methods.audit.figures import AuditRow, judged_samples, scores_by_model
from dokimasia.report.fields import as_json

IMAGES, GATE, FINE = 40, 4, 4
SKILLS = {"a": 2.6, "b": 1.9, "c": 1.2, "d": 0.6}
"""Each model's skill as log odds that a rubric holds, before what image and response bring."""

OF_IMAGE, OF_RESPONSE = 0.9, 0.6
"""Standard deviations, in log odds."""

HARDER = 0.5
"""How much harder easy-wrong rubrics are, in log odds."""

LAX = 0.25
"""The rate at which the second judge lets a rubric hold that does not."""

RATED, SAID = 0.8, 0.5
"""Standard deviations of what ratings and lengths have beside the response's own skill, in log odds."""

POPULATION = 400_000

Floats = NDArray[np.float64]


def audits(seed: int) -> Seed:
    """Four models audited on 40 images by two judges, with ratings of single responses."""
    generator = np.random.default_rng([seed, 40])
    images = generator.normal(size=IMAGES) * OF_IMAGE
    first: list[AuditRow] = []
    second: list[AuditRow] = []
    ratings: list[Rating] = []
    for model, skill in SKILLS.items():
        own = skill + images + generator.normal(size=IMAGES) * OF_RESPONSE
        rated = own + generator.normal(size=IMAGES) * RATED
        length = own + generator.normal(size=IMAGES) * SAID
        for image in range(IMAGES):
            holds = generator.random(GATE + FINE) < _rates(own[image : image + 1])[0]
            lenient = holds | (generator.random(GATE + FINE) < LAX)
            for rows, said in ((first, holds), (second, lenient)):
                rows.append(_row(model, image, said, round(200 + 40 * float(length[image]))))
            ratings.append(Rating(model, float(rated[image]), f"s{image}"))
    scores = scores_by_model(judged_samples(first), seed=seed)
    model = as_json(scores["b"])
    truth = planted()
    intervals: dict[str, Trial] = {}
    for figure in ("overall", "gate_pass", "easy_wrong_mean", "must_right_item", "easy_wrong_item", "reliability_gap"):
        name = f"audit, {figure.replace('_', ' ')}"
        intervals[name] = trial(model[figure], truth[figure])
    by_domain = model["by_domain"]["data"]["overall"]
    intervals["audit, overall in one domain"] = trial(by_domain, truth["overall"])
    judges = two_judges(first, second, names=("x", "y"), seed=seed)
    intervals["audit, shift of two judges"] = trial(as_json(judges.models["b"].shift), truth["shift"])
    length = length_bias(first, seed=seed).models["b"]
    intervals["audit, length and score"] = trial(as_json(length), truth["length"])
    rating = as_json(agreement(first, ratings))
    for method in ("pearson", "spearman", "kendall"):
        intervals[f"audit, gated score and ratings, {method}"] = trial(rating["gated"][method], truth[method])
    intervals["audit, what the gate adds to the agreement"] = trial(rating["gain"], truth["gain"])
    line = as_json(consistency(first, scores, seed=seed))
    intervals["audit, gate pass and easy-wrong mean, R squared"] = trial(line, truth["r_squared"])
    return Seed(intervals, {"audit, length and score, null world": _null_length(generator, seed)})


def _rates(own: Floats) -> Floats:
    """Return the probability that each rubric holds: a row a response, must-right before easy-wrong."""
    odds = np.column_stack([own] * GATE + [own - HARDER] * FINE)
    return 1 / (1 + np.exp(-odds))


def _row(model: str, image: int, holds: NDArray[np.bool_], words: int) -> AuditRow:
    said = tuple(bool(one) for one in holds)
    return AuditRow(
        sample_id=f"s{image}",
        cluster=f"c{image}",
        domain=("data", "natural")[image % 2],
        model=model,
        repeat=0,
        rubrics=(GATE, FINE),
        judged=(said[:GATE], said[GATE:]),
        words=words,
        response=f"{model}{image}",
    )


def _null_length(generator: np.random.Generator, seed: int) -> float:
    """Return the p-value of length and score in a world where images decide both, apart from each other."""
    rows: list[AuditRow] = []
    for image in range(IMAGES // 2):
        holds, words = generator.random(GATE + FINE) < generator.beta(2, 1), int(generator.integers(60, 300))
        rows += [_row("m", image, holds, words + repeat) for repeat in range(3)]
    return tested(length_bias(rows, seed=seed).models["m"].p)


@cache
def planted() -> Mapping[str, float]:
    """Return what the figures of model b, and those over all models, are in the population of images, by numpy alone."""
    from scipy import stats

    generator = np.random.default_rng(7)
    images = generator.normal(size=POPULATION) * OF_IMAGE
    scores: list[Floats] = []
    parts: list[Floats] = []
    rated: list[Floats] = []
    means: list[tuple[float, float]] = []
    found: dict[str, float] = {}
    for model, skill in SKILLS.items():
        own = skill + images + generator.normal(size=POPULATION) * OF_RESPONSE
        rates = _rates(own)
        holds = generator.random((POPULATION, GATE + FINE)) < rates
        lenient = holds | (generator.random((POPULATION, GATE + FINE)) < LAX)
        gate, fine = holds[:, :GATE].all(axis=1), holds[:, GATE:].mean(axis=1)
        scores.append(100 * gate * fine)
        parts.append(100 * fine)
        rated.append(own + generator.normal(size=POPULATION) * RATED)
        means.append((float(gate.mean()), float(fine.mean())))
        if model == "b":
            item = 100 * float(rates[:, :GATE].mean())
            passed = 100 * float(rates[:, :GATE].prod(axis=1).mean())
            easy = 100 * float(rates[:, GATE:].mean())
            overall = 100 * float((rates[:, :GATE].prod(axis=1) * rates[:, GATE:].mean(axis=1)).mean())
            other = 100 * float((lenient[:, :GATE].all(axis=1) * lenient[:, GATE:].mean(axis=1)).mean())
            length = np.round(200 + 40 * (own + generator.normal(size=POPULATION) * SAID))
            found = {
                "overall": overall,
                "gate_pass": passed,
                "easy_wrong_mean": easy,
                "must_right_item": item,
                "easy_wrong_item": easy,
                "reliability_gap": item - passed,
                "shift": other - float(scores[-1].mean()),
                "length": float(np.corrcoef(length, scores[-1])[0, 1]),
            }
    all_scores, all_rated = np.concatenate(scores), np.concatenate(rated)
    some = generator.permutation(len(all_scores))[:20_000]
    gated = float(np.corrcoef(all_scores, all_rated)[0, 1])
    lines = np.array(means)
    return {
        **found,
        "pearson": gated,
        "spearman": float(np.corrcoef(stats.rankdata(all_scores), stats.rankdata(all_rated))[0, 1]),
        "kendall": kendall(all_scores[some].tolist(), all_rated[some].tolist()),
        "gain": gated - float(np.corrcoef(np.concatenate(parts), all_rated)[0, 1]),
        "r_squared": float(np.corrcoef(lines[:, 0], lines[:, 1])[0, 1] ** 2),
    }
