"""The graph that grows a capability tree."""
