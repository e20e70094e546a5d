"""What the tests of people's decisions and of passports share with those of methods: a small world and requests on it."""

from tests.methods.conftest import request_of, settings, world

__all__ = ["request_of", "settings", "world"]
