"""Intervals held to their level in worlds drawn with numpy alone: nothing is shared with the package but what is tested."""
