"""State machines: one LangGraph graph a file, and the driver that starts and resumes them."""
