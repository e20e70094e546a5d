"""Which atoms can be fed back as points, which ground truths are methods, and the number of answers to guess among."""

import re
from collections.abc import Sequence

from dokimasia.algorithms.leaks.secrets import ANSWERS, offered, secrets_of
from dokimasia.algorithms.leaks.wording import stem, stems_of
from dokimasia.algorithms.text.comparing import same_answer
from dokimasia.algorithms.text.similarity import sentences
from dokimasia.algorithms.text.words import FUNCTION_WORDS, word_set
from dokimasia.domain.refinement import Unused

MOST_OPTIONS = 5
"""Maximum number of possible answers to a question that can be guessed."""

BESIDE = 2
"""Maximum number of additional words, beyond question and answer, of a ground truth that still is the answer."""

COVERED = 0.8
"""The share of a question's words at which a point without other words restates it."""

_TALK = frozenset(stems_of("solution answer response conclude conclusion say final result determine decide identify"))
"""Words of points about answering in general rather than the question."""

_MORE_PLAIN_WORDS = (
    "i you we he she him her them me my your our can could should would must shall here about approximately "
    "roughly if then than so because also just picture image photo photograph shown"
)
_PLAIN = frozenset((*map(stem, FUNCTION_WORDS), *stems_of(_MORE_PLAIN_WORDS))) - ANSWERS
_METHOD = frozenset(
    stems_of("compare divide multiply subtract add sum count measure calculate compute convert order sort rank")
)
_ASKING = word_set("what which who whose where when why how")
_ORDER = re.compile(r"(?i)\W*(?:please|answer|choose|select|pick|reply|respond|think|explain|give your|provide)\b")
"""The beginning of a sentence that prescribes the form of the answer and asks for nothing."""

_ASKS_HOW = re.compile(
    r"(?i)\W*(?:(?:by|in|with)\s+)?(?:how\s+(?:do|does|did|is|are|was|were|can|could|should|would|must|to|one)\b|"
    r"(?:which|what)\s+(?:\w+\s+)?(?:method|rule|way|steps?|formula|approach|means|procedure|calculation|comparison)\b)"
)
_LEAD = re.compile(r"(?i)^\W*(?:(?:it|one|you|we|they|first|by)\s+)*")


_ENDS_A_CLAUSE = re.compile(
    r"(?i)\W*(?:what|which|who|whose|where|when|how)\b(?!.*\b(?:of|between|among)\s+(?:\w+\s+)?\w+,).*,"
)
"""A question without an option before its first comma: "Which is larger, the cat or the dog?"."""


def why_unused(
    point: str,
    truth: str,
    *,
    question: str,
    choices: Sequence[str] = (),
    answers: Sequence[str] = (),
    final: bool = False,
) -> Unused | None:
    """Return why an atom cannot be fed back as a point to work on; None if it can.

    Parameters
    ----------
    point, truth : str
        The atom's question and its ground truth.
    question : str
        The sample's question.
    choices : sequence of str
        The texts of the options in order, if any.
    answers : sequence of str
        All texts that count as its final answer.
    final : bool
        Whether the author of the criterion marked it as the final answer.

    Returns
    -------
    str or None
        `final answer`: the ground truth states the final answer and little else, so that no hint can avoid revealing
        it. `restates the question`: the atom's question asks what the sample's question asks.

    Notes
    -----
    A ground truth states an answer if it has all its words, some of them not in the atom's own question, no other
    number, and at most two other words that neither question has. A ground truth that shares a number or a word with
    the answer by chance also counts as the answer, which only omits one more point.

    Examples
    --------
    >>> why_unused("How many does it count?", "Five tomatoes", question="How many tomatoes are there?", answers=["5"])
    'final answer'
    >>> why_unused("Where do the tomatoes lie?", "On the vine", question="How many tomatoes are there?", answers=["5"])
    >>> why_unused("How many tomatoes are there?", "Half a dozen", question="How many tomatoes are there?")
    'restates the question'
    """
    if final or any(_says(answer, truth, point, question, choices, answers) for answer in answers):
        return "final answer"
    if _restates(point, question):
        return "restates the question"
    return None


def is_method(point: str, truth: str) -> bool:
    """Return whether an atom asks for a method and its ground truth states it; a method is not secret.

    Examples
    --------
    >>> is_method("How is the worst category found?", "By comparing what is thrown out with what is made")
    True
    >>> is_method("How many are there?", "Count them: five"), is_method("How does he open it?", "By using a knife")
    (False, False)
    """
    stems = stems_of(_LEAD.sub("", truth))
    return bool(stems) and stems[0] in _METHOD and _ASKS_HOW.match(point) is not None


def possible_answers(question: str, choices: Sequence[str] = (), answers: Sequence[str] = ()) -> int | None:
    """Return the number of answers to guess among, two to five; None if there are more, or if it is unknown.

    That is the number of choices, or two if the answer is yes, no, true or false, or the number that the question offers.

    Examples
    --------
    >>> possible_answers("Which?", ["a", "b", "c"]), possible_answers("Is it on?", (), ["Yes."])
    (3, 2)
    >>> possible_answers("Which is larger, the cat or the dog?", (), ["the cat"]), possible_answers("How many?", (), ["4"])
    (2, None)
    """
    if choices:
        if 2 <= len(choices) <= MOST_OPTIONS:
            return len(choices)
        return None
    answer_stems = [tuple(stems_of(answer)) for answer in answers]
    if any(len(stems) == 1 and stems[0] in ANSWERS for stems in answer_stems):
        return 2
    options = [tuple(stems_of(option)) for option in offered(question)]
    if len(options) > 2 and _ENDS_A_CLAUSE.match(question):
        options = options[1:]
    if set(options) & set(answer_stems) and len(set(options)) <= MOST_OPTIONS:
        return len(options)
    return None


def _says(answer: str, truth: str, point: str, question: str, choices: Sequence[str], answers: Sequence[str]) -> bool:
    if same_answer(truth, answer, choices).verdict == "same":
        return True
    answer_stems = stems_of(secrets_of(question, tuple(choices), (), answer).answer)
    needed = _content(answer_stems).union(answer_stems[-1:])
    truth_stems = stems_of(truth)
    point_stems, prompt = frozenset(stems_of(point)), frozenset(stems_of(question))
    if not needed or not needed <= set(truth_stems) or (needed - prompt or needed) & point_stems:
        return False
    if needed & ANSWERS and truth_stems[0] not in needed:
        return False
    others = frozenset(word for text in answers for word in stems_of(text))
    extra = _content(truth_stems) - needed - others - point_stems - prompt
    return not any(word[0].isdigit() for word in extra) and len(extra) <= BESIDE


def _restates(point: str, question: str) -> bool:
    point_content = _content(stems_of(point)) - _TALK
    prompt = " ".join(sentence for sentence in sentences(question) if not _ORDER.match(sentence)) or question
    prompt_content = _content(stems_of(prompt)) - _TALK
    prompt_parts = sum(word in _ASKING for word in stems_of(prompt))
    point_parts = sum(word in _ASKING for word in stems_of(point))
    covers = point_content <= prompt_content and len(point_content) >= COVERED * len(prompt_content)
    return covers and prompt_parts <= max(1, point_parts)


def _content(stems: Sequence[str]) -> frozenset[str]:
    return frozenset(stems) - _PLAIN
