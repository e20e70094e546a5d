"""Criterion scores: one line for each criterion, by its number or its capability path (ATOM, section 3.3)."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dokimasia.domain.judgement import MAX_REASON, CriterionScore
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import form
from dokimasia.parsing.own import beside, outside, own_form, split_lines
from dokimasia.parsing.reply import DECORATION, MAX_LINE, NAMED, listed, path_key, refuse, short, spoken, tried

T = TypeVar("T")

LOWEST, HIGHEST = 1, 5

_BULLETS = " \t\r>|#\u2022\u00b7\u2013\u2014-+_"
_SCORE = form(r"score")
_LINE = form(
    r"(?:(?:criterion|checkpoint|number|no\.?)?~\(?(?P<number>[0-9]{1,6})\)?(?![0-9]))?"
    r"[\s|:.)\-\u2013\u2014]{0,12}"
    r"(?P<path>(?:<[^<>\n]{1,200}>~){1,8})?"
    r"[\s|:.)\-\u2013\u2014]{0,12}"
    r"score~[:=]?~"
    r"(?P<brackets>\[{1,2}~(?P<score>[^\[\]\n]{0,40}?)~\]{1,2})?"
    r"(?P<rest>.*)"
)
_ANOTHER = form(r"(?<!weight )(?<!weight: )\[~(?:[0-9]|not[ _-]{0,4}stated)")
_BEHIND = form(
    r"[.;,]?\s{0,9}(?:[|,(]?\s{0,9}weight~[:=]?~\[?[0-9]{1,3}(?:\.[0-9]{1,4})?\]?\)?)?\s{0,9}[|.;,]?[\s_]{0,9}"
)
"""The permitted text after a score on its line: its criterion's weight."""
_SUMMARY = form(
    r"(?:the )?(?:overall|total|average|mean|weighted)(?: weighted| average| mean)?(?: scores?)?~[:=|]~\[?[0-9]{1,3}"
    r"(?:\.[0-9]{1,4})?\]?(?: ?/ ?5| out of 5)?\.?"
)
_WHOLE = re.compile(r"([0-9]{1,6})(?:\.0{1,4})?", re.ASCII)
"""An integer, possibly followed by a point and zeros."""
_SILENT = form(r"not[ _-]{0,4}stated")
_STATED = form(r"score[*`_]{0,4}~[:=]?~[*`_]{0,4}\[{1,2}[^\[\]\n]{0,40}\]{1,2}")
"""The beginning of a score line that a reason may follow, up to the score's bracket."""
_REASON = form(
    r"(?P<weight>[*`_.]{0,4}~(?:[|,(]~weight~[:=]?~\[?[0-9]{1,3}(?:\.[0-9]{1,4})?\]?\)?)?)"
    r"[*`_\s.;,]{0,9}(?P<bar>[|:\u2013\u2014]|-(?=\s))?[*`_\s]{0,9}(?P<label>reasons?[*`_]{0,4}~[:=])?(?P<reason>.*)"
)
"""The text after a score: an optional weight, then a bar, the word `reason` or both, and the reason."""
_REASON_LINE = form(
    r"[\s*`_>|#\u2022+-]{0,12}(?:(?:criterion|checkpoint|number|no\.?)?~\(?(?P<number>[0-9]{1,6})\)?"
    r"[\s|:.)*\-\u2013\u2014]{1,12})?reasons?[*`_]{0,4}~[:=](?P<reason>.*)"
)
"""A separate line with the reason for a score: that of the line above unless it names a criterion."""
_NO_REASON = form(r"(?:sentence|reason|n/?a|none|null|<[^<>]{0,99}>|\[[^\[\]]{0,99}\]|[\W_]{0,99})")
"""The text in place of a missing reason, such as the placeholder of the form."""
_LOOSE = re.compile(r"\A\s?[*_`]{1,3}(?=\s|\Z)")
"""Marks of emphasis that the word before a reason leaves at its beginning."""
_MARK = "\ue000"
"""The character that encloses the number of a reason removed from a line."""
_MARKED = re.compile(f"{_MARK}([0-9]{{1,9}}){_MARK}")
_UNSEEN: dict[int, str | None] = {
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))),
    **dict.fromkeys((*range(0x09, 0x0E), 0x85), " "),
}
"""Control characters, which are left out or spaces, and those that change the direction of the text behind a reason."""
SILENT = CriterionScore(LOWEST, stated=False)
"""The score of a criterion that the response does not address: 1, as published."""


def parse_scores(text: str, expected: int | Sequence[str]) -> list[int]:
    """Return a judge's scores of one response, integers from 1 to 5 in the order of the criteria.

    As `parse_criterion_scores`, without whether the response addresses each criterion: one that it does not has a 1.

    Raises:
        UnparsableReply, ValueError: as `parse_criterion_scores`.
    """
    return [criterion.score for criterion in parse_criterion_scores(text, expected)]


