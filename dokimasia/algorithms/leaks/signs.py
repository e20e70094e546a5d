"""The signs by which a hint may give a secret away: its words with those of question and secrets replaced by their part."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from dokimasia.algorithms.leaks.certain import certain
from dokimasia.algorithms.leaks.chosen import tells_place
from dokimasia.algorithms.leaks.forms import stem
from dokimasia.algorithms.leaks.frames import classed
from dokimasia.algorithms.leaks.lexicon import among
from dokimasia.algorithms.leaks.reckoned import reckoned
from dokimasia.algorithms.leaks.secrets import Secrets, key_of, letters_of
from dokimasia.algorithms.leaks.traits import traits
from dokimasia.algorithms.leaks.values import read
from dokimasia.algorithms.text.words import FUNCTION_WORDS


def parts(text: str, secrets: Secrets) -> list[str]:
    """Return a text's tokens, those that belong to question or secrets replaced by what they are to them."""
    tokens, low, stated = read(text)
    stems = [stem(plain) for plain in low]
    called = [
        (among(secrets.names, stems), "SYN"),
        (among(secrets.pointers, stems), "CLUE"),
        (among(secrets.truth_names, stems), "TSYN"),
        (among(secrets.other_names, stems), "OSYN"),
        (among(secrets.truth_pointers, stems), "TCLUE"),
    ]
    elsewhere = {one: sign for those, sign in reversed(called) for one in those}
    values: dict[int, str] = {}
    for value in stated:
        key = key_of(value)
        sign = "#"
        if key in secrets.answer_values:
            sign = "#=" if key not in secrets.known_values else "#=q"
        elif key in secrets.values:
            sign = "#t"
        elif key in secrets.known_values:
            sign = "#x" if any(key in one.values for one in secrets.choices) else "#q"
        if value.kind == "o":
            sign = "#o=" if secrets.right is not None and value.value == secrets.right + 1 else f"{sign}o"
        for at in range(value.start, value.end):
            if len(sign) > len(values.get(at, "")) or sign == "#=":
                values[at] = sign
    return [_part(at, tokens, low, stems, values, elsewhere, secrets) for at in range(len(tokens))]


def _part(
    at: int,
    tokens: Sequence[str],
    low: Sequence[str],
    stems: list[str],
    values: dict[int, str],
    elsewhere: dict[str, str],
    secrets: Secrets,
) -> str:
    raw, word, one = tokens[at], low[at], stems[at]
    if at and raw in "CF" and tokens[at - 1] == "\u00b0":
        return "unit"
    if raw == "A" and secrets.choices and secrets.right is not None and _letter_a(at, low):
        return "L=" if secrets.right == 0 else "L"
    if (
        len(raw) == 1
        and raw.isalpha()
        and not (word in letters_of(secrets.asked) and secrets.right is not None)
        and (raw not in "AI" or (at and (tokens[at - 1] in "([\"':" or at == len(low) - 1)))
    ):
        if raw in "ABCDEFGH" and secrets.right is not None:
            return "L=" if ord(raw) - 65 == secrets.right else "L"
        return "l" if raw != "a" else "a"
    sign = values.get(at)
    if (
        one in secrets.answer
        and not _another_sense(low, at)
        and not (raw in ("may", "march", "can", "will") and at)
        and (one not in FUNCTION_WORDS or word in ("yes", "no"))
    ):
        known = one in secrets.asked
        return "ANSq" if known else "ANS"
    if sign is not None and word not in ("second", "may", "march", "one", "score", "left"):
        return sign
    if sign in ("#=", "#t", "#o=") and word in ("second", "one", "may", "march"):
        return f"{sign}{word}"
    if one in secrets.truth:
        return "TRU"
    if one in secrets.others and one not in FUNCTION_WORDS and not _another_sense(low, at):
        return "OTH" if one not in secrets.asked else "OTHq"
    if one in elsewhere and one not in secrets.asked and one not in FUNCTION_WORDS and word not in _EVERYDAY:
        return elsewhere[one]
    if one in secrets.asked and one not in FUNCTION_WORDS:
        return "Q"
    if at and raw[0].isupper() and tokens[at - 1] not in (".", "!", "?", ":", '"', "'", "("):
        return "Cap"
    return word


