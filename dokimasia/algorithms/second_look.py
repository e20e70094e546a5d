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

_TOLD: dict[Defect, str] = {
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
    def told(self) -> str:
        """The fault in words that can be sent back to the judge that wrote the set."""
        why = f" ({self.reason})" if self.reason else ""
        return _TOLD[self.defect].format(number=self.number, why=why, reason=self.reason)


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
    >>> faults_found([shape], check)[0].told
    'the answer does not rest on criterion 1 (only its text counts): leave it out'
    """
    found: list[CriteriaFault] = []
    for number, (criterion, said) in enumerate(zip(criteria, check.criteria, strict=True), start=1):
        if not said.needed and not criterion.final:
            found.append(CriteriaFault("unnecessary", number, said.reason))
            continue
        found += [CriteriaFault("compound", number, said.reason)] if not said.single else []
        found += [CriteriaFault("suggestive", number, said.reason)] if not said.open else []
    if check.missing and len(criteria) < most:
        found.append(CriteriaFault("missing", None, check.missing))
    return found


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
    >>> kept, faults = without_faulty([shape, text], [fault], question="What is to be done here?", answer="stop")
    >>> [(one.question, one.weight) for one in kept], faults[0].became
    ([('What does the sign say?', 10)], 'dropped')
    """
    known = list(faults)
    wrong = {fault.number for fault in known if fault.number is not None}
    last = [number for number, criterion in enumerate(criteria, start=1) if criterion.final]
    spare = sorted(wrong.difference(last), key=lambda number: (criteria[number - 1].weight, -number))
    beside = 0 if last else 1  # where all goes, the final answer alone takes its place
    dropped = set(spare[: max(0, len(criteria) + beside - least)])
    kept = [
        criterion.model_copy(update={"question": question})
        if criterion.final and number in wrong and question.strip()
        else criterion
        for number, criterion in enumerate(criteria, start=1)
        if number not in dropped
    ]
    if not kept:
        kept = [Criterion(question=question, ground_truth=answer, weight=WEIGHT_TOTAL, final=True)]
    weights = rescale_weights([one.weight for one in kept])
    mended = tuple(one.model_copy(update={"weight": weight}) for one, weight in zip(kept, weights, strict=True))
    told: list[CriterionFault] = []
    for fault in known:
        became: Became = "dropped" if fault.number in dropped else "mended" if fault.number in last else "left"
        told.append(_recorded(fault, "" if fault.number is None else criteria[fault.number - 1].question, became))
    return mended, tuple(told)


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
    stands = {one.question for one in mended}
    again = {"" if fault.number is None else mended[fault.number - 1].question for fault in later}
    told: list[CriterionFault] = []
    for fault in faults:
        question = "" if fault.number is None else criteria[fault.number - 1].question
        if question not in again:
            told.append(_recorded(fault, question, "left" if question in stands else "mended"))
    return tuple(told)


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
    faults = [CriteriaFault("rule", one.number, one.text) for one in broken if one.number is not None]
    kept, told = without_faulty(single, faults, question=question, answer=answer, least=count[0])
    if check_criteria(kept, question, count=count):
        return None
    rescaled = sum(criterion.weight for criterion in criteria) != WEIGHT_TOTAL
    return CriteriaSet(criteria=kept, repaired=rescaled, faults=told)
