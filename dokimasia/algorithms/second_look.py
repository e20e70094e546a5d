"""What becomes of atomic criteria that were found to be faulty: sent back with what was found, or left out (ours)."""

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
    "compound": "criterion {number} asks for more than one thing{why}: ask for the one that decides, or make two of it",
    "suggestive": "the question of criterion {number} gives its answer away{why}: ask for it openly",
    "missing": "the answer also rests on this, which no criterion asks for: {reason}",
    "rule": "{reason}",
}


class CriteriaFault(NamedTuple):
    """Something wrong with a set: what, with which criterion (from 1; None: with none of them), and why."""

    defect: Defect
    number: int | None
    reason: str = ""

    @property
    def message(self) -> str:
        """The fault in words that can be sent back to the judge that wrote the set."""
        why = f" ({self.reason})" if self.reason else ""
        return _MESSAGES[self.defect].format(number=self.number, why=why, reason=self.reason)


def faults_found(criteria: Sequence[Criterion], check: CriteriaCheck, *, most: int = COUNT[1]) -> list[CriteriaFault]:
    """Return what a second look found to be wrong with a set.

    Parameters
    ----------
    criteria : sequence of Criterion
        The set that was looked at.
    check : CriteriaCheck
        What was said of it, criterion by criterion.
    most : int
        The greatest number of criteria: a set that has them all lacks none.

    Returns
    -------
    list of Fault
        In the order of the criteria. That the final answer is not needed is no fault: nothing is needed more.

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
    """Return whether the judge is to mend a set: what is merely not needed can be left out without it."""
    return any(fault.defect != "unnecessary" for fault in faults)


def without_faulty(
    criteria: Sequence[Criterion], faults: Iterable[CriteriaFault], *, question: str, answer: str, least: int = COUNT[0]
) -> tuple[tuple[Criterion, ...], tuple[CriterionFault, ...]]:
    """Return a set without its faulty criteria, weights rescaled to sum to ten, and what became of each fault.

    Parameters
    ----------
    criteria : sequence of Criterion
        The set.
    faults : iterable of Fault
        What is wrong with it.
    question, answer : str
        The sample's question and the final answer of the reference chain.
    least : int
        The least number of criteria: those with the greatest weights are kept although they are faulty.

    Returns
    -------
    tuple
        The criteria, in order, and the faults. The final answer is never left out: where its question is at fault, the
        sample's own takes its place. Where nothing remains, the final answer alone does.

    Examples
    --------
    >>> shape = Criterion(question="Which shape has the sign?", ground_truth="round", weight=4)
    >>> text = Criterion(question="What does the sign say?", ground_truth="STOP", weight=6, final=True)
    >>> fault = CriteriaFault("unnecessary", 1, "only its text counts")
    >>> remaining, faults = without_faulty([shape, text], [fault], question="What is to be done here?", answer="stop")
    >>> [(criterion.question, criterion.weight) for criterion in remaining], faults[0].became
    ([('What does the sign say?', 10)], 'dropped')
    """
    listed = list(faults)
    wrong = {fault.number for fault in listed if fault.number is not None}
    final_numbers = [number for number, criterion in enumerate(criteria, start=1) if criterion.final]
    spare = sorted(wrong.difference(final_numbers), key=lambda number: (criteria[number - 1].weight, -number))
    added = 0 if final_numbers else 1  # where all goes, the final answer alone takes its place
    dropped = set(spare[: max(0, len(criteria) + added - least)])
    remaining: list[Criterion] = []
    for number, criterion in enumerate(criteria, start=1):
        if number in dropped:
            continue
        if criterion.final and number in wrong and question.strip():
            criterion = criterion.model_copy(update={"question": question})
        remaining.append(criterion)
    if not remaining:
        remaining = [Criterion(question=question, ground_truth=answer, weight=WEIGHT_TOTAL, final=True)]
    weights = rescale_weights([criterion.weight for criterion in remaining])
    mended = tuple(
        criterion.model_copy(update={"weight": weight}) for criterion, weight in zip(remaining, weights, strict=True)
    )
    records: list[CriterionFault] = []
    for fault in listed:
        became: Became = "left"
        if fault.number in dropped:
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
    """Return faults as they are kept once a set was sent back with them, from what came and what is wrong with that.

    A fault is mended where its criterion is not asked for any more as it was, and what was missing is asked for; a
    criterion that stands as it was, and is not found at fault again, is left. One that is found at fault again is not
    told twice: it is among what becomes of the later faults.
    """
    questions = {criterion.question for criterion in mended}
    again = {_question(fault, mended) for fault in later}
    records: list[CriterionFault] = []
    for fault in faults:
        question = _question(fault, criteria)
        if question not in again:
            records.append(_recorded(fault, question, "left" if question in questions else "mended"))
    return tuple(records)


def _question(fault: CriteriaFault, criteria: Sequence[Criterion]) -> str:
    """Return the question of the criterion at fault, empty where the fault is of no single criterion."""
    return "" if fault.number is None else criteria[fault.number - 1].question


def _recorded(fault: CriteriaFault, question: str, became: Became) -> CriterionFault:
    return CriterionFault(question=question, defect=fault.defect, reason=fault.reason, became=became)


def accepted(
    criteria: Sequence[Criterion], question: str, answer: str, *, count: tuple[int, int] = COUNT
) -> CriteriaSet | None:
    """Return a set that keeps all rules, made of one that may break some; None where it cannot be made.

    Criteria that break a rule by themselves are left out, weights are rescaled, and of several that are said to be the
    final answer the last one is.

    Parameters
    ----------
    criteria : sequence of Criterion
        As the judge wrote them, also after they were sent back.
    question, answer : str
        The sample's question and the final answer of the reference chain.
    count : tuple of int
        The least and the greatest number of criteria.
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
