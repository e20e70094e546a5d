"""Expected behaviour of judges, from the planted parameters alone: agreement with people, ratings, duels, missed errors.

Nothing here draws, writes or reads an answer, or averages verdicts. A judge that rates single responses goes by its
steps or, with outcome bias, by its final answer; for two responses this leaves four cases with known probabilities. In a
duel, the numbers of vivid lines of the two answers are binomial; an impartial verdict follows from their difference, and
each planted habit of a judge moves it as defined in `JudgeProfile`. This holds for complete answers of equal length,
unless `longer` says otherwise. In a probe, an error is missed, named without a change of score, rewarded, or marked
down, each at a known rate; in a pair, the first place is then favoured, independently in each call. This holds for judges
with good sight, and for answers with one planted error or none.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

from dokimasia.simulation.creative import LINES
from dokimasia.simulation.judging.probes import miss_rate
from dokimasia.simulation.judging.whole_answers import impartial_verdict
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.ranked_world import PlantedRanking, PlantedResponse
from dokimasia.simulation.scene import Scene, SceneQuestion

RATED_LUCKY, RATED_UNLUCKY = 9, 3
"""Ratings of a response with a right, or a wrong, final answer by a judge that looks at nothing else."""

TOTAL_WEIGHT = 10
"""Total weight of all steps."""

RankedQuestion = tuple[Sequence[PlantedResponse], Iterable[PlantedRanking]]
"""The responses to a question, and people's rankings of them, one line per person."""


def expected_pointwise(judge: JudgeProfile, questions: Iterable[RankedQuestion], *, margin: float = 0.0) -> float:
    """Return the expected share of people's pairwise verdicts that a judge without other faults agrees with, 0 to 1."""

    def ratings(response: PlantedResponse) -> dict[float, float]:
        by_answer = float(RATED_LUCKY if response.right else RATED_UNLUCKY)
        by_steps = 1.0 + round(9 * response.merit / TOTAL_WEIGHT)
        chances = {by_steps: 1 - judge.outcome_bias}
        chances[by_answer] = chances.get(by_answer, 0.0) + judge.outcome_bias
        return chances

    return _expected_agreement(questions, ratings, margin)


def expected_atoms(questions: Iterable[RankedQuestion], *, margin: float = 0.0) -> float:
    """Return the expected share of people's pairwise verdicts that a judge agrees with if it scores every step correctly."""
    return _expected_agreement(questions, lambda response: {1 + 4 * response.merit / TOTAL_WEIGHT: 1.0}, margin)


def _expected_agreement(
    questions: Iterable[RankedQuestion], chances_of: Callable[[PlantedResponse], dict[float, float]], margin: float
) -> float:
    total = count = 0.0
    for responses, lines in questions:
        chances = {response.model: chances_of(response) for response in responses}
        for line in lines:
            places = line.places
            for model, other_model in combinations(sorted(places), 2):
                people_prefer = (places[model] > places[other_model]) - (places[model] < places[other_model])
                for (first, chance), (second, other_chance) in product(
                    chances[model].items(), chances[other_model].items()
                ):
                    difference = first - second
                    verdict = 0 if abs(difference) <= margin + 1e-9 else 1 if difference > 0 else -1
                    total += chance * other_chance * (verdict == people_prefer)
                count += 1
    return total / count


BEST, WORST = 3, 1


def planted_quality(scene: Scene, question: SceneQuestion, criterion: str, truth: str) -> tuple[int, int]:
    """Return the planted accuracy and necessity of a criterion, each 3 or 1.

    It is accurate if it says what a step of the question or a fact of the scene says; necessary if it asks what a step asks,
    right or wrong.
    """
    step = next((candidate for candidate in question.steps if candidate.question == criterion), None)
    if step is not None:
        return (BEST if truth == step.statement else WORST), BEST
    facts = {f"The {fact.attribute} of the {fact.subject} is {fact.value}." for fact in scene.facts}
    return (BEST if truth in facts else WORST), WORST


