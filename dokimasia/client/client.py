"""The service from Python: `Client` begins and finds runs, sends files and decides; `ClientRun` is one run of it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from pydantic import ValidationError

from dokimasia import operations
from dokimasia.client.connection import PATIENCE, Connection, Event, events, pause
from dokimasia.client.files import named, paths_of, request_sent, sent
from dokimasia.errors import ConfigError, InputError
from dokimasia.operations.operation import FileReply, operation_of
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.settings import nearest

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
    def _path(self) -> str:
        return f"/api/runs/{self.id}"

    def refresh(self) -> "ClientRun":
        """Fetch the current state of the run, and return the run."""
        row = self._client.call(operations.runs.list_of_runs, q=self.id, limit=PAGE)
        for run in row["runs"]:
            if run["id"] == self.id:
                self.shown = dict(run)
                return self
        self.detail()  # which says that there is none
        return self

    @property
    def status(self) -> str:
        """The current status of the run: queued, running, waiting, done, interrupted or failed."""
        return str(self.refresh().shown["status"])

    def events(self, *, after: str = "", patience: float = PATIENCE, **how: Any) -> Iterator[Event]:
        """Yield the events of the run until its work ends; the stream is opened again when the service comes back."""
        yield from events(self._client.connection, f"{self._path}/events", after=after, patience=patience, **how)

    def wait(
        self,
        told: Callable[[Event], None] = lambda event: None,
        *,
        limits: Mapping[str, Any] | None = None,
        patience: float = PATIENCE,
        **how: Any,
    ) -> Ended:
        """Wait until the run has stopped working, and return how it ended.

        Args:
            told: called with each event.
            limits: `max_failures`, `min_score` and `min_accuracy`, which decide whether the run passed.
            patience: seconds to wait for a service that does not answer.
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
        """Return how the run ended, under these limits."""
        thresholds = {name: (limits or {}).get(name) for name in ("max_failures", "min_score", "min_accuracy")}
        end = self._client.call(operations.finished.end, run=self.id, **thresholds)
        return Ended(self.id, end["status"], end["end"], end["why"])

    def figures(self) -> dict[str, Any]:
        """Return its figures, as `dokimasia show RUN --json` prints them, without items."""
        return self.detail()["figures"]

    def detail(self) -> dict[str, Any]:
        """Return the run with its figures, its estimate and whether its items are shown with them."""
        return self._client.call(operations.runs.one_run, run=self.id)

    def items(self, sample: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield its items, of one sample or of all, in the order of its data."""
        yield from self._client.entries(operations.results.items, "items", run=self.id, sample=sample)

    def samples(self, *, failed: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the names of its samples, with how many results each has and how many failed."""
        yield from self._client.pages(f"{self._path}/samples", "samples", failed=failed or None)

    def sample(self, id: str, *, raw: bool = False) -> dict[str, Any]:
        """Return one sample whole, with `raw` also every call as it was sent."""
        return self._client.call(operations.results.one_sample, run=self.id, sample=id, raw=raw or None)

    def correct(self, sample: str, **correction: Any) -> dict[str, Any]:
        """Correct an answer to a sample by hand, or leave the sample out, and return what is kept of it.

        Args:
            sample: its name.
            correction: `model` and `repeat` of the answer, with `answer` ("right" or "wrong"), `criteria` (scores by number,
                0 for not stated), or `undo`; or `leave_out`; and a `reason`.
        """
        return self._client.call(operations.finished.correct, run=self.id, body={"sample": sample, **correction})

    def corrections(self) -> Iterator[dict[str, Any]]:
        """Yield all that people corrected by hand, what was taken back, too, in the order in which they did."""
        yield from self._client.entries(operations.finished.corrections, "corrections", run=self.id)

    def export(self, format: str = "jsonl") -> bytes:
        """Return its rows as `jsonl`, `csv` or `parquet`; another program's form is a ZIP archive of its files."""
        return self._client.call(operations.results.export, run=self.id, format=format).data

    def report(self, format: str = "html", **how: Any) -> bytes:
        """Return its report as `html`, `md` or `terminal` (with `width` and `colour`); `samples` says how many it shows."""
        return self._client.call(operations.results.report, run=self.id, format=format, **how).data

    def cancel(self, *, at_once: bool = False) -> "ClientRun":
        """Stop the run once the calls in flight are committed, or at once."""
        return self._became(self._client.call(operations.runs.cancel, run=self.id, at_once=at_once or None))

    def resume(self, **limits: Any) -> "ClientRun":
        """Go on with it, under other limits (None: without one) and prompts; limits on spending that are not named stay."""
        return self._became(
            self._client.connection.send("POST", f"{self._path}/resume", self._client.as_json("resume", limits))
        )

    def retry(self, kinds: Sequence[str] = (), **limits: Any) -> "ClientRun":
        """Ask again what failed, of all kinds of failure or of some."""
        body = self._client.as_json("resume", limits) | ({"kinds": list(kinds)} if kinds else {})
        return self._became(self._client.connection.send("POST", f"{self._path}/retry", body))

    def fork(self, **changes: Any) -> "ClientRun":
        """Do it again with another `judge`, `models` (old to new), `prompts`, from a `node`; return the new run."""
        body = self._client.as_json("fork", changes)
        return ClientRun(self._client, self._client.connection.send("POST", f"{self._path}/fork", body))

    def fork_preview(self, **changes: Any) -> dict[str, Any]:
        """Return what a fork would be, ask and cost."""
        return self._client.connection.send(
            "POST", f"{self._path}/fork", self._client.as_json("fork", changes), dry_run=True
        )

    def call(self, name: str | None = None, tags: Sequence[str] | None = None) -> "ClientRun":
        """Give it a name, tags in the place of those that it has, or both."""
        body = {"name": name, "tags": None if tags is None else list(tags)}
        body_given = {key: value for key, value in body.items() if value is not None}
        return self._became(self._client.call(operations.runs.call_otherwise, run=self.id, body=body_given))

    def delete(self, *, force: bool = False) -> dict[str, Any]:
        """Delete it and return what went; with `force` also where other runs were made from it."""
        return self._client.call(operations.runs.delete, run=self.id, force=force or None)

    def _became(self, shown: Mapping[str, Any]) -> "ClientRun":
        self.shown = {**self.shown, **shown}
        return self


def _at_rest(event: Event) -> bool:
    """Whether an event says that the run is not at work any more."""
    picture = event.data["picture"] if event.kind == "snapshot" else {event.kind: event.data}
    status = (picture.get("status") or {}).get("status")
    return bool(picture.get("ended")) or (status is not None and status not in AT_WORK)


CHANGES: Mapping[str, type[Invocation]] = {"fork": ForkRequest, "resume": RunRequest}


class Client:
    """A service of Dokimasia.

        with Client("http://127.0.0.1:8181") as client:
            run = client.run("evaluate", data="questions.jsonl", judge="judge", models=["a", "b"])
            run.wait()
            print(run.figures()["models"])

    Files that a request names are sent first, unless they are there. Errors are those of this package, with the sentence
    that the command line prints.
    """

    def __init__(
        self, url: str, token: str | None = None, *, who: str = "", transport: httpx.BaseTransport | None = None
    ) -> None:
        """Make a client; nothing is sent yet.

        Args:
            url: the address of the service.
            token: what it is shown, where it asks for one; it appears in no message, no log and no `repr`.
            who: who decides, where the service takes this machine's word for it.
            transport: in place of the network.

        Raises:
            ConfigError: the address is none.
        """
        self.connection = Connection(url, token=token or "", who=who, transport=transport)

    def __repr__(self) -> str:
        return f"Client({self.connection.url!r})"

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.connection.close()

    def health(self) -> dict[str, Any]:
        """Return the version of the service and its number of workers."""
        return self.connection.get("/api/health")

    def run(self, method: str, /, **request: Any) -> ClientRun:
        """Begin a run of a method, or return the existing one; the fields are those of the method's request.

        Raises:
            InputError: the request, or what it names, cannot be used.
        """
        return self.begin(method, self.asked(method, request))

    def begin(self, method: str, request: RunRequest) -> ClientRun:
        """Begin a run of a request, such as `dokimasia.EvaluationRequest`."""
        return ClientRun(self, self._asked_for(method, request))

    def preview(self, method: str, /, **request: Any) -> dict[str, Any]:
        """Return what a run would be, ask and cost; nothing is begun."""
        return self.preview_of(method, self.asked(method, request))

    def preview_of(self, method: str, request: RunRequest) -> dict[str, Any]:
        """Return what a run of a request would be, ask and cost."""
        return self._asked_for(method, request, dry_run=True)

    def runs(self, *, tags: Sequence[str] = (), **filters: Any) -> list[ClientRun]:
        """Return the runs, the newest first: those with all of some tags, of a `status`, of a `method`, that hold a text `q`."""
        listed = self.entries(operations.runs.list_of_runs, "runs", tag=list(tags) or None, **filters)
        return [ClientRun(self, fields) for fields in listed]

    def find(self, run: str) -> ClientRun:
        """Return a run by its name, the beginning of its id, or `last`.

        Raises:
            NotFound: there is none.
        """
        return ClientRun(self, self.call(operations.runs.one_run, run=run))

    def diff(self, first: str, second: str, **how: Any) -> dict[str, Any]:
        """Return how two runs differ: the second minus the first; `models` (A,B), `top` and `seed` as on the command line."""
        return self.call(operations.runs.diff, runs=f"{first},{second}", **how)

    def upload(self, path: str | Path) -> str:
        """Upload a data file with its images, or a folder, unless the service has it; return its name for requests."""
        return sent(self.connection, Path(path).absolute())

    def uploads(self) -> list[dict[str, Any]]:
        """Return the uploads, the newest first."""
        return list(self.pages("/api/uploads", "uploads"))

    def methods(self) -> list[dict[str, Any]]:
        """Return the methods with what each takes."""
        return self.connection.get("/api/methods")["methods"]

    def models(self, *, simulated: bool = False) -> list[dict[str, Any]]:
        """Return the configured models, and with `simulated` those that ship with the package."""
        return self.call(operations.knowledge.models, simulated=simulated or None)["models"]

    def prompts(self) -> list[dict[str, Any]]:
        """Return the prompts that ship with the service."""
        return self.call(operations.knowledge.prompts)["prompts"]

    def trees(self) -> list[dict[str, Any]]:
        """Return the capability trees."""
        return list(self.entries(operations.trees.trees, "trees"))

    def tree(self, name: str, **how: Any) -> dict[str, Any]:
        """Return a tree: `version`, `run` and `model` (whose scores) and `depth` as on the command line."""
        return self.call(operations.trees.one_tree, tree=name, **how)

    def passports(self) -> list[dict[str, Any]]:
        """Return the judges of which probes can make a passport."""
        return self.call(operations.passports.passports)["judges"]

    def passport(self, judge: str, *, runs: Sequence[str] = (), seed: int = 0) -> dict[str, Any]:
        """Return what probes measured of a judge."""
        return self.call(operations.passports.one_passport, judge=judge, run=list(runs) or None, seed=seed)

    def reviews(self) -> list[dict[str, Any]]:
        """Return the runs with anything that people decide on, those where something waits first."""
        return list(self.entries(operations.reviews.reviews, "reviews"))

    def pending(self, run: str, *, second: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the items of a run on which the token's holder can decide now."""
        how = {"due": True, "second": second or None}
        yield from self.entries(operations.reviews.one_review, "items", run=run, **how)

    def item(self, run: str, item: str) -> dict[str, Any]:
        """Return what a person is shown of an item, and the decisions on it that they may see."""
        return self.call(operations.reviews.one_item, run=run, item=item)

    def decide(self, run: str, item: str, action: str, **decision: Any) -> dict[str, Any]:
        """Decide on an item as the token's holder: `text`, `delete`, `ratings`, `second`, `seen` as the action needs them.

        Raises:
            InputError: somebody has decided before, or it cannot be decided so.
        """
        return self.call(operations.reviews.decide, run=run, item=item, body={"action": action, **decision})

    def draft(self, run: str, item: str, text: str) -> dict[str, Any]:
        """Keep a text that is not decided on yet, and return what of a reply would not be understood; an empty one is none."""
        return self.call(operations.reviews.draft, run=run, item=item, body={"text": text})

    def agreement(self, run: str) -> dict[str, Any]:
        """Return how a run's items stand and how far people agree."""
        return self.call(operations.reviews.agreement, run=run)

    def image(self, sha256: str) -> bytes:
        """Return an image of the home by the SHA-256 of its bytes."""
        return self.connection.request("GET", f"/api/images/{sha256}").content

    def call(self, function: Callable[..., Any], /, **arguments: Any) -> Any:
        """Carry out an operation of `dokimasia.operations`, and return its JSON or the file that it returns."""
        declared = operation_of(function)
        path, query, body = declared.request(arguments)
        reply = self.connection.request(declared.verb, path, query=query, json=body)
        if declared.files:
            return FileReply(reply.content, reply.headers["content-type"], headers=dict(reply.headers))
        return reply.json() if reply.content else None

    def entries(self, function: Callable[..., Any], name: str, /, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Yield the entries of the list that an operation gives a page at a time."""
        path, query, _ = operation_of(function).request(arguments)
        return self.pages(path, name, **query)

    def pages(self, path: str, name: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list that the service gives a page at a time."""
        after: str | None = None
        while True:
            page = self.connection.get(path, limit=PAGE, after=after, **query)
            yield from page[name]
            after = page["next"]
            if after is None:
                return

    def asked(self, method: str, request: Mapping[str, Any]) -> Any:
        """Return the request of a method with these fields.

        Raises:
            ConfigError: there is no such method, or a field is wrong; the message names it.
        """
        if method not in (known := (*OWN, *plugin_methods())):
            hint = nearest(method, known) or f"; there are {', '.join(known)}"
            raise ConfigError(f"there is no method {method!r}{hint}")
        return _made(method_named(method).request, request)

    def _asked_for(self, method: str, request: RunRequest, **query: Any) -> Any:
        """Send a request for a run; the error names files that neither this machine nor the service has."""
        body = request_sent(self.connection, request)
        try:
            return self.connection.send("POST", f"/api/runs/{method}", body, **query)
        except InputError as problem:
            away = [str(path) for path in paths_of(request) if not path.exists() and repr(str(path)) in str(problem)]
            if not away:
                raise
            raise type(problem)(
                f"there is no file {away[0]} here, and the service has none, either: {problem}"
            ) from None

    def as_json(self, what: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return changes of a run as JSON, once the folders of prompts that they name are there."""
        values = dict(changes)
        prompts = values.pop("prompts", ())
        checked = _made(CHANGES[what], values)
        body = checked.model_dump(mode="json", include=set(values))
        if prompts:
            body["prompts"] = [named(self.connection, Path(prompt).absolute()) for prompt in prompts]
        return body


def _made(model: type[Any], values: Mapping[str, Any]) -> Any:
    try:
        request = model.model_validate(dict(values))
    except ValidationError as error:
        faults = [_fault(model, details) for details in error.errors(include_url=False)]
        raise ConfigError("; ".join(faults)) from None
    changed = {}
    for name in type(request).model_fields:
        value = getattr(request, name)
        if isinstance(value, Path) and value.exists():
            changed[name] = value.absolute()
        elif isinstance(value, tuple) and value and all(isinstance(path, Path) for path in value):
            changed[name] = tuple(path.absolute() for path in value)
    return request.model_copy(update=changed) if changed else request


def _fault(model: type[Any], fault: Mapping[str, Any]) -> str:
    """Return in words what is wrong with a field."""
    where = ".".join(map(str, fault["loc"])) or "the request"
    if fault["type"] == "extra_forbidden":
        return f"{where}: there is no such field{nearest(where, model.model_fields)}"
    if fault["type"] == "missing":
        return f"{where}: is needed"
    if fault["type"] == "tuple_type":
        example = f", such as [{fault['input']!r}]" if isinstance(fault["input"], str) else ""
        return f"{where}: a list is wanted{example}"
    return f"{where}: {str(fault['msg']).removeprefix('Value error, ')}"
