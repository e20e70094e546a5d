"""Rubric assessments: true or false for each rubric of two groups, in the XML form of PerceptionRubrics, C.4."""

from dokimasia.domain.rubric import RubricAssessment
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.criterion_scores import reason_of
from dokimasia.parsing.grammar import ROOM, form, tag
from dokimasia.parsing.own import LEFT_OUT, own
from dokimasia.parsing.reply import matches, short, spoken
from dokimasia.parsing.tags import nothing_beside, only, tagged, without

_TAG = form(rf"</?{ROOM}(?:Result|GroupA|GroupB|Assessment){ROOM}/?>")
_STRAY = tag("Result")
_PARTS = form(rf"<(?P<end>/?){ROOM}(?P<name>Result|Reason|GroupA|GroupB){ROOM}>")
_OTHER_GROUP = form(rf"<{ROOM}/?{ROOM}Group[AB]{ROOM}/?>")


def parse_rubric_assessment(text: str, n_a: int, n_b: int) -> RubricAssessment:
    """Return a judge's results for the rubrics of groups A and B, in the order of the rubrics; true means met.

    The form is `<Assessment><GroupA><Result>true</Result>...</GroupA><GroupB>...</GroupB></Assessment>`. A group
    without rubrics may be empty or missing. XML comments, case, and filler words around the assessment are ignored.

    Args:
        text: the judge's reply. It may repeat the same assessment.
        n_a: the number of rubrics of group A.
        n_b: the number of rubrics of group B.

    Raises:
        UnparsableReply: there is no assessment, or several that differ; a group is missing or not closed correctly; it
            has fewer or more results than rubrics, even if the other group has the missing ones; or a result is neither
            true nor false. The reason names the group and the fault. A missing result never counts as false: it is a
            failure of the judgement.
        ValueError: a number of rubrics is negative.
    """
    if n_a < 0 or n_b < 0:
        raise ValueError("a group has no negative number of rubrics")
    reply = own(text).replace(LEFT_OUT, "")
    assessments = {_assessment(body, n_a, n_b): None for body in tagged(reply, "Assessment")}
    if not assessments:
        raise UnparsableReply("<Assessment> is missing or not closed")
    if len(assessments) > 1:
        raise UnparsableReply("there is more than one assessment, and they differ")
    nothing_beside(reply, "Assessment")
    return next(iter(assessments))


def parse_reasoned_assessment(text: str, n_a: int, n_b: int) -> RubricAssessment:
    """Return a judge's results as `parse_rubric_assessment`, each with its reason.

    The form has `<Reason>SENTENCE</Reason>` after each `<Result>`, or before each. A reason is never read as a result,
    whatever it contains, since it is removed before the results are read. A result without a reason is kept, and its
    reason is None.

    Args:
        text: the judge's reply.
        n_a: how many rubrics group A has.
        n_b: how many group B has.

    Returns:
        The results; their reasons on one line, without control characters, cut to 300 characters.

    Raises:
        UnparsableReply, ValueError: as `parse_rubric_assessment`.
    """
    results, reasons = _reasons_aside(spoken(text))
    assessment = parse_rubric_assessment(results, n_a, n_b)
    reasons_a, reasons_b = (
        tuple(reason_of(reasons.get((group, number))) for number in range(count))
        for group, count in (("a", n_a), ("b", n_b))
    )
    return assessment.model_copy(update={"reasons_a": reasons_a, "reasons_b": reasons_b})


def _reasons_aside(reply: str) -> tuple[str, dict[tuple[str, int], str]]:
    """Return a reply without its reasons, and these by group (a or b) and place of the result.

    If a reply that repeats its assessment gives two reasons for a result, neither counts.
    """
    rest: list[str] = []
    reasons: dict[tuple[str, int], str] = {}
    group, results, ahead = "", 0, False
    start, opened = 0, -1
    for part in matches(_PARTS, reply):
        closes, name = bool(part["end"]), part["name"].casefold()
        if opened >= 0:
            if name != "reason" or not closes:
                continue
            place, reason = (group, results if ahead else results - 1), reply[opened : part.start()]
            if reasons.setdefault(place, reason) != reason:
                reasons[place] = ""
            start, opened = part.end(), -1
        elif name == "reason" and not closes:
            ahead = ahead or not results
            rest.append(reply[start : part.start()])
            start, opened = part.start(), part.end()
        elif name == "result":
            results += not closes
        elif not closes:
            group, results, ahead = name[-1], 0, False
    return "\n".join([*rest, reply[start:]]), reasons


def _assessment(body: str, n_a: int, n_b: int) -> RubricAssessment:
    a, b = _group(body, "GroupA", n_a), _group(body, "GroupB", n_b)
    if _STRAY.search(without(without(body, "GroupA"), "GroupB")):
        raise UnparsableReply("a <Result> stands outside of <GroupA> and <GroupB>")
    nothing_beside(body, "GroupA", "GroupB")
    problems = [
        f"<{name}> has {len(results)} results for {n} rubrics"
        for name, results, n in (("GroupA", a, n_a), ("GroupB", b, n_b))
        if len(results) != n
    ]
    if problems:
        hint = ": a result stands in the wrong group" if len(a) + len(b) == n_a + n_b else ""
        raise UnparsableReply("; ".join(problems) + hint)
    return RubricAssessment(group_a=a, group_b=b)


def _group(body: str, name: str, n: int) -> tuple[bool, ...]:
    """Return the results of a group of n rubrics."""
    bodies = tagged(body, name)
    if not bodies and n == 0:
        return ()
    inner = only(bodies, f"<{name}>")
    if _OTHER_GROUP.search(inner):
        raise UnparsableReply(f"<{name}> holds the other group: it is not closed where it should be")
    stated = tagged(inner, "Result")
    opened = sum(1 for tag in _TAG.findall(inner) if not tag.lstrip("< ").startswith("/"))
    if opened != len(stated):
        raise UnparsableReply(f"a <Result> in <{name}> is not closed")
    nothing_beside(inner, "Result")
    return tuple(_truth(result, name, number) for number, result in enumerate(stated, start=1))


def _truth(stated: str, name: str, number: int) -> bool:
    word = stated.strip().casefold()
    if word not in {"true", "false"}:
        raise UnparsableReply(f"result {number} of <{name}> is '{short(stated)}', neither true nor false")
    return word == "true"
