"""A judge's results on two groups of rubrics, in the XML form of PerceptionRubrics, C.4: true or false for each, in order."""

from dokimasia.domain.rubric import RubricAssessment
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import ROOM, form, tag
from dokimasia.parsing.own import LEFT_OUT, own
from dokimasia.parsing.reply import short
from dokimasia.parsing.tags import nothing_beside, only, tagged, without

_TAG = form(rf"</?{ROOM}(?:Result|GroupA|GroupB|Assessment){ROOM}/?>")
_STRAY = tag("Result")
_OTHER_GROUP = form(rf"<{ROOM}/?{ROOM}Group[AB]{ROOM}/?>")


def parse_rubric_assessment(text: str, n_a: int, n_b: int) -> RubricAssessment:
    """Return what a judge says of each rubric of group A and of group B, in the order of the rubrics; true is good.

    The form is `<Assessment><GroupA><Result>true</Result>...</GroupA><GroupB>...</GroupB></Assessment>`. A group of
    which no rubric was asked may be empty or missing. XML comments, case, and words
    around the assessment that say nothing are overlooked.

    Args:
        text: the judge's reply. The same assessment may stand in it more than once.
        n_a: how many rubrics group A has.
        n_b: how many group B has.

    Raises:
        UnparsableReply: there is no assessment, or there are different ones; a group is missing or closed wrongly; it
            has fewer or more results than rubrics, also where the other group has those that are missing; or a result is
            neither true nor false. The reason names the group and what is wrong. A rubric without a result is never
            taken for false: that is a failure of the judgement.
        ValueError: a number of rubrics is negative.
    """
    if n_a < 0 or n_b < 0:
        raise ValueError("a group has no negative number of rubrics")
    reply = own(text).replace(LEFT_OUT, "")
    found = {_assessment(body, n_a, n_b): None for body in tagged(reply, "Assessment")}
    if not found:
        raise UnparsableReply("<Assessment> is missing or not closed")
    if len(found) > 1:
        raise UnparsableReply("there is more than one assessment, and they differ")
    nothing_beside(reply, "Assessment")
    return next(iter(found))


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
