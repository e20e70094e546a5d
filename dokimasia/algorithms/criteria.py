"""The rules that a set of atomic criteria keeps, and the one repair that is allowed: rescaling its weights."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from dokimasia.algorithms.text.words import contains_run, content_words, words
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA, WEIGHT_TOTAL, Criterion

_LINKING = frozenset({"is", "are", "was", "were", "be", "been", "it", "its", "that", "this", "there", "of"})


def check_criteria(criteria: Sequence[Criterion], question: str) -> list[str]:
    """Return the rules that a set breaks, in words that can be sent back to the judge that wrote it.

    Parameters
    ----------
    criteria : sequence of Criterion
        In order; the messages number them from 1.
    question : str
        The sample's own question.

    Returns
    -------
    list of str
        Empty if the set keeps every rule: 3 to 5 criteria, weights that sum to 10, no question that gives its ground
        truth away, no two criteria that ask the same.

    Notes
    -----
    A question leaks when, linking words left out of both, the words of its ground truth stand in it one after
    another. A ground truth whose every word stands in the sample's question is known to every candidate, so that
    repeating it gives nothing away.

    References
    ----------
    ATOM, section 3.1 and figure 8.

    Examples
    --------
    >>> one = Criterion(question="Which colour is the bag?", ground_truth="It is red.", weight=5)
    >>> two = Criterion(question="Who holds the red bag?", ground_truth="A woman", weight=4)
    >>> check_criteria([one, two], "Describe the bag.")
    ['there are 2 criteria, but 3 to 5 are asked for', 'the weights sum to 9, not to 10']
    """
    problems: list[str] = []
    if not MIN_CRITERIA <= len(criteria) <= MAX_CRITERIA:
        problems.append(
            f"there {'is 1 criterion' if len(criteria) == 1 else f'are {len(criteria)} criteria'}, "
            f"but {MIN_CRITERIA} to {MAX_CRITERIA} are asked for"
        )
    total = sum(criterion.weight for criterion in criteria)
    if total != WEIGHT_TOTAL:
        problems.append(f"the weights sum to {total}, not to {WEIGHT_TOTAL}")
    problems.extend(
        f"the question of criterion {number} contains its own ground truth"
        for number, criterion in enumerate(criteria, start=1)
        if leaks(criterion.question, criterion.ground_truth, question)
    )
    first_asked: dict[tuple[str, ...], int] = {}
    for number, criterion in enumerate(criteria, start=1):
        asked = first_asked.setdefault(tuple(words(criterion.question)), number)
        if asked != number:
            problems.append(f"criteria {asked} and {number} ask the same question")
    return problems


def leaks(criterion_question: str, ground_truth: str, question: str) -> bool:
    """Return whether a criterion's question gives its ground truth away to one who knows the sample's question.

    Examples
    --------
    >>> leaks("Does the solution see the red car?", "A red car.", "What is parked in the street?")
    True
    >>> leaks("What stands left of the suitcases?", "Two suitcases", "Where are the two suitcases?")
    False
    """
    content = content_words(ground_truth)
    if _words_of(question).issuperset(content):
        return False
    hidden = [word for word in words(ground_truth) if word not in _LINKING]
    shown = [word for word in words(criterion_question) if word not in _LINKING]
    return contains_run(shown, hidden)


@lru_cache(maxsize=16)
def _words_of(question: str) -> frozenset[str]:
    """A sample's criteria are checked one after the other against the same question."""
    return frozenset(words(question))


def rescale_weights(weights: Sequence[float], total: int = WEIGHT_TOTAL) -> tuple[int, ...]:
    """Return whole weights in the same proportions that sum to the total, each at least 1, by largest remainder.

    Parameters
    ----------
    weights : sequence of float
        Positive, at most `total` of them.
    total : int
        What the result sums to.

    Returns
    -------
    tuple of int
        Whole weights that already sum to the total stay as they are. Of equal remainders the earlier is served first.

    Raises
    ------
    ValueError
        If there is no weight, one is not positive, or there are more weights than the total.

    Examples
    --------
    >>> rescale_weights([30, 30, 40])
    (3, 3, 4)
    >>> rescale_weights([1, 1, 1])
    (4, 3, 3)
    >>> rescale_weights([100, 1, 1])
    (8, 1, 1)
    """
    if not 0 < len(weights) <= total:
        raise ValueError(f"{len(weights)} weights cannot sum to {total} with at least 1 each")
    if not all(weight > 0 for weight in weights):
        raise ValueError(f"a weight is positive: {list(weights)}")
    exact = [Fraction(weight) for weight in weights]
    scale = Fraction(total) / sum(exact)
    quotas = [weight * scale for weight in exact]
    whole = [max(1, int(quota)) for quota in quotas]
    while sum(whole) < total:
        neediest = max(range(len(whole)), key=lambda i: (quotas[i] - whole[i], -i))
        whole[neediest] += 1
    while sum(whole) > total:
        richest = max((i for i in range(len(whole)) if whole[i] > 1), key=lambda i: (whole[i] - quotas[i], i))
        whole[richest] -= 1
    return tuple(whole)
