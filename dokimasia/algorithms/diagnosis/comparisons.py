"""The comparisons of a sentence: which way they go, and whether the intervals of what is cited bear them out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dokimasia.algorithms.diagnosis.claim_numbers import Place
from dokimasia.algorithms.diagnosis.evidence import FILLER, Fact
from dokimasia.domain.diagnosis_report import StrikeKind

Sense = Literal["up", "down", "good", "bad", "differs", "equal"]
"""Higher, lower, better or worse than what it is compared with; different from it; or much like it."""

_WORDS: tuple[tuple[Sense, str], ...] = (
    ("up", r"higher|above|greater|larger|exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|more(?=[^.;:]{0,80}\bthan\b)"),
    ("down", r"lower|below|fewer|smaller|beneath|less(?=[^.;:]{0,80}\bthan\b)"),
    (
        "good",
        r"better|stronger|outperform(?:s|ed|ing)?|outscor(?:es|ed|ing)|ahead of|beats?|superior|leads?(?!\sto\b)|dominates?"
        r"|w[io]ns?\s(?:against|over)|improve[sd]?\s(?:on|over)",
    ),
    (
        "bad",
        r"worse|weaker|poorer|underperform(?:s|ed|ing)?|behind|trails|lags|inferior|los(?:es|t|e)\sto"
        r"|not\s(?:quite\s|nearly\s)?as\s(?:good|strong|high)\sas",
    ),
    (
        "differs",
        r"differ(?:s|ed)?|apart|(?:clear|evident|significant|real|marked|large|sizeable|substantial|wide|big|sure)"
        r"\s(?:difference|gap)|(?<=\bno\s)(?:difference|gap)",
    ),
    (
        "equal",
        r"similar(?:ly)?|indistinguishable|comparable|on a par|overlap(?:s|ping)?|tied|ties|equal(?:ly)?|(?:at|on) the same level"
        r"|(?:perform|do|score|fare)s?\s(?:the same|alike)|(?<!not )(?<!quite )(?<!nearly )as\s(?:good|strong|high)\sas",
    ),
)
_TOP: tuple[tuple[Sense, str], ...] = (
    ("up", r"highest|largest|greatest|(?<!struggles )(?<!fails )(?<!suffers )most|maximum"),
    ("down", r"lowest|smallest|fewest|least|minimum"),
    ("good", r"best|strongest|easiest|winner|tops|on top"),
    (
        "bad",
        r"worst|weakest|poorest|hardest|(?:ranks?|comes?|places?) last|(?<=struggles )most|(?<=fails )most|(?<=suffers )most",
    ),
)
_MARKED: tuple[tuple[Sense, str], ...] = (
    ("good", r"strong|strengths?|excels?|excelled"),
    (
        "bad",
        r"weak|weakness(?:es)?|struggles?|struggled|deficits?|deficient|poor|poorly|fail(?:s|ed)?\s(?:at|to|every)|always\sfails?"
        r"|cannot(?!\sbe\b)|unable\sto|incapable|never\s(?:succeeds?|solves?)",
    ),
)


def _pattern(words: Sequence[tuple[Sense, str]]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?P<{sense}>\b(?:{form})\b)" for sense, form in words), re.IGNORECASE)


_SENSES: tuple[Sense, ...] = ("up", "down", "good", "bad", "differs", "equal")
_COMPARATIVE, _SUPERLATIVE, _ADJECTIVE = _pattern(_WORDS), _pattern(_TOP), _pattern(_MARKED)
_NO_SUPERLATIVE = re.compile(
    r"\bat (?:most|least|best|worst)\b|\bmost of\b|\bfor the most part\b|\bmost (?:often|likely)\b", re.I
)
_IDIOM = re.compile(
    r"\bsee (?:above|below)\b|\b(?:listed|shown|given|described|named) (?:above|below)\b"
    r"|\b(?:above|below|more than|less than|fewer than) chance\b",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"\b(?:above|below)(?=\s*[.:,;)]|\s*$)", re.IGNORECASE)
_NUMBER_NEXT = re.compile(r"\s*(?:than\s*)?[+\u2212-]?\d")
_LIST_NEXT = re.compile(rf"\s*(?:than\s)?[^:;{FILLER}\d]*{FILLER}+\s?(?::|\(|,?\s?with\b|\u2013|\u2014)", re.IGNORECASE)
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_COUNTED_HIGHER = re.compile(
    r"higher|lower|beats?|ahead of|w[io]ns?\s(?:against|over)|los(?:es|t|e)\sto", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not?|never|neither|nor|none|hardly|without|cannot|nothing)\b[^.;]{0,60}$|n't\b[^.;]{0,60}$", re.IGNORECASE
)
_CLAUSE = re.compile(r";|,?\s\b(?:while|whereas|but|although|though)\b", re.IGNORECASE)
_AMONG = re.compile(r"\b(?:among|one of|some of)\b(?:\s\w+){0,3}\s$", re.IGNORECASE)
_ORDINAL = re.compile(r"\b(second|third|fourth|fifth)[\s-](?:\w+\s)?$", re.IGNORECASE)
_PLACES = {"second": 2, "third": 3, "fourth": 4, "fifth": 5}


def claims(word: str) -> bool:
    """Return whether a word by itself is one that compares or judges, such as *weak*."""
    return any(pattern.fullmatch(word) for pattern in (_COMPARATIVE, _SUPERLATIVE, _ADJECTIVE))


def says_less(text: str) -> bool:
    """Return whether the first comparison of a text, names blanked, is of less than something."""
    match = _COMPARATIVE.search(text)
    return match is not None and _sense(match) in ("down", "bad")


WEAK, STRONG = ("weak", "worse"), ("strong", "better")
Problem = tuple[StrikeKind, str]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its text with where it begins, and what is cited in it, in order, with where each reference begins."""

    text: str
    start: int
    cited: tuple[tuple[int, Fact], ...]

    @property
    def cells(self) -> list[tuple[int, Fact]]:
        """The cells with a number among what is cited."""
        return [(at, fact) for at, fact in self.cited if fact.value is not None]


