"""`analyse`: what an audit's figures say, alone, beside outside ratings, and beside another judge's audit."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dokimasia.datasets.annotations import read_ratings
from dokimasia.errors import ConfigError
from dokimasia.methods.audit import METHOD
from dokimasia.methods.audit.accepting import WAY
from dokimasia.methods.audit.agreement import Rating, agreement, coverage, two_judges
from dokimasia.methods.audit.analyses import consistency, failures_by_domain, length_bias, reliability_gap
from dokimasia.methods.audit.benchmarks import OWN, other_benchmarks
from dokimasia.methods.audit.request import AuditPlan
from dokimasia.methods.audit.results import audit_rows, audit_summary
from dokimasia.methods.passports import each_has_one, weights_of
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


def analyse(
    home: Home,
    run: Run,
    *,
    ratings: Path | None = None,
    against: Run | None = None,
    benchmarks: Mapping[str, Path] | None = None,
    passports: Sequence[Path] = (),
) -> dict[str, Any]:
    """Return an audit's figures and its analyses, ready for JSON; the same stored rows give the same bytes.

    Args:
        home: where the audit is, open for reading at least.
        run: the audit.
        ratings: a file of outside ratings, as `datasets.ratings` reads it.
        against: an audit of the same rubrics by another judge.
        benchmarks: by name, files of another benchmark's scores of the models, in the form of ratings.
        passports: of both judges, by which they are averaged.

    Raises:
        NotFound: a run is no audit.
        ConfigError: the other audit went by other rubrics, or is the same; benchmarks are given without ratings, or
            passports without another judge.
        DataError: the ratings cannot be used.
    """
    plan, _ = METHOD.read(run)
    if benchmarks and (ratings is None or OWN in benchmarks):
        raise ConfigError(f"--benchmark needs --ratings to be held against, and a name other than {OWN!r}")
    outside = _rated(ratings) if ratings else []
    others = {name: _rated(path) for name, path in (benchmarks or {}).items()}
    summary = audit_summary(home, run)
    rows = audit_rows(home, run)
    judges: dict[str, Any] | None = None
    if passports and against is None:
        raise ConfigError("--passport weights two judges here: name the audit by the other one with --against")
    if against is not None:
        other, _ = METHOD.read(against)
        if against.id == run.id:
            raise ConfigError("--against names the same run: name an audit by another judge")
        if other.rubrics != plan.rubrics:
            raise ConfigError(f"runs {run.id} and {against.id} went by different rubrics, so judges cannot be compared")
        first, second = plan.judge.ref.name, other.judge.ref.name
        names = (first, second) if first != second else (f"{first} ({run.id[:6]})", f"{second} ({against.id[:6]})")
        weights = _weights(home, (plan, other), passports) if passports else None
        judges = two_judges(rows, audit_rows(home, against), names=names, seed=run.seed, weights=weights)
    found = {
        "reliability_gap": reliability_gap(summary),
        "failures_by_domain": failures_by_domain(rows),
        "consistency": consistency(rows, summary, seed=run.seed),
        "agreement": agreement(rows, outside) if outside else None,
        "other_benchmarks": other_benchmarks(summary, outside, others) if others else None,
        "length_bias": length_bias(rows, seed=run.seed),
        "two_judges": judges,
        "coverage": coverage(rows, seed=run.seed),
    }
    return {**summary, "analyses": {name: one for name, one in found.items() if one is not None}}


def _weights(home: Home, plans: tuple[AuditPlan, AuditPlan], files: Sequence[Path]) -> tuple[float, float]:
    """Return how much each of two judges counts, by their passports."""
    first, second = (plan.judge for plan in plans)
    if first.ref == second.ref:
        raise ConfigError("--passport weights two judges, and both audits are by one")
    by_judge = each_has_one(files, (first, second), plans[0].prompts, home)
    weights = weights_of(by_judge, WAY)
    return weights[first.ref.name], weights[second.ref.name]


def _rated(path: Path) -> list[Rating]:
    return [Rating(one.model, one.rating, one.sample_id) for one in read_ratings(path)]
