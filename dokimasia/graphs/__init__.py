"""LangGraph state machines, one per file, and the driver that starts and resumes them."""
