"""A Python client of the service: `Client` starts and finds runs, uploads files and decides items; `ClientRun` is a run."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dokimasia import operations
from dokimasia.client.connection import PATIENCE, Connection, Event, events, pause
from dokimasia.client.files import named, paths_of, request_sent, sent
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.wording import nearest
from dokimasia.errors import ConfigError, Fault, InputError
from dokimasia.operations.operation import FileReply, ListPage, operation_of, read_reply
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.storage.runs import RunStatus

AT_WORK = frozenset({"queued", "running"})
"""Statuses of a run that continues without intervention."""

P = TypeVar("P", bound=ListPage)
Q = TypeVar("Q", bound=Invocation)
R = TypeVar("R")


class Ended(NamedTuple):
    """How the work on a run ended.

    `end` is one of `complete`, `failures`, `spending`, `below`, `waiting`, `interrupted`, `failed`; `why` is a sentence that
    explains any end but `complete`.
    """

    run: str
    status: str
    end: str
    why: str


class ClientRun:
    """A run on a service.

    Attributes:
        id: its id.
        method: the name of its method.
        command: the command line that requests the same run.
    """

    def __init__(self, client: "Client", shown: Mapping[str, Any]) -> None:
        """Create a run from its JSON; callers use `Client.run`, `Client.find` or `Client.runs` instead."""
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
        for run in self._client.entries(operations.runs.list_of_runs, "runs", q=self.id):
            if run["id"] == self.id:
                self.shown = run
                return self
        self.detail()  # raises NotFound
        return self

    @property
    def status(self) -> str:
        """The current status of the run: queued, running, waiting, done, interrupted or failed."""
        return str(self.refresh().shown["status"])

    def events(
        self, *, after: str = "", patience: float = PATIENCE, lost: Callable[[str], None] = lambda why: None
    ) -> Iterator[Event]:
        """Yield the events of the run until its work ends, reconnecting if the service was gone; see `connection.events`."""
        path = f"{self._path}/events"
        yield from events(self._client.connection, path, after=after, patience=patience, lost=lost)

    def wait(
        self,
        on_event: Callable[[Event], None] = lambda event: None,
        *,
        limits: Mapping[str, object] | None = None,
        patience: float = PATIENCE,
        lost: Callable[[str], None] = lambda why: None,
    ) -> Ended:
        """Wait until the run has stopped working, and return how it ended.

        Args:
            on_event: called with each event.
            limits: `max_failures`, `min_score` and `min_accuracy`, which decide whether the run passes.
            patience: seconds to wait for a service that does not answer.
            lost: called with the reason each time the connection breaks.
        """
        last = ""
        while True:
            for event in self.events(after=last, patience=patience, lost=lost):
                last = event.id or last
                on_event(event)
                if _ends_work(event):
                    return self.ended(limits)
            time.sleep(pause(1))  # the service is shutting down: reconnect once it is back

    def ended(self, limits: Mapping[str, object] | None = None) -> Ended:
        """Return how the run ended, by these limits."""
        thresholds = {name: (limits or {}).get(name) for name in ("max_failures", "min_score", "min_accuracy")}
        end = self._client.reply(operations.finished.end, run=self.id, **thresholds)
        return Ended(self.id, end.status, end.end, end.why)

    def figures(self) -> JsonObject:
        """Return its figures, as `dokimasia show RUN --json` prints them, without items."""
        return self.detail()["figures"]

    def detail(self) -> JsonObject:
        """Return the run with its figures, its estimate and whether its items are shown with them."""
        return self._client.call(operations.runs.one_run, run=self.id)

    def items(self, sample: str | None = None) -> Iterator[JsonObject]:
        """Yield its items, of one sample or of all, in the order of its data."""
        yield from self._client.entries(operations.results.items, "items", run=self.id, sample=sample)

    def samples(self, *, failed: bool = False) -> Iterator[JsonObject]:
        """Yield the names of its samples, each with its numbers of results and of failures."""
        yield from self._client.pages(f"{self._path}/samples", "samples", failed=failed or None)

    def sample(self, id: str, *, raw: bool = False) -> JsonObject:
        """Return a sample with all its results, with `raw` also every call as it was sent."""
        return self._client.call(operations.results.one_sample, run=self.id, sample=id, raw=raw or None)

    def wrong(self, models: Sequence[str] = (), **options: object) -> JsonObject:
        """Return the answers that were judged wrong or, in a run without verdicts, those with the lowest scores.

        Args:
            models: only answers of these models; empty: of all.
            options: `limit`, the number of listed answers.
        """
        return self._client.call(operations.results.wrong, run=self.id, model=list(models) or None, **options)

    def search(self, text: str, **options: object) -> JsonObject:
        """Return the samples nearest to a text by meaning, nearest first, and the price paid to embed their texts.

        Args:
            text: the text to search for.
            options: `answers` to search these instead of the questions, `limit`, `max_cost` in US dollars, or
                `estimate` to send nothing and return the price.
        """
        return self._client.call(operations.results.search, run=self.id, body={"text": text, **options})

    def overrule(self, sample: str, **correction: object) -> JsonObject:
        """Overrule the judge on an answer to a sample, or leave the sample out, and return the stored correction.

        Args:
            sample: its name.
            correction: `model` and `repeat` of the answer, with `answer` ("right" or "wrong"), `criteria` (scores by number,
                0 for not stated), or `undo`; or `leave_out`; and a `reason`.
        """
        return self._client.call(operations.finished.overrule, run=self.id, body={"sample": sample, **correction})

    def corrections(self) -> Iterator[JsonObject]:
        """Yield all corrections by people, including undone ones, in chronological order."""
        yield from self._client.entries(operations.finished.corrections, "corrections", run=self.id)

    def comments(self, sample: str | None = None) -> Iterator[JsonObject]:
        """Yield the comments on its samples, or on one sample, in the order of writing."""
        yield from self._client.entries(operations.comments.comments, "comments", run=self.id, sample=sample)

    def comment(self, sample: str, text: str) -> JsonObject:
        """Write a comment on a sample, and return it."""
        return self._client.call(operations.comments.comment, run=self.id, body={"sample": sample, "text": text})

    def delete_comment(self, id: int) -> JsonObject:
        """Delete a comment by its number, and return it."""
        return self._client.call(operations.comments.delete_comment, run=self.id, id=id)

    def views(self) -> Iterator[JsonObject]:
        """Yield the named views of its samples, by name."""
        yield from self._client.entries(operations.comments.views, "views", run=self.id)

    def name_view(self, name: str, query: str) -> JsonObject:
        """Name a view of its samples, such as `reply=refused&order=low`, and return it."""
        return self._client.call(operations.comments.name_view, run=self.id, body={"name": name, "query": query})

    def delete_view(self, name: str) -> JsonObject:
        """Delete a named view, and return it."""
        return self._client.call(operations.comments.delete_view, run=self.id, name=name)

    def export(self, format: str = "jsonl") -> bytes:
        """Return its rows as `jsonl`, `csv` or `parquet`, or the files of another program's format as a ZIP archive."""
        return self._client.reply(operations.results.export, run=self.id, format=format).data

    def report(
        self,
        format: str = "html",
        *,
        samples: int | None = None,
        width: int | None = None,
        colour: bool | None = None,
        full: bool | None = None,
    ) -> bytes:
        """Return its report as `html`, `md` or `terminal`; `samples` is the number of samples it shows.

        For a terminal, `width` and `colour` describe it, and `full` draws all tables with all columns.
        """
        options = {"format": format, "samples": samples, "width": width, "colour": colour, "full": full}
        return self._client.reply(operations.results.report, run=self.id, **options).data

    def cancel(self, *, at_once: bool = False) -> "ClientRun":
        """Stop the run once the calls in flight are committed, or at once."""
        return self._update(self._client.call(operations.runs.cancel, run=self.id, at_once=at_once or None))

    def resume(self, *, prompts: Sequence[str | Path] = (), **limits: object) -> "ClientRun":
        """Resume the run, with other limits (None removes one) or prompts; unnamed spending limits stay."""
        body = self._client.as_json(RunRequest, limits, prompts)
        return self._update(self._client.connection.send("POST", f"{self._path}/resume", body))

    def retry(self, kinds: Sequence[str] = (), *, prompts: Sequence[str | Path] = (), **limits: object) -> "ClientRun":
        """Retry the items with some kinds of failure, by default all kinds."""
        body = self._client.as_json(RunRequest, limits, prompts) | ({"kinds": list(kinds)} if kinds else {})
        return self._update(self._client.connection.send("POST", f"{self._path}/retry", body))

    def resume_preview(
        self, *, retry: Sequence[str] = (), prompts: Sequence[str | Path] = (), **limits: object
    ) -> JsonObject:
        """Return the remaining calls and cost of the run when resumed, without sending anything.

        Args:
            retry: kinds of failure that would be retried.
            prompts: prompts that replace those of the run.
            limits: other limits, as of `resume`.
        """
        body = self._client.as_json(RunRequest, limits, prompts) | ({"kinds": list(retry)} if retry else {})
        return self._client.connection.send(
            "POST", f"{self._path}/{'retry' if retry else 'resume'}", body, dry_run=True
        )

    def fork(self, *, prompts: Sequence[str | Path] = (), **changes: object) -> "ClientRun":
        """Fork the run with another `judge`, other `models` (old to new) or `prompts`, from a `node` on; return the new run."""
        body = self._client.as_json(ForkRequest, changes, prompts)
        return ClientRun(self._client, self._client.connection.send("POST", f"{self._path}/fork", body))

    def fork_preview(self, *, prompts: Sequence[str | Path] = (), **changes: object) -> JsonObject:
        """Return the id, calls and cost of a prospective fork, without starting it."""
        body = self._client.as_json(ForkRequest, changes, prompts)
        return self._client.connection.send("POST", f"{self._path}/fork", body, dry_run=True)

    def call(self, name: str | None = None, tags: Sequence[str] | None = None) -> "ClientRun":
        """Name the run, replace its tags, or both."""
        body = {"name": name, "tags": None if tags is None else list(tags)}
        set_fields = {key: value for key, value in body.items() if value is not None}
        return self._update(self._client.call(operations.runs.call_otherwise, run=self.id, body=set_fields))

    def delete(self, *, force: bool = False) -> JsonObject:
        """Delete the run and return what was deleted; `force` allows this even if other runs were made from it."""
        return self._client.call(operations.runs.delete, run=self.id, force=force or None)

    def _update(self, shown: JsonObject) -> "ClientRun":
        self.shown = {**self.shown, **shown}
        return self


