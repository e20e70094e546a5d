"""Every interval that a figure prints, with the statistic that makes it and the rule that it is held to.

    python -m benchmarks.calibration.printed

The places are read off the figures' models (what `dokimasia schema METHOD` prints), so that a new interval without a rule
is found: a field is an interval where its model has `low` and `high`, but for bounds, which failures leave open and no
sample does.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel

from dokimasia.report.fields import Bounds
from dokimasia.runs.catalogue import OWN, own_method

BOUNDS = {"OpenBounds", "AnswersPerTrial"}
"""Models with `low` and `high` that are no intervals: what failures leave open, and the fewest and most answers shown."""

MEAN = "mean over images, bootstrap and refusal (bootstrap_interval)"
RATE = "share over images, Korn and Graubard (rate_interval)"
EXACT = "share of independent trials, Clopper and Pearson (clopper_pearson)"
RATING = "rating over images, bootstrap and jackknife (rate_models)"
JACKKNIFE = "jackknife over images (jackknife_interval)"
MOVER = "solved from shares with intervals of their own (corrected_rate, powered_rate)"
CORRELATION = "correlation over images (correlation_interval)"


class Rule(NamedTuple):
    """A rule for the places that a pattern matches: the statistic, and the calibration's family and figure."""

    places: str
    statistic: str
    family: str
    figure: str


