"""Feedback points: choosing usable atoms, requesting hints from peers, rewriting them once, and checking for leaks.

Every text is checked before it is sent: first by rules, then by the judge for leaks that the rules cannot see.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.agents import AskResult
from dokimasia.agents.hinter import give_hints, judge_leaks, rewrite_hints
from dokimasia.algorithms.criteria import leaks as question_leaks
from dokimasia.algorithms.leaks.check import find_leaks
from dokimasia.algorithms.points import is_method, why_unused
from dokimasia.algorithms.text.words import words
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Failed, Response
from dokimasia.domain.refinement import Feedback, FeedbackPoint, FoundLeak, HintWording, UnusedAtom
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context
from dokimasia.graphs.reasking import first_open, gather_all


class Secret(NamedTuple):
    """The ground truth of an atom, with the atom's number and its question."""

    atom: int
    question: str
    truth: str


class CriteriaSecrets(NamedTuple):
    """What a text must not reveal: the ground truths of all criteria except methods, and all final answers."""

    truths: tuple[Secret, ...]
    answers: tuple[str, ...]

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """All secrets, each once with the question that it answers (empty for an answer to the sample's question)."""
        secrets = [(secret.question, secret.truth) for secret in self.truths]
        secrets += [("", answer) for answer in self.answers]
        return tuple({(_key(question), _key(secret)): (question, secret) for question, secret in secrets}.values())


class LeakCheck(NamedTuple):
    """The leaks found in a text, the judge's calls, and a failure that leaves a request open.

    `unjudged`: the judge was asked, but its reply was unusable.
    """

    leaks: tuple[FoundLeak, ...] = ()
    calls: tuple[str, ...] = ()
    failed: Failed | None = None
    unjudged: bool = False


class Usable(NamedTuple):
    """The criteria that cannot be fed back, by number, each with the reason; the other fields are as in `LeakCheck`."""

    unused: dict[int, UnusedAtom]
    calls: tuple[str, ...] = ()
    failed: Failed | None = None
    unjudged: bool = False


class HintedPoints(NamedTuple):
    """The points after a step, the ledger keys of its calls, and a failure that leaves a request open."""

    points: tuple[FeedbackPoint, ...]
    calls: list[str]
    failed: Failed | None = None


class Reader(NamedTuple):
    """The context of a hint: the sample, the secrets, the feedback, and the earlier answer if it is shown."""

    sample: Sample
    secrets: CriteriaSecrets
    feedback: Feedback
    earlier: str | None


