"""The routes under `/api`: every module with a `router` is part of the service."""
