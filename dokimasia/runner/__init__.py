"""The runner: data set to graph per work item to store; registers transports; the composition root."""
