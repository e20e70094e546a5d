"""Faulty atomic criteria: sent back with their faults, or left out (an addition to the paper)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dokimasia.algorithms.criteria import COUNT, check_criteria, rescale_weights
from dokimasia.domain.criterion import (
    WEIGHT_TOTAL,
    Became,
    CriteriaCheck,
    CriteriaSet,
    Criterion,
    CriterionFault,
    Defect,
)

_MESSAGES: dict[Defect, str] = {
    "unnecessary": "the answer does not rest on criterion {number}{why}: leave it out",
    "compound": "criterion {number} asks for more than one thing{why}: ask for the one that decides, or split it",
    "suggestive": "the question of criterion {number} gives its answer away{why}: ask for it openly",
    "missing": "the answer also rests on this, which no criterion asks for: {reason}",
    "rule": "{reason}",
}


class CriteriaFault(NamedTuple):
    """A fault of a set of criteria: its kind, the criterion (from 1; None: the set as a whole), and the reason."""

    defect: Defect
    number: int | None
    reason: str = ""

    @property
    def message(self) -> str:
        """The fault in words for the judge that wrote the set."""
        why = f" ({self.reason})" if self.reason else ""
        return _MESSAGES[self.defect].format(number=self.number, why=why, reason=self.reason)


def faults_found(criteria: Sequence[Criterion], check: CriteriaCheck, *, most: int = COUNT[1]) -> list[CriteriaFault]:
    """Return the faults that a second look found in a set of criteria.

    Parameters
    ----------
    criteria : sequence of Criterion
        The set that was checked.
    check : CriteriaCheck
        The result of the check, criterion by criterion.
    most : int
        The maximum number of criteria; a set of this size cannot lack one.

    Returns
    -------
    list of CriteriaFault
        In the order of the criteria. The final answer is always needed, regardless of the check.

    Examples
    --------
    >>> from dokimasia.domain.criterion import CriterionCheck
    >>> shape = Criterion(question="Which shape has the sign?", ground_truth="It is round", weight=10)
    >>> check = CriteriaCheck((CriterionCheck(needed=False, single=True, open=True, reason="only its text counts"),))
    >>> faults_found([shape], check)[0].message
    'the answer does not rest on criterion 1 (only its text counts): leave it out'
    """
    faults: list[CriteriaFault] = []
    for number, (criterion, verdict) in enumerate(zip(criteria, check.criteria, strict=True), start=1):
        if not verdict.needed and not criterion.final:
            faults.append(CriteriaFault("unnecessary", number, verdict.reason))
            continue
        if not verdict.single:
            faults.append(CriteriaFault("compound", number, verdict.reason))
        if not verdict.open:
            faults.append(CriteriaFault("suggestive", number, verdict.reason))
    if check.missing and len(criteria) < most:
        faults.append(CriteriaFault("missing", None, check.missing))
    return faults


def to_send_back(faults: Iterable[CriteriaFault]) -> bool:
    """Return whether the judge has to correct a set; criteria that are merely unneeded can be dropped without it."""
    return any(fault.defect != "unnecessary" for fault in faults)


def without_faulty(
    criteria: Sequence[Criterion], faults: Iterable[CriteriaFault], *, question: str, answer: str, least: int = COUNT[0]
) -> tuple[tuple[Criterion, ...], tuple[CriterionFault, ...]]:
    """Return a set without its faulty criteria, with weights rescaled to sum to ten, and the outcome of each fault.

    Parameters
    ----------
    criteria : sequence of Criterion
        The set.
    faults : iterable of CriteriaFault
        Its faults.
    question, answer : str
        The sample's question and the final answer of the reference chain.
    least : int
        The minimum number of criteria: if necessary, faulty ones with the greatest weights are kept.

    Returns
    -------
    tuple
        The criteria, in order, and the faults. The final answer is never left out: if its question is at fault, the
        sample's own question replaces it. If nothing else remains, the final answer is the only criterion.

    Examples
    --------
    >>> shape = Criterion(question="Which shape has the sign?", ground_truth="round", weight=4)
    >>> text = Criterion(question="What does the sign say?", ground_truth="STOP", weight=6, final=True)
    >>> fault = CriteriaFault("unnecessary", 1, "only its text counts")
    >>> remaining, faults = without_faulty([shape, text], [fault], question="What is to be done here?", answer="stop")
    >>> [(criterion.question, criterion.weight) for criterion in remaining], faults[0].became
    ([('What does the sign say?', 10)], 'dropped')
    """
    all_faults = list(faults)
    faulty_numbers = {fault.number for fault in all_faults if fault.number is not None}
    final_numbers = [number for number, criterion in enumerate(criteria, start=1) if criterion.final]
    spare = sorted(faulty_numbers.difference(final_numbers), key=lambda number: (criteria[number - 1].weight, -number))
    added = 0 if final_numbers else 1  # if all criteria are dropped, the final answer alone replaces them
    dropped_numbers = set(spare[: max(0, len(criteria) + added - least)])
    remaining: list[Criterion] = []
    for number, criterion in enumerate(criteria, start=1):
        if number in dropped_numbers:
            continue
        if criterion.final and number in faulty_numbers and question.strip():
            criterion = criterion.model_copy(update={"question": question})
        remaining.append(criterion)
    if not remaining:
        remaining = [Criterion(question=question, ground_truth=answer, weight=WEIGHT_TOTAL, final=True)]
    weights = rescale_weights([criterion.weight for criterion in remaining])
    mended = tuple(
        criterion.model_copy(update={"weight": weight}) for criterion, weight in zip(remaining, weights, strict=True)
    )
    records: list[CriterionFault] = []
    for fault in all_faults:
        became: Became = "left"
        if fault.number in dropped_numbers:
            became = "dropped"
        elif fault.number in final_numbers:
            became = "mended"
        records.append(_recorded(fault, _question(fault, criteria), became))
    return mended, tuple(records)


def sent_back(
    criteria: Sequence[Criterion],
    faults: Iterable[CriteriaFault],
    mended: Sequence[Criterion],
    later: Iterable[CriteriaFault],
) -> tuple[CriterionFault, ...]:
    """Return the outcome of faults sent back with a set, from the new set and its own faults.

    A fault is mended if its criterion's question has changed, or if what was missing is now asked for; a criterion that
    is unchanged and no longer at fault is left. A criterion that is at fault again is not reported here, but with the
    later faults.
    """
    questions = {criterion.question for criterion in mended}
    repeated = {_question(fault, mended) for fault in later}
    records: list[CriterionFault] = []
    for fault in faults:
        question = _question(fault, criteria)
        if question not in repeated:
            records.append(_recorded(fault, question, "left" if question in questions else "mended"))
    return tuple(records)


def _question(fault: CriteriaFault, criteria: Sequence[Criterion]) -> str:
    """Return the question of the criterion at fault; empty if the fault concerns no single criterion."""
    if fault.number is None:
        return ""
    return criteria[fault.number - 1].question


def _recorded(fault: CriteriaFault, question: str, became: Became) -> CriterionFault:
    return CriterionFault(question=question, defect=fault.defect, reason=fault.reason, became=became)


def accepted(
    criteria: Sequence[Criterion], question: str, answer: str, *, count: tuple[int, int] = COUNT
) -> CriteriaSet | None:
    """Return a set that satisfies all rules, from one that may break some; None if that is impossible.

    Criteria that break a rule by themselves are left out, weights are rescaled, and of several criteria marked as the
    final answer, only the last keeps the mark.

    Parameters
    ----------
    criteria : sequence of Criterion
        The criteria as the judge wrote them, or corrected them.
    question, answer : str
        The sample's question and the final answer of the reference chain.
    count : tuple of int
        The minimum and maximum number of criteria.
    """
    last = max((number for number, criterion in enumerate(criteria) if criterion.final), default=-1)
    single = [criterion.model_copy(update={"final": number == last}) for number, criterion in enumerate(criteria)]
    broken = check_criteria(single, question, count=count)
    faults = [CriteriaFault("rule", problem.number, problem.text) for problem in broken if problem.number is not None]
    remaining, records = without_faulty(single, faults, question=question, answer=answer, least=count[0])
    if check_criteria(remaining, question, count=count):
        return None
    rescaled = sum(criterion.weight for criterion in criteria) != WEIGHT_TOTAL
    return CriteriaSet(criteria=remaining, repaired=rescaled, faults=records)
