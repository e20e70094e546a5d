"""Selection by passports: one judge of several, the members of a panel, and the weights of several judges."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.passport import Passport, RatesByHalf
from dokimasia.domain.wording import percentage
from dokimasia.errors import ConfigError
from dokimasia.people.passports.blindness import detection_of, evaluator_for, is_blind, percent, worth_of
from dokimasia.people.passports.holding import DroppedJudge, passport_of_judge, read_all
from dokimasia.people.passports.options import JudgeUse
from dokimasia.report.figures import in_words, signed_text
from dokimasia.report.figures import several as several_of
from dokimasia.runs.session import Session


class ChosenJudge(NamedTuple):
    """The chosen judge, the files of its passport, and the reason as a sentence; empty if the judge was named."""

    judge: str | None
    passports: tuple[Path, ...]
    why: str = ""


def chosen_judge(
    judge: str | None, several: Sequence[str], passports: Sequence[Path], session: Session, *ways: JudgeUse
) -> ChosenJudge:
    """Return the judge of a run: the named one, or the one with the best passport among several.

    The criterion is the detection rate minus the false-alarm rate over all errors on the half of each passport's images
    that chooses, at its minimum over the run's ways of judging; ties go to the first named. The reported figures of the
    chosen model come from the other half, which was not used for choosing. A model without a passport, or without
    figures on one of the ways, is not chosen.

    Raises:
        ConfigError: both are given, there is no passport, or no passport has figures on the ways.
    """
    if not several:
        return ChosenJudge(judge, tuple(passports))
    if judge is not None:
        raise ConfigError("--judge and --choose-judge both name the judge: leave one of them out")
    if not passports:
        raise ConfigError("--choose-judge chooses by passports: name them with --passport FILE, once for each model")
    file_passports = read_all(passports)
    reasons: list[str] = []
    considered: list[tuple[str, Passport]] = []
    for spec in session.models(several, "--choose-judge"):
        name = spec.ref.name
        passport = passport_of_judge(file_passports, spec)
        if passport is None:
            reasons.append(f"{name} has no passport")
            continue
        if unknown := [way.what for way in ways if choosing_worth(passport, way) is None]:
            reasons.append(f"{name} has a passport that knows nothing of {in_words(unknown)}")
            continue
        considered.append((name, passport))
        worths = [f"{signed_text(choosing_worth(passport, way) or 0.0)}{_in_way(way, ways)}" for way in ways]
        reasons.append(f"{name} {in_words(worths)} on {_images(passport, ways)}")
    if not considered:
        raise ConfigError(
            f"--choose-judge: {'; '.join(reasons)}: there is nothing to choose by; name the judge with --judge, or make "
            "passports from probes that judge so (dokimasia passport)"
        )
    candidates = [passport for _, passport in considered]
    name, passport = considered[best_of(candidates, ways)]
    files = tuple(path for path, (_, other) in zip(passports, file_passports, strict=True) if other is passport)
    what = in_words([way.what for way in ways])
    estimates = in_words([f"{_estimates(passport, way)}{_in_way(way, ways)}" for way in ways])
    if least_worth(passport, ways) <= 0:
        reasons.append("none of them detects more than it raises false alarms, so none is better than chance")
    if len(considered) == 1 and len(several) > 1:
        reasons.append(f"{name} alone has figures, and was compared with nobody")
    # the halves have the same images if items and seed are the same
    if len({(candidate.seed, tuple(data.hash for data in candidate.data)) for candidate in candidates}) > 1:
        reasons.append("their passports rest on other items or seeds, so that these are not the same images")
    why = (
        f"chosen among {in_words(list(several))} for {what}, by detection less false alarms on one half of the images: "
        f"{'; '.join(reasons)}. On the other half, which did not choose, {name} {estimates}"
    )
    return ChosenJudge(name, files, why)


def best_of(passports: Sequence[Passport], ways: Sequence[JudgeUse]) -> int:
    """Return the index of the best judge's passport on the halves for choosing; ties go to the first.

    Every passport has figures on all ways (`choosing_worth`).
    """
    worths = [least_worth(passport, ways) for passport in passports]
    return worths.index(max(worths))


def least_worth(passport: Passport, ways: Sequence[JudgeUse]) -> float:
    """Return detection minus false alarms on the half for choosing, at its minimum over the ways of judging."""
    return min(choosing_worth(passport, way) or 0.0 for way in ways)


def choosing_worth(passport: Passport, way: JudgeUse) -> float | None:
    """Return detection minus false alarms on the half for choosing; None if either was not measured there."""
    both = halves_for(passport, way)
    if both is None:
        return None
    return both.choosing.worth


def halves_for(passport: Passport, way: JudgeUse) -> RatesByHalf | None:
    """Return the rates on each half of a passport's images for a way of judging; None if unmeasured."""
    evaluator = evaluator_for(passport, way)
    if evaluator is None:
        return None
    return passport.halves_of(way.task, evaluator)


