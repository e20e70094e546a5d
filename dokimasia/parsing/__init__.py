"""Model text to domain values, or UnparsableReply: bounded in time and size, and never more than the text states."""

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.answers import parse_final_answer
from dokimasia.parsing.assessment import parse_rubric_assessment
from dokimasia.parsing.chains import parse_chain
from dokimasia.parsing.checkpoints import parse_checkpoint_scores
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.density import parse_density, parse_domain
from dokimasia.parsing.matching import parse_match
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.parsing.structured import parse_structured_equivalence, parse_structured_scores
from dokimasia.parsing.verdicts import parse_equivalence, parse_rating
from dokimasia.parsing.votes import parse_ballot, parse_peer_review, parse_vote

__all__ = [
    "UnparsableReply",
    "looks_like_refusal",
    "parse_ballot",
    "parse_chain",
    "parse_checkpoint_scores",
    "parse_criteria",
    "parse_density",
    "parse_domain",
    "parse_equivalence",
    "parse_final_answer",
    "parse_match",
    "parse_peer_review",
    "parse_rating",
    "parse_rubric_assessment",
    "parse_structured_equivalence",
    "parse_structured_scores",
    "parse_vote",
]
