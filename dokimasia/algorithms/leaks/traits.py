"""What a text as a whole does: how much of a truth it covers, which choices it touches, whether it says things outright."""

import re
from collections.abc import Iterator, Sequence

from dokimasia.algorithms.leaks.forms import stem
from dokimasia.algorithms.leaks.frames import classed, places_named
from dokimasia.algorithms.leaks.lexicon import names_of
from dokimasia.algorithms.leaks.made import spelling, sums
from dokimasia.algorithms.leaks.secrets import Secrets, key_of, stems_of, values_of
from dokimasia.algorithms.leaks.values import bare, read
from dokimasia.algorithms.text.words import FUNCTION_WORDS


def traits(text: str, told: list[str], secrets: Secrets) -> set[str]:
    """Return what a text does as a whole; `told` are its parts."""
    found: set[str] = set()
    stems = stems_of(text)
    said = set(stems)
    for truth in secrets.truths:
        whole = set(truth)
        fresh = whole - secrets.asked
        if len(whole) > 2:
            share = len(whole & said) / len(whole)
            found.update(f"covers {step}" for step in (5, 6, 7, 8, 9) if share >= step / 10)
        if fresh:
            near = sum(one in said or one in _told_by_name(one, said) for one in fresh) / len(fresh)
            found.update(f"fresh {step}" for step in (3, 5, 7, 9) if near >= step / 10)
            found.update(f"fresh words {n}" for n in (1, 2, 3, 4) if len(fresh & said) >= n)
    if secrets.answer and secrets.answer <= said:
        found.add("whole answer")
    if secrets.answer - secrets.asked and secrets.answer & said:
        found.add("part of answer")
    named = {one for one in told if one in ("ANS", "ANSq", "OTH", "OTHq", "SYN", "OSYN")}
    if named and not named - {"OTH", "OTHq", "OSYN"}:
        found.add("only others")
    if named & {"ANS", "ANSq"} and not named & {"OTH", "OTHq", "OSYN"}:
        found.add("only answer")
    if named & {"ANS", "ANSq"} and named & {"OTH", "OTHq"}:
        found.add("answer and others")
    if any(one in _NOS or one.endswith("n't") for one in told):
        found.add("negation")
        if named and not named - {"OTH", "OTHq", "OSYN"}:
            found.add("denies others")
    found |= _quoting(stems, secrets)
    found |= _numbered(text, told)
    found |= _bluntly(text, told, said, secrets)
    found |= _choosing(text, told, secrets)
    found |= sums(text, secrets)
    found |= spelling(text, secrets)
    return found


def _quoting(stems: list[str], secrets: Secrets) -> set[str]:
    """How long a run of a truth's words the text repeats that holds a word which the question has not."""
    found: set[str] = set()
    secret = secrets.answer | secrets.truth
    for truth in secrets.runs:
        for start in range(len(truth)):
            for end in range(start + 3, len(truth) + 1):
                run = truth[start:end]
                if not secret & set(run) or not any(
                    tuple(stems[at : at + len(run)]) == run for at in range(len(stems) - len(run) + 1)
                ):
                    continue
                found.add(f"quotes {min(len(run), 6)}")
                if len(run) >= 0.6 * len(truth):
                    found.add("quotes most")
    return found


def _numbered(text: str, told: list[str]) -> set[str]:
    """Whether a number or rank of the answer stands at a word of the question: "the ninth row", "panel no. 4"."""
    low = read(text)[1]
    found: set[str] = set()
    for at, part in enumerate(told):
        if part in ("#=o", "#o=") and at + 1 < len(told) and told[at + 1] in ("Q", "ANSq"):
            found.add("ranked")
        if part.startswith("#=") or (part == "ANS" and low[at][0].isdigit()):
            before = at - 1
            while before > 0 and low[before] in ("no", ".", "number", "#", "is", "-"):
                before -= 1
            if before >= 0 and told[before] in ("Q", "ANSq"):
                found.add("numbered")
            if at + 1 < len(told) and told[at + 1] in ("Q", "ANSq"):
                found.add("counted")
    return found


