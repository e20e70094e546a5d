"""The short way to endpoints that speak the OpenAI chat-completions format themselves: no library in between."""
