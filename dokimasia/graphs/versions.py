"""Which graphs an evaluation consists of, by name and version; read without LangGraph, which a finished run does not need."""

COGNITIVE_REPLAY = "cognitive_replay"
CHECKPOINT_SCORING = "checkpoint_scoring"

VERSIONS: dict[str, int] = {COGNITIVE_REPLAY: 3, CHECKPOINT_SCORING: 3}
"""A version is part of a run's identity and of its threads' names: a new one wherever nodes or state change meaning."""
