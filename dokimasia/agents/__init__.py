"""Agents: a role is a prompt, an output type and what it is shown; each is one awaitable."""

from dokimasia.agents.asking import Asked, ask_judge, failure
from dokimasia.agents.candidate import BLIND, answer_question
from dokimasia.agents.describer import describe_image
from dokimasia.agents.extractor import extract_criteria
from dokimasia.agents.filterer import classify_domain, rate_density
from dokimasia.agents.hinter import give_hint, rewrite_hint
from dokimasia.agents.leak_judge import judge_leak
from dokimasia.agents.looking import Looking
from dokimasia.agents.refiner import answer_again, stated_answer
from dokimasia.agents.reviewer import review_candidates
from dokimasia.agents.scorer import score_checkpoints
from dokimasia.agents.solver import judge_equivalence, write_chain
from dokimasia.agents.voter import vote_for_best
from dokimasia.prompts import PromptLibrary

__all__ = [
    "BLIND",
    "Asked",
    "Looking",
    "PromptLibrary",
    "answer_again",
    "answer_question",
    "ask_judge",
    "classify_domain",
    "describe_image",
    "extract_criteria",
    "failure",
    "give_hint",
    "judge_equivalence",
    "judge_leak",
    "rate_density",
    "review_candidates",
    "rewrite_hint",
    "score_checkpoints",
    "stated_answer",
    "vote_for_best",
    "write_chain",
]
