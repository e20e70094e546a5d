"""Human annotation: blind forms, the collected ratings, and agreement between people and with judges."""

from dokimasia.people.annotation.collecting import (
    adjudicate,
    disagreements,
    hand_out,
    things_of,
    usual_disagreement,
    write_disagreements,
    written,
)
from dokimasia.people.annotation.comparing import compare
from dokimasia.people.annotation.forms import form_page, image_name, image_uri, read_forms
from dokimasia.people.annotation.key import read_key
from dokimasia.people.annotation.queued import (
    asked_of,
    hand_out_here,
    queued,
    rateable,
    rating_text,
    ratings_of,
)
from dokimasia.people.annotation.rated import RatedUnit, put_together
from dokimasia.people.annotation.subjects import (
    Subject,
    answers_of_file,
    answers_of_run,
    criteria_of,
    draw_subjects,
    open_answers,
    pairs_of_run,
    rankings_of,
    responses_of,
    samples_of_file,
)

__all__ = [
    "RatedUnit",
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
    "hand_out",
    "hand_out_here",
    "image_name",
    "image_uri",
    "open_answers",
    "pairs_of_run",
    "put_together",
    "queued",
    "rankings_of",
    "rateable",
    "rating_text",
    "ratings_of",
    "read_forms",
    "read_key",
    "responses_of",
    "samples_of_file",
    "things_of",
    "usual_disagreement",
    "write_disagreements",
    "written",
]
