"""The points of a feedback: which atoms can be one, and their hints, asked of peers, checked for leaks, rewritten once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.agents import AskResult
from dokimasia.agents.hinter import give_hints, rewrite_hints
from dokimasia.algorithms.points import why_unused
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Failed, Response
from dokimasia.domain.refinement import Feedback, FeedbackPoint, FoundLeak, HintWording, UnusedAtom
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context
from dokimasia.graphs.reasking import first_open, gathered
from dokimasia.graphs.refinement.leak_checking import CriteriaSecrets, check_by_judge, leaks_by_rule, together


class Usable(NamedTuple):
    """Which criteria can be fed back and why others cannot, by number; `unjudged` as in `Checked`, and so the rest."""

    unused: dict[int, UnusedAtom]
    calls: tuple[str, ...] = ()
    failed: Failed | None = None
    unjudged: bool = False


class HintedPoints(NamedTuple):
    """The points after a step, the ledger keys of its calls, and a failure that leaves the work open."""

    points: tuple[FeedbackPoint, ...]
    calls: list[str]
    failed: Failed | None = None


class Reader(NamedTuple):
    """Who is to be helped: the sample, what must not be told, the feedback, and the answer that failed, if it is shown."""

    sample: Sample
    secrets: CriteriaSecrets
    feedback: Feedback
    earlier: str | None


async def unused_atoms(
    sample: Sample, criteria: CriteriaSet, secrets: CriteriaSecrets, context: Context, *, published: bool, judge: bool
) -> Usable:
    """Say which criteria of a sample can be fed back: none that is the final answer, restates the question, or leaks.

    All criteria are judged in one call, so that every answer to the sample shares it. Where one leaks, it is left out and
    the rest are looked at once more. As `published`, the final answer and the question itself are fed back, too.
    """
    unused: dict[int, UnusedAtom] = {}
    questions = {atom: one.question for atom, one in enumerate(criteria.criteria, start=1)}
    for atom, criterion in enumerate(criteria.criteria, start=1):
        why = why_unused(
            criterion.question,
            criterion.ground_truth,
            question=sample.prompt,
            choices=sample.choices,
            answers=secrets.answers,
            final=criterion.final,
        )
        leaks = leaks_by_rule(criterion.question, sample, secrets, asks=atom)
        if why is not None and not published:
            unused[atom] = UnusedAtom(atom=atom, why=why)
        elif leaks:
            unused[atom] = UnusedAtom(atom=atom, why="leak", leaks=leaks)
    calls: tuple[str, ...] = ()
    while judge and (left := [atom for atom in questions if atom not in unused]):
        text = together([questions[atom] for atom in left])
        found = await check_by_judge(text, sample, secrets, context)
        calls += found.calls
        if not found.leaks:
            return Usable(unused, calls, found.failed, found.unjudged)
        for atom, leaks in _located(found.leaks, {atom: (questions[atom],) for atom in left}).items():
            unused[atom] = UnusedAtom(atom=atom, why="leak", leaks=leaks)
    return Usable(unused, calls)


def wants_hint(point: FeedbackPoint) -> bool:
    """Whether a peer is still to be asked."""
    return bool(point.peer) and not point.wordings and not point.fallback


def wants_rewriting(point: FeedbackPoint) -> bool:
    """Whether the first wording of a hint gave something away, and no second one was asked for."""
    return bool(point.leaks) and not point.hint and not point.fallback and len(point.wordings) == 1


async def ask_hints(
    points: Sequence[FeedbackPoint], reader: Reader, context: Context, *, anew: bool = False, apart: bool = False
) -> HintedPoints:
    """Ask each peer for hints on all points that want one of it, or, `anew`, on those whose hint leaks, in one call.

    What is no hint after one re-ask is counted and left out. With `apart`, as published, every point is a call.
    """
    groups: dict[tuple[str, str, int], list[int]] = {}
    for at, point in enumerate(points):
        if (wants_rewriting if anew else wants_hint)(point):
            groups.setdefault((point.peer, point.answer, at if apart else 0), []).append(at)

    async def one(peer: str, answer: str, places: Sequence[int]) -> AskResult[Sequence[str]]:
        own = (await context.store.get(Response, answer)).text
        write = rewrite_hints if anew else give_hints
        asked = [points[at] for at in places]
        what = write(reader.sample, asked, own, feedback=reader.feedback, earlier=reader.earlier)
        return await context.ask(what, model=peer)

    heard = await gathered(one(peer, answer, places) for (peer, answer, _), places in groups.items())
    done = list(points)
    for places, asked in zip(groups.values(), heard, strict=True):
        for at, hint in zip(places, asked.value or [""] * len(places), strict=True):
            done[at] = _hinted(points[at], hint, asked.call or "", anew=anew)
    return HintedPoints(
        tuple(done), [key for asked in heard for key in asked.calls], first_open(asked.failed for asked in heard)
    )


async def check(points: Sequence[FeedbackPoint], reader: Reader, context: Context, *, judge: bool) -> HintedPoints:
    """Check the hints: by rule one by one, and, once none of them is to be rewritten, by the judge all together.

    What is clean hint by hint may still give something away together, as by ruling out one option each. A hint that leaks
    waits to be rewritten, or is left out for good; what is left is looked at once more, until nothing is found.
    """
    checked = [_found(point, leaks_by_rule(point.hint, reader.sample, reader.secrets)) for point in points]
    calls: list[str] = []
    while judge and any(point.hint for point in checked) and not any(map(wants_rewriting, checked)):
        text = together([point.question for point in checked], [point.hint for point in checked])
        found = await check_by_judge(text, reader.sample, reader.secrets, context)
        calls += found.calls
        if not found.leaks:
            last = max(at for at, point in enumerate(checked) if point.hint)
            if found.unjudged:
                checked[last] = checked[last].model_copy(update={"unjudged": checked[last].unjudged + 1})
            return HintedPoints(tuple(checked), calls, found.failed)
        said = {at: (point.hint, point.question) for at, point in enumerate(checked) if point.hint}
        for at, leaks in _located(found.leaks, said).items():
            checked[at] = _found(checked[at], leaks)
    return HintedPoints(tuple(checked), calls)


def points_of(
    atoms: Sequence[int],
    criteria: CriteriaSet,
    *,
    stated: Sequence[bool],
    round: int,
    peers: Mapping[str, Sequence[Sequence[str]]] | None,
) -> tuple[FeedbackPoint, ...]:
    """Return failed atoms as points, in the arm `peer` with the peer whose turn it is in this round.

    `stated` says of all atoms whether the earlier answer spoke of them; it is empty where that is not known.
    """
    made: list[FeedbackPoint] = []
    for atom in atoms:
        point = FeedbackPoint(
            atom=atom, question=criteria.criteria[atom - 1].question, stated=stated[atom - 1] if stated else None
        )
        if peers is not None:
            order = peers.get(str(atom), [])
            peer, answer = order[(round - 1) % len(order)] if order else ("", "")
            told = {"peer": peer, "answer": answer} if order else {"fallback": "no peer"}
            point = point.model_copy(update=told)
        made.append(point)
    return tuple(made)


def _hinted(point: FeedbackPoint, hint: str, call: str, *, anew: bool) -> FeedbackPoint:
    asked: dict[str, object] = {"asked": point.asked + 1}
    if not hint:
        return point.model_copy(update={**asked, "fallback": "leak" if anew else "no hint"})
    wordings = (*point.wordings, HintWording(text=hint, call=call))
    return point.model_copy(update={**asked, "hint": hint, "wordings": wordings})


def _found(point: FeedbackPoint, leaks: tuple[FoundLeak, ...]) -> FeedbackPoint:
    """Return a point whose hint was found to leak: without it, and in its second wording without any."""
    if not leaks:
        return point
    *before, last = point.wordings
    wordings = (*before, last.model_copy(update={"leaks": leaks}))
    return point.model_copy(update={"hint": "", "wordings": wordings, "fallback": "leak" if before else ""})


def _located(leaks: Sequence[FoundLeak], texts: Mapping[int, Sequence[str]]) -> dict[int, tuple[FoundLeak, ...]]:
    """Return leaks by the texts that their passage stands in; one that stands in none is the first of the last texts."""
    found: dict[int, list[FoundLeak]] = {}
    for leak in leaks:
        at = next((at for at, some in texts.items() if leak.excerpt and any(leak.excerpt in one for one in some)), None)
        if at is None:
            at = max(texts)
            leak = leak.model_copy(update={"excerpt": texts[at][0]})
        found.setdefault(at, []).append(leak)
    return {at: tuple(some) for at, some in found.items()}
