"""The service from Python, thin over its OpenAPI."""

from dokimasia.client.client import Client
from dokimasia.client.run import ClientRun, Ended
from dokimasia.client.streams import Event

__all__ = ["Client", "ClientRun", "Ended", "Event"]