def _ends_work(event: Event) -> bool:
    """Return whether an event ends the work on the run."""
    picture = event.data["picture"] if event.kind == "snapshot" else {event.kind: event.data}
    status = (picture.get("status") or {}).get("status")
    return bool(picture.get("ended")) or (status is not None and status not in AT_WORK)


class Client:
    """A client of a Dokimasia service.

        with Client("http://127.0.0.1:8181") as client:
            run = client.run("evaluate", data="questions.jsonl", judge="judge", models=["a", "b"])
            run.wait()
            print(run.figures()["models"])

    Files that a request names are uploaded first, unless the service has them. Errors are raised as the classes of
    `dokimasia.errors`, with the messages of the command line.
    """

    def __init__(
        self, url: str, token: str | None = None, *, who: str = "", transport: httpx.BaseTransport | None = None
    ) -> None:
        """Create a client; nothing is sent yet.

        Args:
            url: the address of the service.
            token: the access token, if the service requires one; it appears in no message, no log and no `repr`.
            who: the person who decides, if the service accepts self-declared names.
            transport: an HTTP transport to use instead of the network, such as in tests.

        Raises:
            ConfigError: the address is not a valid URL.
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

    def health(self) -> JsonObject:
        """Return the version of the service and its number of workers."""
        return self.connection.get("/api/health")

    def run(self, method: str, /, **request: object) -> ClientRun:
        """Start a run of a method, or return the existing run; the fields are those of the method's request.

        Raises:
            InputError: the request, or what it names, cannot be used.
        """
        return self.begin(method, self.request_of(method, request))

    def begin(self, method: str, request: RunRequest) -> ClientRun:
        """Start a run of a request, such as `dokimasia.EvaluationRequest`."""
        return ClientRun(self, self._post_request(method, request))

    def preview(self, method: str, /, **request: object) -> JsonObject:
        """Return the id, calls and cost of a prospective run, without starting it."""
        return self.preview_of(method, self.request_of(method, request))

    def preview_of(self, method: str, request: RunRequest) -> JsonObject:
        """Return the id, calls and cost of a prospective run of a request."""
        return self._post_request(method, request, dry_run=True)

    def runs(
        self,
        *,
        tags: Sequence[str] = (),
        status: RunStatus | None = None,
        method: str | None = None,
        q: str | None = None,
    ) -> list[ClientRun]:
        """Return the runs, newest first, filtered by tags (all of them), `status`, `method` or a text `q`."""
        filters = {"tag": list(tags) or None, "status": status, "method": method, "q": q}
        entries = self.entries(operations.runs.list_of_runs, "runs", **filters)
        return [ClientRun(self, fields) for fields in entries]

    def find(self, run: str) -> ClientRun:
        """Return a run by its name, the beginning of its id, or `last`.

        Raises:
            NotFound: there is no such run.
        """
        return ClientRun(self, self.call(operations.runs.one_run, run=run))

    def diff(
        self,
        first: str,
        second: str,
        *,
        models: str | None = None,
        top: int | None = None,
        seed: int | None = None,
    ) -> JsonObject:
        """Return the comparison of two runs, second minus first; `models` (A,B), `top` and `seed` as on the command line."""
        return self.call(operations.runs.diff, runs=f"{first},{second}", models=models, top=top, seed=seed)

    def upload(self, path: str | Path) -> str:
        """Upload a data file with its images, or a folder, unless the service has it; return its name for requests."""
        return sent(self.connection, Path(path).absolute())

    def uploads(self) -> list[JsonObject]:
        """Return the uploads, the newest first."""
        return list(self.pages("/api/uploads", "uploads"))

    def methods(self) -> list[JsonObject]:
        """Return the methods with their inputs."""
        return self.connection.get("/api/methods")["methods"]

    def models(self, *, simulated: bool = False) -> list[JsonObject]:
        """Return the configured models, and with `simulated` those that ship with the package."""
        return self.call(operations.knowledge.models, simulated=simulated or None)["models"]

    def add_model(self, name: str, **settings: object) -> JsonObject:
        """Add a model to the home, or replace the settings of an added one, and return it.

        Args:
            name: its name in runs.
            settings: its settings as in dokimasia.toml, such as `model`, `api_base` and `api_key_env`, the name of the
                environment variable of the service that holds the key.
        """
        return self.call(operations.knowledge.put_model, name=name, body=settings)

    def remove_model(self, name: str) -> JsonObject:
        """Remove an added model from the home, and return its name."""
        return self.call(operations.knowledge.delete_model, name=name)

    def prompts(self) -> list[JsonObject]:
        """Return the prompts that ship with the service."""
        return self.call(operations.knowledge.prompts)["prompts"]

    def trees(self) -> list[JsonObject]:
        """Return the capability trees."""
        return list(self.entries(operations.trees.trees, "trees"))

    def tree(
        self,
        name: str,
        *,
        version: str | None = None,
        run: str | None = None,
        model: str | Sequence[str] | None = None,
        depth: int | None = None,
    ) -> JsonObject:
        """Return a tree: `version`, `run` and `model` (whose scores) and `depth` as on the command line."""
        return self.call(operations.trees.one_tree, tree=name, version=version, run=run, model=model, depth=depth)

    def passports(self) -> list[JsonObject]:
        """Return the judges whose passports can be made from finished probes."""
        return self.call(operations.passports.passports)["judges"]

    def passport(self, judge: str, *, runs: Sequence[str] = (), seed: int = 0) -> JsonObject:
        """Return a judge's passport, made from probes."""
        return self.call(operations.passports.one_passport, judge=judge, run=list(runs) or None, seed=seed)

    def check_judge(
        self, judge: str, data: str | Path, *, on_event: Callable[[Event], None] = lambda event: None, **request: object
    ) -> JsonObject:
        """Return whether a judge is good enough, after planting errors and probing it; `dokimasia judges check` prints
        it.

        Args:
            judge: the judge's name on the service.
            data: data with right answers, or planted errors: a file, a folder or a run of `perturb`.
            on_event: called with each event of both runs.
            request: other fields of `dokimasia.JudgeCheckRequest`, such as `perturber`, `labels`, `reference` or
                `max_cost`.

        Raises:
            InputError: the data, the labels or the options cannot be used, or a run stopped early; the same call
                continues it.
        """
        check_request = _validated(operations.judge_checks.JudgeCheckRequest, {"judge": judge, "data": data, **request})
        body = request_sent(self.connection, check_request)
        while True:
            step = self.connection.send("POST", "/api/judge-checks", body)
            if step["check"] is not None:
                return step["check"]
            ended = ClientRun(self, step["run"]).wait(on_event)
            if ended.status != "done":
                raise operations.judge_checks.no_verdict_yet(ended.run, ended.why or ended.end)

    def reviews(self) -> list[JsonObject]:
        """Return the runs with items for people to decide, those with waiting items first."""
        return list(self.entries(operations.reviews.reviews, "reviews"))

    def pending(self, run: str, *, second: bool = False) -> Iterator[JsonObject]:
        """Yield the items of a run on which the token's holder can decide now."""
        how = {"due": True, "second": second or None}
        yield from self.entries(operations.reviews.one_review, "items", run=run, **how)

    def item(self, run: str, item: str) -> JsonObject:
        """Return an item as a person sees it, and the decisions on it that they may see."""
        return self.call(operations.reviews.one_item, run=run, item=item)

    def decide(self, run: str, item: str, action: str, **decision: object) -> JsonObject:
        """Decide on an item as the token's holder, with `text`, `delete`, `ratings`, `reasons`, `second`, `seen` as
        needed.

        Raises:
            InputError: somebody else has already decided, or the item does not accept this decision.
        """
        return self.call(operations.reviews.decide, run=run, item=item, body={"action": action, **decision})

    def draft(self, run: str, item: str, text: str) -> JsonObject:
        """Store a draft, and return the faults of a reply that could not be read; an empty text deletes the draft."""
        return self.call(operations.reviews.draft, run=run, item=item, body={"text": text})

    def agreement(self, run: str) -> JsonObject:
        """Return the states of a run's items, and the agreement of people."""
        return self.call(operations.reviews.agreement, run=run)

    def image(self, sha256: str) -> bytes:
        """Return an image of the home by the SHA-256 of its bytes."""
        return self.connection.request("GET", f"/api/images/{sha256}").content

    def reply(self, function: Callable[..., Awaitable[R] | R], /, **arguments: object) -> R:
        """Carry out an operation of `dokimasia.operations` on the service, and return its reply."""
        return read_reply(function, self.call(function, **arguments))

    def call(self, function: Callable[..., object], /, **arguments: object) -> Any:
        """Carry out an operation of `dokimasia.operations` on the service, and return its JSON or its file."""
        operation = operation_of(function)
        path, query, body = operation.request(arguments)
        reply = self.connection.request(operation.verb, path, query=query, json=body)
        if operation.files:
            return FileReply(reply.content, reply.headers["content-type"], headers=dict(reply.headers))
        if reply.content:
            return reply.json()
        return None

    def replies(self, function: Callable[..., P], /, **arguments: object) -> Iterator[P]:
        """Yield the pages of a listing operation."""
        path, query, _ = operation_of(function).request(arguments)
        for page in self.connection.pages(path, **query):
            yield read_reply(function, page)

    def entries(self, function: Callable[..., ListPage], name: str, /, **arguments: object) -> Iterator[JsonObject]:
        """Yield all entries of a listing operation, as JSON."""
        path, query, _ = operation_of(function).request(arguments)
        return self.pages(path, name, **query)

    def pages(self, path: str, name: str, **query: object) -> Iterator[JsonObject]:
        """Yield all entries of a route's paginated list."""
        for page in self.connection.pages(path, **query):
            yield from page[name]

    def request_of(self, method: str, request: Mapping[str, object]) -> RunRequest:
        """Return the validated request of a method with these fields.

        Raises:
            ConfigError: there is no such method, or a field is wrong; the message names it.
        """
        if method not in (method_names := (*OWN, *plugin_methods())):
            hint = nearest(method, method_names) or f"; there are {', '.join(method_names)}"
            raise ConfigError(f"there is no method {method!r}{hint}")
        return _validated(method_named(method).request, request)

    def _post_request(self, method: str, request: RunRequest, **query: object) -> JsonObject:
        """Send a request for a run; the error names files missing on both this machine and the service."""
        body = request_sent(self.connection, request)
        try:
            return self.connection.send("POST", f"/api/runs/{method}", body, **query)
        except InputError as problem:
            missing = [str(path) for path in paths_of(request) if not path.exists() and repr(str(path)) in str(problem)]
            if not missing:
                raise
            raise type(problem)(
                f"there is no file {missing[0]} here, and the service has none, either: {problem}"
            ) from None

    def as_json(
        self, model: type[Invocation], changes: Mapping[str, object], prompts: Sequence[str | Path]
    ) -> JsonObject:
        """Return changes to a run as JSON, with the names of the prompt folders, which are uploaded first."""
        body = _validated(model, changes).model_dump(mode="json", include=set(changes))
        if prompts:
            body["prompts"] = [named(self.connection, Path(prompt).absolute()) for prompt in prompts]
        return body


def _validated(model: type[Q], values: Mapping[str, object]) -> Q:
    try:
        request = model.model_validate(dict(values))
    except ValidationError as error:
        faults = [_message(model, details) for details in error.errors(include_url=False)]
        raise ConfigError("; ".join(faults)) from None
    absolute_paths = {}
    for name in type(request).model_fields:
        value = getattr(request, name)
        if isinstance(value, Path) and value.exists():
            absolute_paths[name] = value.absolute()
        elif isinstance(value, tuple) and value and all(isinstance(path, Path) for path in value):
            absolute_paths[name] = tuple(path.absolute() for path in value)
    if absolute_paths:
        return request.model_copy(update=absolute_paths)
    return request


def _message(model: type[Invocation], details: ErrorDetails) -> str:
    """Return the message about an invalid field."""
    fault, value = Fault.of(details), details["input"]
    name = fault.field or "the request"
    if fault.kind == "extra_forbidden":
        return f"{name}: there is no such field{nearest(name, model.model_fields)}"
    if fault.kind == "missing":
        return f"{name}: is needed"
    if fault.kind == "tuple_type":
        example = f", such as [{value!r}]" if isinstance(value, str) else ""
        return f"{name}: a list is wanted{example}"
    return f"{name}: {fault.message}"
