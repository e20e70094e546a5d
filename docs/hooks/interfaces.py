"""The tables of what each graph takes and gives; run as a program, it renews them in docs/reference/graphs.md."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from typing_extensions import get_type_hints, is_typeddict

from dokimasia.graphs.signatures import SIGNATURES

PAGE = Path(__file__).parent.parent / "reference" / "graphs.md"

BEGIN, END = "<!-- interfaces: written by `python docs/hooks/interfaces.py` -->\n", "<!-- end of interfaces -->\n"


JUDGES = {
    "yes": " It needs `judge=`.",
    "with criteria": " It needs `judge=` where the input has criteria.",
    "without checker": " It needs `judge=` where the options name no `checker`.",
    "no": "",
}


def renewed(page: str) -> str:
    """Return a page with the tables between its two marks as the program says them now."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{reference()}\n{END}{rest.partition(END)[2]}"


def reference() -> str:
    """Return the tables of all graphs, in the order of the methods."""
    return "\n".join(line for name in SIGNATURES for line in _tables(name))


def _tables(name: str) -> Iterator[str]:
    signature = SIGNATURES[name]
    models = ", ".join(f"`{option}`" for option in signature.names)
    named = f"; {models} name models" if models else ""
    yield from (f"### `{name}`", "", f"Options: `{signature.options.__name__}`{named}.{JUDGES[signature.judge]}", "")
    for title, type_ in (("input", signature.takes), ("output", signature.gives)):
        yield from (f"| {title} | type |", "|---|---|", *_rows(type_), "")
        yield from (" ".join((inspect.getdoc(type_) or "").split()), "")


def _rows(type_: type, above: str = "") -> Iterator[str]:
    """Yield a row for each field, each followed by the fields of its items where they have fields of their own."""
    optional = type_.__optional_keys__ if type_.__required_keys__ else ()  # pyright: ignore
    for field, hint in get_type_hints(type_).items():
        place = f"{above}{field}"
        yield f"| `{place}`{' (optional)' if field in optional else ''} | `{typed(hint)}` |"
        for item in get_args(hint):
            if is_typeddict(item):
                yield from _rows(item, f"{place}[].")


def typed(hint: object) -> str:
    """Return a type in words that fit a table: without modules, and with `or` between alternatives."""
    text = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return re.sub(r"\b(?:[a-zA-Z_]\w*\.)+", "", text).replace(" | ", " or ").replace("NoneType", "None")


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
