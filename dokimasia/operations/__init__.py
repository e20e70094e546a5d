"""Operations on a home: each is one typed function, from which its route, its call by a client and its local call are made.

The modules are loaded when they are first used, and so is what few of their operations need, so that commands begin at once.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dokimasia.operations import finished, knowledge, passports, results, reviews, runs, trees

__all__ = ["finished", "knowledge", "passports", "results", "reviews", "runs", "trees"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
