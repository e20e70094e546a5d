"""Methods loaded by name, and found for a run."""

import importlib
from functools import cache
from typing import Any

from dokimasia.errors import ConfigError, NotFound
from dokimasia.plugins import load
from dokimasia.runs.catalogue import OWN
from dokimasia.runs.method import Method
from dokimasia.storage.runs import Run


@cache
def own_method(name: str) -> Method[Any, Any]:
    """Return a method of the package."""
    return importlib.import_module(f"dokimasia.methods.{OWN[name].module}").METHOD


def method_named(name: str) -> Method[Any, Any]:
    """Return a method by name.

    Raises:
        ConfigError: there is none of that name, or the plug-in that brings it cannot be used.
    """
    return own_method(name) if name in OWN else load("methods", name)


def method_of(run: Run) -> Method[Any, Any]:
    """Return the method of a run.

    Raises:
        NotFound: it was made by a method that is not installed any more.
    """
    try:
        return method_named(run.method)
    except ConfigError as error:
        raise NotFound(
            f"run {run.id} was made by the method {run.method!r}, which cannot be used here: {error}"
        ) from error
