"""Peers in virtual environments of their own: `python -m benchmarks.peers` makes `.venv-bench/inspect`.

Their dependencies would not agree with ours, and theirs should be what they were released with. The lock file is made by

    uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-config \\
        benchmarks/requirements-inspect.txt -o benchmarks/requirements-inspect.lock
"""

import argparse
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from benchmarks.command import ROOT, BenchmarkFailed, say

ENVIRONMENTS = ROOT / ".venv-bench"
PEERS = ("inspect",)


def peer_python(peer: str) -> Path:
    """Return the peer's Python, making its environment where there is none of this lock file.

    Raises:
        BenchmarkFailed: it cannot be installed.
    """
    lock = ROOT / "benchmarks" / f"requirements-{peer}.lock"
    folder = ENVIRONMENTS / peer
    python, stamp = folder / "bin" / "python", folder / "lock"
    if stamp.is_file() and stamp.read_bytes() == lock.read_bytes():
        return python
    say(f"installing {peer} into {folder.relative_to(ROOT)} ...")
    ENVIRONMENTS.mkdir(exist_ok=True)
    (ENVIRONMENTS / ".gitignore").write_text("*\n")
    venv.create(folder, with_pip=True, clear=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", lock]
    done = subprocess.run(list(map(str, install)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkFailed(f"{peer} could not be installed: {done.stderr.strip()[-1000:]}")
    stamp.write_bytes(lock.read_bytes())
    return python


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the environments of the peers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("peers", nargs="*", default=list(PEERS), metavar="PEER", help=f"default: {', '.join(PEERS)}")
    for peer in parser.parse_args(arguments).peers:
        try:
            print(peer_python(peer))
        except BenchmarkFailed as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
