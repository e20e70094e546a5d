"""The rules for a set of atomic criteria, and the only permitted repair: rescaling its weights."""

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from dokimasia.algorithms.text.comparing import same_answer
from dokimasia.algorithms.text.words import contains_run, content_words, word_set, words
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA, WEIGHT_TOTAL, Criterion

COUNT = (MIN_CRITERIA, MAX_CRITERIA)

_LINKING = word_set("is are was were be been it its that this there of")
_OF_AN_ANSWER = re.compile(
    r"\b(?:(?:the|this|that|another|other|any|each|your|their)(?: (?:model|other|given|proposed|correct))? "
    r"(?:solution|response|respondent|answerer)s?|model solutions?|(?:final|given|stated|proposed) answers?|answers? given|"
    r"(?:does|do|did|is|are|was|were) the (?:answer|explanation|reasoning)s?)\b",
    re.IGNORECASE,
)
_ASKING = r"\b(?:what|which|who|whom|whose|where|when|why|how)\b"
_AND_ASKS_ON = re.compile(
    rf"{_ASKING}.{{4,400}}?\b(?:and|or) (?:(?:at|in|on|of|by|to|from|for|with) )?{_ASKING}", re.IGNORECASE | re.DOTALL
)
_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|would|should)(?:n't| not)?\b", re.IGNORECASE
)


class Broken(NamedTuple):
    """A broken rule, in words for the judge; `number` is the criterion, if a single one breaks it."""

    text: str
    number: int | None = None


def check_criteria(
    criteria: Sequence[Criterion], question: str, *, count: tuple[int, int] = COUNT, wording: bool = True
) -> list[Broken]:
    """Return the rules that a set of criteria breaks.

    Parameters
    ----------
    criteria : sequence of Criterion
        In order; the messages number them from 1.
    question : str
        The sample's own question.
    count : tuple of int
        The minimum and maximum number of criteria.
    wording : bool
        Whether each question must be about the image, ask for one thing, and need more than yes or no as an answer. The
        paper requires none of this: its criteria are questions about another solution.

    Returns
    -------
    list of Broken
        Empty if the set keeps every rule: the number of criteria, weights that sum to 10, at most one criterion for the
        final answer, no question that reveals its ground truth, no two criteria with the same question, and the rules
        of wording.

    Notes
    -----
    A question leaks if it contains the words of its ground truth in a row, ignoring linking words in both. A ground
    truth whose words are all in the sample's question is known to every candidate, so that repeating it reveals
    nothing. Words such as answer or solution are allowed if the sample's question uses them, too. The final answer may
    be asked for by a yes-or-no question, since the sample's own question may be one, and by the sample's own question
    in any form.

    References
    ----------
    ATOM, section 3.1 and figure 8; the rules of wording are this project's.

    Examples
    --------
    >>> bag = Criterion(question="Which colour is the bag?", ground_truth="It is red.", weight=5)
    >>> belt = Criterion(question="What does the solution say of the belt?", ground_truth="It is worn", weight=4)
    >>> [broken.text for broken in check_criteria([bag, belt], "Describe the bag.")]
    ['the weights sum to 9, not to 10', "the question of criterion 2 speaks of 'the solution': put it to the image"]
    """
    broken: list[Broken] = []
    least, most = count
    if not least <= len(criteria) <= most:
        count_text = "there is 1 criterion" if len(criteria) == 1 else f"there are {len(criteria)} criteria"
        broken.append(Broken(f"{count_text}, but {counted(count)} are asked for"))
    total = sum(criterion.weight for criterion in criteria)
    if total != WEIGHT_TOTAL:
        broken.append(Broken(f"the weights sum to {total}, not to {WEIGHT_TOTAL}"))
    if sum(criterion.final for criterion in criteria) > 1:
        broken.append(Broken("more than one criterion is said to be the final answer"))
    first_number: dict[tuple[str, ...], int] = {}
    for number, criterion in enumerate(criteria, start=1):
        if criterion.final and criterion.question.strip() == question.strip():
            continue
        if leaks(criterion.question, criterion.ground_truth, question):
            broken.append(Broken(f"the question of criterion {number} contains its own ground truth", number))
        earlier = first_number.setdefault(tuple(words(criterion.question)), number)
        if earlier != number:
            broken.append(Broken(f"criteria {earlier} and {number} ask the same question", number))
        if wording:
            texts = (f"the question of criterion {number} {fault}" for fault in _wording(criterion, question))
            broken.extend(Broken(text, number) for text in texts)
    return broken


def counted(count: tuple[int, int]) -> str:
    """Return a range of numbers in words: `1 to 5`, or `3` if both ends are the same."""
    least, most = count
    if least == most:
        return str(least)
    return f"{least} to {most}"


def _wording(criterion: Criterion, question: str) -> list[str]:
    """Return the faults of a criterion's wording."""
    faults: list[str] = []
    about = _OF_AN_ANSWER.search(criterion.question)
    if about is not None and not set(words(about[0])[-1:]) & _words_of(question):
        faults.append(f"speaks of '{about[0]}': put it to the image")
    if _AND_ASKS_ON.search(criterion.question):
        faults.append("asks for more than one thing")
    if _YES_OR_NO.match(criterion.question) and not criterion.final:
        faults.append("can be answered by yes or no: begin with an interrogative word")
    return faults


