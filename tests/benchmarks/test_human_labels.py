"""Coverage by labels on judges whose labels are all known: readers of the sets, and what is measured of one."""

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from benchmarks import human_labels


def write_pandalm(folder: Path, n: int) -> None:
    """Write a gold file in which the judges agree with most people four times in five, and some replies that say nothing."""
    draw = Random(0)
    gold, replies = [], []
    for idx in range(n):
        best = draw.choice("12")
        said = best if draw.random() < 0.8 else draw.choice("12")
        votes = {"annotator1": best, "annotator2": int(best), "annotator3": "0"}
        gold.append({"idx": idx, "motivation_app": f"app {idx % 3}", "instruction": f"{idx}", "input": "", **votes})
        replies.append({"gpt_result": said if idx % 10 else "garbage", "pandalm_result": int(said)})
    (folder / "pandalm").mkdir()
    for name, rows in (("testset", gold), ("gpt-3.5-turbo-testset", replies), ("pandalm-7b-testset", replies)):
        (folder / f"pandalm/{name}-v1.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode()))


def test_each_judge_is_measured_and_the_worst_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Replies that say nothing are left out of n, and intervals of labels and judge are narrower than labels alone."""
    write_pandalm(tmp_path, 300)
    assert human_labels.main([str(tmp_path), "--splits", "10", "--labels", "50", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [(cell["judge"], cell["n"]) for cell in printed["cells"]] == [
        ("gpt-3.5-turbo", 270),
        ("gpt-3.5-turbo", 270),
        ("pandalm-7b", 300),
        ("pandalm-7b", 300),
    ]
    for cell in printed["cells"]:
        assert cell["in_set"] >= 0.7
        assert cell["width"] < cell["width_alone"]
    assert printed["worst"] in printed["cells"]


def test_a_folder_without_sets_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And ends with exit code 1."""
    assert human_labels.main([str(tmp_path)]) == 1
    assert "no set is there" in capsys.readouterr().err
