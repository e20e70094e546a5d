"""Both transports over the same hostile replies: outcome, time and peak memory of each, side by side."""

import argparse
import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Sequence
from typing import Any

from benchmarks.command import ROOT, Options, run_benchmark, say
from benchmarks.figures import Figure, Report
from benchmarks.hostile.replies import KINDS, Hostile
from benchmarks.hostile.server import running_server

LONGEST = 180.0
"""Seconds for one kind of reply, the loading of LiteLLM included; then its process is killed."""

TRANSPORTS = ("direct", "litellm")
QUICK = ("an ordinary reply", "10^30 tokens", "a redirect (307)", "a gzip bomb of 6 GiB")
MOST_MB, MOST_SECONDS = 400, 20
"""What one reply may take at most: 32 MiB of body make several copies of themselves on their way to an answer."""


class Child:
    """A process that asks over one transport; one that dies of a reply is made anew for the next."""

    def __init__(self, transport: str) -> None:
        self._command = [sys.executable, "-m", "benchmarks.hostile.child", transport]
        self._process: subprocess.Popen[str] | None = None

    def ask(self, url: str, times: int) -> dict[str, Any]:
        """Return what became of the replies: `outcome`, `seconds`, `peak_mb`."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{url} {times}\n")
        process.stdin.flush()
        watch = threading.Timer(LONGEST, process.kill)
        watch.start()
        line = process.stdout.readline()
        watch.cancel()
        if line:
            return json.loads(line)
        self.close()
        return {"outcome": "DIED", "seconds": LONGEST, "peak_mb": 5000.0}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()
            self._process = None


def measure(options: Options) -> Report:
    """Ask for every kind over each transport, each transport in a process of its own."""
    chosen = options.kinds or (QUICK if options.quick else tuple(KINDS))
    rows: list[dict[str, Any]] = []
    children = {transport: Child(transport) for transport in TRANSPORTS}
    with running_server() as url:
        for number, (name, reply) in enumerate(KINDS.items()):
            if name not in chosen:
                continue
            say(name)
            row: dict[str, Any] = {"reply": name}
            for transport, child in children.items():
                found = _one(child, f"{url}/{number}", reply)
                row |= {f"{transport}_{what}": value for what, value in found.items()}
            rows.append(row)
        for child in children.values():
            child.close()
    figures = [figure for transport in TRANSPORTS for figure in _figures(transport, rows)]
    alike = sum(row["direct_outcome"] == row["litellm_outcome"] for row in rows)
    figures.append(Figure("the same outcome over both", alike, f"of {len(rows)}"))
    return Report("hostile", tuple(figures), tuple(rows))


def _one(child: Child, url: str, reply: Hostile) -> dict[str, Any]:
    before = _seen(url)
    found = child.ask(url, reply.times)
    seen = {what: count - before[what] for what, count in _seen(url).items()}
    broken = [f"ASKED ELSEWHERE {seen['elsewhere']} TIMES"] if seen["elsewhere"] else []
    broken += [f"COOKIE SENT {seen['cookies']} TIMES"] if seen["cookies"] else []
    if reply.safe != "either" and not found["outcome"].startswith(reply.safe):
        broken.append(f"NOT {reply.safe.upper()}")
    outcome = "; ".join([found["outcome"], *broken])
    return {"outcome": outcome, "s": round(found["seconds"], 2), "peak_mb": round(found["peak_mb"])}


def _figures(transport: str, rows: Sequence[dict[str, Any]]) -> list[Figure]:
    wrong = sum(any(word.isupper() and len(word) > 3 for word in row[f"{transport}_outcome"].split()) for row in rows)
    return [
        Figure(f"{transport}: replies that do harm", wrong, f"of {len(rows)}", 0, "exactly", must=True),
        Figure(
            f"{transport}: most memory of one",
            max(row[f"{transport}_peak_mb"] for row in rows),
            "MB",
            MOST_MB,
            "at most",
        ),
        Figure(
            f"{transport}: most time of one", max(row[f"{transport}_s"] for row in rows), "s", MOST_SECONDS, "at most"
        ),
    ]


def _seen(url: str) -> dict[str, int]:
    base, number = url.rsplit("/", 1)
    with urllib.request.urlopen(f"{base}/seen/{number}", timeout=10) as response:
        return json.load(response)


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), metavar="KIND", help="only these kinds of replies")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    return run_benchmark("hostile", __doc__, measure, arguments, add=_add)


if __name__ == "__main__":
    raise SystemExit(main())
