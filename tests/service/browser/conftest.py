"""Services that a browser looks at: `site` over a finished home; `serving` for a home of one's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.report.conftest import Finished
from tests.service.browser.looking import Site
from tests.service.conftest import at_address, service_over


@contextmanager
def serving(home: Path, **more: Any) -> Iterator[Site]:
    """A service over a home at an address."""
    with service_over(home, **more) as service, at_address(service) as url:
        yield Site(url)


@pytest.fixture(scope="session")
def site(small: Finished) -> Iterator[Site]:
    """A service over a home with one finished evaluation, that only reads it."""
    with serving(small.home) as site:
        yield site
