"""Conversion of Creation-MMBench's fields to those of a sample: criteria, task, category, reference."""

import ast
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from dokimasia.datasets.lines import RowError
from dokimasia.domain.duel import criteria_in, ground_truth_in, task_in
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DataError

REFERENCE = "reference_answer_by_gpt4o"
COLUMNS = ("question", "task_name", "criteria", REFERENCE)
"""The columns of a table of creative cases, in addition to `index` and its images."""

QUERY_PARTS = ("role", "background", "instruction", "requirement")
"""The parts of a query, which replace a missing question (Creation-MMBench, section 3.1 and figure 30)."""

_SENTENCE = re.compile(
    r"(?:you(?:r role)?|i am|i['\u2019]m|(?:imagine|pretend|suppose) (?:that )?you"
    r"|(?:act|assume|imagine|play|pretend)\s+(?:(?:being|like|out|yourself)\s+){0,2}(?:as|the|that|a|an|to))\b",
    re.IGNORECASE,
)
"""The beginning of a role that is a whole sentence, such as `You are a guide`."""

_AS = re.compile(r"^as\s+(?:an?\s+|(?=the\s))", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:An?|The)(?=\s)")

MAX_CRITERIA = 200_000
"""The maximum number of characters of a `criteria` cell; published ones have a few thousand."""

CATEGORIES: dict[str, tuple[str, ...]] = {
    "Literary Writing": (
        "art_inspired_prose",
        "children_book_illustration_dialogue_creation",
        "daily_conversation_creation",
        "historical_story_creation",
        "landscape_to_poem",
        "prose_writing_scenery",
        "story_continue",
        "story_novel_creation",
    ),
    "Common Functional Writing": (
        "business_collaborative_email_writing",
        "daily_achievement_show_off",
        "daily_affairs_inquiries",
        "daily_emotional_email_writing",
        "daily_invitation_email_writing",
        "holiday_card_writing",
        "ins_simple_daily_copywriter",
        "letter_of_application",
        "letter_of_complaint",
        "personal_event_summaries",
        "product_usage_experience_review",
        "public_welfare_activity_participation_initiative",
        "scientific_research_simple_promotion",
        "short_video_scripts_for_social_media",
        "social_media_travel_content",
        "store_experience_review",
        "travel_journal",
        "twitter_comment_on_daily_news",
    ),
    "Professional Functional Writing": (
        "architecture_appreciation",
        "attraction_promotional_words",
        "clothing_match_design",
        "company_team_amuse_broadcast",
        "drafting_announcements_for_public_spaces",
        "event_planning_and_venue_arrangement",
        "floor_plan_renovation_design",
        "landscape_introduction",
        "museum_guide_word_creation",
        "nutritional_formulation_of_recipe",
        "product_marketing_strategy",
        "pulitzer_prize_judge",
        "recipe_infer_and_guide",
        "residence_reasoning",
        "scientific_diagram_understanding",
        "script_writing_for_product_advertisement_promotional_video",
        "software_engineering_diagram_explanation",
        "teaching_plan",
        "ui_design_analysis_and_optimization",
    ),
    "Creative Multimodal Understanding": (
        "advertisement_explanation",
        "document_understanding",
        "meme_explanation",
        "photography_appreciation",
        "snapshot_analysis",
        "travel_itinerary_planning_and_recommendations",
    ),
}

"""The 51 tasks of Creation-MMBench in their four categories (Figure 8), under their names in its table."""

_CATEGORY_OF = {task: category for category, tasks in CATEGORIES.items() for task in tasks}


class CreativeCase(NamedTuple):
    """A creative case's additions to a sample: `meta` with normalised criteria, the category, the reference answer."""

    meta: JsonObject
    category: str | None = None
    reference: str | None = None


def creative_fault(header: Sequence[str]) -> str | None:
    """Return a message about missing columns of a table of creative cases; None if it is complete or another table."""
    if len({"task_name", "criteria", REFERENCE}.intersection(header)) < 2:
        return None
    missing = [name for name in COLUMNS if name not in header]
    if {"role", "instruction"} <= set(header):
        missing = [name for name in missing if name != "question"]
    if not {"image", "image_path"}.intersection(header):
        missing.append("image")
    if not missing:
        return None
    return f"the header has no column {' and no column '.join(map(repr, missing))}, which a Creation-MMBench table has"


