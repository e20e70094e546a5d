"""Diagnostic reports, sentence by sentence, with references such as `{models:2.score}`; and the rows that a judge picks."""

import re
from collections.abc import Iterator

from dokimasia.domain.diagnosis.report import MOST_WORDS, ParsedReport, WrittenSentence
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reply import short, spoken

MOST_CHARACTERS = 200_000
"""The maximum number of characters of a report; a longer reply is not read."""

MOST_PICKS = 120
"""The maximum number of references to rows in a reply; the prompt asks for far fewer."""

_PLACE = re.compile(r"\{[^{}\n]{1,600}\}")
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,600})\]")
_ROW = re.compile(r"[a-z0-9-]+(?:/[^\s:\[\]]+)?:.+")
_SEVERAL = re.compile(r"(?P<table>.+:)(?P<rows>[0-9]{1,4}(?:\s{0,4}(?:,|-|\u2013|to)\s{0,4}[0-9]{1,4}){1,40})")
_UP_TO = re.compile(r"([0-9]{1,4})\s{0,4}(?:-|\u2013|to)\s{0,4}([0-9]{1,4})")
_END = re.compile(r"[.!?]+[\"')*_\u201d\u2019]{0,3}(?=\s|$)")
_ABBREVIATIONS = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|cf|vs|approx|resp|no|fig|al|etc)\.$", re.IGNORECASE)
LONGEST_ABBREVIATION = 8
"""Characters searched for an abbreviation before a full stop, including the space before it."""

_MARKER = re.compile(r"^\s*(?:[-*\u2022\u00b7]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^\s*#{1,6}\s+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_EMPHASIS = re.compile(rf"({_PLACE.pattern})|\*\*|__|`")


def parse_report(text: str, *, limit: int = MOST_WORDS, cut: bool = False) -> ParsedReport:
    """Return the sentences of a report as written, with their references.

    Sentences end at line breaks and at full stops, question and exclamation marks before a space, but not inside a
    reference. Marks of lists and emphasis are removed, headings are flagged. A reference counts as one word.

    Args:
        text: the judge's reply.
        limit: words of the report, at most.
        cut: whether a longer report is cut after the last sentence that fits; otherwise it is refused.

    Raises:
        UnparsableReply: there is no sentence, or there are too many words.
    """
    reply = spoken(text)
    if len(reply) > MOST_CHARACTERS and not cut:
        raise UnparsableReply(f"the report has {len(reply):,} characters; write at most {limit:,} words")
    body = reply[:MOST_CHARACTERS]
    sentences: list[WrittenSentence] = []
    words = 0
    kept_words = 0
    paragraph = 0
    full = len(reply) > MOST_CHARACTERS
    for line in body.splitlines():
        if not line.strip():
            paragraph += bool(sentences) and sentences[-1].paragraph == paragraph
            continue
        if _FENCE.match(line):
            continue
        for sentence in _sentences(line, paragraph):
            size = len(_PLACE.sub("place", sentence.written).split())
            words += size
            if not full and kept_words + size <= limit:
                sentences.append(sentence)
                kept_words += size
            else:
                full = True
    if not any(not sentence.heading for sentence in sentences):
        raise UnparsableReply("there is no sentence in the reply")
    if full and not cut:
        raise UnparsableReply(f"the report has {words:,} words, more than the {limit:,} that it may have")
    return ParsedReport(sentences=tuple(sentences), words=words, cut=full)


def parse_picks(text: str) -> list[str]:
    """Return the rows that a judge lists as worth reporting, in its order, each once; `[leaves/a:2-4]` names three.

    Raises:
        UnparsableReply: it lists no row, or more than 120.
    """
    body = spoken(text)[:MOST_CHARACTERS]
    pieces = (piece.strip().strip("`") for match in _BRACKETS.finditer(body) for piece in match[1].split(";"))
    references = list(
        dict.fromkeys(reference for piece in pieces if _ROW.fullmatch(piece) for reference in _each(piece))
    )
    if not references:
        raise UnparsableReply(
            f"'{short(body)}' lists no row; name each as a reference in brackets such as [leaves/name:3], one a line"
        )
    if len(references) > MOST_PICKS:
        raise UnparsableReply(f"it lists {len(references)} rows; pick at most 16, the most telling ones")
    return references


def _each(piece: str) -> Iterator[str]:
    """Yield the single references of a reference to several rows, by a range or a list of numbers."""
    several = _SEVERAL.fullmatch(piece)
    if several is None:
        yield piece
        return
    for part in several["rows"].split(","):
        ends = _UP_TO.fullmatch(part.strip())
        first, last = (int(ends[1]), int(ends[2])) if ends else (int(part), int(part))
        yield from (f"{several['table']}{row}" for row in range(first, min(last, first + MOST_PICKS) + 1))


def _sentences(line: str, paragraph: int) -> list[WrittenSentence]:
    heading = _HEADING.match(line) is not None
    text = _HEADING.sub("", line, count=1) if heading else line
    text = _EMPHASIS.sub(lambda match: match[1] or "", _MARKER.sub("", text, count=1)).strip().rstrip("#").strip()
    return [WrittenSentence(written=piece, paragraph=paragraph, heading=heading) for piece in _split(text)]


def _split(text: str) -> list[str]:
    """Return the sentences of a line; full stops inside references and after abbreviations end none."""
    covered = [(match.start(), match.end()) for match in _PLACE.finditer(text)]
    pieces: list[str] = []
    start = position = passed = 0
    while (end := _END.search(text, position)) is not None:
        position = end.end()
        while passed < len(covered) and covered[passed][1] <= end.start():
            passed += 1
        if passed < len(covered) and covered[passed][0] <= end.start():
            continue
        if _ABBREVIATIONS.search(text[max(start, end.start() - LONGEST_ABBREVIATION) : end.start() + 1]):
            continue
        piece = text[start:position].strip()
        if piece:
            pieces.append(piece)
        start = position
    rest = text[start:].strip()
    return [*pieces, rest] if rest else pieces
