"""A reply's own statements, without what it quotes, fences, strikes out, comments, thinks or retracts.

The rule for every parser of a score, a verdict or a vote: `own` removes the parts that a reply only shows. Nothing next
to a statement may change it: before it, in its sentence, only introductory words are allowed, and after it only filler
words (`is_empty_talk`). A reply that says more is refused, and the judge is asked again.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import form
from dokimasia.parsing.reply import DECORATION, MAX_LINE, MAX_MATCHES, matches, short, spoken

LEFT_OUT = "\ufffc"
"""Replaces a part that was removed from a line, so that the rest of the line is not read as if it were whole."""

_ASIDE = r"(?P<name>think|thinking|thoughts?|scratchpad|reflection|draft|del|strike|s|blockquote|quote)"
_TAG = re.compile(rf"<(?:(?P<end>/?)\s{{0,9}}(?i:{_ASIDE})\s{{0,9}}>|(?P<comment>!--))", re.ASCII)
_MATERIAL = re.compile(r"^<<<(?!END )([A-Z][A-Z0-9_ ]{0,60}) ([0-9a-f]{16})>>>$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>[^`\n]*)", re.ASCII)
_QUOTED = re.compile(r" {0,3}>")
_SHOWN = re.compile(r"^ {0,3}(?:>|`{3}|~{3})", re.MULTILINE)
_STRUCK = re.compile(r"~~(?!~)(?:[^~\n]|\n(?!\s{0,99}\n)|~(?!~)){1,2000}~~(?!~)")
END_TOKEN = re.compile(r"(?:</s>|<\|(?:im_end|eot_id|end|endoftext)\|>)\s*\Z")
"""The token with which some servers end a reply."""
_SENTENCE = re.compile(r"[.!?](?=\s)|\n")
_INTRODUCED = re.compile(r":[\s*_]{0,9}\n\s{0,99}")
_MARKED = re.compile(r"[<>`~]")
"""Characters without which a reply has no quotes, fences, tags or comments."""
_SHOWN_THERE = "\ufffb"
"""The replacement for a quote or fence while the end of the surrounding words is searched."""
_IN_MARKS = re.compile(r'"[^"\n]{1,600}"|\u201c[^\u201c\u201d\n]{1,600}\u201d|`[^`\n]{1,600}`')
_AS_THE_RESPONSES = re.compile(
    r"(?i)\b(?:response|answer|candidate|assistant|description|text)\b[^.!?\n]{0,80}"
    r"\b(?:says?|said|states?|reads?|writes?|wrote|contains?|claims?|includes?|ends?|begins?|closes?|quotes?)\b[^.!?\n]{0,60}:\s*$"
)
"""The end of a line that introduces the following text as the response's words."""
_FORMAL = re.compile(
    r"\[\s{0,9}(?:\d|not\b|yes\b|no\b)|[|:=]\s{0,9}\[?\s{0,9}(?:\d|yes\b|no\b)|(?i:\bscored?\b.*\d|\d.*\bscored?\b)"
)
"""Part of a form, or a number next to the word score."""
_LEADING = re.compile(
    r"(?i)\b(?:follow\w*|below|these|this|those|thus|here|so|such|form|lines?|if|unless|otherwise|would|could|should|may|might|"
    r"ask\w*|demand\w*|want\w*|request\w*|instead|correct\w*|scor\w*|rat(?:e|ed|ing|ings)|verdicts?|not|next|then|true|false)\b"
)
"""Words in the last sentence before a form that could introduce, condition or deny it."""
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_PLAIN = re.compile(r"[\w\s:|,.;'\u2019*_#=()\-\u2013\u2014\"]*")
_TALK = """
    a about again and answers are as assessment at checkpoint checkpoints criteria criterion done domain each end evaluation
    final follow following follows for form found hence here hm hmm i in is it judgement judgment let line lines list me model
    more my n now of ok okay once output overall ranking rating ratings repeat report reply result results review score scored
    scores see so sure the their then there therefore these they this thus to verdict verdicts vote weight weights well what
"""
"""Filler words that introduce or end a statement and cannot change its meaning."""
_TALKED = frozenset(_TALK.split())


def own(text: str) -> str:
    """Return a reply without the parts that are not its own statements.

    Removed are tagged blocks of thought, drafts and quotes anywhere in the reply, comments, struck-out text, block quotes,
    fenced code, and material between a prompt's own fences. A fence or quote is read if it is the whole reply, except for
    introductory words.

    Raises:
        UnparsableReply: as `spoken`; or a thought, quote, comment, fence or the prompt's material is not closed, or is
            closed without being opened.
    """
    return _statements(text)


