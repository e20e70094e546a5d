"""The passports in a browser: looked over, with what is fetched after the page."""

import pytest

from tests.report.chromium import settled
from tests.runs.kinds import JUDGE
from tests.service.browser.conftest import serving
from tests.service.browser.looking import View, assert_calm, look_over
from tests.service.waiting import Waits

pytestmark = pytest.mark.full


def test_passports_look_right(waiting: Waits, views: tuple[View, ...]) -> None:
    """The list, whose cards come after it, and a passport are calm, fit and pass axe."""
    with serving(waiting.home) as site:
        for path in ("/passports", f"/passports/judge?name={JUDGE}"):
            look_over(site, path, views)
        with site.opened("/passports") as seen:
            assert "detects" in settled(seen.page).inner_text(".cards")
            assert_calm(seen)
