"""What a run looks like at a moment: the picture that its events come to, the same wherever it is put together."""

from collections.abc import Mapping
from typing import Any, Literal

EventType = Literal[
    "snapshot", "status", "planned", "starting", "graph", "steps", "progress", "limit", "failure", "ended"
]
STATES = frozenset({"graph", "steps", "progress"})
"""Types of which the last event says all: those before it may be left out."""

LAST = 5
"""Sentences that a picture keeps of each kind of failure."""

PAST = 20
"""Changes of status that a picture keeps."""

Picture = dict[str, Any]


def blank() -> Picture:
    """Return the picture of a run of which nothing was told."""
    return {
        "status": None,
        "history": [],
        "planned": None,
        "starting": None,
        "progress": None,
        "failures": {},
        "limits": {},
        "graphs": {},
        "steps": {},
        "ended": None,
    }


def fold(picture: Picture, type: EventType, data: Mapping[str, Any]) -> None:
    """Put one more event into a picture; the script of the live page does the same."""
    if type == "snapshot":
        picture.clear()
        picture.update(data["picture"])
    elif type == "status":
        picture["status"] = dict(data)
        picture["history"] = [*picture["history"], dict(data)][-PAST:]
        picture["ended"] = None
    elif type == "ended":
        picture["ended"] = dict(data)
    elif type == "planned":
        picture |= blank() | {name: picture[name] for name in ("status", "history", "ended")}
        picture["planned"] = {name: one for name, one in data.items() if name != "failures"}
        picture["failures"] = data["failures"]
    elif type == "graph":
        picture["graphs"] = {**picture["graphs"], data["name"]: dict(data)}
    elif type == "limit":
        picture["limits"] = {**picture["limits"], data["endpoint"]: dict(data)}
    elif type == "failure":
        before = picture["failures"].get(data["kind"], {"count": 0, "last": []})
        after = {"count": before["count"] + 1, "last": [*before["last"], dict(data)][-LAST:]}
        picture["failures"] = {**picture["failures"], data["kind"]: after}
    else:
        picture[type] = dict(data)
