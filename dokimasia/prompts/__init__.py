"""Prompts as versioned data: one Markdown file each, rendered into messages and recognised in them."""

from dokimasia.prompts.fence import escape, unescape
from dokimasia.prompts.library import Prompt, PromptLibrary, default_library
from dokimasia.prompts.rendering import (
    Recognised,
    Rendered,
    choices_text,
    lines_text,
    recognise,
    render,
    with_form,
    with_looking,
    with_looks,
    with_repair,
    without_form,
    without_looking,
    without_looks,
)

__all__ = [
    "Prompt",
    "PromptLibrary",
    "Recognised",
    "Rendered",
    "choices_text",
    "default_library",
    "escape",
    "lines_text",
    "recognise",
    "render",
    "unescape",
    "with_form",
    "with_looking",
    "with_looks",
    "with_repair",
    "without_form",
    "without_looking",
    "without_looks",
]
