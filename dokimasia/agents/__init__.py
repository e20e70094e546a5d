"""Agents: a role is a function from what the model sees to an `Ask`; `ask` puts it to a model."""

from dokimasia.agents.asking import Ask, AskResult, ask, ask_once, failure
from dokimasia.agents.looking import Looking
from dokimasia.agents.schemas import Structured
from dokimasia.prompts import PromptLibrary

__all__ = ["Ask", "AskResult", "Looking", "PromptLibrary", "Structured", "ask", "ask_once", "failure"]
