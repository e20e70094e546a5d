"""The hostile replies: what an endpoint that is broken, or means harm, sends back to one chat request."""

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Chunks = Callable[[], AsyncIterator[bytes]]
MIB = 2**20
NINES = "9" * 5000


@dataclass(frozen=True)
class Hostile:
    """One reply: status, headers, and a body of bytes or of pieces without end; `times` it is asked for.

    `safe` is what must become of it: `answer`, `failed`, or either. `abort_after`: bytes after which the connection ends.
    """

    body: bytes | Chunks = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    safe: str = "either"
    times: int = 1
    abort_after: int | None = None


def completion(content: Any = "hello", *, usage: Any = None, **choice: Any) -> dict[str, Any]:
    """Return a chat completion; `choice` changes its only choice."""
    whole = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"} | choice
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [whole]}
    return body | {"usage": {"prompt_tokens": 10, "completion_tokens": 3} if usage is None else usage}


def _dumped(content: Any = "hello", **fields: Any) -> bytes:
    return json.dumps(completion(content, **fields)).encode()


def _counted(tokens: str) -> bytes:
    return _dumped(usage={"prompt_tokens": 0, "completion_tokens": 3}).replace(
        b'_tokens": 0', f'_tokens": {tokens}'.encode()
    )


def _said(headers: dict[str, str], **fields: Any) -> Hostile:
    return Hostile(_dumped(), headers=headers, safe="answer", **fields)


def _refused(headers: dict[str, str]) -> Hostile:
    return Hostile(b'{"error": {"message": "slow down"}}', status=429, headers=headers, safe="failed")


def _limits(remaining: str, reset: str) -> dict[str, str]:
    names = ("limit", "remaining", "reset")
    return {f"x-ratelimit-{name}-requests": value for name, value in zip(names, ("60", remaining, reset), strict=True)}


async def _endless() -> AsyncIterator[bytes]:
    yield b'{"id": "'
    while True:
        yield b"x" * MIB


async def _gzip_bomb() -> AsyncIterator[bytes]:
    press = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield press.compress(b'{"id": "')
    for _ in range(6 * 1024):
        yield press.compress(b"x" * MIB)
    yield press.flush()


def _padded(mib: int) -> Chunks:
    async def chunks() -> AsyncIterator[bytes]:
        before, after = _dumped("SPLIT").split(b"SPLIT")
        yield before
        for _ in range(mib):
            yield b"x" * MIB
        yield after

    return chunks


def _nested() -> bytes:
    return _dumped().replace(b'"hello"', b"[" * 200_000 + b"]" * 200_000)


KINDS: dict[str, Hostile] = {
    "an ordinary reply": Hostile(_dumped(), safe="answer"),
    "10^30 tokens": Hostile(_counted("1" + "0" * 30), safe="answer"),
    "2^64-1 tokens": Hostile(_counted(str(2**64 - 1)), safe="answer"),
    "2^63-1 tokens, three times": Hostile(_counted(str(2**63 - 1)), safe="answer", times=3),
    "10^400 tokens": Hostile(_counted("1" + "0" * 400), safe="answer"),
    "5,000 digits of tokens": Hostile(_counted(NINES), safe="answer"),
    "-5 tokens": Hostile(_counted("-5"), safe="answer"),
    "tokens in words": Hostile(_counted('"ten"'), safe="answer"),
    "usage as a list": Hostile(_dumped(usage=[1, 2]), safe="answer"),
    "Retry-After in the year 99999999999": _refused({"Retry-After": "Mon, 01 Jan 99999999999 00:00:00 GMT"}),
    "Retry-After of 400 nines": _refused({"Retry-After": "9" * 400}),
    "a reset of 400 nines days": _said(_limits("59", "9" * 400 + "d"), times=2),
    "nothing left until the year 9999": _said(_limits("0", "9999-12-31T23:59:59Z"), times=2),
    "nothing left for 12 hours": _said(_limits("0", "12h"), times=2),
    "an error's code of 5,000 digits": Hostile(
        json.dumps({"error": {"message": "no", "code": NINES}}).encode(), safe="failed"
    ),
    "status 400, code of 5,000 digits": Hostile(
        json.dumps({"error": {"message": "no", "code": NINES}}).encode(), status=400, safe="failed"
    ),
    "a gzip bomb of 6 GiB": Hostile(_gzip_bomb, headers={"Content-Encoding": "gzip"}, safe="failed"),
    "a gzip bomb inside gzip": Hostile(
        gzip.compress(gzip.compress(b"x" * (512 * MIB))), headers={"Content-Encoding": "gzip, gzip"}, safe="failed"
    ),
    "a body without end": Hostile(_endless, safe="failed"),
    "an error without end": Hostile(_endless, status=500, safe="failed"),
    "an answer of 300 MiB": Hostile(_padded(300), safe="failed"),
    "an answer of 30 MiB": Hostile(_padded(30), safe="answer"),
    "brotli that nobody asked for": Hostile(b"\x8b\x02\x80", headers={"Content-Encoding": "br"}, safe="failed"),
    "a redirect (307)": Hostile(status=307, headers={"Location": "/elsewhere/v1/chat/completions"}, safe="failed"),
    "a redirect to itself": Hostile(status=308, headers={"Location": "."}, safe="failed"),
    "a cookie": _said({"Set-Cookie": "who=you; Path=/"}, times=2),
    "content in parts": Hostile(
        _dumped([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        safe="answer",
    ),
    "a null finish reason": Hostile(_dumped(finish_reason=None), safe="answer"),
    "a finish reason of 1 MiB": Hostile(_dumped(finish_reason="x" * MIB), safe="answer"),
    "null choices": Hostile(b'{"id": "x", "choices": null}', safe="failed"),
    "300,000 choices": Hostile(
        json.dumps(completion() | {"choices": completion()["choices"] * 300_000}).encode(), safe="answer"
    ),
    "200,000 brackets": Hostile(_nested(), safe="failed"),
    "not UTF-8": Hostile(_dumped("a?c").replace(b"?", b"\xff"), safe="answer"),
    "half a surrogate pair": Hostile(_dumped("half \ud83d pair"), safe="answer"),
    "a login page": Hostile(b"<html>Please log in</html>", headers={"Content-Type": "text/html"}, safe="failed"),
    "an empty body": Hostile(b"", safe="failed"),
    "a body cut off": Hostile(_dumped(), abort_after=40, safe="failed"),
    "a header of 1 MiB": Hostile(_dumped(), headers={"X-Long": "x" * MIB}),
    "status 204": Hostile(b"", status=204, safe="failed"),
    "status 999": Hostile(_dumped(), status=999, safe="failed"),
}
"""What is sent, by the name that the table shows."""