def secrets_of(sample: Sample, criteria: CriteriaSet, reference: str | None) -> CriteriaSecrets:
    """Return what must not be revealed; `reference` is the final answer of the reference chain, if there is one.

    Ground truths that state a method are not secret: a hint may say how to work something out.
    """
    truths: list[Secret] = []
    for atom, criterion in enumerate(criteria.criteria, start=1):
        if not is_method(criterion.question, criterion.ground_truth):
            truths.append(Secret(atom, criterion.question, criterion.ground_truth))
    answers = [*sample.accepted_texts]
    if reference:
        answers.append(reference)
    return CriteriaSecrets(tuple(truths), _distinct(answers))


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts in order, without those that differ from an earlier one only in punctuation or case."""
    by_words: dict[tuple[str, ...], str] = {}
    for text in texts:
        by_words.setdefault(_key(text), text.strip())
    return tuple(by_words.values())


def _key(text: str) -> tuple[str, ...]:
    return tuple(words(text)) or (text.strip(),)


def leaks_by_rule(text: str, sample: Sample, secrets: CriteriaSecrets, *, asks: int = 0) -> tuple[FoundLeak, ...]:
    """Return the secrets that a text states outright, as found by rules; empty if there are none.

    A word of a ground truth reveals nothing if the sample's question or the atom's own question uses it. If the text is
    the question of an atom (`asks`, its number), it is checked against that atom's ground truth like criteria during
    extraction: it may name what it asks about, but must not contain what it asks for.
    """
    leaks: dict[FoundLeak, None] = {}
    for secret in secrets.truths:
        if secret.atom == asks:
            if question_leaks(text, secret.truth, sample.prompt):
                leaks[FoundLeak(form="verbatim", excerpt=text)] = None
            continue
        question = f"{sample.prompt}\n{secret.question}"
        for leak in find_leaks(text, question=question, choices=sample.choices, ground_truths=(secret.truth,)):
            leaks[FoundLeak(form=leak.form, excerpt=leak.excerpt)] = None
    for answer in secrets.answers:
        for leak in find_leaks(text, question=sample.prompt, choices=sample.choices, final_answer=answer):
            leaks[FoundLeak(form=leak.form, excerpt=leak.excerpt)] = None
    return tuple(leaks)


async def leaks_by_judge(
    questions: Sequence[str], hints: Sequence[str], sample: Sample, secrets: CriteriaSecrets, context: Context
) -> LeakCheck:
    """Have the judge look for leaks in all points together: each question with its hint, which may be empty.

    If the judge's reply is unusable, the text is `unjudged`: it passes by the rules alone and is counted separately
    from clean texts.
    """
    if not secrets.all:
        return LeakCheck()
    lines: list[str] = []
    for question, hint in zip(questions, hints, strict=True):
        lines.append(question)  # no number of our own, which could be mistaken for a part of the text
        if hint:
            lines.append(f"Hint: {hint}")
    reply = await context.ask(judge_leaks(sample, "\n".join(lines), secrets.all), node="leak_check")
    if reply.failed is not None and reply.failed.open:
        return LeakCheck(calls=tuple(reply.calls), failed=reply.failed)
    return LeakCheck(tuple(reply.value or ()), tuple(reply.calls), unjudged=reply.value is None)


async def unused_atoms(
    sample: Sample, criteria: CriteriaSet, secrets: CriteriaSecrets, context: Context, *, published: bool, judge: bool
) -> Usable:
    """Return the criteria that cannot be fed back because they are the final answer, restate the question, or leak.

    All criteria of the sample are judged in one call, which all its answers share. A criterion that leaks is left out,
    and the rest are checked again. With `published`, the final answer and the question itself are fed back, too.
    """
    unused: dict[int, UnusedAtom] = {}
    questions: dict[int, str] = {}
    for atom, criterion in enumerate(criteria.criteria, start=1):
        questions[atom] = criterion.question
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
    while judge:
        remaining = {atom: question for atom, question in questions.items() if atom not in unused}
        if not remaining:
            break
        check = await leaks_by_judge([*remaining.values()], [""] * len(remaining), sample, secrets, context)
        calls += check.calls
        if not check.leaks:
            return Usable(unused, calls, check.failed, check.unjudged)
        for atom, leaks in _leaks_by_text(check.leaks, {atom: [text] for atom, text in remaining.items()}).items():
            unused[atom] = UnusedAtom(atom=atom, why="leak", leaks=leaks)
    return Usable(unused, calls)


def points_of(
    atoms: Sequence[int],
    criteria: CriteriaSet,
    *,
    stated: Sequence[bool],
    round: int,
    peers: Mapping[str, Sequence[Sequence[str]]] | None,
) -> tuple[FeedbackPoint, ...]:
    """Return failed atoms as feedback points; with `peers`, each with the peer whose turn it is in this round.

    `stated` says for all atoms whether the earlier answer mentions them; it is empty if unknown.
    """
    points: list[FeedbackPoint] = []
    for atom in atoms:
        point = FeedbackPoint(
            atom=atom, question=criteria.criteria[atom - 1].question, stated=stated[atom - 1] if stated else None
        )
        if peers is not None:
            order = peers.get(str(atom), [])
            if order:
                peer, answer = order[(round - 1) % len(order)]
                point = point.model_copy(update={"peer": peer, "answer": answer})
            else:
                point = point.model_copy(update={"fallback": "no peer"})
        points.append(point)
    return tuple(points)


def wants_hint(point: FeedbackPoint) -> bool:
    """Return whether a peer still has to be asked for a hint on the point."""
    return bool(point.peer) and not point.wordings and not point.fallback


def wants_rewriting(point: FeedbackPoint) -> bool:
    """Return whether the first wording of the hint leaks and no second one has been requested."""
    return bool(point.leaks) and not point.hint and not point.fallback and len(point.wordings) == 1


async def ask_hints(
    points: Sequence[FeedbackPoint], reader: Reader, context: Context, *, anew: bool = False, apart: bool = False
) -> HintedPoints:
    """Ask each peer in one call for its hints or, with `anew`, for rewritten versions of its hints that leak.

    An unusable hint is requested once more, then left out and counted. With `apart`, as published, each point has a
    separate call.
    """
    needs_hint = wants_rewriting if anew else wants_hint
    groups: dict[tuple[str, str, int], list[int]] = {}
    for number, point in enumerate(points):
        if needs_hint(point):
            groups.setdefault((point.peer, point.answer, number if apart else 0), []).append(number)

    async def ask_peer(peer: str, answer: str, numbers: Sequence[int]) -> AskResult[Sequence[str]]:
        solution = (await context.store.get(Response, answer)).text
        write = rewrite_hints if anew else give_hints
        peer_points = [points[number] for number in numbers]
        ask = write(reader.sample, peer_points, solution, feedback=reader.feedback, earlier=reader.earlier)
        return await context.ask(ask, model=peer)

    replies = await gather_all(ask_peer(peer, answer, numbers) for (peer, answer, _), numbers in groups.items())
    hinted = list(points)
    calls: list[str] = []
    for numbers, reply in zip(groups.values(), replies, strict=True):
        calls += reply.calls
        hints = reply.value or [""] * len(numbers)
        for number, hint in zip(numbers, hints, strict=True):
            hinted[number] = _with_hint(points[number], hint, reply.call or "", anew=anew)
    return HintedPoints(tuple(hinted), calls, first_open(reply.failed for reply in replies))


def _with_hint(point: FeedbackPoint, hint: str, call: str, *, anew: bool) -> FeedbackPoint:
    update: dict[str, object] = {"asked": point.asked + 1}
    if hint:
        update |= {"hint": hint, "wordings": (*point.wordings, HintWording(text=hint, call=call))}
    else:
        update["fallback"] = "leak" if anew else "no hint"
    return point.model_copy(update=update)


async def check_hints_of(
    points: Sequence[FeedbackPoint], reader: Reader, context: Context, *, judge: bool
) -> HintedPoints:
    """Check hints for leaks: one by one by rule, then, once none needs rewriting, all together by the judge.

    Hints that are clean one by one may leak together, for example if each rules out one option. A hint that leaks waits
    to be rewritten, or is permanently left out; the remaining hints are checked again until no leak is found.
    """
    checked_points = [_with_leaks(point, leaks_by_rule(point.hint, reader.sample, reader.secrets)) for point in points]
    calls: list[str] = []
    while judge and any(point.hint for point in checked_points) and not any(map(wants_rewriting, checked_points)):
        questions, hints = [point.question for point in checked_points], [point.hint for point in checked_points]
        check = await leaks_by_judge(questions, hints, reader.sample, reader.secrets, context)
        calls += check.calls
        texts = {number: [point.hint, point.question] for number, point in enumerate(checked_points) if point.hint}
        if not check.leaks:
            if check.unjudged:
                last = max(texts)
                checked_points[last] = checked_points[last].model_copy(
                    update={"unjudged": checked_points[last].unjudged + 1}
                )
            return HintedPoints(tuple(checked_points), calls, check.failed)
        for number, leaks in _leaks_by_text(check.leaks, texts).items():
            checked_points[number] = _with_leaks(checked_points[number], leaks)
    return HintedPoints(tuple(checked_points), calls)


def _with_leaks(point: FeedbackPoint, leaks: tuple[FoundLeak, ...]) -> FeedbackPoint:
    """Return a point without its leaking hint; if the second wording leaks, too, it has no hint."""
    if not leaks:
        return point
    *before, last = point.wordings
    wordings = (*before, last.model_copy(update={"leaks": leaks}))
    return point.model_copy(update={"hint": "", "wordings": wordings, "fallback": "leak" if before else ""})


def _leaks_by_text(leaks: Sequence[FoundLeak], texts: Mapping[int, Sequence[str]]) -> dict[int, tuple[FoundLeak, ...]]:
    """Return leaks by the number of the text that contains the excerpt; leaks found in none count for the last text."""
    by_text: dict[int, tuple[FoundLeak, ...]] = {}
    for leak in leaks:
        number = _text_with(leak.excerpt, texts)
        if number is None:
            number = max(texts)
            leak = leak.model_copy(update={"excerpt": texts[number][0]})
        by_text[number] = (*by_text.get(number, ()), leak)
    return by_text


def _text_with(excerpt: str, texts: Mapping[int, Sequence[str]]) -> int | None:
    for number, group in texts.items():
        if excerpt and any(excerpt in text for text in group):
            return number
    return None
