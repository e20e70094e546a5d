"""Whether a feedback or a hint gives away what it must not: a ground truth, or the final answer of the question."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from dokimasia.algorithms.leaks.rules import Known, Leak, broken, cut, known_of
from dokimasia.algorithms.leaks.score import judged
from dokimasia.algorithms.leaks.secrets import Secrets, secrets_of
from dokimasia.algorithms.leaks.vectors import repeated

__all__ = ["Leak", "find_leaks", "scene_of"]


SHORT = 3
"""Words up to which a single ground truth is looked for as an answer is, where there is no answer."""


class Scene(NamedTuple):
    """A question with its secrets, ready to hold texts against: for the rules, and for the signs."""

    known: Known
    secrets: Secrets
    answer: str


def find_leaks(
    text: str,
    *,
    question: str,
    choices: Sequence[str] = (),
    ground_truths: Sequence[str] = (),
    final_answer: str | None = None,
    vectors: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Leak, ...]:
    """Return everything by which a text gives a secret away in this question; nothing: it is clean.

    Parameters
    ----------
    text : str
        A feedback or a hint, before it is sent.
    question : str
        The question that it belongs to. A word of a secret that the question itself contains is no leak, unless the
        text says that it is the answer.
    choices : sequence of str
        The texts of the options in order (A, B, ...); where there are none, those that the question offers ("left or
        right?"). Naming several of them is no leak; saying that it is the right one, and denying all others, is.
    ground_truths : sequence of str
        What the criteria hold for true.
    final_answer : str, optional
        The reference answer: a text, a number, or an option's letter.
    vectors : mapping from str to sequence of float, optional
        Embeddings of sentences (of the text, of the secrets, of the question) by their text. A sentence of the text
        within a cosine of 0.88 of a secret, and nearer to it than to the question, is a leak; without vectors a near
        paraphrase is found by words alone.

    Returns
    -------
    tuple of Leak
        `form` is one of verbatim, number, sum, spelled, riddle, letter, elimination, paraphrase, comparison, synonym,
        told, embedding; `told` is what reads like telling rather than guiding and fits no other form.

    Notes
    -----
    A few signs are certain (a sum that comes to the answer, a spelled word, the place of the right choice). All others
    are weighed together, for the text and for each of its clauses (`leak_score`). No understanding: a judge can be
    asked beside it.

    References
    ----------
    ATOM, section 3.5 (ground truths are masked in feedback; peers guide without the answer); the forms are ours.

    Examples
    --------
    >>> find_leaks("There are four of them.", question="How many cups?", final_answer="4")[0].form
    'number'
    >>> find_leaks("Count the cups in each of the four rows.", question="How many cups in four rows?", final_answer="12")
    ()
    >>> find_leaks("It is neither red nor blue.", question="?", choices=["red", "blue", "green"], final_answer="C")[0].form
    'elimination'
    """
    scene = scene_of(question, tuple(choices), tuple(ground_truths), final_answer)
    leaks: list[Leak] = []
    if scene.known.secrets or scene.known.right is not None:
        found = judged(text, scene.known, scene.secrets, scene.answer)
        if found is not None:
            leaks += broken(text, scene.known) or [
                Leak(found.form, scene.answer or _first(ground_truths), cut(found.passage))
            ]
    if vectors is not None:
        known = [*ground_truths, *([final_answer] if final_answer else [])]
        leaks += [Leak("embedding", secret, cut(said)) for said, secret in repeated(text, known, question, vectors)]
    return tuple(dict.fromkeys(leaks))


@lru_cache(maxsize=512)
def scene_of(question: str, choices: tuple[str, ...], truths: tuple[str, ...], final_answer: str | None) -> Scene:
    """Return a question with its secrets; the last ones are kept, since many texts are held against the same."""
    known = known_of(question, choices, truths, final_answer)
    answer = known.options[known.right] if known.right is not None else (final_answer or "").strip()
    if not answer and len(truths) == 1 and len(truths[0].split()) <= SHORT:
        answer = truths[0].strip()
    return Scene(known, secrets_of(question, known.options, truths, answer, known.right), answer)


def _first(truths: Sequence[str]) -> str:
    return truths[0] if truths else ""
