"""Failure modes by codebook: drawing what to read, sorting notes under modes, merging modes, and agreement of coders."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from dokimasia.algorithms.statistics import ConfidenceInterval, jackknife_interval, rate_interval
from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.algorithms.statistics.refusal import NO_SPREAD
from dokimasia.domain.failure_modes import AnswerAtoms, Mode, NotedMode
from dokimasia.domain.identity import unit_interval

BATCH = 12
"""Number of failed atoms to read before the notes on them are sorted."""

MOST_BATCHES = 24
"""Maximum number of batches; with more atoms, the batches are larger."""


TWICE = 60
"""Minimum number of atoms for a second coder, if there are as many."""


def batch_size(atoms: int) -> int:
    """Return the number of failed atoms in a batch, given the total number to read.

    Examples
    --------
    >>> batch_size(30), batch_size(600)
    (12, 25)
    """
    return max(BATCH, -(-atoms // MOST_BATCHES))


def drawn(answers: Iterable[AnswerAtoms], limit: int | None, *, seed: int, half: str) -> list[AnswerAtoms]:
    """Return answers with failed atoms, by whole samples in random order, until the limit of failed atoms is reached.

    Whole samples are drawn so that the answers of several models to one question stay together and can be compared.

    Parameters
    ----------
    answers : iterable of AnswerAtoms
        The answers of one half, in a fixed order.
    limit : int, optional
        The number of failed atoms from which no further sample is taken.
    seed : int
        Seed of the order.
    half : str
        Distinguishes the draws of the two halves.

    Returns
    -------
    list of AnswerAtoms
        Those with a failed atom, sample by sample.
    """
    by_sample: dict[str, list[AnswerAtoms]] = {}
    for answer in answers:
        if answer.failed:
            by_sample.setdefault(answer.sample_id, []).append(answer)
    chosen: list[AnswerAtoms] = []
    atoms = 0
    for sample in sorted(by_sample, key=lambda name: (unit_interval("modes", seed, half, name), name)):
        if limit is not None and atoms >= limit:
            break
        chosen += by_sample[sample]
        atoms += sum(len(answer.failed) for answer in by_sample[sample])
    return chosen


def with_met(failed: Sequence[AnswerAtoms], answers: Sequence[AnswerAtoms], *, seed: int) -> list[AnswerAtoms]:
    """Return answers with their failed atoms, and as many met atoms of the same models, drawn from all answers.

    Parameters
    ----------
    failed : sequence of AnswerAtoms
        Those whose failed atoms are read.
    answers : sequence of AnswerAtoms
        All answers of the half, with all their failed and met atoms, in a fixed order.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of AnswerAtoms
        In the order of `answers`; a model that met fewer atoms than it failed contributes all its met atoms.
    """
    failed_of = {answer.key: answer.failed for answer in failed}
    need: dict[str, int] = {}
    for answer in failed:
        need[answer.model] = need.get(answer.model, 0) + len(answer.failed)
    chosen: dict[str, list[int]] = {}
    for model, count in need.items():
        pool = [(answer.key, number) for answer in answers if answer.model == model for number in answer.met]
        for key, number in sorted(pool, key=lambda atom: (unit_interval("met", seed, *atom), atom))[:count]:
            chosen.setdefault(key, []).append(number)
    selected: list[AnswerAtoms] = []
    for answer in answers:
        numbers = {*failed_of.get(answer.key, ()), *chosen.get(answer.key, ())}
        if numbers:
            update = {"failed": failed_of.get(answer.key, ()), "met": tuple(sorted(chosen.get(answer.key, ())))}
            selected.append(
                answer.model_copy(update={**update, "silent": tuple(at for at in answer.silent if at in numbers)})
            )
    return selected


def second_sample(answers: Sequence[AnswerAtoms], *, seed: int) -> list[AnswerAtoms]:
    """Return the answers to code twice: whole answers in random order, until they have enough atoms (`TWICE`).

    Parameters
    ----------
    answers : sequence of AnswerAtoms
        All answers that are coded.
    seed : int
        Seed of the draw.
    """
    sample: list[AnswerAtoms] = []
    for answer in sorted(answers, key=lambda answer: (unit_interval("twice", seed, answer.key), answer.key)):
        if sum(len(chosen.numbers) for chosen in sample) >= TWICE:
            break
        sample.append(answer)
    return sample


def sorted_under(
    modes: Sequence[NotedMode],
    places: Sequence[int],
    under: Mapping[int, Sequence[int]],
    new: Iterable[tuple[Mode, Sequence[int]]],
) -> tuple[NotedMode, ...]:
    """Return modes with more notes under them, followed by new modes.

    Parameters
    ----------
    modes : sequence of NotedMode
        The existing modes.
    places : sequence of int
        The places in the codebook of the notes that were sorted; `under` and `new` number these notes from 1.
    under : mapping of int to sequence of int
        The notes that fall under a mode, by its number from 1.
    new : iterable of tuple
        Each new mode with its notes.
    """
    grown = [
        mode.model_copy(update={"notes": (*mode.notes, *(places[note - 1] for note in under.get(at, ())))})
        for at, mode in enumerate(modes, start=1)
    ]
    added = [NotedMode(mode=mode, notes=tuple(places[note - 1] for note in notes)) for mode, notes in new]
    return (*grown, *added)


def changed(modes: Sequence[NotedMode], changes: Iterable[tuple[str, str, Sequence[int]]]) -> tuple[NotedMode, ...]:
    """Return modes after merging and rewording: the first mode of each change gets the new words and all notes.

    Parameters
    ----------
    modes : sequence of NotedMode
        The existing modes, numbered from 1.
    changes : iterable of tuple
        Name, definition, and the modes to replace, all of one kind; no mode is in two changes.

    Examples
    --------
    >>> noted, second = (
    ...     NotedMode(mode=Mode(name=name, kind="omission", definition="..."), notes=(at,)) for at, name in enumerate("ab")
    ... )
    >>> [(merged.mode.name, merged.notes) for merged in changed([noted, second], [("c", "both", [2, 1])])]
    [('c', (0, 1))]
    """
    instead = {min(of): (name, definition, of) for name, definition, of in changes}
    absorbed = {number for _, _, of in instead.values() for number in of} - instead.keys()
    result: list[NotedMode] = []
    for number, noted in enumerate(modes, start=1):
        if number in absorbed:
            continue
        if number in instead:
            name, definition, of = instead[number]
            notes = tuple(sorted(note for at in of for note in modes[at - 1].notes))
            mode = noted.mode.model_copy(update={"name": name, "definition": definition})
            noted = NotedMode(mode=mode, notes=notes)
        result.append(noted)
    return tuple(result)


class Kappa(NamedTuple):
    """Agreement of two coders on `agreed` of `n` atoms, and Cohen's kappa with its interval; None without a value."""

    n: int
    agreed: int
    value: float | None
    interval: ConfidenceInterval | None


