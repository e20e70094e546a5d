"""What all pages share: theme, menu, skip link, errors, and how a browser gives its token."""

from pathlib import Path

import pytest

from tests.report.conftest import Finished
from tests.service.browser.conftest import copied, serving
from tests.service.browser.looking import NARROW, Site, View, assert_accessible, assert_calm, look_over
from tests.service.test_guard import TOKEN, tokens


@pytest.mark.parametrize("path", ["/login"])
def test_the_shell_is_calm_and_accessible(site: Site, path: str, views: tuple[View, ...]) -> None:
    """A page without content of its own passes axe at both sizes and in both schemes, and asks nobody else."""
    look_over(site, path, views)


def test_a_theme_is_remembered(site: Site) -> None:
    """The theme button's choice holds on the next page, before anything of it is drawn."""
    with site.opened("/login", scheme="light") as seen:
        seen.page.click("#theme")
        assert seen.page.evaluate("document.documentElement.dataset.theme") == "dark"
        seen.page.reload()
        assert seen.page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert seen.page.inner_text("#theme") == "Light"
        assert_calm(seen)


def test_the_menu_folds_where_there_is_no_room(site: Site) -> None:
    """At 400 pixels the menu opens by its button and folds by Escape, which gives the focus back."""
    with site.opened("/login", size=NARROW) as seen:
        menu = seen.page.get_by_role("navigation", name="Pages")
        assert not menu.is_visible()
        seen.page.click("#menu")
        assert menu.is_visible()
        assert_accessible(seen.page)
        seen.page.keyboard.press("Escape")
        assert not menu.is_visible()
        assert seen.page.evaluate("document.activeElement.id") == "menu"


def test_without_scripts_the_menu_is_there(site: Site) -> None:
    """Where no script runs nothing is folded, and no button stands that would do nothing."""
    with site.opened("/login", size=NARROW, scripts=False) as seen:
        assert seen.page.get_by_role("navigation", name="Pages").is_visible()
        assert not seen.page.locator("#theme").is_visible()
        assert not seen.page.locator("#menu").is_visible()


def test_the_first_key_leads_past_the_menu(site: Site) -> None:
    """Tab shows the skip link, and Enter leads to the content."""
    with site.opened("/settings") as seen:
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.className") == "skip"
        seen.page.keyboard.press("Enter")
        assert seen.page.evaluate("document.activeElement.id") == "content"


def test_a_browser_gives_its_token_once_and_takes_it_back(small: Finished, tmp_path: Path) -> None:
    """Without a token a browser is led to the form, from there back to what it opened, and out by logging out."""
    home = copied(small.home, tmp_path / "home")
    with serving(home, tokens=tokens(tmp_path)) as site, site.opened("/settings?x=1") as seen:
        page = seen.page
        assert page.url == f"{site.url}/login?next=/settings%3Fx%3D1"
        page.fill("#token", "not-this-one-at-all")
        page.keyboard.press("Enter")
        page.wait_for_selector(".fault")
        assert "not known" in page.inner_text(".fault")
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")
        page.wait_for_url("**/settings?x=1")
        assert page.evaluate("document.cookie") == ""
        page.click("text=Log out")
        page.wait_for_url("**/login")
        page.goto(f"{site.url}/settings")
        assert page.url.startswith(f"{site.url}/login")