def expected_rating(rater: JudgeProfile, planted: int) -> float:
    """Return the mean rating by a rater with planted faults if the planted rating is the best, or the worst."""
    faulted = rater.detects_missing if planted == WORST else rater.false_alarm
    return faulted * (WORST + rater.jitter) + (1 - faulted) * (BEST - rater.jitter)


REWARD = 50.0
LAST = 2


class LengthChances(NamedTuple):
    """Probabilities that the evaluated model's answer is longer, and shorter, than the baseline's, whatever their quality."""

    more: float = 0.0
    less: float = 0.0


EQUAL_LENGTHS = LengthChances()


class ExpectedDuel(NamedTuple):
    """Expected figures of a model's verdicts: `reward` by both orders, `impartial` by a judge without habits.

    `first` and `second` are rewards by one order, with the model shown in that place; `bias` is the advantage of the first
    place. Win rates (by both orders, and by the first alone) and `consistency` are in percent.
    """

    reward: float
    impartial: float
    first: float
    second: float
    win_rate: float
    win_rate_first: float
    bias: float
    consistency: float


def expected_duel(
    judge: JudgeProfile, model: float, baseline: float, *, longer: LengthChances = EQUAL_LENGTHS
) -> ExpectedDuel:
    """Return the expected figures of a duel between two writers, given their rates of vivid lines."""
    impartial = first = second = wins = wins_first = same = 0.0
    for ahead, of_writing in _lead(model, baseline).items():
        fair = impartial_verdict(ahead)
        for step, of_length in ((1, longer.more), (-1, longer.less), (0, 1 - longer.more - longer.less)):
            shown_first = _verdicts(judge, fair, step, position=1)
            shown_second = _verdicts(judge, fair, step, position=-1)
            weight = of_writing * of_length
            impartial += weight * REWARD * fair
            first += weight * REWARD * _mean_verdict(shown_first)
            second += weight * REWARD * _mean_verdict(shown_second)
            sides = [_sides(verdicts) for verdicts in (shown_first, shown_second)]
            wins += weight * 100 * sum(side[1] for side in sides) / 2
            wins_first += weight * 100 * sides[0][1]
            same += weight * 100 * sum(sides[0][side] * sides[1][side] for side in (-1, 0, 1))
    return ExpectedDuel((first + second) / 2, impartial, first, second, wins, wins_first, (first - second) / 2, same)


def _lead(model: float, baseline: float) -> dict[int, float]:
    """Return the probability of each difference of vivid lines."""
    leads: dict[int, float] = {}
    for model_lines, baseline_lines in product(range(LINES + 1), repeat=2):
        leads[model_lines - baseline_lines] = leads.get(model_lines - baseline_lines, 0.0) + _binomial(
            model_lines, model
        ) * _binomial(baseline_lines, baseline)
    return leads


def _binomial(count: int, rate: float) -> float:
    return comb(LINES, count) * rate**count * (1 - rate) ** (LINES - count)


def _verdicts(judge: JudgeProfile, fair: int, step: int, *, position: int) -> dict[int, float]:
    """Return the probability of each verdict on the model in one order; `position` is 1 if it is shown first, else -1."""
    moves = (
        ((position, judge.favours_first), (0, 1 - judge.favours_first)),
        ((step, judge.favours_longer), (0, 1 - judge.favours_longer)),
        ((1, judge.jitter / 2), (-1, judge.jitter / 2), (0, 1 - judge.jitter)),
    )
    verdict_rates: dict[int, float] = {}
    for choices in product(*moves):
        value = max(-LAST, min(LAST, fair + sum(move for move, _ in choices)))
        weight = prod(rate for _, rate in choices)
        verdict_rates[value] = verdict_rates.get(value, 0.0) + weight
    return verdict_rates


def _mean_verdict(verdicts: Mapping[int, float]) -> float:
    return sum(value * rate for value, rate in verdicts.items())


