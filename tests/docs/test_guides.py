"""The guides: each is followed as it stands, in an empty folder, offline, and prints what it shows."""

import re
from pathlib import Path

import pytest

from tests.docs.test_quickstart import DOCS, typed, words

pytestmark = pytest.mark.full

GUIDES = sorted((DOCS / "guides").glob("*.md"))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_runs_as_it_stands_and_prints_what_it_shows(guide: Path, tmp_path: Path) -> None:
    """Every command ends well, and every line of output on the page is printed by the command before it."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", guide.read_text(), re.DOTALL | re.MULTILINE)
    printed, shown = "", 0
    for kind, text in blocks:
        if kind == "sh":
            printed = ""
            for command in text.splitlines():
                done = typed(command, tmp_path)
                assert done.returncode == 0, f"{command}\n{done.stderr}"
                printed += words(done.stdout) + "\n"
        elif kind == "text":
            for line in text.splitlines():
                assert words(line) in printed, f"{guide.name} shows what is not printed: {line}"
                shown += 1
    assert shown


def test_there_is_a_guide_for_each_thing_that_people_come_for() -> None:
    """The documentation's menu and its first page lead to every guide."""
    assert len(GUIDES) == 5
    for place in (DOCS / "index.md", DOCS.parent / "mkdocs.yml", DOCS.parent / "README.md"):
        text = place.read_text()
        assert all(f"guides/{guide.name}" in text for guide in GUIDES), place
