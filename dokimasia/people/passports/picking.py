"""Selection by passports: one judge of several, the members of a panel, and the weights of several judges."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.passport import Passport
from dokimasia.errors import ConfigError
from dokimasia.people.passports.blindness import evaluator_for, is_blind, percent, worth_of
from dokimasia.people.passports.holding import DroppedJudge, passport_of_judge, read_all
from dokimasia.people.passports.options import JudgeUse
from dokimasia.report.figures import in_words
from dokimasia.runs.session import Session


class ChosenJudge(NamedTuple):
    """The chosen judge, the files of its passport, and the reason in a sentence; empty if the judge was named."""

    judge: str | None
    passports: tuple[Path, ...]
    why: str = ""


def chosen_judge(
    judge: str | None, several: Sequence[str], passports: Sequence[Path], session: Session, *ways: JudgeUse
) -> ChosenJudge:
    """Return the judge of a run: the named one, or of several the one with the best passport.

    The criterion is the detection rate minus the false-alarm rate over all errors, at its minimum over the ways in which the
    run judges; ties go to the first named. A model without a passport, or without figures on one of the ways, is not chosen.

    Raises:
        ConfigError: both are given, there is no passport, or no passport has figures on the ways.
    """
    if not several:
        return ChosenJudge(judge, tuple(passports))
    if judge is not None:
        raise ConfigError("--judge and --choose-judge both name the judge: leave one of them out")
    if not passports:
        raise ConfigError("--choose-judge chooses by passports: name them with --passport FILE, once for each model")
    found = read_all(passports)
    specs = session.models(several, "--choose-judge")
    said: list[str] = []
    best: tuple[float, ModelSpec, Passport] | None = None
    compared = 0
    for spec in specs:
        passport = passport_of_judge(found, spec)
        worths = {} if passport is None else {way.what: worth_of(passport, way) for way in ways}
        known = [one for one in worths.values() if one is not None]
        if passport is None or len(known) < len(ways):
            unknown = [what for what, one in worths.items() if one is None]
            lacks = f"a passport that knows nothing of {in_words(unknown)}" if unknown else "no passport"
            said.append(f"{spec.ref.name} has {lacks}")
            continue
        measured = [f"{_measured(passport, way)}{f' in {way.what}' if len(ways) > 1 else ''}" for way in ways]
        said.append(f"{spec.ref.name} {in_words(measured)}")
        compared += 1
        if best is None or min(known) > best[0]:
            best = (min(known), spec, passport)
    if best is None:
        raise ConfigError(
            f"--choose-judge: {'; '.join(said)}: there is nothing to choose by; name the judge with --judge, or make "
            "passports from probes that judge so (dokimasia passport)"
        )
    worth, spec, passport = best
    files = tuple(path for path, (_, one) in zip(passports, found, strict=True) if one is passport)
    what = in_words([way.what for way in ways])
    if worth <= 0:
        said.append("none of them detects more than it raises false alarms, so none is better than chance")
    if compared == 1 and len(several) > 1:
        said.append(f"{spec.ref.name} alone has figures, and was compared with nobody")
    return ChosenJudge(spec.ref.name, files, f"chosen among {in_words(list(several))} for {what}: {'; '.join(said)}")


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
        ConfigError: there is no passport, or fewer than two members are left.
    """
    if not passports:
        raise ConfigError("--drop-blind goes by passports: name them with --passport FILE, once for each member")
    found = read_all(passports)
    kept: list[ModelSpec] = []
    dropped: list[DroppedJudge] = []
    for spec in panel:
        passport = passport_of_judge(found, spec)
        evaluator = None if passport is None else evaluator_for(passport, way)
        rates = None if passport is None or evaluator is None else passport.rates(way.task, evaluator)
        if passport is not None and rates is not None and is_blind(rates, below):
            said = f"it detects {percent(rates.detection)} of errors as {evaluator}, surely below {below:.0%}"
            dropped.append(DroppedJudge(spec.ref.name, passport.sha256, f"left out of the panel: {said}"))
        else:
            kept.append(spec)
    if len(kept) < 2:
        told = "; ".join(f"{one.name}: {one.why}" for one in dropped)
        raise ConfigError(f"--drop-blind leaves {len(kept)} of the panel, and a review needs two: {told}")
    hashes = {one.sha256 for one in dropped}
    files = tuple(path for path, (_, one) in zip(passports, found, strict=True) if one.sha256 not in hashes)
    return Seeing(tuple(kept), files, tuple(dropped))


def weights_of(passports: Mapping[str, Passport], way: JudgeUse) -> dict[str, float]:
    """Return the weights of judges for averaging their judgements; they sum to 1.

    A weight is proportional to the detection rate minus the false-alarm rate in the given way of judging; a judge with a
    difference of 0 or less has weight 0. Votes are not averaged and have no weights.

    Args:
        passports: the passports by the judge's name.
        way: how all of them judged.

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


def _measured(passport: Passport, way: JudgeUse) -> str:
    evaluator = evaluator_for(passport, way)
    rates = None if evaluator is None else passport.rates(way.task, evaluator)
    alarms = next((one for one in passport.neutral if (one.task, one.evaluator) == (way.task, evaluator)), None)
    if rates is None or alarms is None:
        return "was not measured"
    return f"detects {percent(rates.detection)} with {percent(alarms.false_alarms)} false alarms"
