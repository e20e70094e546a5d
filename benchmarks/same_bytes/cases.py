"""What is run: every kind, and evaluations whose images are large, are made smaller, or come twice."""

import random
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from benchmarks.command import BenchmarkFailed
from benchmarks.kinds import KINDS, Kind, models_of, write_data

IN_FLIGHT = 8
SIDE = 64
"""Pixels of the longer side that images are made smaller to."""

PADDING = 1_000_000
"""Bytes that are added to an image."""

LARGE, SMALLER, TWICE = "evaluate large images", "evaluate images made smaller", "evaluate the same twice"
MODEL = """
[models."{name}"]
model = "openai/{name}"
endpoint = "planted"
api_base = "{url}"
transport = "direct"
max_concurrency = {in_flight}
{more}"""


class Case(NamedTuple):
    """A kind of run over data, under a configuration."""

    name: str
    kind: Kind
    data: Path
    config: Path


def cases_of(folder: Path, url: str, wanted: Sequence[str]) -> list[Case]:
    """Write data and configurations; return the cases."""
    data, config, smaller = folder / "world.jsonl", folder / "dokimasia.toml", folder / "smaller.toml"
    if not data.exists():
        write_data(data)
        for path, more in ((config, ""), (smaller, f"max_image_side = {SIDE}\n")):
            names = models_of(KINDS.values())
            path.write_text("".join(MODEL.format(name=name, url=url, in_flight=IN_FLIGHT, more=more) for name in names))
        lines = [orjson.loads(line) for line in data.read_bytes().splitlines()]
        _write(folder / "large.jsonl", (_enlarged(folder, line) for line in lines))
        _write(folder / "twice.jsonl", (*lines, *({**line, "id": f"{line['id']}-again"} for line in lines)))
    plain = KINDS["evaluate"]
    cases = (
        *(Case(kind.id, kind, data, config) for kind in KINDS.values()),
        Case(LARGE, plain, folder / "large.jsonl", config),
        Case(SMALLER, plain, data, smaller),
        Case(TWICE, plain, folder / "twice.jsonl", config),
    )
    unknown = set(wanted) - {case.name for case in cases}
    if unknown:
        raise BenchmarkFailed(
            f"there is no kind {sorted(unknown)}; there are: {', '.join(case.name for case in cases)}"
        )
    return [case for case in cases if not wanted or case.name in wanted]


def size_of_images(data: Path) -> int:
    """Return the bytes of all images of a data file."""
    return sum((data.parent / orjson.loads(line)["image"]).stat().st_size for line in data.read_bytes().splitlines())


def _write(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))


def _enlarged(folder: Path, line: dict[str, Any]) -> dict[str, Any]:
    """Return a data file's line with an image of its own that has bytes in it which nobody reads."""
    png, name = (folder / line["image"]).read_bytes(), f"images/large-{line['id']}.png"
    drawn = b"prVt" + random.Random(line["id"]).randbytes(PADDING)
    chunk = PADDING.to_bytes(4) + drawn + zlib.crc32(drawn).to_bytes(4)
    (folder / name).write_bytes(png[:-12] + chunk + png[-12:])  # before the last chunk, IEND
    return {**line, "image": name}
