"""Faults on demand: content faults, which belong to a request, and transport faults, which belong to an attempt."""

import re
from typing import NamedTuple

from pydantic import Field

from dokimasia.domain.call import Chat, ChatReply, ImageEdit, Usage
from dokimasia.domain.identity import Value, unit_interval
from dokimasia.errors import AttemptKind, ConfigError, TransportError
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.data_files import read_data
from dokimasia.simulation.draws import request_hash, usage_of

MOST_IN_A_ROW = 2
HUGE_BYTES = 10 * 2**20

_LINE = re.compile(r"^(\d+) \| score: \[(\d+|not stated)\]$", re.MULTILINE)


class FaultResponse(NamedTuple):
    """The form of a failing try: the error's kind for the gateway, the HTTP status, OpenAI's code, and a message."""

    kind: AttemptKind
    code: str
    message: str
    status: int | None = None
    retryable: bool = True
    retry_after: float | None = None


_FAULTS = read_data("serving/faults.yaml", dict[str, dict[str, FaultResponse]])

TRANSPORT_FAULTS = _FAULTS["transport"]
"""Faults drawn anew at every try, at most twice in a row for one request."""

LASTING_FAULTS = _FAULTS["lasting"]
"""Faults that are a function of the request, like content faults, since a retry makes no request shorter and no key
right. The server quotes the key in the error, as some providers do.
"""

CONTENT_FAULTS = (
    "refusal",
    "truncated",
    "malformed",
    "empty_content",
    "content_filter",
    "missing_score",
    "wrong_score",
    "extra_criterion",
    "contradictory_scores",
    "huge",
    "missing_usage",
    "cached_input",
    "odd_finish",
)
"""Faults that are a function of the request with its seed: the same on every transport and after every restart."""

FAULT_KINDS = (*TRANSPORT_FAULTS, *LASTING_FAULTS, *CONTENT_FAULTS)


class Faults(Value):
    """Rates by kind, each 0 to 1; those drawn for a try, and those drawn for a request, sum to at most 1 each."""

    rates: dict[str, float] = Field(default_factory=dict)

    def for_try(self, key: str, attempt: int) -> str | None:
        """Return the kind of transport fault that the nth attempt of a request would meet, or None."""
        return self._draw([kind for kind in self.rates if kind in TRANSPORT_FAULTS], key, "try", attempt)

    def for_request(self, key: str) -> str | None:
        """Return the kind of lasting or content fault that a request meets, or None."""
        return self._draw([kind for kind in self.rates if kind not in TRANSPORT_FAULTS], key, "request")

    def _draw(self, kinds: list[str], *parts: str | int) -> str | None:
        remainder = unit_interval("fault", *parts) if kinds else 0.0
        for kind in sorted(kinds):
            if remainder < self.rates[kind]:
                return kind
            remainder -= self.rates[kind]
        return None


def parse_faults(text: str) -> Faults:
    """Return the faults in `kind=rate,kind=rate`; an empty text means no faults.

    Raises:
        ConfigError: an unknown kind (the message lists all), a rate that is not a number from 0 to 1, a repeated kind,
            or rates that sum to more than 1.
    """
    rates: dict[str, float] = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        kind, _, number = (part.strip() for part in piece.partition("="))
        if kind not in FAULT_KINDS:
            raise ConfigError(f"no fault is called {kind!r}; there are: {', '.join(FAULT_KINDS)}")
        try:
            rate = float(number)
        except ValueError:
            rate = -1.0
        if not 0 <= rate <= 1:
            raise ConfigError(f"fault {kind}: {number!r} is not a rate from 0 to 1; write it as {kind}=0.1")
        if kind in rates:
            raise ConfigError(f"fault {kind} is given twice")
        rates[kind] = rate
    for group in (TRANSPORT_FAULTS, (*LASTING_FAULTS, *CONTENT_FAULTS)):
        total = sum(rate for kind, rate in rates.items() if kind in group)
        if total > 1 + 1e-9:
            raise ConfigError(
                f"the rates of {', '.join(sorted(set(group) & set(rates)))} sum to {total:g}, more than 1"
            )
    return Faults(rates=rates)


