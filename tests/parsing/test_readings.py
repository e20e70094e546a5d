"""Every parser of a score, a verdict or a vote reads a reply as a careful person would, or refuses it."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from dokimasia.agents.density import parse_density, parse_domain
from dokimasia.agents.quality import parse_quality
from dokimasia.domain.judgement import CriterionScore
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.assessment import parse_rubric_assessment
from dokimasia.parsing.blindspots.judged import (
    parse_axis_choices,
    parse_axis_scores,
    parse_notice,
)
from dokimasia.parsing.criteria_check import parse_criteria_check
from dokimasia.parsing.criterion_scores import parse_criterion_scores, parse_scores
from dokimasia.parsing.hints import parse_leaks
from dokimasia.parsing.matching import parse_match
from dokimasia.parsing.pairwise import parse_factuality_scores, parse_pairwise_verdict
from dokimasia.parsing.rubrics import parse_cross_check
from dokimasia.parsing.structured import parse_structured_equivalence, parse_structured_scores
from dokimasia.parsing.verdicts import parse_equivalence, parse_rating
from dokimasia.parsing.votes import parse_vote

FOLDER = Path(__file__).parent / "readings"
REFUSED = "refused"


def points(parse: Callable[[str], list[CriterionScore]]) -> Callable[[str], list[object]]:
    """Return a reader of checkpoints whose silences are the word that the data use."""
    return lambda text: [one.score if one.stated else "silent" for one in parse(text)]


def fields(parse: Callable[[str], Any], *names: str) -> Callable[[str], list[object]]:
    """Return a reader of the named fields of what a parser reads."""
    return lambda text: [getattr(parse(text), name) for name in names]


AXES = ("clarity", "overall")
JUSTIFICATION = "The jetty is called red, but it is grey. All else fits."


READERS: dict[str, Callable[[str], object]] = {
    "checkpoints": points(partial(parse_criterion_scores, expected=2)),
    "rating": partial(parse_rating, low=1, high=10),
    "equivalence": lambda text: "same" if parse_equivalence(text) else "different",
    "axis_scores": lambda text: list(parse_axis_scores(text, AXES).values.values()),
    "axis_choices": lambda text: list(parse_axis_choices(text, AXES).values.values()),
    "notice": lambda text: parse_notice(text, JUSTIFICATION).words,
    "leaks": lambda text: "leak" if parse_leaks(text, "the sum is 12", strict=False) else "clean",
    "match": parse_match,
    "pairwise": parse_pairwise_verdict,
    "factuality": lambda text: list(parse_factuality_scores(text)),
    "vote": partial(parse_vote, n=3),
    "density": fields(parse_density, "visual_complexity", "informativeness"),
    "domain": parse_domain,
    "quality": fields(parse_quality, "accuracy", "necessity"),
    "assessment": lambda text: [*(read := parse_rubric_assessment(text, 1, 1)).group_a, *read.group_b],
    "cross_check": lambda text: [
        getattr(parse_cross_check(text, 1)[0], name) for name in ("passes", "atomic", "decidable")
    ],
    "criteria_check": lambda text: [
        getattr(parse_criteria_check(text, 1).criteria[0], name) for name in ("needed", "single", "open")
    ],
    "structured_scores": points(partial(parse_structured_scores, expected=2)),
    "structured_equivalence": lambda text: "same" if parse_structured_equivalence(text) else "different",
}


def load(name: str) -> Any:
    """Return one file of texts with their readings."""
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def readings() -> Iterator[tuple[str, str, str, object]]:
    """Yield parser, kind, text and reading of every text in the folder."""
    for parser, kinds in {
        "checkpoints": load("checkpoints"),
        **load("verdicts"),
        **load("forms"),
        **load("duels"),
        **load("blindspots"),
    }.items():
        for kind, texts in kinds.items():
            for text, reading in texts:
                yield parser, kind, text, reading


def read(parser: str, text: str) -> object:
    """Return what the parser reads, or that it refuses."""
    try:
        return READERS[parser](text)
    except UnparsableReply as problem:
        return REFUSED if problem.reason else "refused without a reason"


@pytest.mark.parametrize("parser", READERS)
def test_a_reply_is_read_as_its_author_means_it(parser: str) -> None:
    """No score, verdict or vote is read against its meaning, and none that is plain is refused."""
    texts = [(kind, text, meant) for one, kind, text, meant in readings() if one == parser]
    assert texts
    wrong = [(kind, text, meant, read(parser, text)) for kind, text, meant in texts if read(parser, text) != meant]
    assert not wrong, "\n".join(map(repr, wrong))


def test_scores_alone_are_read_like_scores_with_silence() -> None:
    """`parse_scores` reads the same texts, with a 1 where the response is silent."""
    for _, _, text, meant in (one for one in readings() if one[0] == "checkpoints"):
        try:
            scores: object = parse_scores(text, 2)
        except UnparsableReply:
            scores = REFUSED
        wanted: object = [1 if one == "silent" else one for one in meant] if isinstance(meant, list) else meant
        assert scores == wanted, text
