"""Print the counters of the source code, by room: `python -m benchmarks.counters [--json]`.

Tokens leave out comments, blank lines and indentation. String subscripts are those that are read outside the graphs and of
other than graphs' states (what is called `state`, or ends so); types do not count. Conditional expressions and
comprehensions are counted per 1,000 lines. Beside the table: class names that exist more than once, circles of imports
(those for type checkers count), the files outside its own places that name each method, and the frames of the package
between `dokimasia evaluate` and the socket. `tests/test_architecture.py` holds the ratios.
"""

import argparse
import ast
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields

from rich.console import Console
from rich.table import Table

from benchmarks.command import scratch
from benchmarks.counters.methods import files_that_name_methods
from benchmarks.counters.source import Module, duplicate_classes, import_circles, modules, tokens

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Counts:
    """What some modules hold."""

    tokens: int = 0
    files: int = 0
    lines: int = 0
    any_names: int = 0
    string_subscripts: int = 0
    conditional_expressions: int = 0
    comprehensions: int = 0

    def per_thousand_lines(self, count: int) -> float:
        """Return a count per 1,000 lines."""
        return 1000 * count / max(self.lines, 1)

    def __add__(self, other: "Counts") -> "Counts":
        """Return the counts of the modules of both."""
        sums = {field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        return Counts(**sums)


def count(counted: Iterable[Module]) -> Counts:
    """Return the counts of some modules."""
    counts = Counts()
    for module in counted:
        counts.files += 1
        counts.lines += len(module.text.splitlines())
        counts.tokens += tokens(module.text)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.IfExp):
                counts.conditional_expressions += 1
            elif isinstance(node, COMPREHENSIONS):
                counts.comprehensions += 1
            elif isinstance(node, ast.Name) and node.id == "Any":
                counts.any_names += 1
            elif isinstance(node, ast.Subscript):
                counts.string_subscripts += module.room != "graphs" and _reads_by_string(node)
    return counts


def _reads_by_string(node: ast.Subscript) -> bool:
    """Return whether an expression reads a value by a string, from other than the state of a graph."""
    if not isinstance(node.ctx, ast.Load) or not isinstance(node.slice, ast.Constant):
        return False
    types = ("Literal", "Iterator", "Sequence", "list")
    name = ast.unparse(node.value).rpartition(".")[2]
    return isinstance(node.slice.value, str) and name not in types and not name.endswith("state")


def counts_by_room() -> dict[str, Counts]:
    """Return the counts of each room, the whole package last."""
    rooms = sorted({module.room for module in modules()})
    counts = {room: count(module for module in modules() if module.room == room) for room in rooms}
    return counts | {"all": sum(counts.values(), Counts())}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the counters."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.counters", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--no-frames", action="store_true", help="leave out the traced evaluation")
    options = parser.parse_args(arguments)
    counts, circles, duplicates = counts_by_room(), import_circles(), duplicate_classes()
    files_by_method = files_that_name_methods()
    frames: list[str] = []
    if not options.no_frames:
        from benchmarks.counters.frames import frames_to_socket

        with scratch() as folder:
            frames = frames_to_socket(folder)
    if options.json:
        document = {
            "rooms": {room: asdict(room_counts) for room, room_counts in counts.items()},
            "duplicate_classes": duplicates,
            "circles": [sorted(circle) for circle in circles],
            "files_that_name_methods": files_by_method,
            "frames": frames,
        }
        json.dump(document, sys.stdout, indent=2)
        print()
        return 0
    table = Table(
        "room", *(field.name.replace("_", " ") for field in fields(Counts)[:5]), "if-else / 1k", "comprehensions / 1k"
    )
    for room, room_counts in counts.items():
        ratios = (room_counts.conditional_expressions, room_counts.comprehensions)
        table.add_row(
            room,
            *(f"{value:,}" for value in list(asdict(room_counts).values())[:5]),
            *(f"{room_counts.per_thousand_lines(value):.1f}" for value in ratios),
        )
    console = Console(width=120)
    console.print(table)
    console.print(f"class names that exist more than once: {len(duplicates)} {' '.join(duplicates)}")
    console.print(f"circles of imports: {len(circles)} {[sorted(circle) for circle in circles] or ''}")
    counted_files = ", ".join(f"{method} {len(files)}" for method, files in files_by_method.items())
    console.print(f"files outside its places that name a method: {counted_files}")
    if frames:
        console.print(f"frames from the command to the socket: {len(frames)}")
        console.print("  " + "\n  ".join(frames))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
