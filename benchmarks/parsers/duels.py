"""Read replies that nearly state a score: `python -m benchmarks.parsers.duels [--examples 1000000] [--seed 0] [--workers 2]`."""

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.parsers import duel_oracles, oracles
from benchmarks.parsers.oracles import Refuted
from benchmarks.parsers.statements import KINDS, Made, reply
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.pairwise import parse_factuality_scores, parse_pairwise_verdict
from dokimasia.parsing.verdicts import parse_rating

FULL = 1_000_000
CHUNK = 10_000

READ: dict[str, tuple[Callable[[str], Any], Callable[[str, Any], None]]] = {
    "verdict": (parse_pairwise_verdict, duel_oracles.check_verdict),
    "scores": (parse_factuality_scores, duel_oracles.check_scores),
    "rating": (
        lambda text: parse_rating(text, 1, 10),
        lambda text, one: oracles.check_rating(duel_oracles.unshown(text), one, low=1, high=10),
    ),
}
"""Each kind of reply with its parser, and with what a value that it reads has to keep."""


def read_one(kind: str, made: Made, counted: Counter[str]) -> None:
    """Read a reply, and count what came of it.

    Raises:
        Refuted: the parser raised something else than UnparsableReply, or read what the reply does not state.
    """
    parse, check = READ[kind]
    counted["texts"] += 1
    counted["states one"] += made.known and made.stated is not None
    try:
        value = parse(made.text)
    except UnparsableReply as refused:
        if not refused.reason:
            raise Refuted(f"{kind}: no reason is given for {made.text!r}") from None
        counted["refused though it states one"] += made.known and made.stated is not None
        return
    except Exception as error:  # whatever else it is, it is what must not happen
        raise Refuted(f"{kind}: {type(error).__name__}: {error} from {made.text!r}") from error
    counted["read"] += 1
    if made.known and value != made.stated:
        raise Refuted(f"{kind}: {value!r} is read, and {made.stated!r} is stated by {made.text!r}")
    try:
        check(made.text, value)
    except Refuted as problem:
        raise Refuted(f"{kind}: {problem}: {value!r} from {made.text!r}") from None


def read_many(kind: str, examples: int, seed: int) -> Counter[str]:
    """Make that many replies of a kind, read them, and return what came of them; the same seed makes the same.

    Raises:
        Refuted: a parser broke its word; the message has the text.
    """
    dice = random.Random(f"{kind}/{seed}")
    counted: Counter[str] = Counter()
    for _ in range(examples):
        read_one(kind, reply(kind, dice), counted)
    return counted


def read_all(examples: int = FULL, *, first_seed: int = 0, workers: int = 1) -> dict[str, Counter[str]]:
    """Read at least so many replies, an equal share of each kind; return what came of them by kind.

    Raises:
        Refuted: a parser broke its word.
    """
    share = -(-examples // len(KINDS))
    work = [
        (kind, min(CHUNK, share - start), first_seed + start // CHUNK)
        for kind in KINDS
        for start in range(0, share, CHUNK)
    ]
    found = {kind: Counter[str]() for kind in KINDS}
    with ProcessPoolExecutor(workers) as pool:
        for (kind, _, _), counted in zip(work, pool.map(read_many, *zip(*work, strict=True)), strict=True):
            found[kind].update(counted)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was read; return 1 if a parser broke its word."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parsers.duels", description=__doc__)
    parser.add_argument("--examples", type=int, default=FULL, help="replies in all, a third of each kind")
    parser.add_argument(
        "--seed", type=int, default=0, help="the first of the seeds; the same seeds make the same replies"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    if chosen.examples < 1 or chosen.seed < 0 or chosen.workers < 1:
        parser.error("--examples and --workers are at least 1, --seed at least 0")
    started = time.perf_counter()
    try:
        found = read_all(chosen.examples, first_seed=chosen.seed, workers=chosen.workers)
    except Refuted as problem:
        print(f"refuted: {problem}", file=sys.stderr)
        return 1
    if chosen.json:
        print(json.dumps(found))
        return 0
    for kind, one in found.items():
        print(
            f"{kind:8} {one['read']:9,} of {one['texts']:,} read; {one['states one']:,} surely state one, of which "
            f"{one['refused though it states one']:,} are refused"
        )
    print(f"no parser raised anything else or read what its text does not state; {time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
