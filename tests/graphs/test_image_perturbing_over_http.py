"""Images are perturbed over HTTP as in process: every dimension, both transports; a death between two steps costs nothing."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dokimasia.agents.editing import make_image
from dokimasia.agents.perturbation import error_dimensions
from dokimasia.datasets.images import read_image
from dokimasia.domain.blindspots import NEUTRAL, Perturbed
from dokimasia.domain.call import ImageEdit, ImageEditReply, ModelRef, ModelSpec
from dokimasia.domain.perturbation import PerturbOptions
from dokimasia.domain.ports import Transport
from dokimasia.errors import CallFailed
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.gateway.doubles import CountingTransport, Crash
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.gateway.litellm.transport import LiteLLMTransport
from dokimasia.gateway.retry import RetryPolicy
from dokimasia.graphs.context import Context
from dokimasia.simulation.image_edits import faults_in_image
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import generation_prompt, make_prompted
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.memory import MemoryLedger
from tests.graphs.test_image_perturbing import GRAPH, World, drive

DIMENSIONS = error_dimensions("text-to-image")
TRANSPORTS: dict[str, Callable[[], Transport]] = {
    "direct": partial(DirectTransport, read_image=read_image),
    "litellm": partial(LiteLLMTransport, read_image=read_image),
}


@pytest.fixture(scope="module")
def served() -> Any:
    """A server of simulated models."""
    with running_server() as url:
        yield url


def over(url: str, transport: str) -> dict[str, ModelSpec]:
    """Perturber and editor behind an address."""
    return {
        name: ModelSpec(
            ref=ModelRef(name=name, model=f"openai/sim/{name}", endpoint="served"), api_base=url, transport=transport
        )
        for name in ("judge", "editor", "editor-careless")
    }


def options(specs: dict[str, ModelSpec]) -> PerturbOptions:
    return PerturbOptions(judge="judge", editor="editor", checker="judge", models=specs)


@pytest.fixture(params=TRANSPORTS)
async def way(request: Any) -> AsyncIterator[tuple[str, Transport]]:
    """Each transport in turn."""
    transport = TRANSPORTS[request.param]()
    yield request.param, transport
    await transport.aclose()


async def test_every_dimension_over_http(served: str, way: tuple[str, Transport]) -> None:
    """All dimensions and the harmless change give an image at fault in just that one, the same to the byte as in process."""
    specs = over(served, way[0])
    world, own = World(2), World(2)
    gateway = ModelGateway(
        ledger=MemoryLedger(), blobs=world.blobs, transports={way[0]: way[1]}, specs=specs, api_keys={}
    )
    inside = ModelGateway(
        ledger=MemoryLedger(),
        blobs=own.blobs,
        transports={"sim": SimTransport()},
        specs={name: spec.model_copy(update={"transport": "sim"}) for name, spec in specs.items()},
    )
    walked = [await asyncio.gather(*(one.walk(way_, name, options(specs)) for name in DIMENSIONS)) for one, way_ in
              ((world, gateway), (own, inside))]  # fmt: skip
    for name, state, same in zip(DIMENSIONS, *walked, strict=True):
        assert not state.get("failed"), (name, state.get("reason"))
        made = await world.store.get(Perturbed, state["result"][0])
        assert made.perturbed_image is not None
        assert faults_in_image(world.blobs.get(made.perturbed_image.sha256)) == (() if name == NEUTRAL else (name,))
        assert made == await own.store.get(Perturbed, same["result"][0])


async def test_bad_days_over_http(way: tuple[str, Transport]) -> None:
    """Faults of the transport are tried again, a refusal for content fails as refused, and nothing else comes of either."""
    faults = parse_faults("rate_limit_bare=0.1,unavailable=0.2,cut_json=0.1,empty_body=0.1,html=0.1")
    with running_server(faults=faults) as url:
        specs, world = over(url, way[0]), World(2)
        policy = RetryPolicy(base=0.01, rate_limit_base=0.01)
        gateway = ModelGateway(
            ledger=MemoryLedger(), blobs=world.blobs, transports={way[0]: way[1]}, specs=specs, policy=policy
        )
        states = await asyncio.gather(*(world.walk(gateway, name, options(specs)) for name in list(DIMENSIONS)[:8]))
        assert all("failed" not in state for state in states)
        assert gateway.stats().failed_tries > 0
    with running_server(faults=parse_faults("refusal=1")) as url:
        specs = over(url, way[0])
        gateway = ModelGateway(ledger=MemoryLedger(), blobs=world.blobs, transports={way[0]: way[1]}, specs=specs)
        call = ImageEdit(model=specs["editor"].ref, image=world.gold, instruction="Remove it.")
        reply = (await gateway.ask(call)).reply
        assert isinstance(reply, ImageEditReply)
        assert reply.refusal


async def test_a_model_that_edits_no_images_says_so(served: str, way: tuple[str, Transport]) -> None:
    """A judge that is asked for an image edit, and an image model that is asked to chat, are not found there."""
    specs, world = over(served, way[0]), World(2)
    gateway = ModelGateway(ledger=MemoryLedger(), blobs=world.blobs, transports={way[0]: way[1]}, specs=specs)
    with pytest.raises(CallFailed, match="not_found"):
        await gateway.ask(ImageEdit(model=specs["judge"].ref, image=world.gold, instruction="Remove it."))
    swapped = options(specs).model_copy(update={"judge": "editor"})
    state = await world.walk(gateway, NEUTRAL, swapped)
    assert (state["failed"], "not_found" in state["reason"]) == ("api_error", True)


@pytest.mark.parametrize("dies_at", [1, 2])
async def test_a_death_between_two_steps_costs_nothing(served: str, tmp_path: Path, dies_at: int) -> None:
    """Killed when the instruction is there, or when the edit is, a second start asks no finished call again."""
    specs = over(served, "direct")
    world = World(2)
    sent: list[str] = []

    async def walk(transport: Transport) -> dict[str, Any]:
        with Home.open(tmp_path / "home", write=True) as home:
            home.blobs.put_image(world.blobs.get(world.gold.sha256), world.gold)
            gateway = ModelGateway(
                ledger=SqliteLedger(home), blobs=home.blobs, transports={"direct": transport}, specs=specs
            )
            context = Context(gateway, world.store, options(specs), blobs=home.blobs)
            inputs = {"sample": await world.store.put(world.sample), "dimension": "object_substitution"}
            return await drive.run(GRAPH, inputs, context=context)

    class Dying:
        """Dies with the process at the nth call."""

        def __init__(self, inner: Transport) -> None:
            self.inner = inner

        async def send(self, call: Any, spec: Any, **more: Any) -> Any:
            if len(sent) == dies_at:
                raise Crash
            sent.append(call.kind)
            return await self.inner.send(call, spec, **more)

        async def aclose(self) -> None:
            await self.inner.aclose()

    first = TRANSPORTS["direct"]()
    with pytest.raises(Crash):
        await walk(Dying(first))
    await first.aclose()
    again = CountingTransport(TRANSPORTS["direct"]())
    state = await walk(again)
    await again.aclose()
    assert len(state["result"]) == 2
    assert [*sent, *(call.kind for call in again.sent)] == ["chat", "image_edit", "chat"]


async def test_a_form_that_says_too_little_is_a_bad_request(served: str) -> None:
    """The server names the field that is wrong, as it does for chats."""
    import aiohttp

    for fields, said in (({"prompt": "x"}, "model"), ({"model": "sim/editor", "prompt": "x"}, "image")):
        async with aiohttp.ClientSession() as session, session.post(f"{served}/images/edits", data=fields) as response:
            assert response.status == 400
            assert said in json.loads(await response.read())["error"]["message"]


async def test_a_new_image_over_http(served: str, way: tuple[str, Transport]) -> None:
    """An image that is made by a prompt is the same to the byte as in process, paid once, and another draw with each attempt."""
    specs = over(served, way[0])
    world, own = World(2), World(2)
    ledger = MemoryLedger()
    counting = CountingTransport(way[1])
    gateway = ModelGateway(ledger=ledger, blobs=world.blobs, transports={way[0]: counting}, specs=specs, api_keys={})
    inside = ModelGateway(
        ledger=MemoryLedger(),
        blobs=own.blobs,
        transports={"sim": SimTransport()},
        specs={name: spec.model_copy(update={"transport": "sim"}) for name, spec in specs.items()},
    )
    prompt = generation_prompt(next(make_prompted(1, 3)))
    made = await make_image(prompt, gateway=gateway, model=specs["editor"])
    again = await make_image(prompt, gateway=gateway, model=specs["editor"])
    same = await make_image(prompt, gateway=inside, model=specs["editor"])
    assert made.image is not None
    assert made.image == again.image == same.image
    assert world.blobs.get(made.image.sha256) == own.blobs.get(made.image.sha256)
    assert len(counting.sent) == 1
    other = await make_image(prompt, gateway=gateway, model=specs["editor"], attempt=1)
    assert other.calls != made.calls
