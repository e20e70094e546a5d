"""Sentences of many forms about random tables: each holds as it is, and none of its numbers can be changed unseen."""

import re
from random import Random

import pytest

from dokimasia.algorithms.diagnosis.claims import check_sentence
from dokimasia.algorithms.diagnosis.evidence import Evidence, evidence_of
from dokimasia.domain.diagnosis import Asset, Figure
from dokimasia.parsing.citations import parse_report
from tests.algorithms.claim_tables import MODELS, random_tables

FORMS = (
    "{model} reaches {score} points at {leaf} [{ref}.score].",
    "At {leaf}, {model} scores {score} ({low} to {high}) [{ref}.score].",
    "At {leaf}, {model} scores {score} (95% CI: {low}\u2013{high}) [{ref}.score].",
    "{model} scores {score} [{ref}.score] ({low} to {high}) at {leaf}.",
    "With {score} of 100 points [{ref}.score], {leaf} is where {model} was asked {held} criteria [{ref}].",
    "The mean at {leaf} is {score}, on {n} of {held} criteria [{ref}.score].",
    "{leaf} stands at {score} [{ref}.score]; the interval runs from {low} to {high} [{ref}.score].",
    "The score of {model} at {leaf} lies between {low} and {high} [{ref}.score].",
    "{leaf}: {score} [{ref}.score], adjusted p = {p} [{ref}.adjusted p].",
    "The difference from the rest is {gap} points (from {gap_low} to {gap_high}) at {leaf} [{ref}.against the rest].",
    "{model} is {size} points {side} its other capabilities at {leaf} [{ref}.against the rest].",
    "**{leaf}** \u2013 {score} points [{ref}.score], {n} scored criteria [{ref}].",
    "{model} has {score} [{ref}.score] at {leaf} and {other} [{ref2}.score] at {leaf2}.",
    "From {score} [{ref}.score] at {leaf} it is some way to {other} [{ref2}.score] at {leaf2}.",
    "{model} gets {score} and {other} points at {leaf} and {leaf2} [{ref}.score; {ref2}.score].",
    "Of the right answers of {model}, {share} % ({share_low} % to {share_high} %) rest on failed atoms [reasons:{at}.{column}].",
    "In {share}% [reasons:{at}.{column}] of the cases the right answer of {model} has a wrong reason.",
)
"""Forms that no writer of the package uses; in braces what a table says."""

_NUMBER = re.compile(r"(?<![\w.:/-])[+\u2212-]?\d+(?:\.\d+)?(?![^\[]*\])(?!\.\d)")
SEEDS = 24


def sentences(seed: int) -> tuple[Evidence, list[str]]:
    """Tables, and a sentence of each form about a row of theirs."""
    rng = Random(1_000 + seed)
    tables = random_tables(seed)
    by_id = {one.id: one for one in tables}
    return evidence_of(tables), [form.format(**told(by_id, rng)) for form in FORMS]


def told(tables: dict[str, Asset], rng: Random) -> dict[str, str]:
    """What a random row says, as a careful writer rounds it."""
    at, first = rng.choice(
        [
            (number, line)
            for number, name in enumerate(MODELS)
            for line, row in enumerate(tables[f"leaves/{name}"].rows)
            if row.mark in ("weak", "strong")
        ]
    )
    model, table = MODELS[at], tables[f"leaves/{MODELS[at]}"]
    second = rng.choice([at for at in range(len(table.rows)) if at != first])
    row, other = table.rows[first], table.rows[second]
    digits = rng.choice((0, 1, 2))
    score, gap = (estimate(row.cells[column], digits) for column in (1, 2))
    share = estimate(tables["reasons"].rows[at].cells[1], digits, 100.0)
    return {
        "model": model,
        "leaf": str(row.cells[0].value),
        "leaf2": str(other.cells[0].value),
        "ref": f"{table.id}:{first + 1}",
        "ref2": f"{table.id}:{second + 1}",
        "score": score[0],
        "low": score[1],
        "high": score[2],
        "other": estimate(other.cells[1], digits)[0],
        "gap": gap[0],
        "gap_low": gap[1],
        "gap_high": gap[2],
        "size": gap[0].lstrip("-"),
        "side": "below" if gap[0].startswith("-") else "above",
        "p": f"{row.cells[3].value:.3f}",
        "n": str(row.n),
        "held": str(row.held),
        "at": str(at + 1),
        "column": "of these, wrong reason",
        "share": share[0],
        "share_low": share[1],
        "share_high": share[2],
    }


def estimate(cell: Figure, digits: int, scale: float = 1.0) -> tuple[str, str, str]:
    """A number and the ends of its interval, rounded."""
    assert isinstance(cell.value, int | float)
    assert cell.low is not None
    assert cell.high is not None
    value, low, high = (f"{one * scale:.{digits}f}" for one in (cell.value, cell.low, cell.high))
    return value, low, high


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_right_sentence_is_struck_and_no_number_can_be_changed_unseen(seed: int) -> None:
    """Each form holds; with any one of its numbers off, by a little or by much, at least 99 in 100 are struck."""
    evidence, said = sentences(seed)
    rng = Random(seed)
    wrong = struck = 0
    for text in said:
        assert check(text, evidence) is None, text
        for match in _NUMBER.finditer(text):
            if text[match.end() :].startswith("% CI") or text[: match.end()].endswith(" of 100"):
                continue  # the level, and the end of the scale
            digits = len(match[0].partition(".")[2])
            off = rng.choice((2 * 10.0**-digits, 1.0, 3.0, 10.0)) * rng.choice((-1, 1))
            changed = f"{text[: match.start()]}{float(match[0]) + off:.{digits}f}{text[match.end() :]}"
            wrong += 1
            struck += check(changed, evidence) is not None
    assert wrong > 25
    assert struck >= 0.99 * wrong


def check(text: str, evidence: Evidence) -> str | None:
    """Why a sentence is struck, None where it stands."""
    (sentence,) = parse_report(text).sentences
    strike = check_sentence(sentence, evidence)
    return None if strike is None else f"{strike.kind}: {strike.reason}"