def _statements(text: str, shown: str | None = None) -> str:
    """Return a reply's own statements, with a line `shown` in place of each block quote and fence."""
    reply = spoken(text)
    if _MARKED.search(reply) is None:
        return reply
    reply = _without_blocks(_without_material(reply if "<s>" in reply else END_TOKEN.sub("", reply)))
    return _STRUCK.sub(LEFT_OUT, _without_quotes(reply, shown))


def own_form(text: str, is_line: Callable[[str], bool]) -> str:
    """Return a reply's own statements as `own` does, without reasoning before its form that only quotes.

    The form is the last lines of the reply for which `is_line` is true. The text before it is dropped if no word of it
    can change the form: it ends with a heading of filler words, with a quote and a blank line, or with a sentence and a
    blank line that does not lead to the form; and any quoted form is in quotation marks, or follows words that
    introduce it as the response's. Any other reply is returned whole, and its reader refuses the text around its form.

    Raises:
        UnparsableReply: as `own`.
    """
    reply = own(text)
    if is_empty_talk("\n".join(line for line in reply.split("\n") if not is_line(line))):
        return reply
    lines = _statements(text, _SHOWN_THERE).split("\n")
    begin = len(lines)
    while begin and (is_line(lines[begin - 1]) or is_empty_talk(lines[begin - 1])):
        begin -= 1
    introduced = bool(begin) and _AS_THE_RESPONSES.search(lines[begin - 1]) is not None
    while introduced and begin < len(lines) and lines[begin].strip():
        begin += 1
    before, last = lines[:begin], lines[begin:]
    first = next((place for place, line in enumerate(last) if is_line(line)), None)
    if first is None or not before:
        return reply
    headed = any(line.strip() and line != _SHOWN_THERE for line in last[:first])
    parted = not last[0].strip() or headed
    ends = "." if introduced or before[-1] == _SHOWN_THERE else without_quoted(before[-1]).strip()
    leads = not ends.endswith((".", "!")) or _LEADING.search(sentence_before(ends[:-1])) is not None
    if not parted or ((leads or introduced) and not headed) or _states_otherwise(before, is_line, introduced=headed):
        return reply
    return "\n".join(line for line in last if line != _SHOWN_THERE)


def _states_otherwise(before: Sequence[str], is_line: Callable[[str], bool], *, introduced: bool) -> bool:
    """Return whether the lines before a form state a form outside of quotes.

    With `introduced`, a paragraph after words that introduce it as the response's is a quote.
    """
    quoting = False
    for line in before:
        if not line.strip() or line == _SHOWN_THERE:
            quoting = False
        elif introduced and _AS_THE_RESPONSES.search(line):
            quoting = True
        elif not quoting and (is_line(line) or _FORMAL.search(without_quoted(line))):
            return True
    return False


def without_quoted(text: str) -> str:
    """Return a text without parts in quotation marks or in code on one line."""
    return _IN_MARKS.sub(LEFT_OUT, text)


def outside(text: str, statements: str, count: Callable[[str], int]) -> str:
    """Return ` outside of quotes and code` if a reply has more of a form than its own statements; else an empty text.

    Completes the reason that a form is missing; it does not mention quotes if the reply has no form anywhere.

    Args:
        text: the whole reply.
        statements: its own statements.
        count: returns the number of the form's occurrences in a text.
    """
    reply = spoken(text)
    if statements != reply and count(reply) > count(statements):
        return " outside of quotes and code"
    return ""


def is_empty_talk(text: str) -> bool:
    """Return whether a text is blank, punctuation, or only filler words (`The scores:`)."""
    if not text.strip() or len(text) > 2_000:
        return not text.strip()
    plain = text.translate(DECORATION).replace(LEFT_OUT, " ")
    words = [word.casefold() for word in _WORD.findall(plain)]
    return (
        len(words) <= 12
        and _PLAIN.fullmatch(plain) is not None
        and not re.search(r"\d", plain)
        and set(words) <= _TALKED
    )


def plainly(found: Sequence[re.Match[str]], said: str, *, tail: str = "", lead: re.Pattern[str] | None = None) -> None:
    """Refuse statements, such as `[[same]]`, if words around them could change their meaning.

    Args:
        found: the matches of the statements in `said`.
        said: the reply's own words.
        tail: a regular expression of what may follow a statement directly, such as the scale's `/10`.
        lead: a regular expression of what must not come before a statement in its sentence. Without it, only filler
            words may come before.

    Raises:
        UnparsableReply: there are such words; the reason quotes them.
    """
    behind = form(tail)
    for position, match in enumerate(found):
        begin = found[position - 1].end() if position else max(0, match.start() - 2_000)
        before = sentence_before(_INTRODUCED.sub(": ", said[begin : match.start()]))
        if (is_doubtful(before) if lead is None else lead.search(before)) or before[-1:].isalnum():
            raise UnparsableReply(
                f"'{short(before)}' stands before {match[0]}: write it on a line of its own, and plainly"
            )
        last = position + 1 == len(found)
        follows = behind.match(said, match.end())
        after = said[follows.end() if follows else match.end() : None if last else found[position + 1].start()]
        after = after if last else after.partition("\n")[0]
        if not is_empty_talk(after) or re.match(r"-|[,.]\w", after):
            raise UnparsableReply(
                f"'{short(after)}' stands behind {match[0]}: end with it, and write nothing behind it"
            )


