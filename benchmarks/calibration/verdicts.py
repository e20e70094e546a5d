"""The rules that a calibration is held to, and the table of what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Literal

from benchmarks.calibration.trials import Seed

FULL = 400
COVERS, NAMED_COVERS = 366, 370
NAMED = (
    "mean score",
    "paired difference",
    "accuracy",
    "strict accuracy",
    "share spoken to",
    "score of what is spoken to",
    "length and score",
    "arm accuracy",
    "arm gain",
    "self-preference",
    "own votes",
    "gap between methods",
    "reward, both orders",
    "position bias",
    "position consistency",
    "probe, undetected",
    "probe, position bias",
    "probe, false alarms",
    "corrected",
    "by labels",
)
SHOWN_TO_FAIL = ("unclustered", "as published", "misled", "as judged", "warned of")
ALONE = (", labels alone", ", labels alone by t")
"""What intervals from labels and a judge are held against: they are at most so much wider in the mean."""

MOST_WIDER = 1.05
FEW_VALUES = (
    "any node",
    "any mode",
    "any pair",
    "any dimension",
    "any rate",
    "any wrong verdict",
    "false gain",
    "right answers",
    "favoured place",
)
MOST_FALSE_ALARMS = 31
KS_SEEDS, KS_P = 200, 0.01
POWER = (0.74, 0.86)
FINDS = 200
"""A planted effect whose name ends in "found" is found in half of the seeds at least."""

LEVEL = 0.05

Rule = Literal["covers", "misses", "false alarms", "too many false alarms", "uniform", "power", "finds", "width"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one figure: how often it did what the rule counts, what the rule asks, whether it was kept.

    `count` of `seeds`: intervals that cover, of those that are `printed`, or p-values at or below 5 %. `mean_width` and
    `truth` are in the figure's unit; `too_low` and `too_high` count intervals wholly on one side of the truth; `p_uniform`
    is that of Kolmogorov and Smirnov over the first 200 seeds.
    """

    name: str
    rule: Rule
    seeds: int
    count: int
    needed: str
    kept: bool
    printed: int | None = None
    truth: float | None = None
    mean_width: float | None = None
    too_low: int | None = None
    too_high: int | None = None
    p_uniform: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields that this rule has."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def judge(seeds: Sequence[Seed]) -> list[Verdict]:
    """Hold all figures of one family to their rules.

    A figure is named where its name begins with one of `NAMED`; one whose name ends in one of `SHOWN_TO_FAIL` is there
    to show that the rule can be broken, and what breaks it; one that ends in one of `FEW_VALUES` (the smallest of many
    adjusted p-values, or differences of right and wrong or of two verdicts, of which few values can come) is not uniform.
    """
    intervals = [_interval(name, seeds) for name in seeds[0].intervals]
    widths = {one.name: one.mean_width for one in intervals}
    for name, width in list(widths.items()):
        for alone in (f"{name}{suffix}" for suffix in ALONE):
            if width is not None and (other := widths.get(alone)):
                ratio, called = round(width / other, 6), f"{name}, width over that of{alone.removeprefix(name)[1:]}"
                kept = ratio <= MOST_WIDER
                intervals.append(Verdict(called, "width", len(seeds), 0, f"<= {MOST_WIDER}", kept, mean_width=ratio))
    return intervals + [verdict for name in seeds[0].p_values for verdict in _p_values(name, seeds)]


def _interval(name: str, seeds: Sequence[Seed]) -> Verdict:
    trials = [seed.intervals[name] for seed in seeds]
    truth = fmean(one.planted for one in trials)
    shown = [(one.low, one.high) for one in trials if one.low is not None and one.high is not None]
    too_low, too_high = sum(high < truth for _, high in shown), sum(low > truth for low, _ in shown)
    covered = len(shown) - too_low - too_high
    least = NAMED_COVERS if name.startswith(NAMED) else COVERS
    needed = _of(least, len(shown))
    misses = name.endswith(SHOWN_TO_FAIL)
    return Verdict(
        name,
        "misses" if misses else "covers",
        len(trials),
        covered,
        f"< {_of(COVERS, len(shown))}" if misses else f">= {needed}",
        covered < _of(COVERS, len(shown)) if misses else covered >= needed,
        truth=round(truth, 6),
        printed=len(shown),
        mean_width=round(fmean(high - low for low, high in shown), 6) if shown else None,
        too_low=too_low,
        too_high=too_high,
    )


def _p_values(name: str, seeds: Sequence[Seed]) -> list[Verdict]:
    values = [seed.p_values[name] for seed in seeds]
    n, found = len(values), sum(value <= LEVEL for value in values)
    if "power" in name:
        low, high = round(POWER[0] * n), round(POWER[1] * n)
        return [Verdict(name, "power", n, found, f"{low} to {high}", low <= found <= high)]
    if name.endswith("found"):
        least = _of(FINDS, n)
        return [Verdict(name, "finds", n, found, f">= {least}", found >= least)]
    most = _of(MOST_FALSE_ALARMS, n)
    if name.endswith(SHOWN_TO_FAIL):
        return [Verdict(name, "too many false alarms", n, found, f"> {most}", found > most)]
    alarms = Verdict(name, "false alarms", n, found, f"<= {most}", found <= most)
    if name.endswith(FEW_VALUES):
        return [alarms]
    p = _uniform(values[:KS_SEEDS])
    return [
        alarms,
        Verdict(name, "uniform", min(n, KS_SEEDS), found, f"p > {KS_P}", p > KS_P, p_uniform=round(p, 6)),
    ]


def _of(threshold: int, seeds: int) -> int:
    """Return a threshold that is stated for 400 seeds in proportion to fewer or more."""
    return threshold * seeds // FULL


def _uniform(values: Sequence[float]) -> float:
    """Return how likely values at least as far from uniform are, were they uniform."""
    from scipy import stats

    return float(stats.kstest(list(values), "uniform")[1])


def table(verdicts: Mapping[str, Sequence[Verdict]]) -> str:
    """Return the verdicts as text, a family at a time."""
    lines: list[str] = []
    wide = max((len(one.name) for several in verdicts.values() for one in several), default=0)
    for family, several in verdicts.items():
        lines.append(family)
        for one in several:
            width = "" if one.mean_width is None else f"  width {one.mean_width:.3f}"
            sides = "" if one.too_low is None else f"  missed {one.too_low} low, {one.too_high} high"
            uniform = "" if one.p_uniform is None else f"  p = {one.p_uniform:.3f}"
            mark = "ok  " if one.kept else "FAIL"
            counted = (
                f"{one.count}/{one.seeds if one.printed is None else one.printed}"
                if one.rule not in ("uniform", "width")
                else ""
            )
            lines.append(f"  {mark} {one.name:<{wide}} {counted:>7} {one.needed:>10}{width}{sides}{uniform}")
    return "\n".join(lines)