def _in_way(way: JudgeUse, ways: Sequence[JudgeUse]) -> str:
    if len(ways) > 1:
        return f" in {way.what}"
    return ""


def _images(passport: Passport, ways: Sequence[JudgeUse]) -> str:
    """Return the minimum numbers of errors and images that a choice rests on, in words."""
    both = [half for way in ways if (half := halves_for(passport, way)) is not None]
    least = min((half.choosing for half in both), key=lambda half: half.n)
    return f"{several_of(least.n, 'error')} of {several_of(least.images, 'image')}"


class Seeing(NamedTuple):
    """A panel without its blind members, the files of the remaining passports, and the dropped members."""

    panel: tuple[ModelSpec, ...]
    passports: tuple[Path, ...]
    dropped: tuple[DroppedJudge, ...]


def without_blind(panel: Sequence[ModelSpec], passports: Sequence[Path], way: JudgeUse, *, below: float) -> Seeing:
    """Return a panel without the members that are blind to errors as a whole.

    A member is blind if the whole interval of its detection rate of all errors is below the bound. Members without a
    passport stay.

    Raises:
        ConfigError: there is no passport, or fewer than two members remain.
    """
    if not passports:
        raise ConfigError("--drop-blind goes by passports: name them with --passport FILE, once for each member")
    file_passports = read_all(passports)
    seeing: list[ModelSpec] = []
    dropped: list[DroppedJudge] = []
    for spec in panel:
        passport = passport_of_judge(file_passports, spec)
        if passport is None or not is_blind(detection := detection_of(passport, way), below):
            seeing.append(spec)
            continue
        why = (
            f"left out of the panel: it detects {percent(detection)} of errors as {evaluator_for(passport, way)}, "
            f"surely below {percentage(below)}"
        )
        dropped.append(DroppedJudge(spec.ref.name, passport.sha256, why))
    if len(seeing) < 2:
        reasons = "; ".join(f"{judge.name}: {judge.why}" for judge in dropped)
        raise ConfigError(f"--drop-blind leaves {len(seeing)} of the panel, and a review needs two: {reasons}")
    hashes = {judge.sha256 for judge in dropped}
    files = tuple(
        path for path, (_, passport) in zip(passports, file_passports, strict=True) if passport.sha256 not in hashes
    )
    return Seeing(tuple(seeing), files, tuple(dropped))


def weights_of(passports: Mapping[str, Passport], way: JudgeUse) -> dict[str, float]:
    """Return the weights of judges for averaging their judgements; they sum to 1.

    A weight is proportional to the detection rate minus the false-alarm rate in the given way of judging; a judge with a
    difference of 0 or less has weight 0. Votes are not averaged and have no weights.

    Args:
        passports: the passports by the judge's name.
        way: how all judges judged.

    Raises:
        ConfigError: a passport has no figures on the way, or all weights would be 0.
    """
    worths: dict[str, float] = {}
    for name, passport in passports.items():
        worth = worth_of(passport, way)
        if worth is None:
            raise ConfigError(
                f"the passport of {name} knows nothing of {way.what}, so its weight is not known: probe it so, or leave it out"
            )
        worths[name] = max(0.0, worth)
    total = sum(worths.values())
    if not total:
        raise ConfigError(f"no judge detects more errors than it raises false alarms in {way.what}: none would count")
    return {name: worth / total for name, worth in worths.items()}


def _estimates(passport: Passport, way: JudgeUse) -> str:
    """Return the judge's figures on the half not used for choosing, and the numbers that they rest on."""
    both = halves_for(passport, way)
    if both is None or both.estimating.worth is None:
        return "was not measured"
    half = both.estimating
    return (
        f"detects {percent(half.detection)} of {several_of(half.n, 'error')} with {percent(half.false_alarms)} false alarms "
        f"in {several_of(half.neutral, 'harmless change')}, on {several_of(half.images, 'image')}"
    )
