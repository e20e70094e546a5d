"""Failure modes by the book: what is drawn to be read, notes under modes, modes merged, and how far two coders agree."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from dokimasia.algorithms.statistics import ConfidenceInterval, jackknife_interval, rate_interval
from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.algorithms.statistics.refusal import NO_SPREAD
from dokimasia.domain.failure_modes import AnswerAtoms, Mode, NotedMode
from dokimasia.domain.identity import unit_interval

BATCH = 12
"""Failed atoms that are read before the notes on them are sorted."""

MOST_BATCHES = 24
"""Batches at most; of more atoms the batches are larger."""


TWICE = 60
"""Atoms that a second coder is given, at least, where there are so many."""


def batch_size(atoms: int) -> int:
    """Return how many failed atoms a batch has, where so many are to be read.

    Examples
    --------
    >>> batch_size(30), batch_size(600)
    (12, 25)
    """
    return max(BATCH, -(-atoms // MOST_BATCHES))


def drawn(answers: Iterable[AnswerAtoms], limit: int | None, *, seed: int, half: str) -> list[AnswerAtoms]:
    """Return answers with failed atoms, by whole samples in a drawn order, until there are so many failed atoms.

    Whole samples are taken so that the answers of several models to one question stay together and can be compared.

    Parameters
    ----------
    answers : iterable of AnswerAtoms
        Of one half; in a fixed order.
    limit : int, optional
        Failed atoms from which no further sample is taken.
    seed : int
        Of the order.
    half : str
        Tells the draws of the two halves apart.

    Returns
    -------
    list of AnswerAtoms
        Those that have a failed atom, sample by sample.
    """
    by_sample: dict[str, list[AnswerAtoms]] = {}
    for one in answers:
        if one.failed:
            by_sample.setdefault(one.sample_id, []).append(one)
    taken: list[AnswerAtoms] = []
    atoms = 0
    for sample in sorted(by_sample, key=lambda one: (unit_interval("modes", seed, half, one), one)):
        if limit is not None and atoms >= limit:
            break
        taken += by_sample[sample]
        atoms += sum(len(one.failed) for one in by_sample[sample])
    return taken


def with_met(failed: Sequence[AnswerAtoms], answers: Sequence[AnswerAtoms], *, seed: int) -> list[AnswerAtoms]:
    """Return answers with their failed atoms, and as many atoms that were met, of the same models, drawn from all answers.

    Parameters
    ----------
    failed : sequence of AnswerAtoms
        Those whose failed atoms are read.
    answers : sequence of AnswerAtoms
        All of the half, with all their failed and met atoms, in a fixed order.
    seed : int
        Of the draw.

    Returns
    -------
    list of AnswerAtoms
        In the order of `answers`; a model that met fewer atoms than it failed gives all that it met.
    """
    wanted = {one.key: one.failed for one in failed}
    need: dict[str, int] = {}
    for one in failed:
        need[one.model] = need.get(one.model, 0) + len(one.failed)
    chosen: dict[str, list[int]] = {}
    for model, count in need.items():
        pool = [(answer.key, number) for answer in answers if answer.model == model for number in answer.met]
        for key, number in sorted(pool, key=lambda atom: (unit_interval("met", seed, *atom), atom))[:count]:
            chosen.setdefault(key, []).append(number)
    kept: list[AnswerAtoms] = []
    for one in answers:
        read = {*wanted.get(one.key, ()), *chosen.get(one.key, ())}
        if read:
            update = {"failed": wanted.get(one.key, ()), "met": tuple(sorted(chosen.get(one.key, ())))}
            kept.append(one.model_copy(update={**update, "silent": tuple(at for at in one.silent if at in read)}))
    return kept


def second_sample(answers: Sequence[AnswerAtoms], *, seed: int) -> list[AnswerAtoms]:
    """Return the answers that are coded once more: whole answers in a drawn order, until they have so many atoms (`TWICE`).

    Parameters
    ----------
    answers : sequence of AnswerAtoms
        All that are coded.
    seed : int
        Of the draw.
    """
    taken: list[AnswerAtoms] = []
    for one in sorted(answers, key=lambda one: (unit_interval("twice", seed, one.key), one.key)):
        if sum(len(each.numbers) for each in taken) >= TWICE:
            break
        taken.append(one)
    return taken


def sorted_under(
    modes: Sequence[NotedMode],
    places: Sequence[int],
    under: Mapping[int, Sequence[int]],
    new: Iterable[tuple[Mode, Sequence[int]]],
) -> tuple[NotedMode, ...]:
    """Return modes with more notes under them, and new ones behind them.

    Parameters
    ----------
    modes : sequence of NotedMode
        Those that there are.
    places : sequence of int
        The places in the book of the notes that were sorted, which are numbered from 1 here.
    under : mapping of int to sequence of int
        By a mode's number from 1, the notes that fall under it.
    new : iterable of tuple
        Each new mode with its notes.
    """
    grown = [
        mode.model_copy(update={"notes": (*mode.notes, *(places[note - 1] for note in under.get(at, ())))})
        for at, mode in enumerate(modes, start=1)
    ]
    made = [NotedMode(mode=mode, notes=tuple(places[note - 1] for note in notes)) for mode, notes in new]
    return (*grown, *made)


def changed(modes: Sequence[NotedMode], changes: Iterable[tuple[str, str, Sequence[int]]]) -> tuple[NotedMode, ...]:
    """Return modes with some merged, and some reworded: the first of each change has the new words and all its notes.

    Parameters
    ----------
    modes : sequence of NotedMode
        Those that there are, numbered from 1.
    changes : iterable of tuple
        Name, definition, and the modes whose place is taken, all of one kind; no mode stands in two.

    Examples
    --------
    >>> one, two = (
    ...     NotedMode(mode=Mode(name=name, kind="omission", definition="..."), notes=(at,)) for at, name in enumerate("ab")
    ... )
    >>> [(both.mode.name, both.notes) for both in changed([one, two], [("c", "both", [2, 1])])]
    [('c', (0, 1))]
    """
    instead = {min(of): (name, definition, of) for name, definition, of in changes}
    gone = {number for _, _, of in instead.values() for number in of} - instead.keys()
    kept: list[NotedMode] = []
    for number, one in enumerate(modes, start=1):
        if number in gone:
            continue
        if number in instead:
            name, definition, of = instead[number]
            notes = tuple(sorted(note for at in of for note in modes[at - 1].notes))
            mode = one.mode.model_copy(update={"name": name, "definition": definition})
            one = NotedMode(mode=mode, notes=notes)
        kept.append(one)
    return tuple(kept)


class Kappa(NamedTuple):
    """How far two coders agree: on how many of so many atoms, and Cohen's kappa with its interval; None without a value."""

    n: int
    agreed: int
    value: float | None
    interval: ConfidenceInterval | None


