"""The rules for a set of rubrics, checked without a model: form, one point each, no duplicates, no contradictions."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from dokimasia.algorithms.text.words import word_set, words
from dokimasia.domain.rubric import ErrorKind, Rubric, polarity_of

Rule = Literal["form", "polarity", "gate", "atomicity", "duplicate", "contradiction"]


class RubricProblem(NamedTuple):
    """A broken rule: the rubric's position in the set, from 0, the rule, and the problem, for the judge to correct."""

    place: int
    rule: Rule
    text: str


_BEGINS = re.compile(r"\s*(?:the|a|any|every)\s+(?:response|caption|description|answer)\b", re.IGNORECASE)
_QUOTED = re.compile(
    r"\"[^\"\n]{0,300}\"|\u201c[^\u201d\n]{0,300}\u201d|(?<!\w)'[^'\n]{0,300}'(?!\w)|\u2018[^\u2019\n]{0,300}\u2019(?!\w)"
)
_SAY = (
    r"identif\w*|mention\w*|stat\w+|sa(?:y|ys|id)|describ\w*|not(?:e|es|ing)|indicat\w*|recogni[sz]\w*|specif\w*|report\w*|"
    r"giv\w+|nam(?:e|es|ing)|list\w*|count\w*|read\w*|locat\w*|plac(?:e|es|ing)|includ\w*|captur\w*|captures?"
)
_JOINED = re.compile(
    rf"(?:\band\b|\bas well as\b|;|,\s*(?:and|but)\b|\bbut\b|\bwhile\b)\s+(?:it\s+)?(?:also\s+|must\s+|should\s+|has\s+to\s+|"
    rf"the\s+(?:response|caption|description)\b|that\s+|(?:to\s+)?(?:{_SAY})\b)",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"[.!]\s+[A-Z]")
_ARTICLE = r"(?:an?|the|one|two|three|four|five|six|seven|eight|nine|ten|[0-9]{1,4}|some|several)"
_TWO_THINGS = re.compile(
    rf"\b(?:mention\w*|includ\w*|list\w*|nam(?:e|es)|identif\w*|describ\w*)\s+(?:both\s+)?{_ARTICLE}\s+(?:[\w-]+\s+){{1,4}}"
    rf"(?:and|as well as)\s+{_ARTICLE}\s+[\w-]+(?:\s+[\w-]+){{0,3}}[.]?\s*$",
    re.IGNORECASE,
)
_NUMBER = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|[0-9]{1,4})"
_TWO_COUNTS = re.compile(rf"\b{_NUMBER}\s+(?:[\w-]+\s+){{1,4}}(?:and|as well as)\s+{_NUMBER}\s+[\w-]+", re.IGNORECASE)
_BOTH = re.compile(
    r"\bboth\b(?!\s+(?:sides|hands|ends|arms|legs|eyes|feet|halves)\b)[^.]{1,120}?\band\b", re.IGNORECASE
)
_LINKS = re.compile(r"\b(?:between|from)\b", re.IGNORECASE)
_FRAME = word_set(
    "response caption description answer image picture photo photograph must mention mentions identify identifies state "
    "states say says describe describes note notes indicate indicates recognise recognises recognize recognizes specify "
    "specifies report reports give gives name names presence present visible shown show shows appear appears exactly "
    "correctly claim claims that there it its being be is are was were been has have a an the of as to should not never any "
    "and this these"
)
_ORDERED = word_set("left right above below over under behind front inside outside before after than")
_PLACES = word_set("left right top bottom above below behind corner beside upper lower")
_FAMILIES: tuple[frozenset[str], ...] = (
    word_set("red blue green yellow orange purple pink brown black white grey gray beige gold silver teal navy"),
    word_set("left right"),
    word_set("above below"),
    word_set("top bottom"),
    word_set("on off"),
    word_set("open closed shut"),
    word_set("empty full"),
    word_set("increasing decreasing"),
    word_set("rising falling"),
    word_set("horizontal vertical"),
    word_set("round square triangular rectangular oval"),
)


def rubric_problems(rubrics: Sequence[Rubric], *, silent_gate: bool = True) -> list[RubricProblem]:
    """Return the problems of a set of rubrics, by position; empty for a set that satisfies the rules.

    A duplicate or a contradiction is blamed on the later of the two rubrics, unless only the earlier one lacks evidence.

    Parameters
    ----------
    rubrics : sequence of Rubric
        Both streams of a sample, must-right first.
    silent_gate : bool
        Whether a must-right rubric may forbid something, as in the paper, so that a response that says nothing passes it.

    Returns
    -------
    list of RubricProblem
        The rules only find what the words show; a panel of readers finds more.

    References
    ----------
    PerceptionRubrics, section 3.1 (atomic verifiability); the rules are this project's.

    Examples
    --------
    >>> def must(text):
    ...     return Rubric(stream="must_right", statement=f"The response must {text}.", polarity=polarity_of(text))
    >>> [problem.rule for problem in rubric_problems([must("mention a dog"), must("state that a dog is present")])]
    ['duplicate']
    >>> rubric_problems([must("say that the car is red and that it is raining")])[0].text
    'it asks for more than one thing'
    """
    problems = [
        RubricProblem(place, rule, text) for place, rubric in enumerate(rubrics) for rule, text in _own_problems(rubric)
    ]
    if not silent_gate:
        problems += [
            RubricProblem(
                place, "gate", "it is must-right and forbids, so that silence passes it: demand what is right instead"
            )
            for place, rubric in enumerate(rubrics)
            if rubric.stream == "must_right" and "negative" in (rubric.polarity, polarity_of(rubric.statement))
        ]
    contents = [_content(rubric.statement) for rubric in rubrics]
    for second, later in enumerate(rubrics):
        for first in range(second):
            earlier = rubrics[first]
            rule = _pair_rule(earlier, later, contents[first], contents[second])
            if rule is None:
                continue
            blamed, other = (first, second) if later.evidence and not earlier.evidence else (second, first)
            verb = "says the same as" if rule == "duplicate" else "contradicts"
            problems.append(RubricProblem(blamed, rule, f"it {verb} rubric {other + 1}"))
    return sorted(problems)


