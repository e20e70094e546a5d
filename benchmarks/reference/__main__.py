"""Record a checkout's reference outputs, or compare it with the recorded digests or with another commit.

`python -m benchmarks.reference` records this checkout and compares it with `digests.txt`: a line for every output that
differs. `--against COMMIT` records that commit as well and prints the differing lines; `--update` renews the digests;
`--keep FOLDER` leaves the recorded texts there. `--kinds KIND ...` limits the comparison to some kinds of run.
"""

import argparse
import difflib
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.command import ROOT, scratch
from benchmarks.kinds import KINDS
from benchmarks.reference.recording import prepare, record_kind, record_surface

DIGESTS = Path(__file__).with_name("digests.txt")
SURFACE = "surface"
LINES_SHOWN = 12


def record(folder: Path, kinds: Sequence[str], *, surface: bool = True, processes: int = 2) -> None:
    """Write the outputs of all kinds, and what does not depend on a run, to a folder."""
    with scratch() as private:
        data = prepare(private / "data")
        with ProcessPoolExecutor(processes) as pool:
            tasks = [
                pool.submit(record_kind, kind, folder / kind.replace(" ", "-"), private / kind / "home", data)
                for kind in kinds
            ]
            if surface:
                tasks.append(pool.submit(record_surface, folder / SURFACE, private / SURFACE / "home"))
            for task in tasks:
                task.result()


def digests_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every recorded output by its path in the folder, shortened to 16 digits."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read_digests(path: Path) -> dict[str, str]:
    """Return the digests that a file holds, by the output's path."""
    lines = (line.split("  ", 1) for line in path.read_text().splitlines())
    return {name: digest for digest, name in lines}


def differences(ours: dict[str, str], theirs: dict[str, str], kinds: Sequence[str], *, surface: bool) -> list[str]:
    """Return a line for each output that differs, is new or is missing, among the recorded kinds."""
    folders = {kind.replace(" ", "-") for kind in kinds} | ({SURFACE} if surface else set())
    names = sorted(name for name in ours.keys() | theirs.keys() if name.split("/")[0] in folders)
    states = {
        name: "new" if name not in theirs else "missing" if name not in ours else "differs"
        for name in names
        if ours.get(name) != theirs.get(name)
    }
    return [f"{state:8} {name}" for name, state in states.items()]


def print_texts(ours: Path, theirs: Path, lines: Sequence[str]) -> None:
    """Print the first differing lines of each output that both checkouts have."""
    for line in lines:
        print(line)
        state, name = line.split(maxsplit=1)
        if state == "differs":
            before, after = ((folder / name).read_text().splitlines() for folder in (theirs, ours))
            difference = difflib.unified_diff(before, after, lineterm="", n=0)
            for text in list(difference)[2 : 2 + LINES_SHOWN]:
                print(f"    {text[:200]}")


def record_commit(commit: str, folder: Path, kinds: Sequence[str], *, surface: bool) -> None:
    """Record another commit's outputs, by its own code."""
    with scratch() as private:
        tree = private / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", tree, commit], cwd=ROOT, check=True)
        try:
            words = ["--keep", folder, "--record-only", *([] if surface else ["--no-surface"]), "--kinds", *kinds]
            line = [sys.executable, "-m", "benchmarks.reference", *map(str, words)]
            subprocess.run(line, cwd=tree, env={**os.environ, "PYTHONPATH": str(tree)}, check=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record and compare; return 1 where an output differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reference", description=__doc__)
    parser.add_argument("--kinds", nargs="+", metavar="KIND", default=list(KINDS), help="only these kinds of run")
    parser.add_argument("--no-surface", action="store_true", help="leave out help, schemas, prompts and OpenAPI")
    parser.add_argument("--against", metavar="COMMIT", help="compare with this commit, line by line")
    parser.add_argument("--update", action="store_true", help="renew the recorded digests")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="leave the recorded texts in this folder")
    parser.add_argument("--record-only", action="store_true", help="record without a comparison")
    options = parser.parse_args(arguments)
    surface = not options.no_surface
    with scratch() as private:
        ours, theirs = options.keep or private / "ours", private / "theirs"
        record(ours, options.kinds, surface=surface)
        if options.record_only:
            return 0
        digests = digests_of(ours)
        if options.update:
            recorded = read_digests(DIGESTS) if DIGESTS.exists() else {}
            folders = {name.split("/")[0] for name in digests}
            kept = {name: digest for name, digest in recorded.items() if name.split("/")[0] not in folders}
            DIGESTS.write_text("".join(f"{value}  {name}\n" for name, value in sorted((kept | digests).items())))
            return 0
        if options.against:
            record_commit(options.against, theirs, options.kinds, surface=surface)
        reference = digests_of(theirs) if options.against else read_digests(DIGESTS)
        lines = differences(digests, reference, options.kinds, surface=surface)
        if options.against:
            print_texts(ours, theirs, lines)
        else:
            print("\n".join(lines))
    print(f"{len(digests)} outputs recorded, {len(lines)} differ")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
