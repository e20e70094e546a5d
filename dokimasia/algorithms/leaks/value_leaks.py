"""Whether a sentence states a value of the answer or of a ground truth, in any notation."""

from collections.abc import Iterator, Sequence

from dokimasia.algorithms.leaks.context import ENDS, UNIT_WORDS, left_open, value_in_a_row
from dokimasia.algorithms.leaks.secrets import Key, QuestionSecrets, key_of
from dokimasia.algorithms.leaks.values import StatedValue, read, token_at, token_before
from dokimasia.algorithms.leaks.wording import stem
from dokimasia.algorithms.text.words import FUNCTION_WORDS, word_set

SMALL = 12
"""The largest whole number that is common in texts as a count or rank of something else."""

NEAR = 6
"""Maximum number of tokens between a number and the word it belongs to."""

_LABELS = word_set(
    """step page figure fig table note hint part point section line version chapter round seat row column label question
    criterion item stage level number no # digit"""
)
_KNOWN = word_set("the these those both all each every other last next any another same first no")
_OWNS = word_set("has have had with having")
_MEASURED = word_set("ones them altogether total overall exactly such more")
_PRONOUNS = word_set("one single half quarter once zero nothing none")
_EXACTLY = word_set("exactly only just precisely is are = : equals gives makes get number count total")
_GROUPS = word_set("pair trio quartet quintet sextet septet octet dozen score")
_LAST = word_set("last final stop end ends enough complete done back")
_GUIDING = word_set(
    """find look read count compare check take go note locate identify list trace start see measure mark decide ask
    follow search establish determine work make write get ,"""
)
_MANY = stem("many")


def tells_value(sentence: str, secrets: QuestionSecrets) -> bool:
    """Return whether a sentence states a value of the answer that the question does not.

    A value does not count if it is part of a series, is denied or left open, is the number of a step or another label,
    or counts something that neither the question nor the answer mentions.
    """
    raw, low, values = read(sentence)
    secret_values = secrets.values - secrets.question_values
    if len(secrets.values) > 1 and _all_of_right(low, values, secrets):
        return True
    if not secret_values or _other_choice(low, values, secret_values, secrets):
        return False
    relevant = (
        secrets.question_stems | secrets.words | {noun for truth in secrets.truths for noun in _nouns(read(truth)[1])}
    )
    return any(
        key_of(value) in secret_values
        and _is_value(raw, low, value)
        and not left_open(low, value.start, precise=not _is_small(value))
        and not value_in_a_row(low, value, values, secret_values)
        and not _stands_for_other(low, value, relevant, secrets)
        for value in values
    )


def tells_truth_value(sentence: str, truth: str, secrets: QuestionSecrets) -> bool:
    """Return whether a sentence states a value of a ground truth together with the thing that has it."""
    raw, low, values = read(sentence)
    _, truth_low, truth_values = read(truth)
    nouns_of: dict[Key, set[str]] = {}
    for value in truth_values:
        before = token_before(truth_low, value.start)
        definite = before in _KNOWN and value.kind != "o"
        if key_of(value) not in secrets.question_values and value.value != 1 and not definite:
            nouns_of.setdefault(key_of(value), set()).update(_around(truth_low, value))
    if _other_choice(low, values, frozenset(nouns_of), secrets):
        return False
    counts = {
        key_of(value)
        for value in values
        if value.kind == "n" and nouns_of.get(key_of(value), set()) & set(_nouns(low[value.end : value.end + 1]))
    }
    if len(counts) > 1:
        return True
    for value in values:
        key = key_of(value)
        before = token_before(low, value.start)
        definite = before in ("the", "these", "those") and value.kind != "o"
        if key not in nouns_of or value.kind == "w" or not _is_value(raw, low, value) or definite:
            continue
        if left_open(low, value.start, precise=not _is_small(value)) or value_in_a_row(
            low, value, values, frozenset(nouns_of)
        ):
            continue
        if not _is_small(value):
            return True
        foreign = any(stem(noun) not in nouns_of[key] for noun in _counted_nouns(low, value))
        if nouns_of[key] & set(_nouns(low[max(0, value.start - 2) : value.start]) if foreign else _around(low, value)):
            return True
    return False


def _other_choice(
    low: Sequence[str], values: Sequence[StatedValue], secret_keys: frozenset[Key], secrets: QuestionSecrets
) -> bool:
    """Return whether the value of another choice is also stated, other than as a part of the secret value."""
    secret_values = [value for value in values if key_of(value) in secret_keys]
    keys = {
        key_of(value)
        for value in values
        if low[value.start] != "one"
        and not any(other.start < value.end and value.start < other.end for other in secret_values)
    }
    return any(choice.values & keys for at, choice in enumerate(secrets.choices) if at != secrets.right)


