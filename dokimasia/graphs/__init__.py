"""LangGraph state machines, one per file, and the code that starts and resumes them."""
