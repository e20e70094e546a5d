"""The trees in a browser: looked over, edited by dragging one node onto another, and by the forms."""

import pytest

from dokimasia.methods.tree import load_tree
from dokimasia.service.state import WHO_COOKIE
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import list_trees, versions
from tests.service.browser.conftest import serving
from tests.service.browser.looking import WIDE, Site, View, assert_calm, look_over
from tests.service.waiting import Waits

pytestmark = pytest.mark.full


def _tree(waits: Waits) -> tuple[str, list[str]]:
    with Home.open(waits.home, write=False) as home:
        loaded = load_tree(home, list_trees(home)[0].name)
        return loaded.stored.tree, sorted(str(node) for node in loaded.tree)


def test_trees_look_right(waiting: Waits, views: tuple[View, ...]) -> None:
    """The list, a tree with a node chosen, and a difference are calm, fit and pass axe."""
    name, nodes = _tree(waiting)
    leaf = next(node for node in nodes if node.count("<") == 3)
    with serving(waiting.home) as site:
        for path in ("/trees", f"/trees/{name}?node={leaf}", f"/trees/{name}/diff?first=1&second=2"):
            look_over(site, path, views)


def test_a_node_is_merged_by_dragging_it(waiting: Waits) -> None:
    """A leaf dropped on another asks for a reason, and becomes one with it in a new version."""
    name, nodes = _tree(waiting)
    one, other = [node for node in nodes if node.count("<") == 3][:2]
    with (
        serving(waiting.home) as site,
        Site(site.url, ((WHO_COOKIE, "ana"),)).opened(f"/trees/{name}", size=WIDE) as seen,
    ):
        page = seen.page
        page.drag_and_drop(f"tr[data-node='{one}']", f"tr[data-node='{other}']")
        page.fill("#dragged-reason", "the same skill")
        with page.expect_navigation():
            page.click("#dragged button.primary")
        assert page.locator(f"tr[data-node='{one}']").count() == 0
        assert_calm(seen)
    with Home.open(waiting.home, write=False) as home:
        last = versions(home, name)[-1]
        tree = load_tree(home, name).tree
    assert (last.phase, last.made_by) == ("edit", "ana")
    assert one not in tree
    assert one in tree.nodes[other]["absorbed"]


def test_a_node_is_renamed_by_keyboard(waiting: Waits) -> None:
    """The forms do what dragging does, and a refusal stands on the page with what was written."""
    name, nodes = _tree(waiting)
    leaf = next(node for node in nodes if node.count("<") == 3)
    with serving(waiting.home) as site, site.opened(f"/trees/{name}?node={leaf}", size=WIDE) as seen:
        page = seen.page
        page.get_by_text("Rename", exact=True).first.focus()
        page.keyboard.press("Enter")
        page.fill("#rename-into", "Wholly new")
        page.fill("#rename-reason", "says more")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.inner_text("#node-title") == "Wholly new"
        assert "says more" in page.inner_text("#node")
        assert_calm(seen)
