"""The leak check of a feedback before it is sent: the certain rules, then the judge for what they let pass."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dokimasia.agents.hinter import judge_leaks
from dokimasia.algorithms.criteria import leaks as question_leaks
from dokimasia.algorithms.leaks.check import find_leaks
from dokimasia.algorithms.points import is_method
from dokimasia.algorithms.text.words import words
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Failed
from dokimasia.domain.refinement import FoundLeak
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context


class Secret(NamedTuple):
    """The ground truth of an atom, with the atom's number and its question."""

    atom: int
    question: str
    truth: str


class CriteriaSecrets(NamedTuple):
    """What a text must not give away: the ground truths of all criteria, methods excepted, and all final answers."""

    truths: tuple[Secret, ...]
    answers: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """All of them as texts, each once."""
        return once((*(secret.truth for secret in self.truths), *self.answers))


class LeakCheck(NamedTuple):
    """What a text was found to give away, the calls of the judge, and a failure that leaves the work open.

    `unjudged` says that the judge was asked and gave no verdict that could be read.
    """

    leaks: tuple[FoundLeak, ...] = ()
    calls: tuple[str, ...] = ()
    failed: Failed | None = None
    unjudged: bool = False


def once(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts in order, without those that say the same in other signs."""
    found: dict[tuple[str, ...], str] = {}
    for text in texts:
        found.setdefault(tuple(words(text)) or (text.strip(),), text.strip())
    return tuple(found.values())


def secrets_of(sample: Sample, criteria: CriteriaSet, solved: str | None) -> CriteriaSecrets:
    """Return what must not be given away; `solved` is the final answer of the reference chain, where there is one.

    How something is worked out is no secret: a hint is there to say it.
    """
    truths = tuple(
        Secret(atom, criterion.question, criterion.ground_truth)
        for atom, criterion in enumerate(criteria.criteria, start=1)
        if not is_method(criterion.question, criterion.ground_truth)
    )
    return CriteriaSecrets(truths, once((*sample.accepted_texts, *([solved] if solved else []))))


def leaks_by_rule(text: str, sample: Sample, secrets: CriteriaSecrets, *, asks: int = 0) -> tuple[FoundLeak, ...]:
    """Return what a text says outright of the secrets; empty: the rules let it pass.

    A word of a ground truth that the sample's question or the atom's own question uses gives nothing away. Where the
    text is itself the question of an atom (`asks`, its number), it is checked against that atom's ground truth as
    criteria are when they are made: it may name what it asks about, and must not contain what it asks for.
    """
    found: list[tuple[str, str]] = []
    for atom, asked, truth in secrets.truths:
        if atom == asks:
            found += [("verbatim", text)] if question_leaks(text, truth, sample.prompt) else []
            continue
        question = f"{sample.prompt}\n{asked}"
        leaks = find_leaks(text, question=question, choices=sample.choices, ground_truths=(truth,))
        found += [(leak.form, leak.excerpt) for leak in leaks]
    for answer in secrets.answers:
        leaks = find_leaks(text, question=sample.prompt, choices=sample.choices, final_answer=answer)
        found += [(leak.form, leak.excerpt) for leak in leaks]
    return tuple(dict.fromkeys(FoundLeak(form=form, excerpt=excerpt) for form, excerpt in found))


async def check_by_judge(text: str, sample: Sample, secrets: CriteriaSecrets, context: Context) -> LeakCheck:
    """Have the judge look for what a text gives away.

    Where it gives no verdict that can be read, the text is `unjudged`: it passes on the word of the rules, and is counted
    as such, not as clean.
    """
    if not secrets.all:
        return LeakCheck()
    asked = await context.ask(judge_leaks(sample, text, secrets.all), node="leak_check")
    if asked.failed is not None and asked.failed.open:
        return LeakCheck(calls=tuple(asked.calls), failed=asked.failed)
    return LeakCheck(tuple(asked.value or ()), tuple(asked.calls), unjudged=asked.value is None)


def together(questions: Sequence[str], hints: Sequence[str] = ()) -> str:
    """Return points as they are checked as a whole: each question with its hint, where it has one; no number of ours."""
    lines: list[str] = []
    for at, question in enumerate(questions):
        lines.append(question)
        lines += [f"Hint: {hints[at]}"] if hints and hints[at] else []
    return "\n".join(lines)
