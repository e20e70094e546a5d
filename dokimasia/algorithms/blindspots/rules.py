"""Whether an error went undetected, and whether a harmless change was judged equal: one item, for each way of judging."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Literal

from dokimasia.domain.blindspots import OVERALL

Scores = Mapping[str, float]
Choices = Mapping[str, str]

AxisRule = Literal["any", "majority"]
"""The rule for several relevant axes: any one of them detects an error, or only more than half of them do."""

FULL_SCORE = 10.0
"""The highest score of a scale from 1 to 10."""


def undetected_single(
    gold_axes: Scores,
    perturbed_axes: Scores,
    relevant: Iterable[str],
    *,
    strict: bool = False,
    rule: AxisRule = "any",
) -> bool:
    """Return whether an error went undetected when each answer was scored on its own.

    Parameters
    ----------
    gold_axes, perturbed_axes : mapping of str to float
        The points of the gold answer and of the answer with the error on each axis; higher is better.
    relevant : iterable of str
        The axes that errors of this kind affect. An axis on which neither answer was scored is ignored: some prompts ask
        for few axes, or for the overall score alone.
    strict : bool
        False, as published: an axis detects an error if its score is changed, so that a rising score counts as a
        detection. True: an axis detects an error if its score is lower.
    rule : {"any", "majority"}
        "any", as published: an error is undetected if no relevant axis detects it. "majority": it is undetected unless more
        than half of the relevant axes detect it.

    Returns
    -------
    bool
        True is worse. Scores are equal only if they are the same number. An error that is undetected as published is
        undetected in the strict form, too.

    Raises
    ------
    ValueError
        If no relevant axis was scored, or one was scored for one of the answers only, or a score is not finite: a
        failed judgement is neither a detection nor a miss, and must be left out.

    References
    ----------
    FOCUS, section 3.1; the strict form and the majority are this project's.

    Examples
    --------
    >>> gold = {"trustworthiness": 9, "clarity": 8, "overall": 9}
    >>> undetected_single(gold, {"trustworthiness": 9, "clarity": 5, "overall": 9}, ["trustworthiness", "overall"])
    True
    >>> raised = {"trustworthiness": 10, "clarity": 8, "overall": 9}
    >>> undetected_single(gold, raised, ["trustworthiness"]), undetected_single(gold, raised, ["trustworthiness"], strict=True)
    (False, True)
    """
    pairs = _axis_pairs(gold_axes, perturbed_axes, relevant)
    detecting = sum(after < before if strict else after != before for before, after in pairs)
    return not _is_enough(detecting, len(pairs), rule)


def equal_single(gold_axes: Scores, other_axes: Scores) -> bool:
    """Return whether two answers, each scored on its own, got the same points on all axes; True is better for harmless changes.

    Raises
    ------
    ValueError
        As `undetected_single`.

    Examples
    --------
    >>> equal_single({"clarity": 8, "overall": 9}, {"clarity": 7, "overall": 9})
    False
    """
    return undetected_single(gold_axes, other_axes, [*gold_axes, *other_axes])


def worse_single(gold_axes: Scores, perturbed_axes: Scores) -> bool:
    """Return whether the changed answer got the higher overall score, or the higher mean of all axes if there is none.

    Raises
    ------
    ValueError
        As `undetected_single`.

    Examples
    --------
    >>> worse_single({"overall": 7}, {"overall": 8}), worse_single({"overall": 7}, {"overall": 7})
    (True, False)
    """
    axes = [OVERALL] if OVERALL in gold_axes else [*gold_axes, *perturbed_axes]
    return sum(after - before for before, after in _axis_pairs(gold_axes, perturbed_axes, axes)) > 0


def pair_verdict(
    choices: Choices, relevant: Iterable[str], *, gold: Literal["first", "second"], rule: AxisRule = "any"
) -> int:
    """Return the verdict on the gold answer from a pairwise judgement in one order: 1 chosen, 0 neither, -1 the other chosen.

    Parameters
    ----------
    choices : mapping of str to str
        By axis, the place that the judge preferred: "first", "second" or "tie".
    relevant : iterable of str
        The axes that errors of this kind affect; an axis that was not asked for is ignored.
    gold : {"first", "second"}
        The place of the gold answer.
    rule : {"any", "majority"}
        "any": the gold answer is chosen if it is preferred on any relevant axis asked for, as an error is detected in single
        scores by a change of any; the other answer is chosen if it alone is preferred on any. "majority": an answer is
        chosen if it is preferred on more than half of them, so that a tie on an axis counts against either being chosen.

    Returns
    -------
    int
        The two rules are the same where one axis is asked for.

    Raises
    ------
    ValueError
        If no relevant axis was asked for, or a choice is not one of the three.

    References
    ----------
    FOCUS, section 3.1, which restricts pairs to the relevant axes and does not say how they combine; both rules are this
    project's.

    Examples
    --------
    >>> choices = {"clarity": "first", "coherence": "first", "overall": "tie", "relevance": "second"}
    >>> pair_verdict(choices, ["clarity", "overall"], gold="first"), pair_verdict(choices, ["relevance"], gold="first")
    (1, -1)
    >>> [pair_verdict(choices, axes, gold="first", rule="majority") for axes in (["clarity", "overall"], list(choices))]
    [0, 0]
    """
    judged = [choices[axis] for axis in dict.fromkeys(relevant) if axis in choices]
    if not judged:
        raise ValueError("no relevant axis was judged")
    if unknown := set(judged) - {"first", "second", "tie"}:
        raise ValueError(f"a choice is first, second or tie: {sorted(unknown)}")
    other = "second" if gold == "first" else "first"
    if _is_enough(judged.count(gold), len(judged), rule):
        return 1
    if _is_enough(judged.count(other), len(judged), rule):
        return -1
    return 0


def undetected_pair(verdicts: Sequence[int]) -> float:
    """Return the share, 0 to 1, of the orders in which the gold answer is not chosen; lower is better.

    Parameters
    ----------
    verdicts : sequence of int
        One per order, as `pair_verdict` returns them. Leave out an order whose judgement failed, and preferably the
        whole item, since its two places would no longer have equal weight.

    Raises
    ------
    ValueError
        If there is no verdict, or one is not 1, 0 or -1.

    Examples
    --------
    >>> undetected_pair([1, 1]), undetected_pair([1, 0]), undetected_pair([-1, 0])
    (0.0, 0.5, 1.0)
    """
    return _share_of_orders([verdict != 1 for verdict in _check_pair_verdicts(verdicts)])


def worse_pair(verdicts: Sequence[int]) -> float:
    """Return the share, 0 to 1, of the orders in which the changed answer is chosen; as `undetected_pair`.

    Examples
    --------
    >>> worse_pair([-1, 0])
    0.5
    """
    return _share_of_orders([verdict == -1 for verdict in _check_pair_verdicts(verdicts)])


def equal_pair(orders: Sequence[Choices]) -> float:
    """Return the share, 0 to 1, of the orders in which every axis is a tie; higher is better for harmless changes.

    Raises
    ------
    ValueError
        If there is no order, or one without an axis.

    Examples
    --------
    >>> equal_pair([{"clarity": "tie", "overall": "tie"}, {"clarity": "first", "overall": "tie"}])
    0.5
    """
    if not all(orders):
        raise ValueError("no axis was judged")
    return _share_of_orders([all(choice == "tie" for choice in choices.values()) for choices in orders])


def full_score(axes: Scores, relevant: Iterable[str]) -> bool:
    """Return whether an answer compared with a reference has the full score on all relevant axes asked for.

    For an answer with an error, this means that the error went undetected; for a harmless change, over all axes, that
    it was judged equal to the reference.

    Raises
    ------
    ValueError
        As `undetected_single`.

    References
    ----------
    FOCUS, section 3.1.

    Examples
    --------
    >>> full_score({"overall": 10}, ["overall"]), full_score({"overall": 9}, ["overall"])
    (True, False)
    """
    return all(points >= FULL_SCORE for points, _ in _axis_pairs(axes, axes, relevant))


def undetected_score(gold: float, perturbed: float) -> bool:
    """Return whether a checkpoint score is no lower with the error than without it; True is worse.

    Examples
    --------
    >>> undetected_score(80.0, 80.0), undetected_score(80.0, 70.0)
    (True, False)
    """
    return undetected_single({OVERALL: gold}, {OVERALL: perturbed}, [OVERALL], strict=True)


def undetected_gated(gold: Sequence[bool], perturbed: Sequence[bool]) -> bool:
    """Return whether every rubric that holds for the gold answer also holds with the error; True is worse.

    The strict form only requires that the gated score is not lower (`undetected_score`): a rubric that fails behind a
    closed gate does not lower it.

    Parameters
    ----------
    gold, perturbed : sequence of bool
        Whether each rubric holds, in the same order.

    Raises
    ------
    ValueError
        If there is no rubric, or their numbers differ.

    Examples
    --------
    >>> undetected_gated([True, False], [True, True]), undetected_gated([True, False], [False, True])
    (True, False)
    """
    if not gold or len(gold) != len(perturbed):
        raise ValueError(f"{len(gold)} and {len(perturbed)} rubrics were judged; both answers need the same ones")
    return not any(before and not after for before, after in zip(gold, perturbed, strict=True))


def _axis_pairs(gold: Scores, other: Scores, relevant: Iterable[str]) -> list[tuple[float, float]]:
    axes = [axis for axis in dict.fromkeys(relevant) if axis in gold or axis in other]
    if not axes:
        raise ValueError("no relevant axis was scored")
    if lacking := [axis for axis in axes if axis not in gold or axis not in other]:
        raise ValueError(f"scored for one answer only: {', '.join(lacking)}")
    pairs = [(gold[axis], other[axis]) for axis in axes]
    if not all(isfinite(points) for pair in pairs for points in pair):
        raise ValueError("a score is a finite number")
    return pairs


def _is_enough(count: int, axes: int, rule: AxisRule) -> bool:
    """Return whether this number of relevant axes is enough."""
    if rule == "any":
        return count > 0
    return 2 * count > axes


def _check_pair_verdicts(verdicts: Sequence[int]) -> Sequence[int]:
    if not verdicts or not set(verdicts) <= {1, 0, -1}:
        raise ValueError(f"verdicts are 1, 0 or -1, one an order: {list(verdicts)}")
    return verdicts


def _share_of_orders(hits: Sequence[bool]) -> float:
    if not hits:
        raise ValueError("a pair is judged in one order or in both")
    return sum(hits) / len(hits)
