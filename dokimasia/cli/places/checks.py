"""What people decide on in a run, in a home of this machine and in a service: listed, shown, written on, out and in as files."""

import asyncio
import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote

import click

from dokimasia.client import Client
from dokimasia.domain.decision import RATED, CheckItem, Standing
from dokimasia.errors import HomeLocked, InputError, NotFound, Unreachable
from dokimasia.storage.decisions import clear_draft, draft_file
from dokimasia.storage.home import Home
from dokimasia.storage.runs import now

if TYPE_CHECKING:
    from dokimasia.cli.places.here import Here
    from dokimasia.cli.places.there import There
    from dokimasia.methods.checks.filled import ImportResult


class Due(NamedTuple):
    """What a person can decide on in a run: the items' ids in order, and how many questions wait there for whom."""

    run: str
    items: Sequence[str]
    asked: Mapping[str, int]


class OnScreen(NamedTuple):
    """An item as a person is shown it (`shown_item`), whether they have an unfinished text of it, and since when it is shown."""

    item: CheckItem
    shown: Mapping[str, Any]
    unfinished: bool
    since: str


class Checks(Protocol):
    """What the verb `check` asks of a place."""

    def person(self, run: str, who: str | None) -> str:
        """Return under whose name decisions are made; `who` is the name that was given."""
        ...

    def due(self, run: str, *, who: str, second: bool) -> Due:
        """Return what a person can decide on in a run."""
        ...

    def show(self, run: str, item: str, *, who: str) -> OnScreen:
        """Return an item to be shown to a person."""
        ...

    def picture(self, sha256: str) -> bytes:
        """Return an image; empty where it is gone."""
        ...

    def edited(self, item: CheckItem, begin: str, *, who: str) -> str:
        """Open a person's unfinished text, or else `begin`, in $EDITOR, keep what was saved, and return it."""
        ...

    def clear(self, item: CheckItem, *, who: str) -> None:
        """Forget a person's unfinished text."""
        ...

    def files(self, run: str, name: str, *, who: str, others: bool) -> tuple[int, Mapping[str, bytes]]:
        """Return how many items a person is handed, and the files, the first of this name; `others` is as of `check_files`."""
        ...

    def take_in(self, run: str, file: Path, *, who: str) -> "ImportResult":
        """Take in the decisions of a file."""
        ...


class ChecksHere:
    """In a home; what changes it goes through the service that holds it, where one does."""

    def __init__(self, place: "Here") -> None:
        self._place = place
        self._settings = place.settings
        self._home = place.settings.home
        self._known: dict[str, Standing] = {}

    def person(self, run: str, who: str | None) -> str:
        """Return the name that was given, or that of the user of this machine."""
        return (who or user_name()).strip()

    def due(self, run: str, *, who: str, second: bool) -> Due:
        """Return what a person can decide on in a run."""
        from dokimasia.methods.checks import is_due, open_for_people
        from dokimasia.methods.checks.figures import check_figures

        every = open_for_people(self._settings, run)
        self._known = {one.item.id: one for one in every}
        items = [one.item.id for one in every if is_due(one, who, second=second)]
        return Due(every[0].item.run, items, check_figures(every)["asked"])

    def show(self, run: str, item: str, *, who: str) -> OnScreen:
        """Return an item; that a question was shown is kept where the home can be written."""
        from dokimasia.methods.checks import show_question, shown_item
        from dokimasia.storage.decisions import standing

        one = self._known[item]
        if one.item.kind == "question":
            with (
                suppress(HomeLocked),
                Home.open(self._home, write=True, create=False, command="dokimasia check") as home,
            ):
                asyncio.run(show_question(home, item))  # where it is locked, the answer carries the time along
        with Home.open(self._home, write=False) as home:
            with suppress(NotFound):  # a home that another process holds may have no row of it yet
                one = standing(home, item)
            return OnScreen(one.item, shown_item(home, one, who), draft_file(self._home, item, who).is_file(), now())

    def picture(self, sha256: str) -> bytes:
        """Return an image; empty where it is gone."""
        with Home.open(self._home, write=False) as home:
            return home.blobs.get(sha256) if home.blobs.file(sha256).is_file() else b""

    def edited(self, item: CheckItem, begin: str, *, who: str) -> str:
        """Open a text in $EDITOR; the file lies in the home, so that what was saved outlives a closed terminal."""
        return _edited(draft_file(self._home, item.id, who), begin)

    def clear(self, item: CheckItem, *, who: str) -> None:
        """Forget a person's unfinished text."""
        clear_draft(self._home, item.id, who)

    def files(self, run: str, name: str, *, who: str, others: bool) -> tuple[int, Mapping[str, bytes]]:
        """Return how many items a person is handed, and the files."""
        from dokimasia.methods.checks import open_for_people
        from dokimasia.methods.checks.files import check_files

        every = open_for_people(self._settings, run)
        with Home.open(self._home, write=False) as home:
            files = check_files(home, every, name, who=who, others=others)
        return files[name].count(b"\n"), files

    def take_in(self, run: str, file: Path, *, who: str) -> "ImportResult":
        """Take in the decisions of a file."""
        from dokimasia.methods.checks.filled import import_checks

        if there := self._place.holder():
            return there.checks.take_in(run, file, who=who)
        return import_checks(self._settings, run, file, who=who)