def _all_of_right(low: Sequence[str], values: Sequence[StatedValue], secrets: QuestionSecrets) -> bool:
    """Return whether all numbers of the right choice are stated, but not all of any other choice: "20 to 30"."""
    keys = {key_of(value) for value in values if value.kind == "n"}
    complete = [at for at, choice in enumerate(secrets.choices) if len(choice.values) > 1 and choice.values <= keys]
    return complete == [secrets.right] and all(kind == "n" for kind, _ in secrets.values)


def _is_value(raw: Sequence[str], low: Sequence[str], value: StatedValue) -> bool:
    """Return whether an ambiguous word is meant as a value: `May` the month, `quarter` the share, not `First find`."""
    word = low[value.start]
    if value.kind == "o" and value.end < len(low) and low[value.end] in _GUIDING:
        return value.start > 0 and low[value.start - 1] not in ENDS
    if word in ("may", "march", "mar") and value.kind in "md":
        return raw[value.start][0].isupper() and value.start > 0 and low[value.start - 1] not in ENDS
    if value.kind == "p" and value.value == 0.5 and not word[0].isdigit():
        after = token_at(low, value.end)
        return after in ENDS or after in ("full", "of") or low[value.start - 1] in _EXACTLY
    return True


def _is_small(value: StatedValue) -> bool:
    return value.kind in "now" and value.value <= SMALL and value.value % 1 == 0


def _stands_for_other(
    low: Sequence[str], value: StatedValue, relevant: frozenset[str] | set[str], secrets: QuestionSecrets
) -> bool:
    """Return whether a number is a pronoun, a label, or the count or rank of something that was not asked for."""
    word = low[value.start]
    before = token_before(low, value.start)
    after = token_at(low, value.end)
    if value.kind == "o":
        return not _ranks(low, value, secrets)
    if word == "both":
        return True
    if word in _PRONOUNS and value.kind in "nw":
        return before not in _EXACTLY and not (stem(after) in secrets.question_stems and before not in _KNOWN)
    if value.kind not in "nw":
        return False
    label = before
    if before in ("no", "number", "#", ".") and value.start > 1:
        label = low[value.start - 2]
        if label in FUNCTION_WORDS:
            return False
    if before in _LABELS or label in _LABELS:
        in_question = stem(label) in secrets.question_stems
        return _MANY in secrets.question_stems or (not in_question and before not in ("number", "no", "#"))
    unrelated = [noun for noun in _counted_nouns(low, value) if stem(noun) not in relevant]
    if not unrelated or unrelated[0] in _MEASURED:
        return before in _KNOWN and _is_small(value) and after not in ENDS
    if after == "of":
        return word not in _GROUPS
    return before in _KNOWN or bool(_OWNS & set(low[max(0, value.start - 2) : value.start]))


def _ranks(low: Sequence[str], value: StatedValue, secrets: QuestionSecrets) -> bool:
    """Return whether a rank reveals the answer: the rank of the thing asked for, or of the last counted thing."""
    after = token_at(low, value.end)
    if _MANY in secrets.question_stems:
        return value.value > 2 and (bool(_LAST & set(low)) or stem(after) in secrets.question_stems)
    return value.value > 2 or (stem(after) in secrets.question_stems and after not in FUNCTION_WORDS)


def _counted_nouns(low: Sequence[str], value: StatedValue) -> Iterator[str]:
    """Yield the plural noun after a number, possibly with an adjective between them, or after "of the"."""
    ahead = list(low[value.end : value.end + 4])
    if ahead[:1] == ["of"]:
        ahead = [token for token in ahead[1:] if token not in ("the", "these", "those", "your")]
    for token in ahead[:2]:
        if not token[0].isalpha() or token in FUNCTION_WORDS:
            return
        if token.endswith("s") and token not in UNIT_WORDS:
            yield token
            return


def _around(low: Sequence[str], value: StatedValue) -> Iterator[str]:
    return _nouns((*low[max(0, value.start - NEAR) : value.start], *low[value.end : value.end + NEAR]))


def _nouns(low: Sequence[str]) -> Iterator[str]:
    return (stem(token) for token in low if token.isalpha() and len(token) > 2 and token not in FUNCTION_WORDS)
