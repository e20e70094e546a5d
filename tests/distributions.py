"""Installed distributions for tests: entry points in a folder on `sys.path`, without pip."""

import importlib
from collections.abc import Mapping
from pathlib import Path

import pytest

EntryPoints = Mapping[str, Mapping[str, str]]
"""Group to entry point's name to what it refers to."""


def install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, entry_points: EntryPoints, *, name: str = "acme-checks"
) -> None:
    """Make a folder's modules importable and announce its entry points, until the test ends.

    Modules that are imported from it stay in `sys.modules`: who imports them removes them.
    """
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in named.items())
        for group, named in entry_points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
