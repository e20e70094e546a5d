"""Direct transport for endpoints that speak the OpenAI chat-completions format, without a client library."""