_SEVERED = re.compile(r"(?<=\d)\s*([.,:])?\s+(?=\d)|(?<=\d)\s+([.,:])\s*(?=\d)")


def _bluntly(text: str, told: list[str], said: set[str], secrets: Secrets) -> set[str]:
    """What says the answer outright: by itself, first of all, loudly, in disguise or in another notation."""
    found: set[str] = set()
    raw, low, values = read(text)
    if secrets.answer and secrets.answer <= said and not secrets.answer <= secrets.asked:
        own = [one for one, part in zip(low, told, strict=True) if one[0].isalnum() and part not in ("ANS", "ANSq")]
        if all(one in FUNCTION_WORDS or one in ("it's", "that's", "just", "simply", "here") for one in own):
            found.add("nothing else")
    if (
        "yesno" in secrets.kind
        and low
        and told[0] == "ANS"
        and "but" not in low
        and (len(low) == 1 or not low[1][0].isalnum())
    ):
        found.add("answers first")
    loud = [one for one, part in zip(raw, told, strict=True) if part == "ANS" and one.isupper() and len(one) > 2]
    if loud and not text.isupper():
        found.add("loud")
    if "ANS" in told:
        if re.search(r"[\u200b-\u200f\u2060\ufeff\u00ad]", text):
            found.add("hidden sign")
        if re.search(r"\*\*|__|(?<!\w)_\w|`", text):
            found.add("emphasis")
        found.update("quoted" for at, part in enumerate(told) if part == "ANS" and at and low[at - 1] in ('"', "'"))
    severed = _SEVERED.sub(lambda match: match[1] or match[2] or "", bare(text))
    if severed != bare(text):
        found.update("severed" for key in values_of(severed) if key in secrets.answer_values - secrets.known_values)
    plain = {value for kind, value in secrets.answer_values if kind == "n"}
    for value in values:
        key = key_of(value)
        if value.kind in "tdp" or value.kind.startswith("u"):
            stated = {one.value for one in values if one.kind in "now" and value.start <= one.start < value.end}
            if key in secrets.answer_values and key not in secrets.known_values and not stated <= plain:
                found |= {"converted", f"converted {value.kind[0]}"}
    return found


def _choosing(text: str, told: list[str], secrets: Secrets) -> set[str]:
    """Which choices a text touches, in words, by value, by letter or by place, and whether it leaves out one alone."""
    count = len(secrets.choices)
    if secrets.right is None or not count:
        return set()
    raw, low, _ = read(text)
    said, values = set(stems_of(text)), {key_of(one) for one in read(text)[2] if one.kind != "o"}
    places = places_named(low, count)
    touched = {at for at, one in enumerate(secrets.choices) if one.stems & said or one.values & values}
    touched |= {at for at, one in enumerate(secrets.choices) if any(_alike(a, b) for a in one.stems for b in said)}
    pointed = {
        at for at, one in enumerate(secrets.choices) if any(pointer & said == pointer for pointer in one.pointers)
    }
    named = {at for at, one in enumerate(secrets.choices) if any(name <= said for name in one.names)}
    letters = {ord(one) - 65 for one, part in zip(raw, told, strict=True) if part in ("L", "L=")}
    for first, last in re.findall(r"\b([A-H])(?:\s*(?:to|through|-|\u2013)\s*)([A-H])\b", text):
        letters |= set(range(ord(first) - 65, ord(last) - 64))
    ahead = re.search(r"(?i)\b(first|last|top|bottom)\s+(two|three|four)\b", text)
    if ahead:
        many = {"two": 2, "three": 3, "four": 4}[ahead[2].casefold()]
        run = range(many) if ahead[1].casefold() in ("first", "top") else range(count - many, count)
        places = set(run)
    found: set[str] = set()
    others = set(range(count)) - {secrets.right}
    sized = [max((value for kind, value in one.values if kind == "n"), default=None) for one in secrets.choices]
    if None not in sized and any(classed(one) == "LIST" for one in low):
        order = sorted(range(count), key=lambda at: sized[at] or 0.0)
        if {"largest", "highest", "biggest", "greatest", "maximum", "longest"} & set(low):
            places |= {order[-1]}
        if {"smallest", "lowest", "least", "minimum", "shortest"} & set(low):
            places |= {order[0]}
    if any(
        one in ("named", "listed", "list", "comes", "stands", "offered", "choices", "options", "follows") for one in low
    ):
        places |= set(_beside(low, secrets))
    marked = {one for one in told if one in ("ANS", "ANSq", "OTH", "OTHq")}
    if not _LEFT_OPEN.search(text) and (_RULED_OUT.search(text) or _NEGATES.search(text)):
        if count == 2 and marked and not marked & {"ANS", "ANSq"}:
            found.add("other denied")
        if count > 2 and others <= touched | named and secrets.right not in touched | named:
            found.add("others denied")
    if touched | letters and secrets.right not in touched | letters and _RULED_OUT.search(text):
        found.add("ruled out")
        if others <= touched | letters:
            found.add("others ruled out")
    if places:
        found.add("place right" if places == {secrets.right} else "place other")
    if letters:
        found.add("letter right" if letters == {secrets.right} else "letter other")
    for name, those in (
        ("words", touched),
        ("names", touched | named),
        ("all", touched | named | places | letters),
        ("hinted", touched | named | places | letters | pointed),
    ):
        if others <= those and secrets.right not in those:
            found.add(f"all others {name}")
            found.add(f"all {min(count, 4)} others {name}")
        if those == {secrets.right}:
            found.add(f"right alone {name}")
        if len(those) == count:
            found.add(f"all choices {name}")
        if those and secrets.right not in those:
            found.add(f"others {name}")
    return found


