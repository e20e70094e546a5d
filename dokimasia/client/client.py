"""The service from Python: `Client` begins and finds runs, sends files, and decides what waits for people."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
from pydantic import ValidationError

from dokimasia.client.connection import Connection
from dokimasia.client.files import named, paths_of, request_sent, sent
from dokimasia.client.run import PAGE, ClientRun
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.settings import nearest

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
        """Return that the service is there, its version, and by how many workers a run is walked."""
        return self.connection.get("/api/health")

    def run(self, method: str, /, **request: Any) -> ClientRun:
        """Begin a run of a method, or return the one that is there: its fields are those of the method's request.

        Raises:
            InputError: the request, or what it names, cannot be used.
        """
        return self.begin(method, self.asked(method, request))

    def begin(self, method: str, request: RunRequest) -> ClientRun:
        """Begin a run by a request as `dokimasia.EvaluationRequest` and the like are."""
        return ClientRun(self, self._asked_for(method, request))

    def preview(self, method: str, /, **request: Any) -> dict[str, Any]:
        """Return what a run would be, ask and cost; nothing is begun."""
        return self.preview_of(method, self.asked(method, request))

    def preview_of(self, method: str, request: RunRequest) -> dict[str, Any]:
        """Return what a run of a request would be, ask and cost."""
        return self._asked_for(method, request, dry_run=True)

    def runs(self, *, tags: Sequence[str] = (), **filters: Any) -> list[ClientRun]:
        """Return the runs, the newest first: those with all of some tags, of a `status`, of a `method`, that hold a text `q`."""
        found = self.pages("/api/runs", "runs", tag=list(tags) or None, **filters)
        return [ClientRun(self, one) for one in found]

    def find(self, run: str) -> ClientRun:
        """Return a run by its name, the beginning of its id, or `last`.

        Raises:
            NotFound: there is none.
        """
        return ClientRun(self, self.connection.get(f"/api/runs/{_word(run)}"))

    def diff(self, first: str, second: str, **how: Any) -> dict[str, Any]:
        """Return how two runs differ: the second minus the first; `models` (A,B), `top` and `seed` as on the command line."""
        return self.connection.get("/api/diff", runs=f"{first},{second}", **how)

    def upload(self, path: str | Path) -> str:
        """Send a data file with its images, or a folder, unless it is there; return what names it in a request."""
        return sent(self.connection, Path(path).absolute())

    def uploads(self) -> list[dict[str, Any]]:
        """Return what was uploaded, the newest first."""
        return list(self.pages("/api/uploads", "uploads"))

    def methods(self) -> list[dict[str, Any]]:
        """Return the methods with what each takes."""
        return self.connection.get("/api/methods")["methods"]

    def models(self, *, simulated: bool = False) -> list[dict[str, Any]]:
        """Return the configured models, and with `simulated` those that ship with the package."""
        return self.connection.get("/api/models", simulated=simulated or None)["models"]

    def prompts(self) -> list[dict[str, Any]]:
        """Return the prompts that ship with the service."""
        return self.connection.get("/api/prompts")["prompts"]

    def trees(self) -> list[dict[str, Any]]:
        """Return the capability trees."""
        return list(self.pages("/api/trees", "trees"))

    def tree(self, name: str, **how: Any) -> dict[str, Any]:
        """Return a tree: `version`, `run` and `model` (whose scores) and `depth` as on the command line."""
        return self.connection.get(f"/api/trees/{_word(name)}", **how)

    def passports(self) -> list[dict[str, Any]]:
        """Return the judges of which probes can make a passport."""
        return self.connection.get("/api/passports")["judges"]

    def passport(self, judge: str, *, runs: Sequence[str] = (), seed: int = 0) -> dict[str, Any]:
        """Return what probes measured of a judge."""
        return self.connection.get(f"/api/passports/{_word(judge)}", run=list(runs) or None, seed=seed)

    def reviews(self) -> list[dict[str, Any]]:
        """Return the runs with anything that people decide on, those where something waits first."""
        return list(self.pages("/api/reviews", "reviews"))

    def pending(self, run: str, *, second: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the items of a run on which the token's holder can decide now."""
        path = f"/api/reviews/{_word(run)}"
        yield from self.pages(path, "items", due=True, second=second or None)

    def item(self, run: str, item: str) -> dict[str, Any]:
        """Return what a person is shown of an item, and the decisions on it that they may see."""
        return self.connection.get(f"/api/reviews/{_word(run)}/{_word(item)}")

    def decide(self, run: str, item: str, action: str, **decision: Any) -> dict[str, Any]:
        """Decide on an item as the token's holder: `text`, `delete`, `ratings`, `second`, `seen` as the action needs them.

        Raises:
            InputError: somebody has decided before, or it cannot be decided so.
        """
        body = {"action": action, **decision}
        return self.connection.send("POST", f"/api/reviews/{_word(run)}/{_word(item)}", body)

    def draft(self, run: str, item: str, text: str) -> dict[str, Any]:
        """Keep a text that is not decided on yet, and return what of a reply would not be understood; an empty one is none."""
        return self.connection.send("PUT", f"/api/reviews/{_word(run)}/{_word(item)}/draft", {"text": text})

    def agreement(self, run: str) -> dict[str, Any]:
        """Return how a run's items stand and how far people agree."""
        return self.connection.get(f"/api/reviews/{_word(run)}/agreement")

    def image(self, sha256: str) -> bytes:
        """Return an image of the home by the SHA-256 of its bytes."""
        return self.connection.request("GET", f"/api/images/{sha256}").content

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
        """Ask for a run; a file that is neither here nor there is said to be missing here."""
        body = request_sent(self.connection, request)
        try:
            return self.connection.send("POST", f"/api/runs/{method}", body, **query)
        except InputError as problem:
            away = [str(one) for one in paths_of(request) if not one.exists() and repr(str(one)) in str(problem)]
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
            body["prompts"] = [named(self.connection, Path(one).absolute()) for one in prompts]
        return body


def _made(model: type[Any], values: Mapping[str, Any]) -> Any:
    try:
        made = model.model_validate(dict(values))
    except ValidationError as error:
        faults = [_fault(model, one) for one in error.errors(include_url=False)]
        raise ConfigError("; ".join(faults)) from None
    changed = {}
    for name in type(made).model_fields:
        value = getattr(made, name)
        if isinstance(value, Path) and value.exists():
            changed[name] = value.absolute()
        elif isinstance(value, tuple) and value and all(isinstance(one, Path) for one in value):
            changed[name] = tuple(one.absolute() for one in value)
    return made.model_copy(update=changed) if changed else made


def _fault(model: type[Any], fault: Mapping[str, Any]) -> str:
    """Return in words what is wrong with a field."""
    where = ".".join(map(str, fault["loc"])) or "the request"
    if fault["type"] == "extra_forbidden":
        return f"{where}: there is no such field{nearest(where, model.model_fields)}"
    if fault["type"] == "missing":
        return f"{where}: is needed"
    if fault["type"] == "tuple_type":
        given = f", such as [{fault['input']!r}]" if isinstance(fault["input"], str) else ""
        return f"{where}: a list is wanted{given}"
    return f"{where}: {str(fault['msg']).removeprefix('Value error, ')}"


def _word(run: str) -> str:
    from urllib.parse import quote

    if not run.strip() or run in (".", ".."):
        raise NotFound(f"{run!r} is no name of a run")
    return quote(run, safe="")
