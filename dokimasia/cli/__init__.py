"""The command line: thin verbs over runs and methods, each loaded on use."""