def dimension_of(rubric: Rubric) -> ErrorKind:
    """Return the error dimension that a rubric tests: its kind or, without one, a guess from its words.

    Examples
    --------
    >>> def must(text):
    ...     return Rubric(stream="must_right", statement=f"The response must {text}.", polarity="positive")
    >>> dimension_of(must("mention two cups")), dimension_of(must("name a cup"))
    ('count', 'object')
    """
    if rubric.kind is not None:
        return rubric.kind
    if _QUOTED.search(rubric.statement):
        return "text"
    vocabulary = set(words(rubric.statement))
    if any(word.isdigit() and word != "1" for word in vocabulary):
        return "count"
    if vocabulary & _PLACES:
        return "position"
    return "object"


def asks_for_one_thing(statement: str) -> bool:
    """Return whether a statement asks for one thing only, as far as its words show.

    Alternatives ("a car or a lorry") are one thing; text in quotation marks or brackets is ignored.

    Examples
    --------
    >>> asks_for_one_thing("The response must identify the tool as a saw or knife.")
    True
    >>> asks_for_one_thing("The response must mention a dog and a cat.")
    False
    >>> asks_for_one_thing("The response must note that the cup stands between the plate and the jug.")
    True
    """
    plain = re.sub(r"\([^()\n]{0,300}\)", " ", _QUOTED.sub("X", statement))
    if _JOINED.search(plain) or _SENTENCES.search(plain.strip()):
        return False
    return not any(pattern.search(plain) for pattern in (_TWO_THINGS, _TWO_COUNTS, _BOTH)) or bool(_LINKS.search(plain))


def _own_problems(rubric: Rubric) -> list[tuple[Rule, str]]:
    problems: list[tuple[Rule, str]] = []
    statement = rubric.statement
    if statement.rstrip().endswith("?") or not _BEGINS.match(statement):
        problems.append(("form", 'it is no statement that begins with "The response must" or "The response must not"'))
    if polarity_of(statement) != rubric.polarity:
        problems.append(("polarity", f"its polarity says {rubric.polarity}, its statement says otherwise"))
    if not asks_for_one_thing(statement):
        problems.append(("atomicity", "it asks for more than one thing"))
    return problems


def _pair_rule(first: Rubric, second: Rubric, first_words: Sequence[str], second_words: Sequence[str]) -> Rule | None:
    """Return the rule that two rubrics break together, or None."""
    same = list(first_words) == list(second_words) or (
        set(first_words) == set(second_words) and not _ORDERED & set(first_words)
    )
    if same and first_words:
        if first.polarity == second.polarity:
            return "duplicate"
        return "contradiction"
    if first.polarity == second.polarity == "positive":
        if _clash(first, second, first_words, second_words):
            return "contradiction"
        if _same_point(first, second, set(first_words), set(second_words)):
            return "duplicate"
    return None


def _same_point(first: Rubric, second: Rubric, first_words: set[str], second_words: set[str]) -> bool:
    """Return whether two demands test one dimension on the same caption words and share half of their own, at least two."""
    if first.kind is None or first.kind != second.kind or not (first.evidence and second.evidence):
        return False
    if _numbers(first_words) != _numbers(second_words):
        return False
    quoted, within = sorted((" ".join(words(first.evidence)), " ".join(words(second.evidence))), key=len)
    shared = len(first_words & second_words)
    return f" {quoted} " in f" {within} " and shared >= max(2, min(len(first_words), len(second_words)) / 2)


def _numbers(statement_words: set[str]) -> set[str]:
    """Return the words of a statement that are numbers; demands for different figures are different points."""
    return {word for word in statement_words if word.isdigit()}


def _clash(first: Rubric, second: Rubric, first_words: Sequence[str], second_words: Sequence[str]) -> bool:
    """Return whether two demands differ only in the number, or in the word of one family, that they ask for."""
    if len(first_words) != len(second_words):
        return False
    places = [place for place, (a, b) in enumerate(zip(first_words, second_words, strict=True)) if a != b]
    if len(places) != 1 or len(first_words) < 2:
        return False
    place = places[0]
    a, b = first_words[place], second_words[place]
    last = place == len(first_words) - 1
    if a.isdigit() and b.isdigit():
        return last or (first.kind == second.kind == "count")
    return last and any(a in family and b in family for family in _FAMILIES)


def _content(statement: str) -> list[str]:
    """Return the content words of a statement, in order."""
    return [word for word in words(statement) if word not in _FRAME]