def kappa_of(first: Sequence[Hashable], second: Sequence[Hashable], clusters: Sequence[Hashable]) -> Kappa:
    """Return the agreement of two coders on the same atoms, with an interval clustered by image.

    Parameters
    ----------
    first, second : sequence of hashable
        The code that each coder gave each atom.
    clusters : sequence of hashable
        The image of each atom.

    Returns
    -------
    Kappa
        Without a value if there is no atom, or both coders gave all atoms the same code; without an interval if there is one
        cluster. Each end is the outer one of two intervals: the jackknife's, which has no width under full agreement, and
        that of the share of agreement, with chance agreement held fixed.

    Examples
    --------
    >>> kappa_of(["x", "x", "y", "y"], ["x", "y", "y", "y"], "abcd").value
    0.5
    >>> kappa_of(["x", "x"], ["x", "x"], "ab")
    Kappa(n=2, agreed=2, value=None, interval=None)
    """
    alike = [code == right for code, right in zip(first, second, strict=True)]

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
    if chance >= 1:  # full agreement: chance agreement follows from the frequency of each code
        chance = sum((first.count(label) / len(first)) ** 2 for label in set(first))
    low, high = ((end - chance) / (1 - chance) for end in rate_interval(alike, clusters=clusters))
    with suppress(ValueError):  # without one of the images, both coders may have given the same code throughout
        drawn_out = jackknife_interval(statistic, len(first), clusters=clusters, bounds=(-1.0, 1.0))
        if drawn_out.reason == NO_SPREAD:
            drawn_out = ConfidenceInterval(value, value)
        elif drawn_out.reason:
            return Kappa(len(first), sum(alike), value, drawn_out)
        low, high = min(low, drawn_out.low), max(high, drawn_out.high)
    return Kappa(len(first), sum(alike), value, ConfidenceInterval(max(-1.0, low), min(1.0, high)))
