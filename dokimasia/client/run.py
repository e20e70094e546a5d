"""One run of a service: watched, waited for, read, stopped, gone on with."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dokimasia.client.connection import PATIENCE, Connection, pause
from dokimasia.client.streams import Event, events

if TYPE_CHECKING:
    from dokimasia.client.client import Client

AT_WORK = frozenset({"queued", "running"})
"""Statuses of a run that goes on by itself."""

PAGE = 500


class Ended(NamedTuple):
    """How a run stands once it is not at work any more.

    `end` is one of `complete`, `failures`, `spending`, `below`, `waiting`, `interrupted`, `failed`, and `why` a sentence where
    that is not as it was wanted.
    """

    run: str
    status: str
    end: str
    why: str


class ClientRun:
    """A run of a service, by its id.

    Attributes:
        id: its id.
        method: of which method it is.
        command: the command that asks for the same.
    """

    def __init__(self, client: "Client", shown: Mapping[str, Any]) -> None:
        """Not called directly: `Client.run`, `Client.find` and `Client.runs` return runs."""
        self._client = client
        self.id = str(shown["id"])
        self.method = str(shown["method"])
        self.command = str(shown["command"])
        self.shown = dict(shown)

    def __repr__(self) -> str:
        return f"ClientRun({self.id!r}, {self.method!r}, {self.shown['status']!r})"

    @property
    def _at(self) -> str:
        return f"/api/runs/{self.id}"

    @property
    def _asked(self) -> Connection:
        return self._client.connection

    def refresh(self) -> "ClientRun":
        """Ask how the run stands now, and return it."""
        found = self._asked.get("/api/runs", q=self.id, limit=PAGE)
        for one in found["runs"]:
            if one["id"] == self.id:
                self.shown = dict(one)
                return self
        self._asked.get(self._at)  # which says that there is none
        return self

    @property
    def status(self) -> str:
        """How the run stands now: queued, running, waiting, done, interrupted or failed."""
        return str(self.refresh().shown["status"])

    def events(self, *, after: str = "", patience: float = PATIENCE, **how: Any) -> Iterator[Event]:
        """Yield what happens in the run until its work ends; a service that goes away and comes back is taken up again."""
        yield from events(self._asked, f"{self._at}/events", after=after, patience=patience, **how)

    def wait(
        self,
        told: Callable[[Event], None] = lambda event: None,
        *,
        limits: Mapping[str, Any] | None = None,
        patience: float = PATIENCE,
        **how: Any,
    ) -> Ended:
        """Wait until the run is not at work any more, and return how it ended.

        Args:
            told: each event.
            limits: `max_failures`, `min_score` and `min_accuracy`, against which its end is held.
            patience: seconds for which a service that went away is waited for.
            how: further arguments of `events`.
        """
        last = ""
        while True:
            for event in self.events(after=last, patience=patience, **how):
                last = event.id or last
                told(event)
                if _at_rest(event):
                    return self.ended(limits)
            time.sleep(pause(1))  # the service is about to end, and this begins anew once it is back

    def ended(self, limits: Mapping[str, Any] | None = None) -> Ended:
        """Return how the run stands, held against what was wanted of it."""
        wanted = {name: (limits or {}).get(name) for name in ("max_failures", "min_score", "min_accuracy")}
        found = self._asked.get(f"{self._at}/end", **wanted)
        return Ended(self.id, found["status"], found["end"], found["why"])

    def figures(self) -> dict[str, Any]:
        """Return its figures, as `dokimasia show RUN --json` prints them, without items."""
        return self.detail()["figures"]

    def detail(self) -> dict[str, Any]:
        """Return the run with its figures, its estimate and whether its items are shown with them."""
        return self._asked.get(self._at)

    def items(self, sample: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield its items, of one sample or of all, in the order of its data."""
        yield from self._client.pages(f"{self._at}/items", "items", sample=sample)

    def samples(self, *, failed: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the names of its samples, with how many results each has and how many failed."""
        yield from self._client.pages(f"{self._at}/samples", "samples", failed=failed or None)

    def sample(self, id: str, *, raw: bool = False) -> dict[str, Any]:
        """Return one sample whole, with `raw` also every call as it was sent."""
        from urllib.parse import quote

        return self._asked.get(f"{self._at}/samples/{quote(id, safe='')}", raw=raw or None)

    def correct(self, sample: str, **said: Any) -> dict[str, Any]:
        """Correct an answer to a sample by hand, or leave the sample out, and return what is kept of it.

        Args:
            sample: its name.
            said: `model` and `repeat` of the answer, with `answer` ("right" or "wrong"), `criteria` (scores by number, 0 for
                not stated), or `undo`; or `leave_out`; and a `reason`.
        """
        return self._asked.send("POST", f"{self._at}/corrections", {"sample": sample, **said})

    def corrections(self) -> Iterator[dict[str, Any]]:
        """Yield all that people corrected by hand, what was taken back, too, in the order in which they did."""
        yield from self._client.pages(f"{self._at}/corrections", "corrections")

    def export(self, format: str = "jsonl") -> bytes:
        """Return its rows as `jsonl`, `csv` or `parquet`; another program's form is a ZIP archive of its files."""
        return self._asked.request("GET", f"{self._at}/export", query={"format": format}).content

    def report(self, format: str = "html", **how: Any) -> bytes:
        """Return its report as `html`, `md` or `terminal` (with `width` and `colour`); `samples` says how many it shows."""
        return self._asked.request("GET", f"{self._at}/report", query={"format": format, **how}).content

    def cancel(self, *, at_once: bool = False) -> "ClientRun":
        """Stop it once the calls in flight are committed, or at once."""
        return self._became(self._asked.send("POST", f"{self._at}/cancel", at_once=at_once or None))

    def resume(self, **limits: Any) -> "ClientRun":
        """Go on with it, under other limits (None: without one) and prompts; limits on spending that are not named stay."""
        return self._became(self._asked.send("POST", f"{self._at}/resume", self._client.as_json("resume", limits)))

    def retry(self, kinds: Sequence[str] = (), **limits: Any) -> "ClientRun":
        """Ask anew what failed, of all kinds or of some."""
        body = self._client.as_json("resume", limits) | ({"kinds": list(kinds)} if kinds else {})
        return self._became(self._asked.send("POST", f"{self._at}/retry", body))

    def fork(self, **changes: Any) -> "ClientRun":
        """Do it again with another `judge`, `models` (old to new), `prompts`, from a `node`; return the new run."""
        body = self._client.as_json("fork", changes)
        return ClientRun(self._client, self._asked.send("POST", f"{self._at}/fork", body))

    def fork_preview(self, **changes: Any) -> dict[str, Any]:
        """Return what a fork would be, ask and cost."""
        return self._asked.send("POST", f"{self._at}/fork", self._client.as_json("fork", changes), dry_run=True)

    def call(self, name: str | None = None, tags: Sequence[str] | None = None) -> "ClientRun":
        """Give it a name, tags in the place of those that it has, or both."""
        body = {"name": name, "tags": None if tags is None else list(tags)}
        given = {key: value for key, value in body.items() if value is not None}
        return self._became(self._asked.send("PATCH", self._at, given))

    def delete(self, *, force: bool = False) -> dict[str, Any]:
        """Delete it and return what went; with `force` also where other runs were made from it."""
        return self._asked.send("DELETE", self._at, force=force or None)

    def _became(self, shown: Mapping[str, Any]) -> "ClientRun":
        self.shown = {**self.shown, **shown}
        return self


def _at_rest(event: Event) -> bool:
    """Whether an event says that the run is not at work any more."""
    told = event.data["picture"] if event.kind == "snapshot" else {event.kind: event.data}
    status = (told.get("status") or {}).get("status")
    return bool(told.get("ended")) or (status is not None and status not in AT_WORK)
