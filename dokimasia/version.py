"""The version of the package."""

import hashlib
import platform
from functools import cache
from pathlib import Path

__version__ = "0.1.0"


@cache
def source_version() -> str:
    """Return the version this process runs: a hash of the package's sources, and Python's version."""
    package = Path(__file__).parent
    fingerprint = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        fingerprint.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return f"{fingerprint.hexdigest()[:16]} on Python {platform.python_version()}"
