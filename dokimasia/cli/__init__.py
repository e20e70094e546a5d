"""The command line: thin verbs over runner and analysis, each loaded when it is called."""
