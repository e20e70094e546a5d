"""The tests of the statistics in a process of their own, which imports a mutant in place of the source."""

import ast
import contextlib
import doctest
import importlib
import multiprocessing
import os
import pkgutil
import sys
import time
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from benchmarks.mutation.mutants import Mutant

STATISTICS = "dokimasia.algorithms.statistics"
LOADED = ["krippendorff", "networkx", "pydantic", "pytest", "scipy.stats", "sklearn.metrics"]
"""What every process needs and no mutant changes: loaded once, by the process that forks the others."""

AT_LEAST = 30.0
TIMES_AS_LONG = 10.0
"""A mutant whose tests take longer than this, and than `AT_LEAST` seconds, never ends, and is killed too."""


class Suite:
    """The tests of the statistics: the files of `tests/algorithms` that import them, and the examples in docstrings."""

    def __init__(self, root: Path) -> None:
        self._root = root
        texts = {
            str(path): path.read_text(encoding="utf-8")
            for path in sorted((root / "tests" / "algorithms").glob("test_*.py"))
        }
        self._texts = {file: text for file, text in texts.items() if STATISTICS in text}
        self._limit: float | None = None
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(LOADED)

    def notice(self, mutant: Mutant | None) -> bool:
        """Return whether a test fails on a mutant, or without one on the source as it is, which sets the time limit."""
        files, source = list(self._texts), None
        if mutant is not None:
            name, source = mutant.path.stem, (mutant.path, mutant.tree())
            files.sort(key=lambda file: -self._texts[file].count(name))  # the first failure ends the tests
        process = self._context.Process(target=_try, args=(self._root, files, source))
        started = time.perf_counter()
        process.start()
        process.join(self._limit)
        if process.exitcode is None:
            process.kill()
            process.join()
        if self._limit is None:
            self._limit = max(AT_LEAST, TIMES_AS_LONG * (time.perf_counter() - started))
        return process.exitcode != 0


class _Mutated(SourceFileLoader):
    """Loads a module from a syntax tree; byte code is neither read nor written."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the mutant."""
        return compile(self._tree, self.path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, path: Path, tree: ast.Module) -> None:
        stem = "" if path.stem == "__init__" else f".{path.stem}"
        self._name, self._path, self._tree = f"{STATISTICS}{stem}", str(path), tree

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        return spec_from_file_location(fullname, self._path, loader=_Mutated(fullname, self._path, self._tree))


def _try(root: Path, files: list[str], source: tuple[Path, ast.Module] | None) -> None:
    """Run the tests, and exit with 0 if none fails."""
    import pytest

    os.chdir(root)
    sys.path.insert(0, str(root))
    # The process may be forked from a server that another caller started, with modules of the package loaded.
    for name in [name for name in sys.modules if name.partition(".")[0] in ("dokimasia", "tests")]:
        del sys.modules[name]
    if source is not None:
        sys.meta_path.insert(0, _Finder(*source))
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        package = importlib.import_module(STATISTICS)
        names = [STATISTICS, *(found.name for found in pkgutil.iter_modules(package.__path__, f"{STATISTICS}."))]
        failed = any(doctest.testmod(importlib.import_module(name)).failed for name in names)
        quiet = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
        # Such a server may have loaded modules of plug-ins, too.
        quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        failed = failed or pytest.main([*files, *quiet]) != 0
    sys.exit(int(failed))
