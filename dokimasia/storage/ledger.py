"""The ledger in SQLite: every completed call, committed before its reply is used and never sent again."""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from dokimasia.domain.call import CallResult, ModelCall, ModelRef, ModelReply
from dokimasia.domain.identity import canonical_json, digest
from dokimasia.errors import NotFound, StorageError
from dokimasia.storage.content.envelope import fold, read_call, read_reply, reply_digest, text_hash, unfold
from dokimasia.storage.content.folding import Folded, KnownTexts, folded
from dokimasia.storage.content.packing import packed, unpack
from dokimasia.storage.faults import in_brief
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_row, next_number
from dokimasia.storage.values import now

MESSAGE_LENGTH = 1000
"""The length to which an attempt's message is truncated, in characters."""

_INSERT_TEXT = "INSERT INTO texts (hash, text) VALUES (?, ?) ON CONFLICT DO NOTHING"


class CallFigures(NamedTuple):
    """The usage of a call: tokens, cost in US dollars, latency in seconds (None if unknown), label and model."""

    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    label: str
    model: str
    latency: float | None = None


class EmbeddedText(NamedTuple):
    """The location of a text's vector: the key of a call, and the text's place in it."""

    call: str
    place: int


class StoredCall(NamedTuple):
    """The columns of a call that can be checked against each other."""

    key: str
    kind: str
    model: str
    endpoint: str
    request: str
    reply: str
    reply_digest: str
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None


class LedgerDamage(NamedTuple):
    """Damage to stored data: the place (a table or `blobs`), the key, the fault, and the run that the row names, if any."""

    where: str
    key: str
    what: str
    run: str = ""