SPLIT = r"(by_options|by_category|by_capability|apart)"
PROBE = r"probe\.tasks\.judges\.evaluators\.((groups|dimensions)\.)?"
BESIDE = r"probe\.tasks\.(budgets|tools|references)"
DUEL = r"((by_category|by_task|single\.(first|second))\.)?"
RULES = (
    Rule(r"evaluate\.models\.strict_accuracy", RATE, "rules alone", "strict accuracy"),
    Rule(r"evaluate\.corrections\.as_judged\.strict_accuracy", RATE, "speaking", "accuracy"),
    Rule(r"evaluate\.corrections\.as_judged\.score", MEAN, "evaluation", "mean score"),
    Rule(r"evaluate\.models\.by_category\.strict_accuracy", RATE, "speaking", "category accuracy"),
    Rule(r"evaluate\.models\.score", MEAN, "evaluation", "mean score"),
    Rule(r"evaluate\.models\.by_category\.score", MEAN, "evaluation", "category score"),
    Rule(r"evaluate\.models\.stated", MEAN, "speaking", "share spoken to"),
    Rule(r"evaluate\.models\.by_category\.stated", MEAN, "speaking", "category share spoken to"),
    Rule(r"evaluate\.models\.stated_score", MEAN, "speaking", "score of what is spoken to"),
    Rule(r"evaluate\.models\.by_category\.stated_score", MEAN, "speaking", "category score of what is spoken to"),
    Rule(r"evaluate\.(models\.)?length", CORRELATION, "speaking", "length and score"),
    Rule(r"(evaluate|audit|duel)\.lead\.difference", MEAN, "evaluation", "lead"),
    Rule(r"evaluate\.blind\.difference", MEAN, "evaluation", "loss without the image"),
    Rule(r"evaluate\.criteria\.only_final", EXACT, "rates", "rate 0.1 of 160 on 40 images, clustered"),
    Rule(r"filter\.(domains\.)?kept", RATE, "rates", "rate"),
    Rule(r"filter\.(domains\.)?(visual_complexity|informativeness)", MEAN, "means", "normal values"),
    Rule(r"review\.(accepted|discarded|kept)", RATE, "rates", "rate"),
    Rule(r"review\.golden\.reasons\.reasons\.share", RATE, "rates", "rate"),
    Rule(r"review\.self_preference\.(votes|first_ranks)\.(panel|members)", MEAN, "reviews", "self-preference"),
    Rule(r"review\.self_preference\.(votes|first_ranks)\.members\.own_votes", JACKKNIFE, "reviews", "own votes"),
    Rule(r"review\.places\.(panel|members)", RATE, "rates", "rate"),
    Rule(r"rubrics\.power\.caught", RATE, "rubrics", "rubrics, caught,"),
    Rule(r"rubrics\.power\.caught_by_gate", RATE, "rubrics", "rubrics, caught by gate"),
    Rule(r"rubrics\.power\.caught_by_several", RATE, "rates", "rate"),
    Rule(r"rubrics\.power\.dimensions", RATE, "rubrics", "rubrics, caught in one dimension"),
    Rule(r"rubrics\.power\.(must_right|golden)", RATE, "rubrics", "rubrics, must right"),
    Rule(r"rubrics\.power\.easy_wrong", RATE, "rubrics", "rubrics, easy wrong"),
    Rule(r"audit\.models\.overall", MEAN, "audits", "audit, overall"),
    Rule(r"audit\.models\.by_domain\.overall", MEAN, "audits", "audit, overall in one domain"),
    Rule(r"audit\.models\.gate_pass", MEAN, "audits", "audit, gate pass"),
    Rule(r"audit\.models\.easy_wrong_mean", MEAN, "audits", "audit, easy wrong mean"),
    Rule(r"audit\.models\.(must_right_item|atomic_accuracy)", RATE, "audits", "audit, must right item"),
    Rule(r"audit\.models\.easy_wrong_item", RATE, "audits", "audit, easy wrong item"),
    Rule(r"audit\.models\.(reliability_gap|atomic_gap)", JACKKNIFE, "audits", "audit, reliability gap"),
    Rule(rf"duel\.models\.{DUEL}reward", MEAN, "duels", "reward"),
    Rule(rf"duel\.models\.{DUEL}win_rate", RATE, "duels", "win rate"),
    Rule(r"duel\.models\.((by_category|by_task)\.)?factuality\.(model|baseline)", MEAN, "duels", "visual factuality"),
    Rule(r"duel\.(models\.)?places\.consistency", RATE, "duels", "position consistency"),
    Rule(r"duel\.(models\.)?places\.bias", MEAN, "duels", "position bias"),
    Rule(
        r"duel\.(without_images|language_models)\.(reward|factuality)\.difference",
        MEAN,
        "duels",
        "reward, without images less with",
    ),
    Rule(r"duel\.length_bias", CORRELATION, "duels", "length and reward"),
    Rule(r"judging\.results\.accuracy", RATE, "judging", "judging, accuracy of"),
    Rule(r"judging\.results\.by_category", RATE, "judging", "judging, accuracy of atom in one category"),
    Rule(r"judging\.results\.unfitted", RATE, "judging", "judging, accuracy of atom with equal scores alone"),
    Rule(r"judging\.results\.per_point\.(calls|cost)", RATE, "judging", "judging, accuracy of"),
    Rule(r"judging\.results\.ceiling\.(people|judge|difference)", MEAN, "judging", "gap between methods"),
    Rule(r"judging\.people\.accuracy", RATE, "judging", "judging, people with one another"),
    Rule(r"judging\.people\.by_category", RATE, "judging", "judging, people in one category"),
    Rule(r"judging\.gaps\.difference", MEAN, "judging", "gap between methods"),
    Rule(r"judging\.order\.consistent", RATE, "judging", "judging, same verdict in two orders"),
    Rule(r"judging\.order\.earlier", RATE, "judging", "judging, prefers the earlier"),
    Rule(r"arena\.models\.rating", RATING, "arenas", "rating"),
    Rule(r"arena\.pairs\.difference", RATING, "arenas", "difference of ratings"),
    Rule(r"arena\.(models|pairs)\.reward", MEAN, "arenas", "reward of a"),
    Rule(r"arena\.(models|pairs)\.win_rate", RATE, "arenas", "win rate of a"),
    Rule(r"arena\.places\.consistency", RATE, "arenas", "position consistency"),
    Rule(r"arena\.places\.bias", MEAN, "arenas", "position bias"),
    Rule(r"(arena|duel)\.elsewhere\.(reward|rating|factuality)\.(spearman|pearson)", CORRELATION, "correlations", ""),
    Rule(rf"refine\.models\.({SPLIT}\.)?arms\.accuracy", RATE, "refinement", "arm accuracy"),
    Rule(
        rf"refine\.models\.({SPLIT}\.)?arms\.(spoken|atoms|shown|withheld)\.(before|after)",
        MEAN,
        "means",
        "scores at the ceiling",
    ),
    Rule(
        rf"refine\.models\.({SPLIT}\.)?arms\.((spoken|atoms|shown|withheld)\.solved|spoilt)",
        RATE,
        "refinement",
        "solved atoms",
    ),
    Rule(r"refine\.models\.(apart\.)?arms\.per_repaired\.(calls|cost)", RATE, "refinement", "arm accuracy"),
    Rule(rf"refine\.models\.({SPLIT}\.)?gains\.accuracy\.difference", MEAN, "refinement", "arm gain"),
    Rule(
        rf"refine\.models\.({SPLIT}\.)?gains\.(spoken|atoms|shown|withheld)\.difference",
        MEAN,
        "refinement",
        "atom gain",
    ),
    Rule(r"refine\.table\.rows\.(cells|average)", MEAN, "means", "scores at the ceiling"),
    Rule(rf"refine\.models\.({SPLIT}\.)?arms\.(spoken|atoms|shown|withheld)\.gained", MEAN, "refinement", "atom gain"),
    Rule(r"refine\.table\.rows\.gains\.(cells|average)", MEAN, "refinement", "atom gain"),
    Rule(r"refine\.table\.rows\.gain", MEAN, "refinement", "atom gain"),
    Rule(r"perturb\.((groups|dimensions)\.)?(applies|agreed)", RATE, "rates", "rate"),
    Rule(r"perturb\.labels\.fit", RATE, "labels", "fit"),
    Rule(r"perturb\.labels\.by_dimension\.fit", RATE, "labels", "fit in one dimension"),
    Rule(r"perturb\.labels\.agreement\.alpha", JACKKNIFE, "labels", "alpha"),
    Rule(r"perturb\.labels\.agreement\.pairs\.same", RATE, "labels", "same label"),
    Rule(r"perturb\.labels\.agreement\.pairs\.kappa", JACKKNIFE, "labels", "kappa"),
    Rule(r"refine\.leaks\.(questions|hints|rewritings)", EXACT, "rates", "rate 0.02 of 69, independent"),
    Rule(r"refine\.judge_steadiness\.share", RATE, "rates", "rate"),
    Rule(r"modes\.(modes|none)\.(failed|met|right|wrong|models|leaves)", RATE, "modes", ""),
    Rule(r"modes\.contrasts", MEAN, "modes", ""),
    Rule(r"modes\.agreement(_failed)?", JACKKNIFE, "modes", "kappa of two coders"),
    Rule(r"fingerprint\.(by_judge|by_hand)", RATE, "rates", "rate"),
    Rule(r"fingerprint\.(by_judge|by_hand)\.pairs", EXACT, "rates", "rate 0.9 of 20, independent"),
    Rule(r"quality\.(groups\.)?(accuracy|necessity)", MEAN, "means", "scores at the ceiling"),
    Rule(rf"{PROBE}undetected", RATE, "probes", "probe, undetected"),
    Rule(rf"{PROBE}strict", RATE, "probes", "probe, strict"),
    Rule(rf"{PROBE}(either|both)", RATE, "probes", "probe, in either order"),
    Rule(rf"{PROBE}(overall|majority)", RATE, "probes", "probe, undetected by overall"),
    Rule(rf"{PROBE}worse", RATE, "probes", "probe, judged better"),
    Rule(rf"{PROBE}named", RATE, "probes", "probe, named although undetected"),
    Rule(rf"{PROBE}unnoticed", RATE, "probes", "probe, unnoticed"),
    Rule(r"probe\.tasks\.judges\.evaluators\.equal", RATE, "probes", "probe, score-invariant"),
    Rule(r"probe\.tasks\.judges\.evaluators\.preferred", RATE, "probes", "probe, harmless preferred"),
    Rule(r"probe\.tasks\.judges\.evaluators\.flickers", RATE, "probes", "probe, noise floor"),
    Rule(r"probe\.tasks\.judges\.evaluators\.false_alarms", RATE, "probes", "probe, reader's false alarms"),
    Rule(r"probe\.tasks\.judges\.evaluators\.places\.consistency", RATE, "probes", "probe, position consistency"),
    Rule(r"probe\.tasks\.judges\.evaluators\.places\.bias", MEAN, "probes", "probe, position bias"),
    Rule(r"probe\.tasks\.judges\.evaluators\.length\.changed", RATE, "probes", "probe, changed by length"),
    Rule(r"probe\.tasks\.judges\.evaluators\.length\.bias", MEAN, "probes", "probe, length bias"),
    Rule(r"probe\.tasks\.groups", MEAN, "probes", "probe, group and paradigm"),
    Rule(r"probe\.tasks\.comparisons\.(judges|paradigms|strategies)\.difference", MEAN, "probes", "probe, paradigms"),
    Rule(rf"{BESIDE}\.arms\.(undetected|equal)", RATE, "probes", "probe, with tools"),
    Rule(rf"{BESIDE}\.differences\.difference", MEAN, "probes", "probe, with tools less without"),
    Rule(rf"{BESIDE}\.dimensions\.difference", MEAN, "probes", "probe, with tools less without in one dimension"),
    Rule(r"(diagnose|fingerprint)\.assets\.rows\.cells", MEAN, "taxonomy", "score at a leaf"),
)
"""In no order: a place has exactly one."""

