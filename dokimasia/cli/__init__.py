"""The command line: thin verbs over runs and methods, each loaded when it is called."""
