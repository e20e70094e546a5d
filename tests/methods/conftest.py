"""What the tests of methods share: settings with a home of their own."""

from pathlib import Path

import pytest

from dokimasia.settings import Settings, load_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with an empty home."""
    return load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