def parse_criterion_scores(text: str, expected: int | Sequence[str]) -> list[CriterionScore]:
    """Return a judge's scores of one response, in the order of the criteria, with whether each is addressed.

    A score is a line `N | score: [S]` with the criterion's number N, counted from 1. If the criteria's capability paths are
    given and differ, `<A><B><C> | score: [S]` is read, too. A criterion that the response does not address has
    `[not stated]` instead of a score. Bullets, bold type, a fence around the whole reply, headings and a weight after the
    brackets (` | Weight 3`) are ignored. Any other words after a score or on another line could change what the scores
    mean: the reply is refused.

    Args:
        text: the judge's reply.
        expected: the number of criteria, or their capability paths in order.

    Returns:
        Scores from 1 to 5, each with whether the response addresses the criterion; one that it does not address has a 1.

    Raises:
        UnparsableReply: a criterion has no score, several, or one that is not an integer from 1 to 5; or there is a score
            for another criterion. The reason names all faults, so that it can be sent back.
        ValueError: no criterion is expected.
    """
    return _read_scores(text, expected, _score)


def parse_reasoned_scores(text: str, expected: int | Sequence[str]) -> list[CriterionScore]:
    """Return a judge's scores of one response as `parse_criterion_scores`, each with the reason after it.

    A line is `N | score: [S] | reason: SENTENCE`; the word `reason` may be omitted, or be on the next line with the
    sentence. A reason is never read as a score, whatever it contains, since it is removed before the scores are read. A
    score without a reason is kept, and its reason is None. Two scores on a line, or words directly after a bracket, are
    refused as without reasons.

    Args:
        text: the judge's reply.
        expected: as for `parse_criterion_scores`.

    Returns:
        The scores; their reasons on one line, without control characters, cut to 300 characters.

    Raises:
        UnparsableReply, ValueError: as `parse_criterion_scores`.
    """
    plain, reasons = _reasons_aside(spoken(text).replace(_MARK, ""))
    by_number: dict[int, str] = {}
    for number, reason in reasons:
        if number is not None:
            by_number[number] = reason

    def score_of(match: re.Match[str], number: int) -> CriterionScore:
        marked = _MARKED.search(match["rest"])
        score = _score(match, number, behind="write '| reason: ...' behind the bracket")
        reason = by_number.get(number) if marked is None else reasons[int(marked[1])][1]
        return score._replace(reason=reason_of(reason))

    return _read_scores(plain, expected, score_of)


def reason_of(value: object) -> str | None:
    """Return a judge's reason in its stored form; None if there is none.

    Examples:
        >>> reason_of("  It names\\nthe *left* bar. "), reason_of("SENTENCE"), reason_of(None)
        ('It names the *left* bar.', None, None)
    """
    if not isinstance(value, str):
        return None
    text = value[: 4 * MAX_REASON].encode("utf-8", "ignore").decode().translate(_UNSEEN)
    line = _LOOSE.sub("", " ".join(text.split()).strip("|")).strip()
    if _NO_REASON.fullmatch(line.translate(DECORATION)):
        return None
    if len(line) <= MAX_REASON:
        return line
    return line[: MAX_REASON - 1] + "\u2026"


def _reasons_aside(text: str) -> tuple[str, list[tuple[int | None, str]]]:
    """Return a reply with each reason replaced by its place in the list, and the reasons, with the criterion if one is named."""
    lines: list[str] = []
    reasons: list[tuple[int | None, str]] = []
    bare: int | None = None
    """The place of the last line, if it has a score but no reason."""
    for line in text.split("\n"):
        reason_line = _REASON_LINE.fullmatch(line)
        stated = None if reason_line else _STATED.search(line)
        if reason_line is not None:
            number = int(reason_line["number"]) if reason_line["number"] else None
            if number is None and bare is not None:
                lines[bare] += _marked(len(reasons))
            reasons.append((number, reason_line["reason"]))
            lines.append("")
        elif (
            stated is not None and (behind := _REASON.fullmatch(line, stated.end())) is not None and _is_reason(behind)
        ):
            lines.append(line[: stated.end()] + behind["weight"] + _marked(len(reasons)))
            reasons.append((None, behind["reason"]))
        else:
            lines.append(line)
        if stated is not None and not lines[-1].endswith(_MARK):
            bare = len(lines) - 1
        elif line.strip():
            bare = None
    return "\n".join(lines), reasons


def _is_reason(behind: re.Match[str]) -> bool:
    """Return whether the text after a score is its reason: labelled as such, or words after a bar that do not begin
    like a score.
    """
    bar, label, reason = behind.group("bar", "label", "reason")
    if label is not None:
        return True
    words = reason.strip()
    if bar is None or _STATED.match(words) or _ANOTHER.match(words) or (bar != "|" and words[:1].isdigit()):
        return False
    return any(map(str.isalpha, words))


def _marked(place: int) -> str:
    return f" {_MARK}{place}{_MARK}"


