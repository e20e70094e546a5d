"""Judges with planted blind spots, favoured places and false alarms, on images that are hard or easy as a whole."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.domain.blindspots import NEUTRAL, Detection, Evaluator
from dokimasia.methods.probe.figures import comparisons, tasks_of
from dokimasia.report.fields import as_json

EQUAL, UNEQUAL = (1,) * 30, (1, 1, 2, 3, 4, 6) * 4
"""Gold answers an image; each is perturbed in every dimension, once harmlessly, and judged once more unchanged."""

MISSED = {"a": 0.25, "b": 0.3, "c": 0.25, "d": 0.3, "e": 0.25, "spot": 0.75}
GROUPS = {"a": "VG", "b": "VG", "c": "SI", "d": "SI", "e": "VR", "spot": "VR"}
HARD = 0.12
"""How much more is missed on one half of the images, and less on the other."""

RAISES, HARMED, FLICKERS = 0.05, 0.3, 0.1
"""Rates at which a judge gives the worse answer more, marks a harmless change down, and judges the same otherwise."""

NAMES, MISREADS = 0.6, 0.15
"""Rates at which the justification of an undetected error names it, and at which the reader finds one in any other."""

OVERALL = 0.3
"""How often an error that the relevant axes miss shows on `overall` alone."""

FAVOURS = 0.2
RAISED_BY_LENGTH, LOWERED_BY_LENGTH = 0.25, 0.1
"""How often padding makes the judgement of an answer better, and worse."""

FAILS = 0.03
LOOKS = 0.1
"""How much less is missed with tools, and with more reasoning; by a new reference as much more."""

SINGLE: Evaluator = "single-axes"
PLAIN: Evaluator = "single-vanilla"
PAIRS: Evaluator = "pairwise-axes"
REFERENCE: Evaluator = "reference"

TIED, ERRORS, ONE_KIND = 36, 6, 6
"""Images of the world whose kinds of error are tied to hard images, errors of each, and how many hold one kind only."""

ON_HARD, ON_EASY = (0.7, 0.5), (0.15, 0.06)
"""On hard images and on easy ones: how often any error is missed, and how many of the errors are of the tied kind."""

BLIND = 0.28
"""How much more of the tied kind a judge misses that is blind to it on any image."""

JUDGES, SEVERAL, ERRORS_SEEN = 8, 24, 0.1
"""Judges whose paradigms are compared, images of an error each, and how often it is missed."""

LOOK_AWAY = 0.3
"""How much more one judge misses by its only strategy of a paradigm."""

NULL, WAVERS = 0.4, 0.1
"""How often equal judges miss any error; in pairs of these a part is one order that is judged a tie by chance."""


def probes(seed: int) -> Seed:
    """Judges on thirty images with an answer each, on 24 with one to six, and two without any difference between them."""
    intervals: dict[str, Trial] = {}
    for name, sizes, number in (("equal images", EQUAL, 0), ("unequal images", UNEQUAL, 1)):
        intervals |= _intervals(np.random.default_rng([seed, 90 + number]), sizes, name, seed=seed)
    generator = np.random.default_rng([seed, 92])
    hard = _hard(generator, UNEQUAL)
    asked: tuple[tuple[Evaluator, float, float], ...] = (
        (SINGLE, NULL, 0.0),
        (PAIRS, (NULL - WAVERS) / (1 - WAVERS), WAVERS),
    )
    same = [
        one
        for judge in ("j", "k")
        for evaluator, missed, wavers in asked
        for one in _drawn(generator, UNEQUAL, hard, judge, evaluator, dict.fromkeys(MISSED, missed), wavers=wavers)
    ]
    task = as_json(tasks_of(same, seed=seed)["image-to-text"])
    judges: Mapping[str, Any] = task["judges"]
    spots = [
        kind["spot"]["adjusted"]
        for evaluator in judges["j"]["evaluators"].values()
        for kind in evaluator["dimensions"].values()
    ]
    compared = {name: min(one["adjusted"] for one in task["comparisons"][name]) for name in ("judges", "paradigms")}
    return Seed(
        intervals,
        {
            "probe, a judge without blind spots, any dimension": min(spots),
            "probe, equal judges, any pair": compared["judges"],
            "probe, equal paradigms, any pair": compared["paradigms"],
            "probe, no favoured place": judges["j"]["evaluators"][PAIRS]["places"]["p_value"],
        },
    )


def tied(seed: int) -> Seed:
    """A kind of error that stands mostly on hard images, missed there no more than others are, and missed more everywhere."""
    p_values: dict[str, float] = {}
    for number, (more, name) in enumerate(((0.0, "tied to hard images, any dimension"), (BLIND, "missed more, found"))):
        drawn = _tied(np.random.default_rng([seed, 93, number]), more)
        kinds = tasks_of(drawn, seed=seed)["image-to-text"].judges["j"].evaluators[SINGLE].dimensions
        looked_at = ["spot"] if more else list(kinds)
        p_values[f"probe, a kind {name}"] = min(
            spot.adjusted for kind in looked_at if (spot := kinds[kind].spot) is not None
        )
    return Seed({}, p_values)


def strategies(seed: int) -> Seed:
    """Judges that miss few errors, alike by any strategy, with several strategies of one paradigm and one of another."""
    p_values: dict[str, float] = {}
    for number, (more, name) in enumerate(((0.0, "any pair"), (LOOK_AWAY, "one misses more, found"))):
        generator = np.random.default_rng([seed, 94, number])
        paradigms = comparisons(list(_by_strategy(generator, more)), seed=seed).paradigms
        p_values[f"probe, paradigms of many strategies and of one, {name}"] = min(
            paradigm.adjusted
            for paradigm in paradigms
            if paradigm.adjusted is not None and (not more or paradigm.of == "j0")
        )
    return Seed({}, p_values)


def _by_strategy(generator: np.random.Generator, more: float) -> Iterator[Detection]:
    """Yield one error an image, which is hard or easy for a judge, under four strategies of one paradigm and one of another."""
    asked: tuple[Evaluator, ...] = ("single-vanilla", "single-rubric", "single-axes", "single-axes-rubric", REFERENCE)
    for judge in range(JUDGES):
        for image in range(SEVERAL):
            rate = generator.beta(4 * ERRORS_SEEN, 4 * (1 - ERRORS_SEEN))
            for evaluator in asked:
                worse = more * (judge == 0 and evaluator == REFERENCE)
                yield Detection(
                    judge=f"j{judge}",
                    task="image-to-text",
                    evaluator=evaluator,
                    case="error",
                    dimension="a",
                    group="VG",
                    cluster=f"image {image}",
                    item=f"{image}",
                    undetected=float(generator.random() < rate + worse),
                )


def _tied(generator: np.random.Generator, more: float) -> Iterator[Detection]:
    """Yield errors of which every kind but one is drawn alike on all images; some images hold that kind alone."""
    others = [name for name in MISSED if name != "spot"]
    for image in range(TIED):
        missed, share = ON_HARD if image % 2 else ON_EASY
        for number in range(ERRORS):
            alone = image % 2 == 1 and image < 2 * ONE_KIND
            kind = "spot" if alone or generator.random() < share else str(generator.choice(others))
            undetected = float(generator.random() < missed + more * (kind == "spot"))
            yield Detection(
                judge="j",
                task="image-to-text",
                evaluator=SINGLE,
                case="error",
                dimension=kind,
                group=GROUPS[kind],
                cluster=f"image {image}",
                item=f"{image} {number}",
                undetected=undetected,
                strict=undetected,
                overall=undetected,
                worse=0.0,
            )


def _intervals(generator: np.random.Generator, sizes: Sequence[int], world: str, *, seed: int) -> dict[str, Trial]:
    hard = _hard(generator, sizes)
    less, more = ({name: rate + by for name, rate in MISSED.items()} for by in (-LOOKS, LOOKS))

    def drawn(judge: str, evaluator: Evaluator, missed: Mapping[str, float], **asked: Any) -> Iterator[Detection]:
        return _drawn(generator, sizes, hard, judge, evaluator, missed, **asked)

    task = tasks_of(
        [
            *drawn("j", SINGLE, MISSED),
            *_padded(np.random.default_rng([seed, 95, len(sizes)]), sizes, hard),
            *drawn("j", PLAIN, less),
            *drawn("j", PAIRS, MISSED, favours=FAVOURS),
            *drawn("j", REFERENCE, MISSED),
            *drawn("j+new-reference", REFERENCE, more, model="j", new_reference=True),
            *drawn("j+tools", SINGLE, less, model="j", tools=True),
            *drawn("k@low", SINGLE, more, model="k", budget="low"),
            *drawn("k@high", SINGLE, less, model="k", budget="high"),
        ],
        seed=seed,
    )["image-to-text"]
    found = as_json(task)
    mean = float(np.mean(list(MISSED.values())))
    single, pairs = (found["judges"]["j"]["evaluators"][name] for name in (SINGLE, PAIRS))
    spot, group = (one["dimensions"]["spot"] for one in (single, pairs)), single["groups"]["VR"]
    in_group = (MISSED["e"] + MISSED["spot"]) / 2
    at_place = {name: _by_place(rate) for name, rate in {"all": mean, "spot": MISSED["spot"]}.items()}
    unequal = HARMED + FLICKERS - HARMED * FLICKERS
    planted: dict[str, tuple[Mapping[str, Any], float]] = {
        "undetected": (single["undetected"], mean),
        "undetected in a group": (group["undetected"], in_group),
        "undetected in one dimension": (next(spot)["undetected"], MISSED["spot"]),
        "undetected in one easy dimension": (single["dimensions"]["a"]["undetected"], MISSED["a"]),
        "undetected in pairs": (pairs["undetected"], at_place["all"]["undetected"]),
        "undetected in pairs in one dimension": (next(spot)["undetected"], at_place["spot"]["undetected"]),
        "in either order": (pairs["either"], at_place["all"]["either"]),
        "in both orders": (pairs["both"], at_place["all"]["both"]),
        "undetected by overall": (single["overall"], mean * (1 - OVERALL)),
        "undetected by overall in pairs": (pairs["overall"], at_place["all"]["undetected"] * (1 - OVERALL)),
        "strict": (single["strict"], mean + (1 - mean) * RAISES),
        "judged better": (single["worse"], (1 - mean) * RAISES),
        "named although undetected": (single["named"], NAMES),
        "unnoticed": (single["unnoticed"], mean * (1 - NAMES)),
        "reader's false alarms": (single["false_alarms"], MISREADS),
        "score-invariant": (single["equal"], 1 - unequal),
        "score-invariant in pairs": (pairs["equal"], (1 - FAVOURS) * (1 - unequal)),
        "harmless preferred": (single["preferred"], RAISES),
        "false alarms": (_less(single["equal"]), unequal),
        "noise floor": (single["flickers"], FLICKERS),
        "length bias": (single["length"]["bias"], RAISED_BY_LENGTH - LOWERED_BY_LENGTH),
        "changed by length": (single["length"]["changed"], RAISED_BY_LENGTH + LOWERED_BY_LENGTH),
        "position bias": (pairs["places"]["bias"], FAVOURS),
        "position consistency": (pairs["places"]["consistency"], _consistency(mean, unequal)),
        "group and paradigm": (found["groups"]["VR"]["reference"], in_group),
        "with tools": (found["tools"][0]["arms"]["with"]["undetected"], mean - LOOKS),
        "with tools less without": (found["tools"][0]["differences"][0]["difference"], -LOOKS),
        "with tools less without in one dimension": (found["tools"][0]["dimensions"]["spot"]["difference"], -LOOKS),
        "high effort less low": (found["budgets"][0]["differences"][0]["difference"], -2 * LOOKS),
        "new reference less original": (found["references"][0]["differences"][0]["difference"], LOOKS),
        "strategies": (found["comparisons"]["strategies"][0]["difference"], -LOOKS),
        "judges": (found["comparisons"]["judges"][0]["difference"], -LOOKS),
        "paradigms": (
            found["comparisons"]["paradigms"][0]["difference"],
            at_place["all"]["undetected"] - (mean - LOOKS / 2),
        ),
    }
    return {f"probe, {name}, {world}": trial(one, truth) for name, (one, truth) in planted.items()}


def _padded(generator: np.random.Generator, sizes: Sequence[int], hard: np.ndarray) -> Iterator[Detection]:
    """Yield what padding makes of every answer and of one of its errors, more of it better on hard images."""
    for image, size in enumerate(sizes):
        raised = RAISED_BY_LENGTH + hard[image]
        for number, draw in enumerate(generator.random(2 * size)):
            yield Detection(
                judge="j",
                task="image-to-text",
                evaluator=SINGLE,
                case="padded",
                dimension="padded",
                group="",
                cluster=f"image {image}",
                item=f"{image} padded {number}",
                equal=float(draw >= raised + LOWERED_BY_LENGTH),
                worse=float(draw < raised),
            )


def _less(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return one less a share: harmless changes that were not judged equal."""
    return {"low": 1 - one["high"], "high": 1 - one["low"]}


