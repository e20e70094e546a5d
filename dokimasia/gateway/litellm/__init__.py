"""The transport over LiteLLM: the only place that uses the library, which is imported at the first call."""