def signs(text: str, secrets: Secrets, words: Collection[str] | None, rules: Collection[str] = ()) -> set[str]:
    """Return the signs of a text: its parts, their neighbours, and what the text as a whole does.

    `words` are those kept as they stand, where given; any other word becomes `~`. `rules` are the forms of what the
    rules found.
    """
    told = parts(text, secrets)
    whole = traits(text, told, secrets)
    kept = [one if words is None or one in words or not one[0].islower() else "~" for one in told]
    found = {f"1 {one}" for one in kept}
    cast = [classed(one) for one in told]
    found.update(f"c1 {one}" for one in cast)
    drawn = ["^", *cast, "$"]
    found.update(f"c2 {a} {b}" for a, b in pairwise(drawn))
    found.update(f"c3 {a} {b} {c}" for a, b, c in zip(drawn, drawn[1:], drawn[2:], strict=False))
    here = sorted(set(cast) & _PAIRED)
    found.update(f"& {a} {b}" for at, a in enumerate(here) for b in here[at + 1 :])
    run = ["^", *kept, "$"]
    found.update(f"2 {a} {b}" for a, b in pairwise(run))
    found.update(f"3 {a} {b} {c}" for a, b, c in zip(run, run[1:], run[2:], strict=False))
    found.update(f"rule {form}" for form in rules)
    found.update(f"{secrets.kind}: {one}" for one in whole)
    found |= whole
    found |= certain(text, secrets) | reckoned(text, secrets)
    if tells_place(text, secrets):
        found.add("told place")
    marks = {one for one in told if one in _MARKS}
    for sentence, ends in _clauses(told):
        here = {one for one in sentence if one in _MARKS}
        mood = _mood(sentence, ends)
        found.update(f"{mood} {one}" for one in here)
        found.add(f"mood {mood}")
        if not here:
            found.add(f"{mood} bare")
    if not marks:
        found.add("unmarked")
    return found


_SENSES = {
    "left": (
        ("what", "what's", "have", "has", "you", "only", "nothing"),
        ("out", "over", "to", "behind", "for", "alone"),
    ),
    "right": (
        ("you're", "quite", "all", "are", "be"),
        ("to", "up", "in", "about", "there", "at", "before", "after", "next", "away"),
    ),
    "fall": (("not", "don't", "n't"), ("for", "into", "back")),
    "second": ((), ("look", "time", "glance", "thought", "pass")),
    "true": ((), ("that", "only", "if")),
    "save": (("to",), ("time",)),
}
"""Words that often say something else beside certain words: those before, those after."""


def _another_sense(low: Sequence[str], at: int) -> bool:
    word, after = low[at], low[at + 1] if at + 1 < len(low) else "."
    if word == "no":
        return (
            after[0].isalpha()
            and after not in FUNCTION_WORDS
            and not (at and low[at - 1] in ("say", "answer", "with", "a"))
        )
    if word not in _SENSES:
        return False
    before, behind = _SENSES[word]
    return after in behind or (at > 0 and low[at - 1] in before)


_EVERYDAY_TEXT = "go then see look looks read reads get take make back by first last next start show shows only"
_EVERYDAY = frozenset(_EVERYDAY_TEXT.split())
"""Words of guidance that name something by the lexicon, and hardly ever mean it."""

_BEFORE_A_TEXT = "for try with is say pick choose take answer option mark circle tick letter want be to go"
_BEFORE_A = frozenset(_BEFORE_A_TEXT.split())
_AFTER_A_TEXT = "as because since if once when after describes is fits would will seems looks matches and it"
_AFTER_A = frozenset(_AFTER_A_TEXT.split())


def _letter_a(at: int, low: Sequence[str]) -> bool:
    """Whether an A, a capital, is a choice's letter and not an article."""
    after = low[at + 1] if at + 1 < len(low) else "."
    if not after[0].isalnum() or after in _AFTER_A:
        return not at or low[at - 1] in _BEFORE_A or not low[at - 1][0].isalnum()
    return False


_MARKS = frozenset(("ANS", "ANSq", "TRU", "OTH", "OTHq", "SYN", "OSYN", "CLUE", "TSYN", "TCLUE",
                    "L=", "L", "#=", "#=q", "#t", "#q", "#", "#o=",
                    "#=o", "#to", "#o", "l", "#=second", "#=one", "#o=second"))  # fmt: skip
_PAIRED = _MARKS | {"POS", "LIST", "ANSW", "PICK", "COMP", "AS", "MORE", "LET", "SUM", "NEG", "ELIM", "LANG", "GUIDE", "GEN",
                    "MISS", "YOU", "IFWH", "Cap", "BE", "HAVE", "?", "QUANT", "PRON"}  # fmt: skip
_GUIDES_TEXT = """
    look check count compare read find consider trace follow focus think ask see make try notice examine observe start
    begin use identify determine locate remember pay verify zoom go revisit reconsider inspect note keep watch be do don't
    ignore scan measure match decide recall take pick work before when if rather instead how what which where who does is are
    did can could first then once double-check carefully study review estimate let treat separate list move run imagine"""
_GUIDES = frozenset(_GUIDES_TEXT.split())
_STATES_TEXT = (
    "is are was were it's that's there's has have equals shows reads says means makes gives comes stands wears looks"
)
_STATES = frozenset(_STATES_TEXT.split())


def _clauses(told: list[str]) -> Iterator[tuple[list[str], str]]:
    at = 0
    for here, one in enumerate([*told, "."]):
        if one in (".", "!", "?", ";", ":") and here > at:
            yield told[at:here], one
            at = here + 1


def _mood(clause: list[str], ends: str) -> str:
    if ends == "?":
        return "asks"
    if "whether" in clause or "or" in clause or "if" in clause:
        return "leaves open"
    if clause[0] in _GUIDES:
        return "guides"
    if clause[0] in ("you", "your"):
        return "addresses"
    return "states" if any(one in _STATES for one in clause) else "says"