_LEFT_OPEN = re.compile(r"(?i)\b(?:whether|if|compar\w+|depends?|differ|question|asked|doesn't make|does not make)\b")
_NEGATES = re.compile(r"(?i)\b(?:not|no|nor|neither|never|cannot|nothing|loses|forget|empty)\b|n't\b")


def _beside(low: Sequence[str], secrets: Secrets) -> Iterator[int]:
    """The places of choices that a text names by their neighbours in the list: "the one right after the airport"."""
    for at, one in enumerate(low):
        step = {"before": -1, "above": -1, "precedes": -1, "after": 1, "below": 1, "follows": 1, "following": 1}.get(
            one
        )
        if step is None or (one in ("before", "after") and low[at - 1] not in _NEXT and at > 0):
            continue
        ahead = {stem(word) for word in low[at + 1 : at + 4]}
        for place, choice in enumerate(secrets.choices):
            if choice.stems <= ahead and 0 <= place + step < len(secrets.choices):
                yield place + step


_NEXT = frozenset(
    ("right", "directly", "just", "immediately", "straight", "one", "named", "listed", "comes", "stands", "given")
)
_RULED_OUT = re.compile(
    r"(?i)\b(?:rul(?:e|ed|es) (?:\w+ )?out|out of the question|(?:is|was|are|be|that's) "
    r"(?:wrong|false|incorrect|a mistake|impossible)"
    r"|a mistake to|exclud\w+|eliminat\w+|discard\w*|strike|cross (?:\w+ )?(?:out|off)"
    r"|can't be|cannot be|couldn't be|isn't the|not the answer"
    r"|drops? out|falls? away|off the table|forget|must be dropped|not correct|won't do|would be wrong)\b"
)


def _alike(one: str, other: str) -> bool:
    """Whether two stems share most of their letters, as `attract` and `attraction` do."""
    shorter, longer = sorted((one, other), key=len)
    return (len(shorter) > 4 and longer.startswith(shorter)) or (
        len(shorter) == 3 and len(longer) < 6 and longer == shorter + "n"
    )


_NOS_TEXT = "not no nor neither never none without except but rule ruled out exclude eliminate wrong other"
_NOS = frozenset(_NOS_TEXT.split())


def _told_by_name(one: str, said: set[str]) -> set[str]:
    return {one} if any(name <= said for name in names_of([one])) else set()
