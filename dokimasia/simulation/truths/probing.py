"""The truth that probes of judges are compared with: what goes undetected, from the planted rates alone.

Nothing here draws, reads a reply or compares judgements. An error is missed, named without a change of score, rewarded, or
marked down, each with a known rate; of a pair the first place is then favoured, call for call. What follows for each
evaluator is worked out case by case. It holds for judges of good sight, and for answers with one planted error or none.
"""

from typing import NamedTuple

from dokimasia.simulation.planting import JudgeProfile


class Expected(NamedTuple):
    """What is expected of errors of one kind: the share undetected, in each form, judged better, and named all the same.

    `either`, `both` and `bias` are None but for pairs: undetected in one order at least, in both, and how much more often the
    first place is chosen than the second, -1 to 1. `named` is of those undetected; None where none is, or for pairs.
    """

    undetected: float
    strict: float
    worse: float
    named: float | None
    either: float | None = None
    both: float | None = None
    bias: float | None = None


class Harmless(NamedTuple):
    """What is expected of harmless changes and of unchanged answers.

    `flickers` and `false_alarms` are None for pairs, of which it matters which answers are shown.
    """

    equal: float
    flickers: float | None
    false_alarms: float | None


def expected(
    judge: JudgeProfile,
    dimension: str,
    group: str,
    evaluator: str,
    *,
    new_reference: bool = False,
    effort: str = "",
    reader: JudgeProfile | None = None,
) -> Expected:
    """Return what is expected of errors of a dimension under a published evaluator.

    Args:
        judge: whom is asked.
        dimension: the dimension.
        group: its group.
        evaluator: the evaluator's name.
        new_reference: whether the reference is another right answer than the one that was perturbed.
        effort: the reasoning effort that is told; empty for none.
        reader: who reads the justifications; by default one that never misreads.
    """
    missed = missed_at(judge, dimension, group, evaluator, new_reference=new_reference, effort=effort)
    silent, contrary = (1 - missed) * judge.names_only, (1 - missed) * judge.prefers_perturbed
    seen = 1 - missed - silent - contrary
    misread = 0.0 if reader is None else reader.misreads
    paradigm = evaluator.partition("-")[0]
    if paradigm == "pairwise":
        return _of_pair(missed + silent, contrary, seen, judge.favours_first)
    if paradigm == "reference":
        quiet, strict, worse = missed + silent + contrary, missed + silent + contrary, 0.0
        told = silent + contrary
    else:
        quiet, strict, worse = missed + silent, missed + silent + contrary, contrary
        told = silent
    named = ((1 - misread) * told + misread * missed) / quiet if quiet else None
    return Expected(quiet, strict, worse, named)


def harmless(judge: JudgeProfile, evaluator: str, *, reader: JudgeProfile | None = None) -> Harmless:
    """Return what is expected of harmless changes under a published evaluator, and of the same answer once more."""
    if evaluator.startswith("pairwise"):
        return Harmless((1 - judge.nitpicks) * (1 - judge.favours_first), None, None)
    misread = 0.0 if reader is None else reader.misreads
    alarms = judge.imagines * (1 - misread) + (1 - judge.imagines) * misread
    return Harmless(1 - judge.nitpicks, judge.wavers, alarms)


def missed_at(
    judge: JudgeProfile, dimension: str, group: str, evaluator: str, *, new_reference: bool = False, effort: str = ""
) -> float:
    """Return the planted rate at which an error is missed: that of the most specific key, and what the effort adds."""
    asked = ["new-reference"] if new_reference else []
    asked += [evaluator, evaluator.split("-")[0]]
    keys = [f"{what}/{way}" if way else what for what in (dimension, group) for way in (*asked, "")]
    planted = [judge.misses[key] for key in (*keys, *asked) if key in judge.misses]
    rate = planted[0] if planted else 1 - judge.detects_missing
    return min(1.0, max(0.0, rate + judge.misses_more.get(effort, 0.0)))


def _of_pair(tie: float, contrary: float, seen: float, favours: float) -> Expected:
    """Return what is expected of pairs in which neither answer, the changed one, or the gold one is fairly preferred.

    A favoured first place makes a tie its own, and a preference of the second place a tie.
    """
    gold_first = (1 - favours) * tie + contrary
    gold_second = tie + contrary + favours * seen
    chosen_first = seen + favours * tie - (1 - favours) * contrary
    chosen_second = (1 - favours) * seen - favours * tie - contrary
    changed = ((1 - favours) * contrary + favours * tie + contrary) / 2
    return Expected(
        undetected=(gold_first + gold_second) / 2,
        strict=gold_second,
        worse=changed,
        named=None,
        either=gold_second,
        both=gold_first,
        bias=(chosen_first - chosen_second) / 2,
    )