def check_comparisons(text: str, stretches: Sequence[Place], *, named: bool) -> Problem | None:
    """Return what is wrong with a comparison of a sentence, or None.

    Parameters
    ----------
    text : str
        The sentence, references and names blanked.
    stretches : sequence of Place
        Its pieces and what they cite.
    named : bool
        Whether it names a model, a leaf or a category.

    Returns
    -------
    tuple or None
        The kind of strike and the reason.

    Notes
    -----
    A comparison of two cells holds where their values go that way and their 95 % intervals do not overlap (a cell
    without an interval is a number that the other's interval has to leave out); of a cell that is a difference, where its
    interval leaves out zero. In a table that marks its rows by a rule the mark decides. A superlative of size is a
    statement about a column; *best* and *worst* claim a difference and need the mark, too, where there is one.
    """
    cited = tuple((one.end, fact) for one in stretches for fact in one.facts)
    for clause in _clauses(text, cited):
        for problem in (*_comparatives(clause, bool(cited)), *_superlatives(clause), *_adjectives(clause, named)):
            if problem is not None:
                return problem
    return None


def _clauses(text: str, cited: Sequence[tuple[int, Fact]]) -> Iterator[Clause]:
    edges = [0, *(match.start() for match in _CLAUSE.finditer(text)), len(text)]
    for start, end in pairwise(edges):
        here = tuple((at - start, fact) for at, fact in cited if start <= at < end)
        yield Clause(text[start:end], start, here)


def _comparatives(clause: Clause, cites: bool) -> Iterator[Problem | None]:
    skipped = [(match.start(), match.end()) for match in _IDIOM.finditer(clause.text)]
    for match in _COMPARATIVE.finditer(clause.text):
        trailing = _TRAILING.match(clause.text, match.start()) is not None
        if any(low <= match.start() < high for low, high in skipped) or (trailing and not _dangling(clause, match)):
            continue
        sense = _sense(match)
        denied = _NEGATION.search(clause.text[: match.start()]) is not None
        yield _compare(clause, match, sense, denied=denied, cites=cites)


def _dangling(clause: Clause, match: re.Match[str]) -> bool:
    """Whether *above* or *below* ends a statement about something that is cited before it."""
    return any(at <= match.start() and fact.value is not None for at, fact in clause.cited)


