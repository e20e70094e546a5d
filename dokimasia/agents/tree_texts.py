"""How a judge is shown a capability tree and the criteria that are to find their places in it."""

from collections.abc import Iterable, Sequence

from dokimasia.domain.growth import TreeCriterion
from dokimasia.domain.identity import canonical_json
from dokimasia.parsing.reply import short

SHOWN_TEXT, SHOWN_QUESTION = 600, 240
"""Characters of a criterion and its ground truth, and of the sample's question, that are shown."""


def criteria_lines(criteria: Sequence[TreeCriterion]) -> str:
    """Return criteria as a JSON array, an object a line, numbered from 1: `n`, `criterion`, and what else is known.

    `ground_truth` and `question` (the sample's) are left out where there is none.
    """
    rows: list[str] = []
    for number, one in enumerate(criteria, start=1):
        row: dict[str, object] = {"n": number, "criterion": short(one.text, SHOWN_TEXT)}
        if one.ground_truth:
            row["ground_truth"] = short(one.ground_truth, SHOWN_TEXT)
        if one.question:
            row["question"] = short(one.question, SHOWN_QUESTION)
        rows.append(canonical_json(row).decode())
    return "[\n" + ",\n".join(rows) + "\n]"


def capability_lines(rows: Iterable[tuple[str, int, str]]) -> str:
    """Return capabilities as a JSON array, an object a line, numbered from 1: `n`, `path`, `support`, and an `example`.

    Args:
        rows: each capability's path, its support, and one of its criteria (empty: none is shown).
    """
    lines: list[str] = []
    for number, (path, support, example) in enumerate(rows, start=1):
        row: dict[str, object] = {"n": number, "path": path, "support": support}
        if example:
            row["example"] = short(example, 160)
        lines.append(canonical_json(row).decode())
    return "[\n" + ",\n".join(lines) + "\n]"
