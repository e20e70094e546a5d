"""Matches of reports to models: the line `Report 1: [[A]]`."""

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import double, form
from dokimasia.parsing.own import is_empty_talk, own, plainly
from dokimasia.parsing.reply import matches, short

_MATCH = form(r"\breport\s{0,3}(1|2|one|two)\b([^\[\]\n]{0,40})" + double("([AB])"))


def parse_match(text: str) -> str:
    """Return the model (`A` or `B`) that the first report is about according to a judge.

    A line on the second report must agree.

    Raises:
        UnparsableReply: there is no such line, or lines contradict each other.
    """
    models: set[str] = set()
    reply = own(text)
    lines = matches(_MATCH, reply)
    for match in lines:
        if not is_empty_talk(match[2]):
            raise UnparsableReply(f"'{short(match[0])}' is not a plain statement: write Report 1: [[{match[3]}]]")
        model = match[3].upper()
        if match[1].casefold() in ("2", "two"):
            model = "A" if model == "B" else "B"
        models.add(model)
    if not models:
        raise UnparsableReply("there is no line of the form Report 1: [[A]] or Report 1: [[B]]")
    if len(models) > 1:
        raise UnparsableReply("the reply says two different things of the first report")
    plainly(lines, reply)
    return models.pop()
