"""People as judges: what is handed out to them, blind, what they say, and how far they and judges agree."""

from dokimasia.methods.people.collecting import (
    adjudicate,
    disagreements,
    hand_out,
    things_of,
    write_disagreements,
    written,
)
from dokimasia.methods.people.comparing import compare
from dokimasia.methods.people.forms import form_page, image_name, read_forms
from dokimasia.methods.people.groups import By, groups_of
from dokimasia.methods.people.key import read_key
from dokimasia.methods.people.queued import (
    asked_of,
    hand_out_here,
    queued,
    rateable,
    rating_text,
    ratings_of,
)
from dokimasia.methods.people.rated import put_together
from dokimasia.methods.people.subjects import (
    Subject,
    answers_of_file,
    answers_of_run,
    criteria_of,
    draw_subjects,
    pairs_of_run,
    responses_of,
    samples_of_file,
)

__all__ = [
    "By",
    "Subject",
    "adjudicate",
    "answers_of_file",
    "answers_of_run",
    "asked_of",
    "compare",
    "criteria_of",
    "disagreements",
    "draw_subjects",
    "form_page",
    "groups_of",
    "hand_out",
    "hand_out_here",
    "image_name",
    "pairs_of_run",
    "put_together",
    "queued",
    "rateable",
    "rating_text",
    "ratings_of",
    "read_forms",
    "read_key",
    "responses_of",
    "samples_of_file",
    "things_of",
    "write_disagreements",
    "written",
]
