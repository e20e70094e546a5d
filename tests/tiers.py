"""Tiers of the suite: which files a tier reads, and what a run of one took beside what `pyproject.toml` states for it."""

import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest

MARKED = {"quick", "full"}
"""Tiers that are the tests with a marker of the same name; the usual tier is every test that is not marked `full`."""

STARTED = time.perf_counter()
_workers = pytest.StashKey[list[dict[str, float]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare what `pyproject.toml` says of the tiers."""
    parser.addini("tiers", "a tier, a colon, and what it takes, one a line", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Begin without any worker."""
    config.stash[_workers] = []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files without a test of the tier out: importing them takes time, and memory of every worker."""
    marker = config.getoption("markexpr")
    if marker not in {"quick", "not full"} or not _whole(config) or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    return ("mark.quick" not in text if marker == "quick" else "\npytestmark = pytest.mark.full" in text) or None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what a worker used to the process that reports, or keep what this process used where it has no workers."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["used"] = _used()
    elif not session.config.stash[_workers]:
        session.config.stash[_workers].append(_used())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take what a worker used; one that died sent nothing."""
    used = getattr(node, "workeroutput", {}).get("used")
    if used is not None:
        node.config.stash[_workers].append(used)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what a whole tier took, and what it may take."""
    marker = config.getoption("markexpr")
    tier = marker if marker in MARKED else "usual" if marker == "not full" else ""
    if not tier or not _whole(config):
        return
    stated = dict(line.split(": ", 1) for line in config.getini("tiers"))[tier]
    workers = config.stash[_workers]
    processor = sum(worker["processor"] for worker in workers)
    peak = max((worker["peak"] for worker in workers), default=0.0)
    terminalreporter.write_line(
        f"{tier} tier: {time.perf_counter() - STARTED:.0f} s (stated: {stated}), {processor:.0f} s of processor time, "
        f"at most {peak:,.0f} MB in one of {len(workers)} workers"
    )


def _whole(config: pytest.Config) -> bool:
    """Whether all of the suite was asked for, and not a folder, a file or a test of it."""
    return config.args_source == pytest.Config.ArgsSource.TESTPATHS


def _used() -> dict[str, float]:
    """Seconds of processor time, those of ended children too, and the most memory in MB of this process alone."""
    times = os.times()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"processor": sum(times[:4]), "peak": peak}
