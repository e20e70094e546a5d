"""The transport over LiteLLM: the only place that knows the library, which is loaded when the first call is sent."""