def _compare(clause: Clause, match: re.Match[str], sense: Sense, *, denied: bool, cites: bool) -> Problem | None:
    word = match[0].casefold()
    if any(fact.column is not None and word in fact.column.name.casefold().split() for _, fact in clause.cells):
        return None  # the column itself is called so: what it says is what its number says
    differences = [(at, fact) for at, fact in clause.cells if fact.kind == "difference"]
    if differences:
        fact = min(differences, key=lambda one: abs(one[0] - match.start()))[1]
        return _judge(_sign(fact, sense), _sure(fact), sense, denied=denied, word=word, what=fact.ref)
    if _COUNTED_HIGHER.fullmatch(word) and any(fact.winner for _, fact in clause.cells):
        return None  # how often one of two is the higher: held against who is said to be (`claims`)
    before = [fact for at, fact in clause.cells if at <= match.start()]
    after = [fact for at, fact in clause.cells if at > match.start()]
    pair = _pair(before, after)
    if pair is not None and not before and _listed(clause, match):
        pair = pair[::-1]
    if pair is None and len(before) >= 2 and sense in ("differs", "equal"):
        pair = before[-2], before[-1]
    if pair is not None:
        first, second = pair
        what = f"{first.ref} with {second.ref}"
        if first.scale != second.scale:
            return "wrong_unit", f"it compares ({word!r}) what is not on one scale: {what}"
        if _undecided(first, sense, denied=denied):
            return "no_evidence", f"{word!r} does not follow from {what}: neither more nor less of it is better"
        return _judge(_way(first, second, sense), _apart(first, second), sense, denied=denied, word=word, what=what)
    if not before and _NUMBER_NEXT.match(clause.text, match.end()):
        return None  # a bound such as "more than 40", which was held against its cell as a number
    if len(clause.cells) <= 1:
        marks = [fact.mark for _, fact in clause.cited if fact.ruled]
        if marks:
            return _by_mark(marks, sense, denied=denied, word=word)
    if sense == "equal" or (denied and not clause.cells):
        return None
    if not cites or not clause.cited:
        return "uncited_claim", f"it compares ({word!r}) and cites nothing that is compared"
    return "uncited_claim", f"it compares ({word!r}) with something that it does not cite"


def _listed(clause: Clause, match: re.Match[str]) -> bool:
    """Whether both cells stand behind what compares, in order: `A is lower than B: 2.5 [...] against 4.3 [...]`."""
    first, second = [at for at, _ in clause.cells if at > match.start()][:2]
    if _THAN.search(clause.text, match.end(), first) is None and _THAN.search(clause.text, first, second) is not None:
        return True
    return FILLER in clause.text[: match.start()] and _LIST_NEXT.match(clause.text, match.end()) is not None


def _undecided(fact: Fact, sense: Sense, *, denied: bool) -> bool:
    """Whether a column cannot say who is better, or, being counted and not estimated, whether two surely differ."""
    if denied or fact.column is None:
        return False
    return fact.column.better is None if sense in ("good", "bad") else sense == "differs" and fact.kind == "count"


def _pair(before: Sequence[Fact], after: Sequence[Fact]) -> tuple[Fact, Fact] | None:
    """Return what is compared with what: the nearest before the word with the first behind it; else the two behind it."""
    if before and after:
        return before[-1], after[0]
    if len(after) >= 2:
        return after[1], after[0]
    return None


def _judge(way: int, sure: bool, sense: Sense, *, denied: bool, word: str, what: str) -> Problem | None:
    """Hold a comparison against its direction (1: as it says, -1: the reverse, 0: neither) and against its interval."""
    if sense == "equal" or denied:
        against = sense in ("equal", "differs") or way > 0
        contrary = sense == "equal" and denied
        if contrary:
            return None if sure else ("no_evidence", f"the figures do not bear out that {what} are not {word}")
        if sure and against:
            return "denied_difference", f"it denies ({word!r}) a difference that the figures bear out: {what}"
        return None
    if way < 0 or (way == 0 and sense != "differs"):
        return "wrong_direction", f"{word!r} is the wrong way round: {what}"
    if not sure:
        return "no_evidence", f"{word!r} is more than the intervals bear out: {what}"
    return None


def _by_mark(marks: Sequence[str], sense: Sense, *, denied: bool, word: str) -> Problem | None:
    """Hold a comparison with the rest against the mark that the rule gave the cited row."""
    wanted = STRONG if sense in ("up", "good") else WEAK if sense in ("down", "bad") else (*WEAK, *STRONG)
    contrary = WEAK if wanted == STRONG else STRONG
    if sense == "equal" or denied:
        bad = any(mark in wanted for mark in marks)
        return ("denied_difference", f"it denies ({word!r}) what its row is marked as: {marks[0]}") if bad else None
    if any(mark in wanted for mark in marks):
        return None
    if any(mark in contrary for mark in marks) and sense != "differs":
        return "wrong_direction", f"{word!r} is the wrong way round: its row is marked {marks[0]!r}"
    return "no_evidence", f"{word!r} needs a row that the rule marks so; its row is marked {marks[0] or 'nothing'!r}"


def _superlatives(clause: Clause) -> Iterator[Problem | None]:
    skipped = [(match.start(), match.end()) for match in _NO_SUPERLATIVE.finditer(clause.text)]
    for match in _SUPERLATIVE.finditer(clause.text):
        if any(low <= match.start() < high for low, high in skipped):
            continue
        yield _extreme(clause, match)