def with_final(criteria: Sequence[Criterion], answer: str, choices: Sequence[str] = ()) -> tuple[Criterion, ...]:
    """Return the criteria with the final answer marked, if none is marked yet and a rule can identify it.

    Parameters
    ----------
    criteria : sequence of Criterion
        They are unchanged if one is already marked as the final answer.
    answer : str
        The final answer of the reference chain.
    choices : sequence of str
        The texts of the options in order, if the question has options.

    Examples
    --------
    >>> flying = Criterion(question="How many birds fly?", ground_truth="Three", weight=4)
    >>> present = Criterion(question="How many birds are there?", ground_truth="Five", weight=6)
    >>> [criterion.final for criterion in with_final([flying, present], "5")]
    [False, True]
    """
    same = [
        at
        for at, criterion in enumerate(criteria)
        if same_answer(criterion.ground_truth, answer, choices).verdict == "same"
    ]
    if not same or any(criterion.final for criterion in criteria):
        return tuple(criteria)
    return tuple(criterion.model_copy(update={"final": at == same[-1]}) for at, criterion in enumerate(criteria))


def with_alternatives(
    criteria: Sequence[Criterion], accepted: Sequence[Sequence[str]], choices: Sequence[str] = ()
) -> tuple[Criterion, ...]:
    """Return the criteria with every accepted answer in the final answer's ground truth, so that each is scored as right.

    Parameters
    ----------
    criteria : sequence of Criterion
        The criterion for the final answer gets the alternatives that its ground truth lacks.
    accepted : sequence of sequence of str
        The accepted answers, each as its parts; with fewer than two, nothing changes.
    choices : sequence of str
        The texts of the options in order, if the question has options.

    Examples
    --------
    >>> point = Criterion(question="How many litres are they?", ground_truth="13.7", weight=10, final=True)
    >>> with_alternatives([point], [["13.6"], ["13.7"]])[0].ground_truth
    '13.7 (also accepted: 13.6)'
    """
    if len(accepted) < 2:
        return tuple(criteria)

    def with_accepted(criterion: Criterion) -> Criterion:
        truth = criterion.ground_truth
        alternatives = [" and ".join(parts) for parts in accepted]
        missing = [
            alternative
            for alternative in alternatives
            if same_answer(truth, alternative, choices).verdict != "same"
            and not contains_run(words(truth), words(alternative))
        ]
        text = f"{truth} (also accepted: {'; '.join(missing)})" if missing else truth
        return criterion.model_copy(update={"ground_truth": text})

    return tuple(with_accepted(criterion) if criterion.final else criterion for criterion in criteria)


def leaks(criterion_question: str, ground_truth: str, question: str) -> bool:
    """Return whether a criterion's question reveals its ground truth to a reader who knows the sample's question.

    Examples
    --------
    >>> leaks("Where stands the red car?", "A red car.", "What is parked in the street?")
    True
    >>> leaks("What stands left of the suitcases?", "Two suitcases", "Where are the two suitcases?")
    False
    """
    content = content_words(ground_truth)
    if _words_of(question).issuperset(content):
        return False
    hidden = [word for word in words(ground_truth) if word not in _LINKING]
    visible = [word for word in words(criterion_question) if word not in _LINKING]
    return contains_run(visible, hidden)


@lru_cache(maxsize=16)
def _words_of(question: str) -> frozenset[str]:
    """Return the words of a question; cached, since all criteria of a sample are checked against the same question."""
    return frozenset(words(question))


def rescale_weights(weights: Sequence[float]) -> tuple[int, ...]:
    """Return integer weights in the same proportions that sum to 10, each at least 1, by largest remainder.

    Parameters
    ----------
    weights : sequence of float
        Positive, at most 10 of them.

    Returns
    -------
    tuple of int
        Integer weights that already sum to 10 are unchanged. Among equal remainders, the earlier one comes first.

    Raises
    ------
    ValueError
        If there is no weight, one is not positive, or there are more than 10 weights.

    Examples
    --------
    >>> rescale_weights([30, 30, 40])
    (3, 3, 4)
    >>> rescale_weights([1, 1, 1])
    (4, 3, 3)
    >>> rescale_weights([100, 1, 1])
    (8, 1, 1)
    """
    if not 0 < len(weights) <= WEIGHT_TOTAL:
        raise ValueError(f"{len(weights)} weights cannot sum to {WEIGHT_TOTAL} with at least 1 each")
    if not all(weight > 0 for weight in weights):
        raise ValueError(f"a weight is positive: {list(weights)}")
    exact = [Fraction(weight) for weight in weights]
    scale = Fraction(WEIGHT_TOTAL) / sum(exact)
    quotas = [weight * scale for weight in exact]
    rounded = [max(1, int(quota)) for quota in quotas]
    while sum(rounded) < WEIGHT_TOTAL:
        neediest = max(range(len(rounded)), key=lambda i: (quotas[i] - rounded[i], -i))
        rounded[neediest] += 1
    while sum(rounded) > WEIGHT_TOTAL:
        richest = max((i for i in range(len(rounded)) if rounded[i] > 1), key=lambda i: (rounded[i] - quotas[i], i))
        rounded[richest] -= 1
    return tuple(rounded)
