"""The comparison of one process with workers on simulated nodes runs, and can fail."""

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.same_bytes.making import Made, compared

ROOT = Path(__file__).parents[2]


@pytest.mark.full
def test_nodes_come_to_the_bytes_of_one_process() -> None:
    """Workers on three nodes come to the same bytes, and an image of 1 MB comes to each node once."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("the extra dokimasia[ray] is not installed")
    asked = [sys.executable, "-m", "benchmarks.same_bytes", "--json", "--kinds", "filter", "evaluate large images"]
    done = subprocess.run([*asked, "--workers", "4"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [(row["run"], row["by 4"]) for row in report["rows"]] == [
        ("filter", "same"),
        ("evaluate large images", "same"),
    ]
    figures = {figure["what"]: figure["value"] for figure in report["figures"]}
    assert figures["nodes with workers"] == 3
    assert 1 <= figures["copies of large images on a node"] <= 1.1


def test_a_difference_iscompared() -> None:
    """Figures, exports and requests that differ are named."""
    one = Made(b"{}", b"", Counter({"a": 1}), 1, 0.0)
    assert compared(one, one._replace(walks=2, seconds=1.0)) == "same"
    assert compared(one, one._replace(figures=b"{ }", requests=Counter({"a": 2}))) == "other figures and requests"
    assert compared(one, one._replace(export=b"x")) == "other export"
    twice = one._replace(requests=Counter({"a": 2}))
    assert (compared(one, twice, repeated=1), compared(one, twice)) == ("same", "other requests")
    assert compared(one, one._replace(requests=Counter({"b": 1})), repeated=1) == "other requests"
