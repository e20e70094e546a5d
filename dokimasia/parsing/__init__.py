"""Parsers from model text to domain values, or UnparsableReply: bounded in time and size, and never guessing.

This package exports the parsers for every method; those for one method's replies are in separate modules.
"""

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.answers import parse_final_answer
from dokimasia.parsing.criterion_scores import parse_criterion_scores, parse_reasoned_scores, parse_scores
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.pairwise import parse_factuality_scores, parse_pairwise_verdict
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.parsing.reply import spoken
from dokimasia.parsing.tags import ratings, tagged
from dokimasia.parsing.verdicts import parse_equivalence, parse_rating

__all__ = [
    "UnparsableReply",
    "find_json",
    "looks_like_refusal",
    "parse_criterion_scores",
    "parse_equivalence",
    "parse_factuality_scores",
    "parse_final_answer",
    "parse_pairwise_verdict",
    "parse_rating",
    "parse_reasoned_scores",
    "parse_scores",
    "ratings",
    "spoken",
    "tagged",
]
