"""Uploads."""

from pathlib import Path

UPLOAD = "upload:"


class Uploads:
    def __init__(self, home: Path) -> None: ...
