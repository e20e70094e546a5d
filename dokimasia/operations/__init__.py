"""Operations on a home: typed functions from which routes, client calls and local calls are made.

Modules are loaded on first use, as are rarely needed imports, so that commands start quickly.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dokimasia.operations import (
        comments,
        finished,
        judge_checks,
        knowledge,
        passports,
        results,
        reviews,
        runs,
        trees,
    )

__all__ = ["comments", "finished", "judge_checks", "knowledge", "passports", "results", "reviews", "runs", "trees"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
