"""One data set in every format is one data set: the same samples by content, and the same results."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.datasets import check, open_dataset
from dokimasia.domain.identity import value_id
from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world

from .conftest import encoded
from .writing import write_jsonl, write_parquet, write_tsv

WRITERS = {"jsonl": write_jsonl, "tsv": write_tsv, "parquet": write_parquet}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Fifty samples: forty of the planted world and ten of other kinds, with hints, quotes, and several images a row."""
    folder = tmp_path_factory.mktemp("world")
    write_world(folder / "world.jsonl", 40, 7)
    made: list[dict[str, Any]] = []
    for line in (folder / "world.jsonl").read_text().splitlines():
        row = json.loads(line)
        image = (folder / row.pop("image")).read_bytes()
        row["meta"] = {"domain": row["meta"]["domain"], "scene": row["meta"]["scene"]}
        made.append({**row, "images": [image]})
    for number in range(10):
        prompt = f'What does "sign {number}"\tsay,\nread aloud?'
        made.append(
            {
                "id": str(1000 + number),
                "prompt": f"Hint: look {number} times\nQuestion: {prompt}" if number % 2 else prompt,
                "reference_answer": f"It says \u201cstop\u201d {number} times.",
                "choices": [],
                "category": None if number % 3 else "signs",
                "meta": {"l2-category": "text"},
                "images": [encoded(size=(8 + n, 8)) for n in range(number % 4)],
            }
        )
    return [{name: value for name, value in row.items() if value} for row in made]


@pytest.fixture
def files(rows: list[dict[str, Any]], tmp_path: Path) -> dict[str, Path]:
    """The fifty samples in every format, each in a folder of its own, beside none of their images."""
    made = {}
    for name, write in WRITERS.items():
        (tmp_path / name).mkdir()
        made[name] = write(tmp_path / name / f"data.{name}", rows)
    return made


def test_the_same_samples(files: dict[str, Path]) -> None:
    """Ids, content hashes, whole values and the fingerprint of the data agree over TSV, JSON lines and Parquet."""
    read = {name: [one for one in open_dataset(path) if isinstance(one, Sample)] for name, path in files.items()}
    assert len(read["jsonl"]) == 50
    for name, samples in read.items():
        assert [sample.id for sample in samples] == [sample.id for sample in read["jsonl"]], name
        assert [sample.digest for sample in samples] == [sample.digest for sample in read["jsonl"]], name
        assert [value_id(sample) for sample in samples] == [value_id(sample) for sample in read["jsonl"]], name
    assert len({check(path).fingerprint for path in files.values()}) == 1
    assert sum(len(sample.images) > 1 for sample in read["jsonl"]) == 4


async def test_the_same_results(files: dict[str, Path], tmp_path: Path) -> None:
    """Evaluated apart, each format in a home of its own, they are the same run with the same figures to the byte."""
    runs, figures = set(), set()
    for name, path in files.items():
        settings = load_settings(home=tmp_path / f"home-{name}", cwd=tmp_path, env={})
        request = EvaluationRequest(data=path, judge="sim/judge-noisy", models=("sim/strong", "sim/weak"))
        result = await evaluate(request, settings=settings)
        assert result.complete
        assert result.summary["models"]["sim/weak"]["n"] == 50
        runs.add(result.run)
        figures.add(orjson.dumps(result.summary["models"], option=orjson.OPT_SORT_KEYS))
    assert (len(runs), len(figures)) == (1, 1)
