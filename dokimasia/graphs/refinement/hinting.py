"""The points of a feedback on their way: hints asked of peers, checked for leaks, rewritten once, kept or left out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypedDict

from dokimasia.agents import Asked
from dokimasia.agents.hinter import give_hint, rewrite_hint
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Failed, Response
from dokimasia.domain.refinement import Arm, Fallback, FoundLeak, Hint, Point
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context
from dokimasia.graphs.reasking import gathered
from dokimasia.graphs.refinement.leak_checking import Checked, Secrets, check_text


class PointState(TypedDict, total=False):
    """One point by ids: the atom's number, its peer and that peer's own response, and the hints that it gave.

    `hint` is the hint that is to be passed on, empty where there is none; `checked` says that it was looked at, `leaks`
    are what was found in the point's question, `unjudged` counts the texts on which the judge gave no readable verdict.
    """

    atom: int
    peer: str
    answer: str
    hint: str
    hints: list[str]
    checked: bool
    leaks: list[str]
    questioned: bool
    unjudged: int
    fallback: Fallback
    asked: int
    dropped: bool


class Done(NamedTuple):
    """The points after a step, the ledger keys of its calls, and a failure that ends the work (budget)."""

    points: list[PointState]
    calls: list[str]
    failed: Failed | None = None


def point_of(atom: int, arm: Arm, round: int, peers: Mapping[str, Sequence[Sequence[str]]]) -> PointState:
    """Return the point of a failed atom; in the arm `peer` with the peer whose turn it is in this round."""
    point: PointState = {"atom": atom}
    if arm != "peer":
        return point
    order = peers.get(str(atom), [])
    if not order:
        return {**point, "fallback": "no peer"}
    name, answer = order[(round - 1) % len(order)]
    return {**point, "peer": name, "answer": answer}


def wants_hint(point: PointState) -> bool:
    """Whether a peer is still to be asked."""
    return bool(point.get("peer")) and not point.get("hints") and not point.get("fallback")


def wants_rewriting(point: PointState) -> bool:
    """Whether the first wording of a hint gave something away."""
    if point.get("fallback") or point.get("dropped"):
        return False
    return bool(point.get("checked")) and not point.get("hint") and len(point.get("hints", [])) == 1


async def ask_hints(
    points: Sequence[PointState], sample: Sample, criteria: CriteriaSet, context: Context, *, anew: bool = False
) -> Done:
    """Ask the peer of each point that wants one for a hint, or, `anew`, of each whose hint leaks for another wording.

    What is no hint after one re-ask is counted and left out.
    """

    async def one(point: PointState) -> tuple[PointState, Asked[str] | None]:
        if not (wants_rewriting(point) if anew else wants_hint(point)):
            return point, None
        own = (await context.store.get(Response, point.get("answer", ""))).text
        what = give_hint(sample, _question(point, criteria), own)
        if anew:
            first = await context.store.get(Hint, point.get("hints", [""])[0])
            what = rewrite_hint(sample, _question(point, criteria), own, first.text, first.leaks)
        asked = await context.ask(what, model=point.get("peer", ""))
        return await _hinted(point, asked, sample, context, rewritten=anew), asked

    looked = await gathered(map(one, points))
    heard = [asked for _, asked in looked if asked is not None]
    spent = (asked.failed for asked in heard if asked.failed is not None and asked.failed.kind == "budget")
    return Done([point for point, _ in looked], [key for asked in heard for key in asked.calls], next(spent, None))


async def check(
    points: Sequence[PointState],
    sample: Sample,
    criteria: CriteriaSet,
    secrets: Secrets,
    context: Context,
    *,
    judge: bool,
) -> Done:
    """Check each question and hint that was not looked at, then, once none is to be rewritten, the feedback as a whole.

    What is clean piece by piece may still give something away together, as by ruling out one option each: hints are
    then left out from the last on, and after them points, until nothing is found.
    """

    async def look(text: str, *, asks: int = 0) -> Checked:
        return await check_text(text, sample, secrets, context, asks=asks, judge=judge)

    async def one(point: PointState) -> tuple[PointState, list[str], Failed | None]:
        calls: list[str] = []
        if not point.get("questioned"):
            found = await look(_question(point, criteria), asks=point.get("atom", 0))
            calls += found.calls
            if found.failed is not None:
                return point, calls, found.failed
            leaks = [await context.store.put(leak) for leak in found.leaks]
            point = {**point, "questioned": True, "leaks": leaks, "dropped": bool(leaks)}
            point = _counted(point, found)
        if point.get("hint") and not point.get("checked"):
            hint = await context.store.get(Hint, point.get("hint", ""))
            found = await look(hint.text)
            calls += found.calls
            if found.failed is not None:
                return point, calls, found.failed
            point = _counted({**point, "checked": True}, found)
            if found.leaks:
                id = await context.store.put(hint.model_copy(update={"leaks": found.leaks}))
                point = {**point, "hint": "", "hints": [*point.get("hints", [])[:-1], id]}
                if hint.rewritten:
                    point = {**point, "fallback": "leak"}
        return point, calls, None

    looked = await gathered(map(one, points))
    calls = [key for _, keys, _ in looked for key in keys]
    failed = next((failed for _, _, failed in looked if failed is not None), None)
    checked = [point for point, _, _ in looked]
    if failed is not None or any(map(wants_rewriting, checked)):
        return Done(checked, calls, failed)
    return await _as_a_whole(checked, calls, criteria, context, look)


async def finished(points: Sequence[PointState], criteria: CriteriaSet, context: Context) -> tuple[Point, ...]:
    """Return the points as values, with texts, what was found in them, and why a hint is missing."""
    made: list[Point] = []
    for point in points:
        hints = [await context.store.get(Hint, id) for id in point.get("hints", [])]
        leaks = [await context.store.get(FoundLeak, id) for id in point.get("leaks", [])]
        passed = (await context.store.get(Hint, point["hint"])).text if point.get("hint") else ""
        made.append(
            Point(
                atom=point.get("atom", 0),
                question=_question(point, criteria),
                hint=passed,
                peer=point.get("peer", ""),
                fallback=point.get("fallback", ""),
                asked=point.get("asked", 0),
                rewritten=any(hint.rewritten for hint in hints),
                dropped=point.get("dropped", False),
                unjudged=point.get("unjudged", 0),
                leaks=(*leaks, *(leak for hint in hints for leak in hint.leaks)),
                hints=tuple(point.get("hints", [])),
            )
        )
    return tuple(made)


async def _as_a_whole(
    points: list[PointState],
    calls: list[str],
    criteria: CriteriaSet,
    context: Context,
    look: Callable[[str], Awaitable[Checked]],
) -> Done:
    """Leave out, from the last on, hints and then points until the texts together give nothing away."""
    while True:
        said = [point for point in points if not point.get("dropped")]
        texts = [_question(point, criteria) for point in said]
        texts += [(await context.store.get(Hint, point["hint"])).text for point in said if point.get("hint")]
        if len(texts) < 2:
            return Done(points, calls)
        found = await look("\n".join(texts))
        calls = [*calls, *found.calls]
        last = max(n for n, point in enumerate(points) if not point.get("dropped"))
        if not found.leaks:
            return Done([*points[:last], _counted(points[last], found), *points[last + 1 :]], calls, found.failed)
        at = max((n for n, point in enumerate(points) if point.get("hint") and not point.get("dropped")), default=last)
        leaks = [await context.store.put(leak) for leak in found.leaks]
        point: PointState = {**points[at], "leaks": [*points[at].get("leaks", []), *leaks]}
        point = {**point, "hint": "", "fallback": "leak"} if point.get("hint") else {**point, "dropped": True}
        points = [*points[:at], point, *points[at + 1 :]]


async def _hinted(
    point: PointState, asked: Asked[str], sample: Sample, context: Context, *, rewritten: bool
) -> PointState:
    point = {**point, "asked": point.get("asked", 0) + 1}
    if asked.value is None:
        return {**point, "fallback": "leak" if rewritten else "no hint"}
    hint = Hint(
        sample=sample.digest,
        atom=point.get("atom", 0),
        peer=point.get("peer", ""),
        text=asked.value,
        rewritten=rewritten,
        call=asked.call or "",
    )
    id = await context.store.put(hint)
    return {**point, "hint": id, "hints": [*point.get("hints", []), id], "checked": False}


def _counted(point: PointState, found: Checked) -> PointState:
    return {**point, "unjudged": point.get("unjudged", 0) + 1} if found.unjudged else point


def _question(point: PointState, criteria: CriteriaSet) -> str:
    return criteria.criteria[point.get("atom", 0) - 1].question
