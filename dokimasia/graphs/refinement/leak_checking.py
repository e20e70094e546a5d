"""The leak check of a feedback or hint before it is sent: the rules, with embeddings where there are any, then a judge."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.agents.calling import embed
from dokimasia.agents.leak_judge import judge_leak
from dokimasia.algorithms.criteria import leaks as question_leaks
from dokimasia.algorithms.leaks.check import find_leaks
from dokimasia.algorithms.text.similarity import sentences
from dokimasia.domain.call import Embedding, call_key
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Failed
from dokimasia.domain.refinement import FoundLeak
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context
from dokimasia.graphs.reasking import mended

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
    """What a text was found to give away, the calls of the judge, and a failure that ends the work (budget)."""

    leaks: tuple[FoundLeak, ...] = ()
    calls: tuple[str, ...] = ()
    failed: Failed | None = None


def secrets_of(sample: Sample, criteria: CriteriaSet, atoms: Sequence[int]) -> Secrets:
    """Return what must not be given away when these atoms, shown or withheld, have failed."""
    failed = ((atom, criteria.criteria[atom - 1]) for atom in atoms)
    truths = tuple(Secret(atom, criterion.question, criterion.ground_truth) for atom, criterion in failed)
    return Secrets(truths, sample.reference_answer)


def leaks_by_rule(
    text: str,
    sample: Sample,
    secrets: Secrets,
    *,
    asks: int = 0,
    vectors: Mapping[str, Sequence[float]] | None = None,
) -> tuple[FoundLeak, ...]:
    """Return what the rules find that a text gives away; empty: it is clean.

    A word of a ground truth that the sample's question or the atom's own question uses gives nothing away. Where the
    text is itself the question of an atom (`asks`, its number), it is held against that atom's ground truth as criteria
    are when they are made: it may name what it asks about, and must not contain what it asks for.
    """
    found: list[FoundLeak] = []
    for secret in secrets.truths:
        if secret.atom == asks:
            if question_leaks(text, secret.truth, sample.prompt):
                found.append(FoundLeak(form="verbatim", excerpt=text[:EXCERPT]))
            continue
        known = f"{sample.prompt}\n{secret.question}"
        leaks = find_leaks(
            text,
            question=known,
            choices=sample.choices,
            ground_truths=(secret.truth,),
            final_answer=None,
            vectors=vectors and {**vectors, known: vectors[secret.question]},
        )
        found += [FoundLeak(form=leak.form, excerpt=leak.excerpt[:EXCERPT]) for leak in leaks]
    if secrets.final_answer is not None:
        leaks = find_leaks(
            text,
            question=sample.prompt,
            choices=sample.choices,
            ground_truths=(),
            final_answer=secrets.final_answer,
            vectors=vectors,
        )
        found += [FoundLeak(form=leak.form, excerpt=leak.excerpt[:EXCERPT]) for leak in leaks]
    return tuple(dict.fromkeys(found))


async def check_text(
    text: str,
    sample: Sample,
    secrets: Secrets,
    context: Context,
    *,
    asks: int = 0,
    judge: bool = False,
    embedder: str = "",
) -> Checked:
    """Check a text by rule and, where the rules find nothing and `judge` is set, by one call of the judge.

    `asks` is the number of the atom whose question the text is. With `embedder`, a model's shown name, near paraphrases
    are looked for by vectors, too. Where it gives none, or the judge no verdict that can be read, it stays at what the
    rest found.
    """
    vectors, calls = None, tuple[str, ...]()
    if embedder:
        texts = _embedded(text, sample, secrets)
        spec = context.options.spec(embedder)
        found = await embed(texts, gateway=context.gateway, model=spec)
        if isinstance(found, Failed):
            if found.kind == "budget":
                return Checked((), (), found)
        else:
            vectors = dict(zip(texts, found, strict=True))
            calls = (call_key(Embedding(model=spec.ref, texts=texts)),)
    leaks = leaks_by_rule(text, sample, secrets, asks=asks, vectors=vectors)
    if leaks or not judge or not secrets.all:
        return Checked(leaks, calls)
    asked = await mended(
        lambda rejected: judge_leak(
            sample,
            text,
            secrets.all,
            gateway=context.gateway,
            judge=context.judge_of("leak_check"),
            rejected=rejected,
            library=context.prompts,
        )
    )
    calls = (*calls, *asked.calls)
    if asked.failed is not None and asked.failed.kind == "budget":
        return Checked((), calls, asked.failed)
    if asked.value:
        return Checked((FoundLeak(form="judge", excerpt=text[:EXCERPT], found_by="judge"),), calls)
    return Checked((), calls)


def _embedded(text: str, sample: Sample, secrets: Secrets) -> tuple[str, ...]:
    """What is held against each other by vectors: the text's sentences, the secrets, and what is known without it."""
    known = (sample.prompt, *sample.choices, *(secret.question for secret in secrets.truths))
    return tuple(dict.fromkeys(one for one in (*(sentences(text) or [text]), *secrets.all, *known) if one.strip()))
