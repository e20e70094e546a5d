"""The service from Python, thin over its OpenAPI."""

from dokimasia.client.client import Client, ClientRun, Ended
from dokimasia.client.connection import Event

__all__ = ["Client", "ClientRun", "Ended", "Event"]