BESIDE_MODELS = {
    "analyse: length and score": Rule("", CORRELATION, "audits", "audit, length and score"),
    "analyse: agreement with ratings": Rule("", CORRELATION, "audits", "audit, gated score and ratings"),
    "analyse: what the gate adds": Rule("", JACKKNIFE, "audits", "audit, what the gate adds"),
    "analyse: consistency": Rule("", JACKKNIFE, "audits", "audit, gate pass and easy-wrong mean"),
    "analyse: two judges together": Rule("", MEAN, "audits", "audit, overall"),
    "analyse: shift of two judges": Rule("", MEAN, "audits", "audit, shift of two judges"),
    "diff: paired difference": Rule("", MEAN, "comparison", "paired difference"),
    "diff: what both speak to": Rule("", MEAN, "both speaking", "paired difference"),
    "gate: paired difference": Rule("", MEAN, "gate", "a drop of"),
    "tree show, tree weaknesses: score at a node": Rule("", MEAN, "taxonomy", "score at a leaf"),
    "tree agreement: the same leaf": Rule("", RATE, "comparison", "agreement of two judges"),
    "annotate agreement: MAE": Rule("", MEAN, "people", "judge mae"),
    "annotate agreement: consistency": Rule("", RATE, "people", "judge consistency"),
    "annotate agreement: kappa with people": Rule("", JACKKNIFE, "people", "judge kappa"),
    "annotate agreement: people with the others, MAE": Rule("", MEAN, "people", "people mae"),
    "annotate agreement: people with the others, consistency": Rule("", RATE, "people", "people consistency"),
    "annotate agreement: people with the others, kappa": Rule("", JACKKNIFE, "people", "people kappa"),
    "annotate agreement: kappa of two people": Rule("", JACKKNIFE, "people", "pair kappa"),
    "annotate agreement: Fleiss' kappa": Rule("", JACKKNIFE, "people", "Fleiss' kappa"),
    "annotate agreement: alpha": Rule("", JACKKNIFE, "people", "alpha"),
    "annotate agreement: mean of people": Rule("", MEAN, "people", "mean of people"),
    "correct: as judged": Rule("", RATE, "rates", "rate"),
    "correct: by passport": Rule("", MOVER, "corrections", "corrected rate"),
    "correct: sensitivity to a mix": Rule("", MOVER, "corrections", "corrected rate reweighted"),
    "correct: by labels": Rule("", MOVER, "corrections", "by labels"),
    "correct: by labels and category": Rule("", JACKKNIFE, "strata", "by labels and category, rate"),
    "correct: mean score by labels": Rule("", JACKKNIFE, "strata", "by labels and category, score"),
    "correct: two models' scores": Rule(
        "", JACKKNIFE, "strata", "by labels and category, difference of two models' scores"
    ),
    "correct: labels alone": Rule("", RATE, "rates", "rate"),
    "correct: two models, as judged": Rule("", MEAN, "comparison", "paired difference"),
    "correct: two models, by passport": Rule("", MOVER, "corrections", "corrected difference"),
    "correct: two models, by labels": Rule("", JACKKNIFE, "corrections", "by labels, good judge, difference"),
    "passport: detection": Rule("", RATE, "passports", "passport, detection of all errors"),
    "passport: detection of a kind of error": Rule("", RATE, "passports", "passport, detection of a"),
    "passport: strict, judged better": Rule("", RATE, "probes", "probe, undetected"),
    "passport: detection by overall": Rule("", RATE, "probes", "probe, undetected by overall"),
    "passport: false alarms": Rule("", RATE, "passports", "passport, false alarms"),
    "passport: retests": Rule("", RATE, "passports", "passport, judged otherwise again"),
    "passport: consistency of places": Rule("", RATE, "duels", "position consistency"),
    "passport: position bias": Rule("", MEAN, "duels", "position bias"),
    "passport: changed by length": Rule("", RATE, "probes", "probe, changed by length"),
    "passport: length bias": Rule("", MEAN, "probes", "probe, length bias"),
    "passport: own answers": Rule("", RATE, "passports", "passport, own answers"),
    "passport: unparsable, refused": Rule("", RATE, "passports", "passport, unparsable replies"),
    "passport: sensitivity": Rule("", RATE, "passports", "passport, sensitivity"),
    "passport: specificity": Rule("", RATE, "passports", "passport, specificity"),
    "passport: the recommended one": Rule("", RATE, "passports", "passport, detection of the recommended"),
    "tree agreement: kappa": Rule("", JACKKNIFE, "agreement", "Cohen's kappa"),
}
"""Intervals of commands whose figures have no model of their own."""