def _read_scores(
    text: str, expected: int | Sequence[str], score_of: Callable[[re.Match[str], int], CriterionScore]
) -> list[CriterionScore]:
    """Return the scores of a reply, each as `score_of` reads its line."""
    paths = () if isinstance(expected, int) else tuple(_plain_path(path) for path in expected)
    count = expected if isinstance(expected, int) else len(paths)
    if count < 1:
        raise ValueError("at least one criterion is expected")

    def is_stated(line: str) -> bool:
        return _stated_in(line) is not None

    statements = own_form(text, is_stated)
    lines, rest = _score_lines(statements)
    where = outside(text, statements, lambda part: sum(map(is_stated, part.split("\n"))))
    missing = f"there is no line of the form 'N | score: [S]'{where} for criterion"
    faults: list[str] = []
    scores = tried(
        faults, scores_of, lines, count, lambda line: _criterion(line, count, paths), score_of, missing=missing
    )
    faults += beside(rest)
    if scores is None or faults:
        raise UnparsableReply("; ".join(faults))
    return scores


def scores_of(
    rows: Iterable[T],
    count: int,
    number_of: Callable[[T], int],
    score_of: Callable[[T, int], CriterionScore],
    *,
    missing: str,
) -> list[CriterionScore]:
    """Return the scores that rows state, in the order of the criteria.

    Args:
        rows: rows about one criterion each.
        count: the number of criteria.
        number_of: the number of the criterion that a row is about, from 1 to `count`.
        score_of: a row's score, given its number.
        missing: the beginning of the reason that lists the criteria without a row.

    Raises:
        UnparsableReply: a row cannot be read, or a criterion has no row or several. The reason names all faults.
    """
    scores: dict[int, CriterionScore | None] = {}
    problems: dict[str, None] = {}
    for row in rows:
        try:
            number = number_of(row)
            if number in scores:
                raise UnparsableReply(f"criterion {number} is scored more than once")
            scores[number] = None
            scores[number] = score_of(row, number)
        except UnparsableReply as problem:
            problems[problem.reason] = None
    unscored = set(range(1, count + 1)) - set(scores)
    if unscored:
        problems[f"{missing} {listed(unscored)}"] = None
    refuse(list(problems)[-NAMED:])
    return [score for _, score in sorted(scores.items()) if score is not None]


def _score_lines(said: str) -> tuple[list[re.Match[str]], list[str]]:
    """Return the lines that state a criterion's score, and all other lines except a summary of the scores."""
    score_lines: list[re.Match[str]] = []
    lines, rest = split_lines(_SCORE, said)
    for line in lines:
        match = _stated_in(line)
        if match is None:
            rest.append(line)
        else:
            score_lines.append(match)
    return score_lines, [
        line for line in rest if _SUMMARY.fullmatch(line.translate(DECORATION).strip(_BULLETS)) is None
    ]


def _stated_in(line: str) -> re.Match[str] | None:
    """Return the match of a line that states a criterion's score, and None of any other."""
    match = _LINE.fullmatch(line[:MAX_LINE].translate(DECORATION).lstrip(_BULLETS).rstrip(" \t\r|"))
    if match is not None and match.group("number", "path") != (None, None):
        return match
    return None


def _criterion(match: re.Match[str], count: int, paths: Sequence[str]) -> int:
    """Return the number of the criterion that a line is about."""
    digits, written = match.group("number", "path")
    number = int(digits) if digits else None
    if number is not None and not 1 <= number <= count:
        raise UnparsableReply(f"there is a score for criterion {number}, but the criteria are 1 to {count}")
    if written is None or not paths:
        if number is None:
            raise UnparsableReply(f"the score of {short(written or '')} names no criterion by its number")
        return number
    path = _plain_path(written)
    numbers = [at for at, known in enumerate(paths, start=1) if known == path]
    if number is not None:
        if number not in numbers:
            raise UnparsableReply(f"criterion {number} is given the path {short(written)}, which is not its own")
        return number
    if not numbers:
        raise UnparsableReply(f"there is a score for {short(written)}, which was not asked")
    if len(numbers) > 1:
        raise UnparsableReply(f"the path {short(written)} belongs to several criteria: name them by number")
    return numbers[0]


def _score(match: re.Match[str], number: int, *, behind: str = "end the line with the bracket") -> CriterionScore:
    """Return the score that a line states; `behind` says what to do about words after it."""
    brackets, stated = match.group("brackets", "score")
    rest = _MARKED.sub("", match["rest"])
    if brackets is None:
        raise UnparsableReply(f"criterion {number} has no score in brackets: write '{number} | score: [S]'")
    if _ANOTHER.search(rest):
        raise UnparsableReply(f"criterion {number} has more than one score on its line")
    if _BEHIND.fullmatch(rest) is None:
        raise UnparsableReply(f"criterion {number} has '{short(rest.strip())}' behind its score: {behind}")
    if _SILENT.fullmatch(stated):
        return SILENT
    integer = _WHOLE.fullmatch(stated)
    if integer is None or not LOWEST <= int(integer[1]) <= HIGHEST:
        raise UnparsableReply(f"criterion {number} has the score '{short(stated)}', not an integer from 1 to 5")
    return CriterionScore(int(integer[1]), stated=True)


def _plain_path(path: str) -> str:
    """Return a path in one spelling: no space around its parts, case folded, without decoration."""
    return path_key(path.translate(DECORATION)) or path.strip().casefold()
