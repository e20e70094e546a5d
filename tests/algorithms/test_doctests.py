"""The examples in the docstrings of the algorithms are true."""

import doctest
import importlib
import pkgutil

import pytest

from dokimasia import algorithms


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.walk_packages(algorithms.__path__, "dokimasia.algorithms.")]
)
def test_examples_in_docstrings_run(name: str) -> None:
    """Every example of a module gives what it says."""
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
