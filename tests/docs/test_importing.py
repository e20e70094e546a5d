"""The page on results of other harnesses names every format, every field of a table and every kind of failure."""

import pytest

from dokimasia.cli.result_files import FORMATS as CHOICES
from dokimasia.integrations import FAILURES, FORMATS
from dokimasia.integrations.tables import COLUMN_NAMES
from dokimasia.report.results import FAILURE_TITLES
from tests.docs.test_quickstart import DOCS

pytestmark = pytest.mark.quick

PAGE = (DOCS / "importing.md").read_text()


def test_the_page_names_what_can_be_said() -> None:
    """Formats, fields and failures are those of the program, and the option takes the same formats."""
    assert CHOICES == FORMATS
    assert tuple(FAILURE_TITLES) == FAILURES
    missing = [name for name in (*FORMATS, *COLUMN_NAMES, *FAILURES) if f"`{name}`" not in PAGE]
    assert not missing
