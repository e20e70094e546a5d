"""Read many texts with every parser under hypothesis, and hold each value against what the text states."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks.parsers import blindspot_oracles, duel_oracles, judging_oracles, oracles, tag_oracles
from benchmarks.parsers.oracles import Refuted
from benchmarks.parsers.texts import FAMILIES
from dokimasia.agents.density import parse_density, parse_domain
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.answers import parse_final_answer
from dokimasia.parsing.assessment import parse_reasoned_assessment, parse_rubric_assessment
from dokimasia.parsing.blindspots.judged import (
    parse_axis_choices,
    parse_axis_scores,
    parse_notice,
    parse_structured_axis_choices,
    parse_structured_axis_scores,
)
from dokimasia.parsing.chains import parse_chain
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.criteria_check import parse_criteria_check, parse_structured_check
from dokimasia.parsing.criterion_scores import parse_criterion_scores, parse_reasoned_scores, parse_scores
from dokimasia.parsing.judging.replies import parse_aspect_scores, parse_batch_ranking, parse_compared_criteria
from dokimasia.parsing.matching import parse_match
from dokimasia.parsing.pairwise import parse_factuality_scores, parse_pairwise_verdict
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.parsing.structured import (
    parse_structured_equivalence,
    parse_structured_reasoned_scores,
    parse_structured_scores,
)
from dokimasia.parsing.verdicts import parse_equivalence, parse_rating
from dokimasia.parsing.votes import parse_ballot, parse_peer_review, parse_vote

PATHS = ("<A><B>", "<A><C>", "<D>")
CHUNK = 5_000
"""Examples of one seed: hypothesis remembers what it tried, so a million at once would fill the memory."""

Parser = Callable[[str], Any]
Check = Callable[[str, Any], None]

PARSERS: dict[str, tuple[Parser, Check]] = {
    "parse_criterion_scores": (
        lambda text: parse_criterion_scores(text, 3),
        lambda text, value: oracles.check_scores(text, value, expected=3),
    ),
    "parse_criterion_scores, by path": (
        lambda text: parse_criterion_scores(text, PATHS),
        lambda text, value: oracles.check_scores(text, value, expected=3, paths=PATHS),
    ),
    "parse_scores": (
        lambda text: parse_scores(text, 3),
        lambda text, value: oracles.check_plain_scores(text, value, expected=3),
    ),
    "parse_structured_scores": (
        lambda text: parse_structured_scores(text, 3),
        lambda text, value: oracles.check_structured_scores(text, value, expected=3),
    ),
    "parse_reasoned_scores": (
        lambda text: parse_reasoned_scores(text, 3),
        lambda text, value: oracles.check_reasoned_scores(text, value, expected=3),
    ),
    "parse_structured_reasoned_scores": (
        lambda text: parse_structured_reasoned_scores(text, 3),
        lambda text, value: oracles.check_reasoned_scores(text, value, expected=3, objects=True),
    ),
    "parse_criteria": (
        lambda text: parse_criteria(text, image_count=2),
        lambda text, value: oracles.check_criteria(text, value, image_count=2),
    ),
    "parse_criteria_check": (
        lambda text: parse_criteria_check(text, 3),
        lambda text, value: oracles.check_look(text, value, expected=3),
    ),
    "parse_structured_check": (
        lambda text: parse_structured_check(text, 3),
        lambda text, value: oracles.check_look(text, value, expected=3),
    ),
    "parse_chain": (parse_chain, oracles.check_chain),
    "parse_equivalence": (parse_equivalence, oracles.check_equivalence),
    "parse_structured_equivalence": (
        parse_structured_equivalence,
        lambda text, value: oracles.check_equivalence(text, value, objects=True),
    ),
    "parse_rating": (
        lambda text: parse_rating(text, 1, 10),
        lambda text, value: oracles.check_rating(text, value, low=1, high=10),
    ),
    "parse_final_answer": (parse_final_answer, oracles.check_final_answer),
    "parse_match": (parse_match, oracles.check_match),
    "parse_pairwise_verdict": (parse_pairwise_verdict, duel_oracles.check_verdict),
    "parse_factuality_scores": (parse_factuality_scores, duel_oracles.check_scores),
    "parse_density": (parse_density, tag_oracles.check_density),
    "parse_domain": (parse_domain, tag_oracles.check_domain),
    "parse_vote": (lambda text: parse_vote(text, tag_oracles.SHOWN), tag_oracles.check_vote),
    "parse_ballot": (lambda text: parse_ballot(text, tag_oracles.SHOWN), tag_oracles.check_ballot),
    "parse_peer_review": (lambda text: parse_peer_review(text, tag_oracles.SHOWN), tag_oracles.check_review),
    "parse_rubric_assessment": (
        lambda text: parse_rubric_assessment(text, *tag_oracles.GROUPS),
        tag_oracles.check_assessment,
    ),
    "parse_reasoned_assessment": (
        lambda text: parse_reasoned_assessment(text, *tag_oracles.GROUPS),
        tag_oracles.check_reasoned_assessment,
    ),
    "parse_batch_ranking": (
        lambda text: parse_batch_ranking(text, judging_oracles.RANKED),
        judging_oracles.check_ranking,
    ),
    "parse_compared_criteria": (parse_compared_criteria, judging_oracles.check_compared),
    "parse_aspect_scores": (parse_aspect_scores, judging_oracles.check_aspects),
    "parse_axis_scores": (
        lambda text: parse_axis_scores(text, blindspot_oracles.AXES),
        blindspot_oracles.check_scores,
    ),
    "parse_axis_choices": (
        lambda text: parse_axis_choices(text, blindspot_oracles.AXES),
        blindspot_oracles.check_choices,
    ),
    "parse_structured_axis_scores": (
        lambda text: parse_structured_axis_scores(text, blindspot_oracles.AXES),
        blindspot_oracles.check_scores,
    ),
    "parse_structured_axis_choices": (
        lambda text: parse_structured_axis_choices(text, blindspot_oracles.AXES),
        blindspot_oracles.check_choices,
    ),
    "parse_notice": (
        lambda text: parse_notice(text, blindspot_oracles.JUSTIFICATION),
        blindspot_oracles.check_notice,
    ),
    "looks_like_refusal": (looks_like_refusal, lambda text, value: None),
}
"""Each parser with what its values have to keep."""


def read_by_all(text: str) -> list[str]:
    """Return the parsers that found something in the text.

    Raises:
        Refuted: a parser raised something else than UnparsableReply, or returned what the text does not state.
    """
    found: list[str] = []
    for name, (parse, check) in PARSERS.items():
        try:
            value = parse(text)
        except UnparsableReply as reason:
            if not reason.reason:
                raise Refuted(f"{name}: no reason is given for {text!r}") from None
            continue
        except Exception as error:  # whatever else it is, it is what must not happen
            raise Refuted(f"{name}: {type(error).__name__}: {error} from {text!r}") from error
        try:
            check(text, value)
        except Refuted as problem:
            raise Refuted(f"{name}: {problem}: {value!r} from {text!r}") from None
        if value is not None and value is not False:
            found.append(name)
    return found


def trial(family: str, examples: int, number: int = 0) -> Counter[str]:
    """Read that many texts of a family; return how many there were (`texts`) and what each parser found in them.

    The same family and number draw the same texts. A text is made small before it is reported.

    Raises:
        Refuted: a parser broke its word.
    """
    counted: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(FAMILIES[family])
    def read(text: str) -> None:
        counted["texts"] += 1
        counted.update(read_by_all(text))

    read()
    return counted


def chunks(examples: int) -> list[tuple[str, int, int]]:
    """Split so many examples over the families and over seeds: (family, examples, seed)."""
    share = -(-examples // len(FAMILIES))
    return [
        (family, min(CHUNK, share - start), start // CHUNK) for family in FAMILIES for start in range(0, share, CHUNK)
    ]
