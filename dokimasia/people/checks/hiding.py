"""What a person is shown of a run's results before they have decided themselves: nothing of what others said of an item."""

from collections.abc import Mapping
from typing import Any

from dokimasia.storage.decisions import standings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


def without_others(home: Home, run: Run, view: Mapping[str, Any], who: str) -> dict[str, Any]:
    """Return a view of a run's sample, or of one of its items, without what others decided where `who` has not.

    The label of a perturbation becomes None, and the state of a golden caption `decided`.
    """
    hidden = [one.item for one in standings(home, run.id) if one.state_for(who) == "decided"]
    captions = {item.subject for item in hidden if item.kind == "caption"}
    labelled = {(item.sample_id, item.detail) for item in hidden if item.kind == "perturbation"}

    def covered(one: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(one)
        if (found.get("sample"), found.get("dimension")) in labelled:
            found["label"] = None
        if (golden := found.get("golden")) and golden.get("id") in captions:
            found["golden"] = {**golden, "state": "decided"}
        if isinstance(found.get("items"), list):
            found["items"] = [covered(item) for item in found["items"]]
        return found

    return covered(view) if hidden else dict(view)