def as_case(meta: Mapping[str, object], where: str) -> CreativeCase:
    """Return the fields of a creative case as those of a sample; the `meta` of other samples is unchanged.

    A case has `criteria` together with `task_name` or `reference_answer_by_gpt4o`.

    Raises:
        RowError: the criteria cannot be read; the message begins with `where`.
    """
    criteria = meta.get("criteria")
    if not isinstance(criteria, str | dict) or not {"task_name", REFERENCE} & meta.keys():
        return CreativeCase(dict(meta))
    fields = {**meta, "criteria": _criteria(criteria, where)}
    reference = fields.pop(REFERENCE, None)
    if reference is not None and not isinstance(reference, str):
        raise RowError("field", f"{where}: the field '{REFERENCE}' is no text")
    task = meta.get("task_name")
    return CreativeCase(fields, category_of(task) if isinstance(task, str) else None, reference or None)


def composed_query(meta: Mapping[str, object]) -> str:
    """Return the query composed from a case's parts; empty without a role and an instruction.

    Background and requirement may be missing. A role that is a whole sentence, such as `You are a guide`, is unchanged.
    A part that is a list of texts is written as a numbered list.

    Examples:
        >>> print(composed_query({"role": "a guide", "instruction": "describe the hall", "requirement": "Be brief."}))
        Your role: a guide.
        Your task: describe the hall.
        Keep to these requirements:
        Be brief.
    """
    role, background, instruction, requirement = (_part(meta.get(name)) for name in QUERY_PARTS)
    if not role or not instruction:
        return ""
    if not _SENTENCE.match(role):
        role = f"Your role: {_ARTICLE.sub(lambda article: article[0].lower(), _AS.sub('', role))}"
    lines = [_ended(role), background, _ended(f"Your task: {instruction}")]
    if requirement:
        lines += ["Keep to these requirements:", requirement]
    return "\n".join(line for line in lines if line)


def _ended(text: str) -> str:
    """Return a sentence with a full stop, unless it has its own end mark."""
    if text.endswith((".", "!", "?", ":", "\u3002")):
        return text
    return f"{text}."


def _part(value: object) -> str:
    """Return a part of a query as a text; empty if it is not one."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(f"{number}. {line.strip()}" for number, line in enumerate(value, 1))
    if isinstance(value, str):
        return value.strip()
    return ""


def check_case(meta: Mapping[str, JsonValue], where: str) -> None:
    """Check the fields of a creative case in `meta`: its criteria, its task, and its ground truth.

    Raises:
        RowError: one of them cannot be used; the message begins with `where`.
    """
    if meta.get("criteria") is None:
        return
    for read in (criteria_in, task_in, ground_truth_in):
        try:
            read(meta)
        except DataError as problem:
            raise RowError("criteria" if read is criteria_in else "field", f"{where}: {problem}") from None


def _criteria(value: str | JsonObject, where: str) -> dict[str, str]:
    """Return criteria as `subjective` and `factuality`; those without a letter or digit are left out."""
    criteria = _literal(value.strip(), where) if isinstance(value, str) else value
    if isinstance(criteria, str):
        criteria = {"subjective": criteria}
    texts: dict[str, list[str]] = {"subjective": [], "factuality": []}
    for name, criterion in criteria.items():
        lines = criterion if isinstance(criterion, list) else [criterion]
        if not isinstance(name, str) or not all(isinstance(line, str) for line in lines):
            raise RowError("criteria", f"{where}: the criteria {str(name)[:60]!r} are no text")
        text = "\n".join(map(str, lines)).strip()
        if any(map(str.isalnum, text)):
            texts["subjective" if "subjective" in name.casefold() else "factuality"].append(text)
    return {name: "\n\n".join(parts) for name, parts in texts.items() if parts}


def _literal(text: str, where: str) -> str | JsonObject:
    """Return the object or string of a cell that contains a literal, else the cell itself; nothing is evaluated."""
    if len(text) > MAX_CRITERIA:
        raise RowError(
            "criteria", f"{where}: the field 'criteria' has {len(text):,} characters; {MAX_CRITERIA:,} are read"
        )
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _python_literal(text, where)
    if isinstance(value, str | dict):
        return value
    return text


def _python_literal(text: str, where: str) -> object:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from backslashes in the file's strings
            tree = ast.parse(text, mode="eval")
            if any(isinstance(node, ast.Call) for node in ast.walk(tree)):
                raise RowError(
                    "criteria", f"{where}: the field 'criteria' calls a function, and is not evaluated; write texts"
                )
            return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        if text.startswith("{"):
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            summary = reason.partition("\n")[0][:80] or type(error).__name__
            wrong = f"begins as an object and is no literal of texts ({summary})"
            raise RowError("criteria", f"{where}: the field 'criteria' {wrong}") from error
        return text


def category_of(task: str) -> str | None:
    """Return the category of a task; None if the benchmark does not have the task.

    Examples:
        >>> category_of("Story Continue"), category_of("chess")
        ('Literary Writing', None)
    """
    return _CATEGORY_OF.get(re.sub(r"[\s_-]+", "_", task.strip().casefold()))