class ChecksThere:
    """In a service."""

    def __init__(self, place: "There") -> None:
        self._place = place
        self._drafts: dict[str, str] = {}

    def person(self, run: str, who: str | None) -> str:
        """Return as whom the service takes decisions.

        Raises:
            InputError: its token is somebody else's than the name that was given.
        """
        with self._client((who or user_name()).strip()) as client:
            known = str(client.connection.get(self._at(run), limit=1)["person"])
        if who and known != who.strip():
            raise InputError(
                f"the token is {known}'s, and decides as {known} alone: leave --who out, or use {who}'s token"
            )
        return known

    def due(self, run: str, *, who: str, second: bool) -> Due:
        """Return what a person can decide on in a run.

        Raises:
            NotFound: people decide on nothing there.
        """
        figures = self._place.standing(run)
        with self._client(who) as client:
            items = [one["item"] for one in client.pending(figures["run"], second=second) if one["kind"] not in RATED]
        return Due(figures["run"], items, figures["asked"])

    def show(self, run: str, item: str, *, who: str) -> OnScreen:
        """Return an item; the service keeps that a question was shown."""
        with self._client(who) as client:
            told = client.item(run, item)
        self._drafts.pop(item, None)
        if told["draft"] is not None:
            self._drafts[item] = told["draft"]
        return OnScreen(CheckItem.model_validate(told["item"]), told["shown"], told["draft"] is not None, now())

    def picture(self, sha256: str) -> bytes:
        """Return an image; empty where it is gone."""
        try:
            return self._place.client.image(sha256)
        except NotFound:
            return b""

    def edited(self, item: CheckItem, begin: str, *, who: str) -> str:
        """Open a text in $EDITOR, and have the service keep what was saved; where it is gone, a file here does.

        Raises:
            Unreachable: it is; the message names the file.
        """
        draft = self._drafts.get(item.id, begin)
        with tempfile.TemporaryDirectory(prefix="dokimasia-check-") as folder:
            text = _edited(draft_file(Path(folder), item.id, who), draft)
        if text == draft:
            return text
        self._drafts[item.id] = text
        try:
            with self._client(who) as client:
                client.draft(item.run, item.id, text)
        except Unreachable as gone:
            with tempfile.NamedTemporaryFile("w", suffix=f"-{item.id}.txt", delete=False, encoding="utf-8") as kept:
                kept.write(text)
            raise Unreachable(f"{gone}; your text lies in {kept.name}") from None
        return text

    def clear(self, item: CheckItem, *, who: str) -> None:
        """Forget a person's unfinished text."""
        self._drafts.pop(item.id, None)
        with self._client(who) as client:
            client.draft(item.run, item.id, "")

    def files(self, run: str, name: str, *, who: str, others: bool) -> tuple[int, Mapping[str, bytes]]:
        """Return how many items a person is handed, and the files."""
        with self._client(who) as client:
            reply = client.connection.request("GET", f"{self._at(run)}/files", query={"name": name, "others": others})
        with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
            files = {one: archive.read(one) for one in sorted(archive.namelist(), key=lambda one: one != name)}
        return files[name].count(b"\n"), files

    def take_in(self, run: str, file: Path, *, who: str) -> "ImportResult":
        """Have the service take in what a file decides; what it only shows is not sent."""
        from dokimasia.methods.checks.filled import ImportResult, read_checks

        lines = [one.model_dump(mode="json", exclude_defaults=True) for one in read_checks(file)]
        with self._client(who) as client:
            told = client.connection.send("POST", f"{self._at(run)}/lines", {"name": str(file), "lines": lines})
        return ImportResult(told["decided"], told["known"], 0, told["empty"])

    def _client(self, who: str) -> Client:
        return Client(self._place.settings.server, self._place.settings.server_token, who=who)

    def _at(self, run: str) -> str:
        from dokimasia.methods.checks import waits

        return f"/api/reviews/{quote(self._place.find(run, waits).id, safe='')}"


def user_name() -> str:
    """Return the name of the user of this machine."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name is known to the system, as in some containers
        return "somebody"


def _edited(path: Path, begin: str) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(begin, encoding="utf-8")
    click.edit(filename=str(path))
    return path.read_text(encoding="utf-8", errors="replace")
