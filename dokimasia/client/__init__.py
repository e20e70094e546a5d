"""A Python client of the service, a thin layer over its HTTP API."""

from dokimasia.client.client import Client, ClientRun, Ended
from dokimasia.client.connection import Event

__all__ = ["Client", "ClientRun", "Ended", "Event"]
