"""Agents: a role is a prompt, an output type and what it is shown; each is one awaitable."""

from dokimasia.agents.asking import Asked, ask_judge, failure
from dokimasia.agents.candidate import BLIND, answer_question
from dokimasia.agents.extractor import extract_criteria
from dokimasia.agents.looking import Looking
from dokimasia.agents.scorer import score_checkpoints
from dokimasia.agents.solver import judge_equivalence, write_chain
from dokimasia.prompts import PromptLibrary

__all__ = [
    "BLIND",
    "Asked",
    "Looking",
    "PromptLibrary",
    "answer_question",
    "ask_judge",
    "extract_criteria",
    "failure",
    "judge_equivalence",
    "score_checkpoints",
    "write_chain",
]