def places() -> Iterator[str]:
    """Yield the place of every interval in the figures' models, such as `audit.models.overall`."""
    for name in OWN:
        shape = own_method(name).shape
        if shape is not None:
            yield from _within(shape(), name, ())


def rules_of(place: str) -> list[Rule]:
    """Return the rules that a place has."""
    return [rule for rule in RULES if re.fullmatch(rule.places, place)]


def _within(model: type[BaseModel], place: str, above: tuple[type[BaseModel], ...]) -> Iterator[str]:
    if model in above:
        return
    fields = model.model_fields
    if {"low", "high"} <= fields.keys() and model is not Bounds and model.__name__ not in BOUNDS:
        yield place
    for name, field in fields.items():
        for inner in _models(field.annotation):
            yield from _within(inner, f"{place}.{name}", (*above, model))


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def main() -> None:
    """Print the list."""
    found = list(dict.fromkeys(places()))
    wide = max(len(place) for place in (*found, *BESIDE_MODELS))
    for place in found:
        for rule in rules_of(place) or [Rule("", "NO RULE", "", "")]:
            print(f"{place:<{wide}}  {rule.statistic}; {rule.family}: {rule.figure or 'all its figures'}")
    for place, rule in BESIDE_MODELS.items():
        print(f"{place:<{wide}}  {rule.statistic}; {rule.family}: {rule.figure}")
    print(f"{len(found)} places in the figures' models, {len(BESIDE_MODELS)} beside them")


if __name__ == "__main__":
    main()
