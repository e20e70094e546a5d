"""The graphs of judging methods that are compared with scoring by atomic criteria."""
