"""The 51 tasks of Creation-MMBench in their four categories (Figure 8), under the names that its table gives them."""

import re

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

_CATEGORY_OF = {task: category for category, tasks in CATEGORIES.items() for task in tasks}


def category_of(task: str) -> str | None:
    """Return the category of a task, None for one that the benchmark does not have.

    Examples:
        >>> category_of("Story Continue"), category_of("chess")
        ('Literary Writing', None)
    """
    return _CATEGORY_OF.get(re.sub(r"[\s_-]+", "_", task.strip().casefold()))
