"""The process that asks for hostile replies over one transport: `child TRANSPORT`, one line in and one line out a reply."""

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any, cast

from benchmarks.figures import peak_rss_mb, rss_mb
from dokimasia.domain.call import Chat, ChatReply, Message, ModelRef, ModelSpec
from dokimasia.domain.ports import Transport
from dokimasia.domain.sample import TextPart
from dokimasia.errors import CallFailed
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.gateway.retry import RetryPolicy
from dokimasia.storage.memory import MemoryLedger

SECONDS = 15.0
"""What a request may take."""

SPEED = 10
"""How many times as fast as the clock the gateway's own waits go by: what it waits for is bounded, but in minutes."""

MOST = 5 * 2**30
"""Bytes of addresses: a transport without a limit runs into this one and not into the machine's."""


async def _serve(transport: str) -> None:
    """Answer each line of standard input, an address and how often it is asked, by one line of JSON."""
    made = {"direct": DirectTransport, "litellm": LiteLLMTransport}[transport]()
    while line := await asyncio.to_thread(sys.stdin.readline):
        url, times = line.split()
        print(json.dumps(await _outcomes(made, url, int(times))), flush=True)
    await made.aclose()


async def _outcomes(transport: Transport, url: str, times: int) -> dict[str, Any]:
    """Send an ordinary call first, so that loading and connections are not measured; then the hostile ones."""
    specs = {
        name: ModelSpec(
            ref=ModelRef(name=name, model="openai/m", endpoint=name),
            api_base=base,
            transport="http",
            timeout=100.0 if name == "plain" else SECONDS,  # loading LiteLLM counts, and takes long on a busy machine
            input_price=1.0,
            output_price=1.0,
        )
        for name, base in (("plain", f"{url.rsplit('/', 1)[0]}/0/v1"), ("hostile", f"{url}/v1"))
    }
    gateway = ModelGateway(
        ledger=MemoryLedger(),
        blobs=cast("Any", None),  # no call shows an image
        transports={"http": transport},
        specs=specs,
        policy=RetryPolicy(max_tries=1),
        sleep=lambda seconds: asyncio.sleep(seconds / SPEED),
        clock=lambda: time.monotonic() * SPEED,
    )

    def call(name: str, repeat: int) -> Chat:
        parts = (TextPart(text="How many?"),)
        return Chat(model=specs[name].ref, messages=(Message(role="user", parts=parts),), repeat=repeat)

    await gateway.ask(call("plain", 0))
    _begin_peak_anew()
    before, started = rss_mb(), time.perf_counter()
    outcomes: list[str] = []
    for repeat in range(times):
        try:
            async with asyncio.timeout(3 * SECONDS):
                outcomes.append(_told((await gateway.ask(call("hostile", repeat))).reply))
        except CallFailed as failure:
            outcomes.append("failed: " + failure.reason.removeprefix("hostile: ").partition(" after ")[0])
        except TimeoutError:
            outcomes.append("STALLED")
        except BaseException as error:
            outcomes.append(f"RAISED {type(error).__name__}")
    seconds, peak = time.perf_counter() - started, peak_rss_mb() - before
    stats = gateway.stats()
    if stats.input_tokens >= 2**63:
        outcomes.append("SUM OVER 64 BITS")
    return {"outcome": "; ".join(dict.fromkeys(outcomes)), "seconds": seconds, "peak_mb": peak}


def _begin_peak_anew() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _told(reply: Any) -> str:
    assert isinstance(reply, ChatReply)
    tokens = "unknown" if reply.usage.input_tokens is None else f"{reply.usage.input_tokens:.3g}"
    said = reply.text if len(reply.text) < 12 else f"{len(reply.text):,} characters"
    return f"answer: {said} ({reply.finish_reason}, {tokens} tokens in)"


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    asyncio.run(_serve(sys.argv[1]))
