"""Events and statistics of the gateway."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import Field

from dokimasia.domain.identity import Value

EventKind = Literal["cached", "sent", "answered", "failed_try", "gave_up", "left", "limit", "draining", "waiting"]


class GatewayEvent(NamedTuple):
    """An event in the gateway; its texts are free of keys.

    `kind` is one of: `cached` (the ledger answered), `sent` (a request was sent), `answered` (a reply is committed),
    `failed_try` (a request brought no reply; `delay` seconds until the next one, None if there is none), `gave_up` (the
    call failed permanently), `left` (a try failed and its caller is gone, such as a dead worker; a new caller, such as
    its replacement, has the call sent again), `limit` (the concurrency of an endpoint changed to `limit`, for
    `reason`), `draining` (no new call is started), `waiting` (a question waits for a person). `number` is the number of
    the call's try, from 1.
    """

    kind: EventKind
    model: str = ""
    endpoint: str = ""
    label: str = ""
    key: str = ""
    reason: str = ""
    number: int = 0
    delay: float | None = None
    limit: int | None = None


@dataclass(slots=True)
class CallCounts:
    """What the gateway counts, as in `GatewayStats`."""

    sent: int = 0
    answered: int = 0
    cached: int = 0
    failed_tries: int = 0
    waiting: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usage_unknown: int = 0
    cost_unknown: int = 0


class GatewayStats(Value):
    """A snapshot of what the gateway did since it was made.

    `sent` counts requests (each try is one), `answered` the replies paid for and committed, `cached` the answers that
    the ledger gave. `waiting` counts the questions that wait for people. `cost` is the US dollars of the answers whose
    cost is known; `cost_unknown` counts the others. `in_flight` and `limits` go by endpoint.
    """

    sent: int = 0
    answered: int = 0
    cached: int = 0
    failed_tries: int = 0
    waiting: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usage_unknown: int = 0
    cost: float = 0.0
    cost_unknown: int = 0
    in_flight: dict[str, int] = Field(default_factory=dict)
    limits: dict[str, int] = Field(default_factory=dict)
