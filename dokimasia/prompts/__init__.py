"""Prompts as versioned data: one Markdown file each, rendered into messages and recognised back from them."""

from dokimasia.prompts.fence import escape, unescape
from dokimasia.prompts.library import Prompt, PromptLibrary, default_library
from dokimasia.prompts.rendering import (
    Recognised,
    Rendered,
    choices_text,
    recognise,
    render,
    with_form,
    with_repair,
    without_form,
)

__all__ = [
    "Prompt",
    "PromptLibrary",
    "Recognised",
    "Rendered",
    "choices_text",
    "default_library",
    "escape",
    "recognise",
    "render",
    "unescape",
    "with_form",
    "with_repair",
    "without_form",
]
