"""The trees' pages: listed, shown with scores, edited by forms, refused in words, compared and restored."""

import re
from html import escape, unescape

from starlette.testclient import TestClient

from dokimasia.methods.tree import load_tree
from dokimasia.service.app import create_app
from dokimasia.service.state import WHO_COOKIE
from dokimasia.storage.trees.versions import list_trees, versions
from tests.service.conftest import service_over
from tests.service.waiting import Waits


def test_a_tree_is_shown_edited_compared_and_restored(waiting: Waits) -> None:
    """A change by form is a version with its reason and its person; what makes no tree is refused on the page."""
    with service_over(waiting.home) as service:
        app = create_app(service)
        with TestClient(
            app, base_url="http://localhost", cookies={WHO_COOKIE: "ana"}, headers={"accept": "text/html"}
        ) as page:
            (tree,) = list_trees(service.home)
            path = f"/trees/{tree.name}"
            assert tree.name in page.get("/trees").text
            shown = page.get(path)
            assert shown.status_code == 200
            assert shown.text.count("<path d=") >= 3
            middle = shown.text.partition("<title>all</title>")[2].partition("</a>")[0]
            assert re.fullmatch(r"score \d+ of 100", re.sub("<[^>]*>", "", middle))
            node = re.search(r'data-node="([^"]+)" data-layer="3"', shown.text)
            assert node is not None
            leaf = unescape(node[1])
            panel = page.get(path, params={"node": leaf})
            assert "Rename" in panel.text
            assert "/samples?group-tree=" in panel.text
            newest = load_tree(service.home, tree.name).stored.position
            form = {
                "kind": "rename",
                "node": leaf,
                "into": "A new name",
                "version": str(newest),
                "reason": "it says more",
            }
            assert page.post(f"{path}/edit", data=form).status_code == 200
            kept = versions(service.home, tree.name)[-1]
            assert (kept.position, kept.phase, kept.made_by) == (newest + 1, "edit", "ana")
            late = page.post(f"{path}/edit", data=form | {"into": "Another"})
            assert late.status_code == 409
            assert "is newer, and would be undone" in unescape(late.text)
            assert 'value="Another"' in late.text
            assert "A new name here." in unescape(late.text)
            parent = leaf.rpartition("<")[0]
            now = f"{parent}<A new name>"
            assert f'name="node" value="{escape(now)}"' in late.text
            assert f'name="version" value="{newest + 1}"' in late.text
            renamed = unescape(page.get(path, params={"node": now}).text)
            way = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ".join(leaf.strip("<>").split("><"))
            assert f"Called before: {way}." in renamed
            merged = re.search(r"Merged into this node: ([^.]*)", renamed)
            assert merged is None or way not in merged[1].split(", ")
            made = re.findall(r"<li><strong>(\w+)</strong>", renamed)
            assert (made[0], made[-1]) == ("rename", "add")
            bad = {"kind": "prune", "node": parent, "version": str(newest + 1), "reason": "why"}
            assert "has criteria below it" in unescape(page.post(f"{path}/edit", data=bad).text)
            both = unescape(page.post(f"{path}/edit", data=bad | {"reason": " "}).text)
            assert "needs a reason" in both
            assert "has criteria below it" in both
            empty = {"kind": "split", "node": now, "version": str(newest + 1), "reason": "", "into": ""}
            refused = page.post(f"{path}/edit", data=empty)
            assert refused.status_code == 422
            assert refused.text.count('class="fault"') == 3, "criteria, new name and reason"
            assert len(versions(service.home, tree.name)) == newest + 1
            diff = page.get(f"{path}/diff", params={"first": newest, "second": newest + 1})
            assert "renamed" in diff.text
            assert "it says more" in diff.text
            assert page.post(f"{path}/restore", data={"version": str(newest)}).status_code == 200
            assert len(versions(service.home, tree.name)) == newest + 2
            assert leaf in load_tree(service.home, tree.name).tree
            assert page.get("/trees/nothing").status_code == 404
            assert page.get(path, params={"version": "999"}).status_code == 404
            old = page.get(path, params={"version": "1"})
            assert "This is not the newest version" in old.text
            assert "Prune" not in old.text


def test_a_run_leads_to_its_tree_and_to_what_takes_it_further(waiting_once: Waits) -> None:
    """A growth and the evaluation that it grew from link to the tree; a finished run to the forms of what continues it."""
    headers = {"accept": "text/html"}
    with (
        service_over(waiting_once.home) as service,
        TestClient(create_app(service), base_url="http://localhost", headers=headers) as page,
    ):
        (tree,) = list_trees(service.home)
        grown = page.get(f"/runs/{tree.run_id}?wait=true").text
        assert f'href="/trees/{tree.name}"' in grown
        assert "Next steps" not in grown
        source = page.get(f"/runs/{tree.source}?wait=true").text
        assert f'href="/trees/{tree.name}"' in source
        steps = dict(re.findall(r'<li><a href="/new/([a-z]+)[?]([^"]+)"', source))
        assert steps == dict.fromkeys(
            ("refine", "tree", "modes", "quality", "diagnosis", "fingerprint"), f"run={tree.source}"
        )
        form = page.get(f"/new/tree?run={tree.source}").text
        assert f'name="run" value="{tree.source}"' in form
        for name, field, method in (("perturbations", "data", "probe"), ("captions", "data", "rubrics")):
            run = waiting_once.runs[name]
            shown = page.get(f"/runs/{run}?wait=true").text
            assert f"/new/{method}?{field}={run}" in shown