class SqliteLedger:
    """The `Ledger` of a home; a home that is open for reading can be read."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._texts = KnownTexts()

    async def get(self, key: str) -> CallResult | None:
        """Return the stored result, or None; a point lookup in the calling thread takes some tens of microseconds.

        Raises:
            StorageError: the entry is damaged.
        """
        row = self._home.one("SELECT reply, cost FROM calls WHERE key = ?", (key,))
        if row is None:
            return None
        return CallResult.model_construct(key=key, reply=self._reply(key, row[0]), cost=row[1], cached=True)

    async def commit(
        self,
        key: str,
        call: ModelCall,
        reply: ModelReply,
        *,
        cost: float | None,
        label: str,
        latency: float | None = None,
        at: str = "",
    ) -> None:
        """Store the reply; durable on return. An existing entry is unchanged.

        `latency` is in seconds, `cost` in US dollars, and `at` the time of the reply, by default now.

        Raises:
            StorageError: it could not be written.
        """
        stored = self.folded(call)
        reply_texts: dict[str, str] = {}
        body = fold(reply.model_dump(mode="json"), reply_texts)
        texts = {**stored.texts, **reply_texts}
        row = {
            "key": key,
            "kind": call.kind,
            "model": call.model.model,
            "endpoint": call.model.endpoint,
            "model_name": call.model.name,
            "label": label,
            "request": stored.request,
            "reply": canonical_json(body).decode(),
            "reply_digest": reply_digest(body),
            **_reply_columns(reply),
            "cost": cost,
            "latency": None if latency is None else round(latency, 3),
            "created_at": at or now("milliseconds"),
        }
        new = self._texts.new(texts)

        def insert(connection: sqlite3.Connection) -> None:
            if insert_row(connection, "calls", row):
                connection.executemany(_INSERT_TEXT, [(name, packed(text)) for name, text in new.items()])

        await self._home.write(insert, routine=True)
        self._texts.keep(texts)

    def folded(self, call: ModelCall) -> Folded:
        """Return a call's request in its stored form."""
        return folded(call)

    async def attempt(
        self, key: str, call: ModelCall, *, kind: str, status: int | None, message: str, label: str
    ) -> None:
        """Record an attempt without a reply; its message is stored unchanged, so it must be free of secrets.

        Raises:
            StorageError: it could not be written.
        """
        row = {
            "call_key": key,
            "model": call.model.model,
            "endpoint": call.model.endpoint,
            "label": label,
            "kind": kind,
            "status": status,
            "message": message[:MESSAGE_LENGTH],
            "at": now("milliseconds"),
        }

        def insert(connection: sqlite3.Connection) -> None:
            insert_row(connection, "attempts", {"id": next_number(connection, "attempts"), **row})

        await self._home.write(insert, routine=True)

    def calls_for(self, keys: Iterable[str]) -> dict[str, CallFigures]:
        """Return the usage of calls by key; unknown keys are left out."""
        unique_keys = list(dict.fromkeys(keys))
        sql = "SELECT key, input_tokens, output_tokens, cost, label, model, latency FROM calls WHERE key IN ({marks})"
        figures = {key: CallFigures(*columns) for key, *columns in self._home.all_among(sql, unique_keys)}
        return {key: figures[key] for key in unique_keys if key in figures}

    def embedded_texts(self, model: ModelRef) -> dict[str, EmbeddedText]:
        """Return the location of the vectors of all texts that a model has embedded, by the hashes of the texts."""
        sql = "SELECT key, request FROM calls WHERE kind = 'embedding' AND model = ? AND endpoint = ? ORDER BY key"
        embedded: dict[str, EmbeddedText] = {}
        for key, request in self._home.all(sql, (model.model, model.endpoint)):
            for place, text in enumerate(orjson.loads(request)["texts"]):
                embedded.setdefault(text["text_ref"], EmbeddedText(key, place))
        return embedded

    def days_of(self, keys: Iterable[str]) -> tuple[str, str] | None:
        """Return the first and the last day, in UTC, on which the calls were answered; None for no calls."""
        sql = "SELECT substr(created_at, 1, 10) FROM calls WHERE key IN ({marks})"
        days = sorted({day for (day,) in self._home.all_among(sql, keys)})
        if days:
            return (days[0], days[-1])
        return None

    def versions_of(self, keys: Iterable[str]) -> list[str]:
        """Return the distinct model versions that the calls' replies reported, in alphabetical order."""
        sql = "SELECT DISTINCT json_extract(reply, '$.version') FROM calls WHERE key IN ({marks})"
        return sorted({version for (version,) in self._home.all_among(sql, keys) if version is not None})

    def last_version(self, model: str, endpoint: str) -> str | None:
        """Return the last version that an endpoint reported for a model; None if it reported none."""
        sql = (
            "SELECT json_extract(reply, '$.version') AS version FROM calls WHERE model = ? AND endpoint = ? "
            "AND version IS NOT NULL ORDER BY created_at DESC, rowid DESC LIMIT 1"
        )
        row = self._home.one(sql, (model, endpoint))
        return None if row is None else row[0]

    def rebuild(self, key: str) -> tuple[ModelCall, ModelReply]:
        """Return a call and its reply with their full texts, as sent and received.

        Raises:
            NotFound: the ledger has no such call.
            StorageError: the entry is damaged.
        """
        row = self._home.one("SELECT request, reply, model_name FROM calls WHERE key = ?", (key,))
        if row is None:
            raise NotFound(f"the ledger of {self._home.path} has no call {key}.")
        try:
            call = read_call(unfold(orjson.loads(row[0]), self._text), model_name=row[2])
        except (ValueError, KeyError, TypeError) as error:
            raise self._damage(key, f"its request does not read as a call ({in_brief(error)})") from error
        return call, self._reply(key, row[1])

    def verify(self) -> Iterator[LedgerDamage]:
        """Yield the damage to the ledger, after a check of the hash of every text, request and reply.

        The whole ledger is read, about ten thousand calls a second.
        """
        for row in self._home.pages("texts", key="hash"):
            hash, text = row.values()
            try:
                intact = text_hash(unpack(text)) == hash
            except ValueError:
                intact = False
            if not intact:
                yield LedgerDamage("texts", hash, "the text no longer has the hash that it is kept under")
        for row in self._home.pages("calls", key="key"):
            call = StoredCall(*(row[name] for name in StoredCall._fields))
            for fault in self._faults(call):
                yield LedgerDamage("calls", call.key, fault)

    def _faults(self, call: StoredCall) -> Iterator[str]:
        try:
            body = unfold(orjson.loads(call.request), self._text)
            if digest("call", body) != call.key:
                yield "the request no longer has the key that it is kept under"
            if any(body[name] != getattr(call, name) for name in ("kind", "model", "endpoint")):
                yield "its columns kind, model and endpoint differ from its request"
        except (ValueError, KeyError, TypeError) as error:
            yield f"the request cannot be read: {in_brief(error)}"
        try:
            reply = orjson.loads(call.reply)
            if reply_digest(reply) != call.reply_digest:
                yield "the reply was changed after it was written"
            columns = _reply_columns(read_reply(unfold(reply, self._text)))
            if any(getattr(call, name) != value for name, value in columns.items()):
                yield "its columns finish_reason, input_tokens, output_tokens and cached_tokens differ from its reply"
        except (ValueError, KeyError, TypeError) as error:
            yield f"the reply cannot be read: {in_brief(error)}"

    def _reply(self, key: str, text: str) -> ModelReply:
        try:
            return read_reply(unfold(orjson.loads(text), self._text))
        except (ValueError, KeyError, TypeError) as error:
            raise self._damage(key, f"its reply cannot be read ({in_brief(error)})") from error

    def _text(self, name: str) -> str:
        row = self._home.one("SELECT text FROM texts WHERE hash = ?", (name,))
        if row is None:
            raise KeyError(f"text {name} is missing")
        return unpack(row[0])

    def _damage(self, key: str, fault: str) -> StorageError:
        return StorageError(
            f"{self._home.database}, call {key}: {fault}. Restore the home from a copy, or delete that row from "
            "`calls`, after which the call is asked, and paid for, anew."
        )


def _reply_columns(reply: ModelReply) -> dict[str, object]:
    """Return the columns stored with a reply: its finish reason and tokens."""
    return {
        "finish_reason": reply.finish_reason if reply.kind == "chat" else None,
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
        "cached_tokens": reply.usage.cached_tokens,
    }
