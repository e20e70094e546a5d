"""The pages: every module with a `router` is part of the service."""
