"""Agents: a role is a function of what it is shown, which returns what it asks; `ask` asks any of them."""

from dokimasia.agents.asking import Ask, AskResult, ask, ask_once, failure
from dokimasia.agents.looking import Looking
from dokimasia.agents.schemas import Structured
from dokimasia.prompts import PromptLibrary

__all__ = ["Ask", "AskResult", "Looking", "PromptLibrary", "Structured", "ask", "ask_once", "failure"]