class Tries:
    """Counts the attempts of each request, so that transport faults occur at most twice in a row."""

    def __init__(self, faults: Faults | None) -> None:
        self._faults = faults or Faults()
        self._tries: dict[str, int] = {}

    def next_fault(self, key: str) -> str | None:
        """Return the transport or lasting fault of this attempt of the request, or None if it is served."""
        lasting = self._faults.for_request(key)
        attempt = self._tries.get(key, 0)
        fault = self._faults.for_try(key, attempt) if attempt < MOST_IN_A_ROW else None
        if fault is None:
            self._tries.pop(key, None)
            if lasting in LASTING_FAULTS:
                return lasting
            return None
        self._tries[key] = attempt + 1
        return fault

    def refuses(self, call: ImageEdit) -> bool:
        """Return whether an image edit is refused because of its content fault."""
        return self._faults.for_request(request_hash(call)) in ("refusal", "content_filter")

    def spoil(self, reply: ChatReply, call: Chat) -> ChatReply:
        """Return the reply with the request's content fault in it, if it has one."""
        return spoil(reply, call, self._faults.for_request(request_hash(call)))


def transport_error(fault: str, *, api_key: str = "[key]") -> TransportError:
    """Return a failed attempt as the error that a transport raises; only the server quotes the key it was sent."""
    refused = TRANSPORT_FAULTS.get(fault) or LASTING_FAULTS[fault]
    return TransportError(
        refused.kind,
        refused.message.format(key=api_key),
        retryable=refused.retryable,
        status=refused.status,
        retry_after=refused.retry_after,
    )


def spoil(reply: ChatReply, call: Chat, fault: str | None) -> ChatReply:
    """Return the reply with a content fault planted in it; faults of score lines leave other replies unchanged."""
    if fault is None or fault not in CONTENT_FAULTS:
        return reply
    if fault == "missing_usage":
        return reply.model_copy(update={"usage": Usage()})
    if fault == "cached_input":  # not a fault of a reply, but a provider's report on a prompt it has seen before
        used = reply.usage.model_copy(update={"cached_tokens": (reply.usage.input_tokens or 0) // 2})
        return reply.model_copy(update={"usage": used})
    if fault == "odd_finish":
        return reply.model_copy(update={"finish_reason": "unknown", "native_finish_reason": "eos_token"})
    text = _text_with_fault(reply.text, fault)
    changes: dict[str, object] = {"text": text, "usage": usage_of(call, text)}
    if fault == "refusal":
        changes |= {"refusal": REFUSAL}
    if fault in ("truncated", "content_filter"):
        reason = "length" if fault == "truncated" else fault
        changes |= {"finish_reason": reason, "native_finish_reason": reason}
    return reply.model_copy(update=changes)


def _text_with_fault(text: str, fault: str) -> str:
    if fault == "refusal":
        return REFUSAL
    if fault in ("empty_content", "content_filter"):
        return ""
    if fault == "truncated":
        return text[: len(text) // 2]
    if fault == "malformed":
        return text[::-1]
    if fault == "huge":
        filler = "\nand so on, and so on, and so on"
        return text + filler * (HUGE_BYTES // len(filler) + 1)
    lines = list(_LINE.finditer(text))
    if not lines:
        return text
    last = lines[-1]
    if fault == "missing_score":
        return (text[: last.start()] + text[last.end() :]).strip("\n")
    if fault == "wrong_score":
        return text[: last.start(2)] + "7" + text[last.end(2) :]
    if fault == "extra_criterion":
        return f"{text}\n{int(last[1]) + 1} | score: [3]"
    other = 1 if lines[0][2] != "1" else 5
    return f"{text}\n{lines[0][1]} | score: [{other}]"
