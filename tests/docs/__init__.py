"""The documentation site: built, read, and followed."""
