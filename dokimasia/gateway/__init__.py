"""The one way to a model: ledger, budget, limits, retries and transports behind one awaitable."""
