"""The planted world, the settings and the requests of the tests of runs."""

from tests.runner.conftest import request_of, settings, world

__all__ = ["request_of", "settings", "world"]
