"""Operations on a home: each is one typed function, from which its route, its call by a client and its local call are made.

Modules are loaded on first use, as are imports that few operations need, so that commands start quickly.
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
