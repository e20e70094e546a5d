"""A judge's check in a browser: begun with a form, it goes on by itself from planting to the verdict."""

from pathlib import Path

import pytest

from dokimasia.cli.main import run
from tests.cli.served import served
from tests.report.chromium import settled
from tests.service.browser.looking import USUAL_VIEWS, Site, assert_calm, look_over

pytestmark = pytest.mark.full


def test_a_check_is_begun_and_its_verdict_read(tmp_path: Path) -> None:
    """One press begins it; each page is calm, fits and passes axe."""
    texts = tmp_path / "root" / "texts.jsonl"
    assert run(["sim", "make", str(texts), "--gold", "texts", "--samples", "5", "--seed", "1"]) == 0
    with served(tmp_path / "home", "--data-root", texts.parent) as service:
        site = Site(service.url)
        look_over(site, "/judge-checks", USUAL_VIEWS)
        with site.opened("/judge-checks") as seen:
            page = settled(seen.page)
            for name, text in (("judge", "sim/judge-blind"), ("data", "texts.jsonl"), ("perturber", "sim/judge")):
                page.fill(f"#{name}", text)
            page.click("text=Start")
            page.wait_for_url("**/judge-checks/verdict**")
            assert "Is sim/judge-blind good enough?" in page.inner_text("h1")
            assert "length bias" in page.inner_text("main")
            verdict = page.url.removeprefix(service.url)
            assert_calm(seen)
        look_over(site, verdict, USUAL_VIEWS)
