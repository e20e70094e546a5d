"""Whether feedback or a hint openly states a secret: a ground truth, or the question's final answer."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dokimasia.algorithms.leaks.position_leaks import names_position
from dokimasia.algorithms.leaks.secrets import QuestionSecrets, secrets_of
from dokimasia.algorithms.leaks.value_leaks import tells_truth_value, tells_value
from dokimasia.algorithms.leaks.values import SENTENCE_END
from dokimasia.algorithms.leaks.word_leaks import repeats, spelt_out, tells_word


class Leak(NamedTuple):
    """A secret that a text reveals: its form, the secret, and the passage (a sentence or, if necessary, the text)."""

    form: str
    secret: str
    excerpt: str


def find_leaks(
    text: str,
    *,
    question: str,
    choices: Sequence[str] = (),
    ground_truths: Sequence[str] = (),
    final_answer: str | None = None,
) -> tuple[Leak, ...]:
    """Return the secrets of a question that a text openly states; empty if the rules find none.

    Parameters
    ----------
    text : str
        Feedback or a hint, before it is sent.
    question : str
        The question that it belongs to. A word of a secret that the question itself contains is not a leak, unless the
        text says that it is the answer.
    choices : sequence of str
        The texts of the options in order (A, B, ...); without any, those that the question offers ("left or right?").
        Naming several of them is not a leak.
    ground_truths : sequence of str
        The ground truths of the criteria.
    final_answer : str, optional
        The reference answer: a text, a number, or an option's letter.

    Returns
    -------
    tuple of Leak
        `form` is verbatim, number or letter.

    Notes
    -----
    A value counts in every notation, a choice by its letter or its place, an answer by its own words, a ground truth by
    a quotation. A mention that is one of a series, is denied, is left open, or counts something else is not a leak. Leaks
    that need understanding (a paraphrase, a riddle, a sum, an elimination) are for a judge to find.

    References
    ----------
    ATOM, section 3.5 (ground truths are masked in feedback; peers guide without the answer); the rules are this project's.

    Examples
    --------
    >>> find_leaks("There are four of them.", question="How many cups?", final_answer="4")[0].form
    'number'
    >>> find_leaks("Count the cups in each of the four rows.", question="How many cups in four rows?", final_answer="12")
    ()
    >>> find_leaks("Take the last one on the list.", question="?", choices=["red", "blue", "green"], final_answer="C")[0].form
    'letter'
    """
    secrets = secrets_of(question, tuple(choices), tuple(ground_truths), final_answer)
    return tuple(dict.fromkeys(_leaks_in(text, secrets)))


def _leaks_in(text: str, secrets: QuestionSecrets) -> Iterator[Leak]:
    sentences = [sentence for sentence in SENTENCE_END.split(text) if sentence.strip()]

    def passage(tells: Callable[[str], object]) -> str:
        """Return the single sentence that reveals the secret, or the whole text if it takes several."""
        return next((sentence.strip() for sentence in sentences if tells(sentence)), text.strip())

    if names_position(text, secrets):
        yield Leak("letter", secrets.answer, passage(lambda sentence: names_position(sentence, secrets)))
    if secrets.answer and spelt_out(text, secrets):
        yield Leak("verbatim", secrets.answer, passage(lambda sentence: spelt_out(sentence, secrets)))
    for truth in secrets.truths:
        if repeats(text, truth, secrets):
            yield Leak("verbatim", truth, passage(lambda sentence, truth=truth: repeats(sentence, truth, secrets)))
    for sentence in sentences:
        if secrets.answer and tells_value(sentence, secrets):
            yield Leak("number", secrets.answer, sentence.strip())
        if secrets.answer and tells_word(sentence, text, secrets):
            yield Leak("verbatim", secrets.answer, sentence.strip())
        for truth in secrets.truths:
            if tells_truth_value(sentence, truth, secrets):
                yield Leak("number", truth, sentence.strip())
