"""The graphs' versions, in a module that does not import LangGraph."""

COGNITIVE_REPLAY = "cognitive_replay"
CHECKPOINT_SCORING = "checkpoint_scoring"

VERSIONS: dict[str, int] = {
    COGNITIVE_REPLAY: 6,
    CHECKPOINT_SCORING: 5,
    "batch_ranking": 1,
    "criteria_making": 1,
    "criterion_quality": 1,
    "deciding": 1,
    "density_filter": 2,
    "diagnosis": 3,
    "duel": 3,
    "fingerprinting": 1,
    "gold_rubrics": 2,
    "gold_imaging": 1,
    "gold_writing": 2,
    "image_perturbing": 1,
    "mode_coding": 1,
    "mode_making": 2,
    "peer_review": 4,
    "probing": 1,
    "refinement": 5,
    "response_judging": 1,
    "rubric_audit": 2,
    "rubric_making": 3,
    "taxonomy_growth": 2,
    "text_perturbing": 1,
    "verification": 1,
}
"""Versions are part of a run's identity and of its threads' names; raise one when its nodes or state change meaning."""


def versions_of(*names: str) -> dict[str, int]:
    """Return the named graphs with their versions."""
    return {name: VERSIONS[name] for name in names}
