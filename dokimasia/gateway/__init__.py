"""Access to models: ledger, budget, limits, retries and transports behind one awaitable."""
