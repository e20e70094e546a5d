"""The direct transport, for endpoints of the OpenAI chat-completions format, without a client library."""
