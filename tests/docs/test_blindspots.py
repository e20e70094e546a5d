"""The page on blind spots: its example is run as it stands, in its order, in an empty folder, offline."""

import csv
import re
from pathlib import Path

import pytest

from tests.docs.test_quickstart import DOCS, typed

pytestmark = pytest.mark.full

PAGE = (DOCS / "blindspots.md").read_text()


def test_the_example_runs_as_it_stands(tmp_path: Path) -> None:
    """From data to a report: perturbed, labelled by a simulated person, probed, shown, exported."""
    (block,) = re.findall(r"<!-- followed -->\n```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    said = {command: typed(command, tmp_path) for command in block.splitlines()}
    for command, done in said.items():
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert "What the judges miss" in said["dokimasia show last"].stdout
    with (tmp_path / "judgements.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["case"] for row in rows} == {"gold", "retest", "error", "neutral"}
    assert all(row["checked"] == "True" or row["checked"] == "true" for row in rows if row["item"])
    assert "<title>" in (tmp_path / "probe.html").read_text()
