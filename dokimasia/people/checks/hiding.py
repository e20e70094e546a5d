"""Hiding of others' decisions in a run's results from a person who has not decided yet."""

from collections.abc import Mapping

from dokimasia.domain.identity import JsonObject
from dokimasia.storage.decisions import standings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


def without_others(home: Home, run: Run, view: Mapping[str, object], who: str) -> JsonObject:
    """Return a view of a run's sample or item without others' decisions on items that `who` has not decided.

    The label of a perturbation becomes None, and the state of a golden caption `decided`.
    """
    hidden = [standing.item for standing in standings(home, run.id) if standing.state_for(who) == "decided"]
    captions = {item.subject for item in hidden if item.kind == "caption"}
    labelled = {(item.sample_id, item.detail) for item in hidden if item.kind == "perturbation"}

    def covered(part: Mapping[str, object]) -> JsonObject:
        hidden_view: JsonObject = dict(part)
        if (hidden_view.get("sample"), hidden_view.get("dimension")) in labelled:
            hidden_view["label"] = None
        if (golden := hidden_view.get("golden")) and golden.get("id") in captions:
            hidden_view["golden"] = {**golden, "state": "decided"}
        if isinstance(hidden_view.get("items"), list):
            hidden_view["items"] = [covered(item) for item in hidden_view["items"]]
        return hidden_view

    return covered(view) if hidden else dict(view)
