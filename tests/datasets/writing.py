"""The same samples written in every format, for tests that hold the formats against each other."""

import base64
import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LETTERS = "ABCDEFGH"


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write rows of id, prompt, reference_answer, choices, category, meta and images (bytes) as JSON lines."""
    lines = []
    for row in rows:
        images = [base64.b64encode(image).decode() for image in row.get("images", ())]
        line = {**row, "images": images} if images else {name: row[name] for name in row if name != "images"}
        lines.append(json.dumps(line))
    path.write_text("".join(line + "\n" for line in lines))
    return path


def write_tsv(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write the same rows as VLMEvalKit would: options in columns, the answer as a letter, images that recur by index."""
    more = list(dict.fromkeys(name for row in rows for name in row.get("meta", {})))
    target = io.StringIO()
    table = csv.writer(target, delimiter="\t", lineterminator="\n")
    table.writerow(["index", "image", "hint", "question", *LETTERS, "answer", "category", *more])
    first: dict[tuple[bytes, ...], str] = {}
    for row in rows:
        images = tuple(row.get("images", ()))
        texts = [base64.b64encode(image).decode() for image in images]
        cell = texts[0] if len(texts) == 1 else str(texts) if texts else ""
        if images and images in first:
            cell = first[images]
        elif images:
            first[images] = row["id"]
        choices = list(row.get("choices", ()))
        answer = row.get("reference_answer") or ""
        hint, _, question = row["prompt"].rpartition("\nQuestion: ")
        table.writerow(
            [
                row["id"],
                cell,
                hint.removeprefix("Hint: "),
                question,
                *choices,
                *[""] * (len(LETTERS) - len(choices)),
                LETTERS[choices.index(answer)] if choices else answer,
                row.get("category") or "",
                *[row.get("meta", {}).get(name, "") for name in more],
            ]
        )
    path.write_text(target.getvalue())
    return path


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write the same rows as Hugging Face would, images as structs of bytes and path."""
    import pyarrow
    import pyarrow.parquet

    names = list(dict.fromkeys(name for row in rows for name in row))
    table = [
        {name: row.get(name) for name in names}
        | {"images": [{"bytes": image, "path": None} for image in row.get("images", ())]}
        for row in rows
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), path)
    return path