def _sides(verdicts: Mapping[int, float]) -> dict[int, float]:
    sides = {-1: 0.0, 0: 0.0, 1: 0.0}
    for value, rate in verdicts.items():
        sides[(value > 0) - (value < 0)] += rate
    return sides


class ExpectedProbe(NamedTuple):
    """Expected figures of errors of one kind: the share undetected in each form, judged better, and named nevertheless.

    `either`, `both` and `bias` are None except for pairs: undetected in at least one order, undetected in both, and how much
    more often the first place is chosen than the second, -1 to 1. `named` is a share of the undetected errors; None for
    pairs, or if none is undetected.
    """

    undetected: float
    strict: float
    worse: float
    named: float | None
    either: float | None = None
    both: float | None = None
    bias: float | None = None


class ExpectedHarmless(NamedTuple):
    """Expected figures of harmless changes and of unchanged answers.

    `flickers` and `false_alarms` are None for pairs, since they depend on the displayed answers.
    """

    equal: float
    flickers: float | None
    false_alarms: float | None


def expected_probe(
    judge: JudgeProfile,
    dimension: str,
    group: str,
    evaluator: str,
    *,
    new_reference: bool = False,
    effort: str = "",
    reader: JudgeProfile | None = None,
) -> ExpectedProbe:
    """Return the expected figures of errors of a dimension under a published evaluator.

    Args:
        judge: the judge.
        dimension: the dimension.
        group: its group.
        evaluator: the evaluator's name.
        new_reference: whether the reference is a right answer other than the one that was perturbed.
        effort: the requested reasoning effort; empty for none.
        reader: the reader of the justifications; by default one that never misreads.
    """
    missed = miss_rate(judge, dimension, group, evaluator, new=new_reference, effort=effort)
    silent, contrary = (1 - missed) * judge.names_only, (1 - missed) * judge.prefers_perturbed
    noticed = 1 - missed - silent - contrary
    misread = 0.0 if reader is None else reader.misreads
    paradigm = evaluator.partition("-")[0]
    if paradigm == "pairwise":
        return _expected_pair(missed + silent, contrary, noticed, judge.favours_first)
    if paradigm == "reference":
        quiet, strict, worse = missed + silent + contrary, missed + silent + contrary, 0.0
        named_anyway = silent + contrary
    else:
        quiet, strict, worse = missed + silent, missed + silent + contrary, contrary
        named_anyway = silent
    named = ((1 - misread) * named_anyway + misread * missed) / quiet if quiet else None
    return ExpectedProbe(quiet, strict, worse, named)


def expected_harmless(judge: JudgeProfile, evaluator: str, *, reader: JudgeProfile | None = None) -> ExpectedHarmless:
    """Return the expected figures of harmless changes under a published evaluator, and of repeated unchanged answers."""
    if evaluator.startswith("pairwise"):
        return ExpectedHarmless((1 - judge.nitpicks) * (1 - judge.favours_first), None, None)
    misread = 0.0 if reader is None else reader.misreads
    alarms = judge.imagines * (1 - misread) + (1 - judge.imagines) * misread
    return ExpectedHarmless(1 - judge.nitpicks, judge.wavers, alarms)


def _expected_pair(tie: float, contrary: float, noticed: float, favours: float) -> ExpectedProbe:
    """Return the expected figures of pairs, given the probabilities of a tie, of the changed and of the gold answer preferred.

    A favoured first place turns a tie into a preference for it, and a preference for the second place into a tie.
    """
    gold_first = (1 - favours) * tie + contrary
    gold_second = tie + contrary + favours * noticed
    chosen_first = noticed + favours * tie - (1 - favours) * contrary
    chosen_second = (1 - favours) * noticed - favours * tie - contrary
    changed = ((1 - favours) * contrary + favours * tie + contrary) / 2
    return ExpectedProbe(
        undetected=(gold_first + gold_second) / 2,
        strict=gold_second,
        worse=changed,
        named=None,
        either=gold_second,
        both=gold_first,
        bias=(chosen_first - chosen_second) / 2,
    )
