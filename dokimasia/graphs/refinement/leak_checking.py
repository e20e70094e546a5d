"""The leak check of a feedback or hint before it is sent: the certain rules, then the judge for what they let pass."""

from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.agents.hinter import judge_leak
from dokimasia.algorithms.criteria import leaks as question_leaks
from dokimasia.algorithms.leaks.check import find_leaks
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Failed
from dokimasia.domain.refinement import FoundLeak
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context

EXCERPT = 200


class Secret(NamedTuple):
    """The ground truth of a failed atom, with the atom's number and its question."""

    atom: int
    question: str
    truth: str


class Secrets(NamedTuple):
    """What a text must not give away: the ground truths of the failed atoms, and the final answer if there is one."""

    truths: tuple[Secret, ...]
    final_answer: str | None

    @property
    def all(self) -> tuple[str, ...]:
        """All of them as texts."""
        return (*(secret.truth for secret in self.truths), *((self.final_answer,) if self.final_answer else ()))


class Checked(NamedTuple):
    """What a text was found to give away, the calls of the judge, and a failure that ends the work (budget).

    `unjudged` says that the judge was asked and gave no verdict that could be read.
    """

    leaks: tuple[FoundLeak, ...] = ()
    calls: tuple[str, ...] = ()
    failed: Failed | None = None
    unjudged: bool = False


def secrets_of(sample: Sample, criteria: CriteriaSet, atoms: Sequence[int]) -> Secrets:
    """Return what must not be given away when these atoms, shown or withheld, have failed."""
    failed = ((atom, criteria.criteria[atom - 1]) for atom in atoms)
    truths = tuple(Secret(atom, criterion.question, criterion.ground_truth) for atom, criterion in failed)
    return Secrets(truths, sample.reference_answer)


def leaks_by_rule(text: str, sample: Sample, secrets: Secrets, *, asks: int = 0) -> tuple[FoundLeak, ...]:
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
    if secrets.final_answer is not None:
        leaks = find_leaks(text, question=sample.prompt, choices=sample.choices, final_answer=secrets.final_answer)
        found += [(leak.form, leak.excerpt) for leak in leaks]
    return tuple(dict.fromkeys(FoundLeak(form=form, excerpt=excerpt[:EXCERPT]) for form, excerpt in found))


async def check_text(
    text: str, sample: Sample, secrets: Secrets, context: Context, *, asks: int = 0, judge: bool = True
) -> Checked:
    """Check a text by rule and, where the rules find nothing and `judge` is set, by one call of the judge.

    `asks` is the number of the atom whose question the text is. Where the judge gives no verdict that can be read, the
    text is `unjudged`: it passes on the word of the rules, and is counted as such, not as clean.
    """
    leaks = leaks_by_rule(text, sample, secrets, asks=asks)
    if leaks or not judge or not secrets.all:
        return Checked(leaks)
    asked = await context.ask(judge_leak(sample, text, secrets.all), node="leak_check")
    if asked.failed is not None and asked.failed.kind == "budget":
        return Checked(calls=tuple(asked.calls), failed=asked.failed)
    if asked.value:
        leaks = (FoundLeak(form="judge", excerpt=text[:EXCERPT], found_by="judge"),)
    return Checked(leaks, tuple(asked.calls), unjudged=asked.value is None)