def _extreme(clause: Clause, match: re.Match[str]) -> Problem | None:
    word, sense = match[0].casefold(), _sense(match)
    after = [fact for at, fact in clause.cells if at > match.start()]
    before = [fact for at, fact in clause.cells if at <= match.start()]
    if not after and not before:
        return "uncited_claim", f"{word!r} cites no cell"
    fact = after[0] if after else before[-1]
    ahead = clause.text[: match.start()]
    place = _ORDINAL.search(ahead)
    wanted = _PLACES[place[1].casefold()] if place else 1
    ranks = [_rank(fact, values, sense) for values in _peers(fact)]
    if _AMONG.search(ahead):
        right = any(better < max(3, len(values) / 4) for better, _, values in ranks)
    else:
        right = any(better < wanted <= better + equal for better, equal, _ in ranks)
    if not right:
        return "wrong_direction", f"{fact.ref} is not the {word} of its column"
    if sense in ("good", "bad") and fact.ruled and fact.mark not in (STRONG if sense == "good" else WEAK):
        return "no_evidence", f"{word!r} needs a row that the rule marks so; that of {fact.ref} is not"
    return None


def _peers(fact: Fact) -> Iterator[list[float]]:
    """Yield what a cell may be the extreme of: its column; in a table with a model a column, its line, too."""
    if fact.column is None or fact.row is None:
        return
    at = fact.asset.columns.index(fact.column)
    column = [row.cells[at].value for row in fact.asset.rows if bool(row.node) == bool(fact.row.node)]
    yield [value for value in column if isinstance(value, int | float)]
    alike = [
        cell.value
        for cell, other in zip(fact.row.cells, fact.asset.columns, strict=True)
        if (other.kind, other.unit, other.better) == (fact.column.kind, fact.column.unit, fact.column.better)
    ]
    if len(alike) > 1:
        yield [value for value in alike if isinstance(value, int | float)]


def _rank(fact: Fact, values: list[float], sense: Sense) -> tuple[int, int, list[float]]:
    """Return how many of its column are further that way than a cell, how many are level with it (itself too), and all."""
    value = fact.value or 0.0
    up = (sense == "good") == (_better(fact) > 0) if sense in ("good", "bad") else sense == "up"
    further = sum(one > value if up else one < value for one in values)
    return further, sum(one == value for one in values), values


def _adjectives(clause: Clause, named: bool) -> Iterator[Problem | None]:
    """Hold *weak* and *strong* against the marks of the rows that are cited."""
    for match in _ADJECTIVE.finditer(clause.text):
        sense = _sense(match)
        denied = _NEGATION.search(clause.text[: match.start()]) is not None
        marks = [fact.mark for _, fact in clause.cited if fact.ruled and fact.row is not None]
        if marks:
            yield _by_mark(marks, sense, denied=denied, word=match[0].casefold())
        elif not denied and any(fact.node and fact.row is not None for _, fact in clause.cited):
            word = match[0].casefold()
            yield (
                "no_evidence",
                f"{word!r} needs a row of a table that marks its rows, such as leaves/MODEL or contrasts",
            )
        elif named and not clause.cited and not denied:
            yield "uncited_claim", f"{match[0].casefold()!r} is said of something named and cites nothing"


def _sense(match: re.Match[str]) -> Sense:
    return next(sense for sense in _SENSES if match.groupdict().get(sense) is not None)


def _better(fact: Fact) -> int:
    """Return 1 where more is better, -1 where less is."""
    return -1 if fact.column is not None and fact.column.better == "lower" else 1


def _way(first: Fact, second: Fact, sense: Sense) -> int:
    one, other = first.value or 0.0, second.value or 0.0
    sign = (one > other) - (one < other)
    if sense in ("good", "bad"):
        sign *= _better(first)
    return -sign if sense in ("down", "bad") else sign if sense in ("up", "good") else 1


def _sign(fact: Fact, sense: Sense) -> int:
    value = fact.value or 0.0
    sign = (value > 0) - (value < 0)
    if sense in ("good", "bad"):
        sign *= _better(fact)
    return -sign if sense in ("down", "bad") else sign if sense in ("up", "good") else 1


def _sure(fact: Fact) -> bool:
    """Whether a difference is more than chance: by its row's mark where its table has marks, else by its interval."""
    if fact.ruled:
        return fact.mark in (*WEAK, *STRONG)
    if fact.low is None or fact.high is None:
        return fact.value != 0
    return fact.low > 0 or fact.high < 0


def _apart(first: Fact, second: Fact) -> bool:
    """Whether two cells differ by more than their intervals leave open."""
    for one, other in ((first, second), (second, first)):
        if one.ruled and one.node and not other.node and one.model == other.model and one.kind == other.kind == "score":
            return one.mark in (*WEAK, *STRONG)
    low, high = _ends(first), _ends(second)
    return low[0] > high[1] or low[1] < high[0]


def _ends(fact: Fact) -> tuple[float, float]:
    value = fact.value or 0.0
    if fact.low is None or fact.high is None:
        return value, value
    return fact.low, fact.high