def kappa_of(
    first: Sequence[Hashable], second: Sequence[Hashable], clusters: Sequence[Hashable], *, level: float = 0.95
) -> Kappa:
    """Return how far two coders agree on the same atoms, with an interval that keeps what shares an image together.

    Parameters
    ----------
    first, second : sequence of hashable
        What each coder said of each atom.
    clusters : sequence of hashable
        The image of each atom.
    level : float
        Nominal coverage of the interval.

    Returns
    -------
    Kappa
        Without a value where there is no atom, or both coders said one and the same of all; without an interval where there
        is one cluster. The interval is the wider, at each end, of two: the jackknife's, which has no width where all agree,
        and that of the share of agreement, with what chance explains held fixed.

    Examples
    --------
    >>> kappa_of(["x", "x", "y", "y"], ["x", "y", "y", "y"], "abcd").value
    0.5
    >>> kappa_of(["x", "x"], ["x", "x"], "ab")
    Kappa(n=2, agreed=2, value=None, interval=None)
    """
    alike = [one == other for one, other in zip(first, second, strict=True)]

    def statistic(use: Sequence[int]) -> float:
        return cohen_kappa([first[at] for at in use], [second[at] for at in use])

    try:
        value = cohen_kappa(first, second)
    except ValueError:
        return Kappa(len(first), sum(alike), None, None)
    if len(set(clusters)) < 2:
        return Kappa(len(first), sum(alike), value, None)
    share = sum(alike) / len(alike)
    chance = 1.0 if value >= 1 else (share - value) / (1 - value)
    if chance >= 1:  # all agree: what chance explains follows from how often each thing was said
        chance = sum((first.count(one) / len(first)) ** 2 for one in set(first))
    low, high = ((end - chance) / (1 - chance) for end in rate_interval(alike, clusters=clusters, level=level))
    with suppress(ValueError):  # without one of the images both may have said one and the same of all
        drawn_out = jackknife_interval(statistic, len(first), clusters=clusters, level=level, bounds=(-1.0, 1.0))
        if drawn_out.reason == NO_SPREAD:
            drawn_out = ConfidenceInterval(value, value)
        elif drawn_out.reason:
            return Kappa(len(first), sum(alike), value, drawn_out)
        low, high = min(low, drawn_out.low), max(high, drawn_out.high)
    return Kappa(len(first), sum(alike), value, ConfidenceInterval(max(-1.0, low), min(1.0, high)))