def _by_place(missed: float) -> dict[str, float]:
    """Return what comes of an error that a judge misses so often, where it takes the first place at times."""
    first, second = (1 - FAVOURS) * missed, FAVOURS + (1 - FAVOURS) * missed
    both = missed * (1 - FAVOURS)  # the place decides neither order, or the second one, which the gold answer stands in
    return {"undetected": (first + second) / 2, "either": first + second - both, "both": both}


def _consistency(missed: float, unequal: float) -> float:
    """Return how often both orders are decided alike, over errors of every dimension and one harmless change."""
    fair = (len(MISSED) * (1 - missed) + unequal) / (len(MISSED) + 1)
    return (1 - FAVOURS) ** 2 + FAVOURS * (1 - FAVOURS) * fair


def _hard(generator: np.random.Generator, sizes: Sequence[int]) -> np.ndarray:
    return generator.choice((-HARD, HARD), len(sizes))


def _drawn(
    generator: np.random.Generator,
    sizes: Sequence[int],
    hard: np.ndarray,
    judge: str,
    evaluator: Evaluator,
    missed: Mapping[str, float],
    *,
    favours: float = 0.0,
    wavers: float = 0.0,
    **asked: Any,
) -> Iterator[Detection]:
    """Yield what a judge makes of every answer's errors, its harmless change and itself, as it stands in the figures."""
    for image, size in enumerate(sizes):
        for answer in range(size):
            drawn = generator.random((len(missed) + 2, 8))
            for at, name in enumerate([*missed, NEUTRAL, NEUTRAL]):
                case = "error" if name in missed else "neutral" if at == len(missed) else "retest"
                place = {
                    "judge": judge, "task": "image-to-text", "evaluator": evaluator, "case": case, "dimension": name,
                    "group": GROUPS.get(name, ""), "cluster": f"image {image}", "item": f"{image} {answer} {at}", **asked,
                }  # fmt: skip
                if drawn[at, 0] < FAILS:
                    yield Detection(**place, failure="unparsable")
                elif case == "error":
                    yield _error(drawn[at], place, missed[name] + hard[image], favours, wavers)
                else:
                    yield _harmless(drawn[at], place, favours, wavers)


