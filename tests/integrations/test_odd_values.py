"""Files of results in which any part is of another kind: they are read, or refused as the user's mistake."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dokimasia.errors import InputError
from dokimasia.integrations import read_results
from tests.integrations.writing import LOGS, WRITERS, promptfoo, unpacked


def _variants(value: object) -> Iterator[object]:
    """A JSON value with each part of it in turn replaced by values of other kinds."""
    yield from (None, [[]], {}, "x", 7)
    if isinstance(value, dict):
        for name, part in value.items():
            yield from ({**value, name: other} for other in _variants(part))
    elif isinstance(value, list) and value:
        yield from ([other, *value[1:]] for other in _variants(value[0]))


@pytest.mark.parametrize("format", ["inspect", "lmms-eval", "promptfoo", "openai-evals"])
def test_any_part_may_be_of_another_kind(format: str, tmp_path: Path) -> None:
    """Whatever stands in the place of a part, the file is read, or refused as the user's mistake; nothing else is raised."""
    if format == "inspect":
        parts = unpacked(LOGS / "epochs.eval")
        header, sample = parts["header.json"], parts["samples/q1_epoch_1.json"]
        assert isinstance(header, dict)
        assert isinstance(sample, dict)
        kept = {
            name: sample[name]
            for name in ("id", "epoch", "input", "target", "output", "scores", "metadata", "messages")
        }
        whole: object = {name: header[name] for name in ("eval", "status", "results")} | {"samples": [kept]}
    elif format == "promptfoo":
        whole = json.loads(promptfoo(tmp_path / "all", ["first"]).read_text())
        assert isinstance(whole, dict)
        del whole["results"]["results"][1:]
    else:
        lines = WRITERS[format](tmp_path / "all", "second").read_text().splitlines()
        whole = [json.loads(line) for line in lines[:3]]
    path = tmp_path / ("changed.jsonl" if isinstance(whole, list) else "changed.json")
    for changed in _variants(whole):
        texts = changed if isinstance(whole, list) and isinstance(changed, list) else [changed]
        path.write_text("\n".join(map(json.dumps, texts)))
        with suppress(InputError):
            read_results(path, format=format)