def sentence_before(text: str) -> str:
    """Return the unfinished last sentence of a text."""
    return _SENTENCE.split(text)[-1]


def is_doubtful(before: str) -> bool:
    """Return whether the words before a statement, in its sentence, are more than filler words."""
    return not is_empty_talk(before) or before.rstrip().endswith(("-", '"'))


def split_lines(pattern: re.Pattern[str], said: str) -> tuple[list[str], list[str]]:
    """Return the lines that match a pattern, and the other lines, both in order; overlong lines are cut.

    Raises:
        UnparsableReply: more than a thousand lines match.
    """
    matching: list[str] = []
    rest: list[str] = []
    for line in filter(None, said.split("\n")):
        (matching if pattern.search(line.translate(DECORATION)) else rest).append(line[:MAX_LINE])
        if len(matching) > MAX_MATCHES:
            raise UnparsableReply(f"more than {MAX_MATCHES} lines of the reply could be meant")
    return matching, rest


def beside(lines: Iterable[str]) -> list[str]:
    """Return a fault if one of the lines outside the form is more than filler words; else an empty list."""
    other = next((line for line in lines if not is_empty_talk(line)), None)
    if other is None:
        return []
    return [f"beside the form stands '{short(other)}': reply in the form and with nothing else"]


def _without_material(text: str) -> str:
    """Return the text without material that it repeats between the prompt's fences."""
    if "<<<" not in text:
        return text
    pieces: list[str] = []
    position = 0
    for opening in matches(_MATERIAL, text):
        if opening.start() < position:
            continue
        closing = f"<<<END {opening[1]} {opening[2]}>>>"
        end = text.find(closing, opening.end())
        if end < 0:
            raise UnparsableReply(f"{short(opening[0])} is not closed: reply without the material that was shown")
        pieces.append(text[position : opening.start()])
        position = end + len(closing)
    return "".join([*pieces, text[position:]])


def _without_blocks(text: str) -> str:
    """Return the text without comments and tagged blocks of thought, drafts and quotes, each up to its closing tag."""
    pieces: list[str] = []
    position = 0
    while (tag := _TAG.search(text, position)) is not None:
        pieces.append(text[position : tag.start()])
        comment, end, word = tag.group("comment", "end", "name")
        name = "-->" if comment else f"</{word}>"
        if end:
            raise UnparsableReply(f"{short(tag[0])} closes what was not opened: repeat the reply without it")
        closing = form(re.escape(name)).search(text, tag.end())
        if closing is None:
            raise UnparsableReply(f"the reply ends before its {short(tag[0])} does")
        pieces.append(LEFT_OUT if comment or name.casefold() in ("</s>", "</del>", "</strike>") else "\n")
        position = closing.end()
    return "".join([*pieces, text[position:]])


def _without_quotes(text: str, shown: str | None = None) -> str:
    """Return the text without block quotes and fenced code, or the content of the only one if there is nothing else."""
    if _SHOWN.search(text) is None:
        return text
    own_lines: list[str] = []
    quotes: list[list[str]] = []
    place = [] if shown is None else [shown]
    mark = ""
    quoting = False
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if mark:
            if fence is not None and fence["marks"].startswith(mark) and not fence["info"].strip():
                mark = ""
            else:
                quotes[-1].append(line)
        elif fence is not None and fence.end() == len(line.rstrip("\r")):
            mark = fence["marks"]
            quotes.append([])
            own_lines += place
        elif _QUOTED.match(line):
            if not quoting:
                quotes.append([])
                own_lines += place
            quotes[-1].append(_QUOTED.sub("", line, count=1))
            quoting = True
            continue
        else:
            own_lines.append(line)
        quoting = False
    if mark:
        raise UnparsableReply(f"the fence {mark} is not closed: repeat the reply without it")
    if len(quotes) == 1 and is_empty_talk("\n".join(line for line in own_lines if line != shown)):
        return "\n".join(quotes[0])
    return "\n".join(own_lines)