def _error(drawn: np.ndarray, place: dict[str, Any], rate: float, favours: float, wavers: float) -> Detection:
    undetected = bool(drawn[1] < rate)
    named = float(drawn[2] < NAMES) if undetected else 1.0
    hidden = float(drawn[7] >= OVERALL)
    if place["evaluator"] == PAIRS:
        orders = _orders(drawn[3:7], int(not undetected), favours, wavers)
        share = sum(one != 1 for one in orders) / 2
        worse = sum(one == -1 for one in orders) / 2
        return Detection(
            **place,
            undetected=share,
            strict=float(share > 0),
            worse=worse,
            overall=share * hidden,
            named=named,
            orders=orders,
        )
    raised = float(not undetected and drawn[3] < RAISES)
    missed = float(undetected)
    return Detection(
        **place, undetected=missed, strict=max(missed, raised), worse=raised, overall=missed * hidden, named=named
    )


def _harmless(drawn: np.ndarray, place: dict[str, Any], favours: float, wavers: float) -> Detection:
    marked_down = place["case"] == "neutral" and drawn[1] < HARMED
    unequal = bool(marked_down or drawn[2] < FLICKERS)
    read = float(drawn[7] < MISREADS)
    if place["evaluator"] == PAIRS:
        orders = _orders(drawn[3:7], int(unequal), favours, wavers)
        equal = sum(one == 0 for one in orders) / 2
        return Detection(
            **place, equal=equal, worse=0.0, named=read, orders=None if place["case"] == "retest" else orders
        )
    return Detection(**place, equal=float(not unequal), worse=float(drawn[3] < RAISES), named=read)


def _orders(drawn: np.ndarray, fair: int, favours: float, wavers: float) -> tuple[int, int]:
    """Return the verdicts for the gold answer, shown first and second: the fair one, or the first place, or neither."""
    shown = [0 if drawn[2 + order] < wavers else fair for order in (0, 1)]
    return (1 if drawn[0] < favours else shown[0], -1 if drawn[1] < favours else shown[1])
