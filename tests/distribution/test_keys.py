"""Keys of workers: from their environment or sent to each under a seal, and in none of Ray's files or memory."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import orjson
import pytest

from dokimasia.distribution.cluster import Cluster
from dokimasia.distribution.worker_config import key_pair, seal, unseal
from dokimasia.errors import ConfigError
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.transport import SimTransport
from tests.distribution.conftest import FakeCluster, holding
from tests.runs.conftest import Finished
from tests.runs.kinds import KINDS, make

pytestmark = pytest.mark.full

EVALUATE = KINDS["evaluate"]
KEY = "sk-planted-0123456789abcdef"
MODEL = '[models.judge]\nmodel = "sim/judge"\ntransport = "sim"\napi_key_env = "PLANTED_KEY"\n'
SERVED = MODEL.replace('"sim/judge"', '"openai/sim/judge"').replace('"sim"', '"direct"\napi_base = "{url}"')


class Shown(SimTransport):
    """Keeps the keys that it is given."""

    keys: ClassVar[set[str | None]] = set()

    async def send(self, call: Any, spec: Any, *, api_key: str | None, blobs: Any) -> Any:
        """Keep the key."""
        self.keys.add(api_key)
        return await super().send(call, spec, api_key=api_key, blobs=blobs)


def shown(specs: object, library: object = None) -> dict[str, Any]:
    """The ways to models that workers of these tests open."""
    return {"sim": Shown()}


def sending(folder: Path, config: str = MODEL) -> Settings:
    """Settings by which keys are sent, of a driver that has one."""
    path = folder / "dokimasia.toml"
    path.write_text(f'worker_keys = "sent"\n{config}')
    return load_settings(config=path, home=folder / "home", env={"PLANTED_KEY": KEY})


def shared_memory(folder: Path) -> Iterator[bytes]:
    """What lies in the object stores of the Ray in a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{folder}".encode() not in (process / "cmdline").read_bytes():
                continue
            for file in (process / "fd").iterdir():
                if "plasma" in os.readlink(file) and file.is_file():
                    yield file.read_bytes()
        except (PermissionError, FileNotFoundError):
            continue


async def test_a_key_is_sent_under_a_seal(
    world: Path, tmp_path: Path, workers: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where keys are sent, workers that have none in their environment call with the driver's, and it is in no message."""
    monkeypatch.setattr("dokimasia.runs.services.transports_for_models", shown)
    monkeypatch.setattr(Shown, "keys", set[str | None]())
    workers.forbidden = KEY.encode()
    done = await make(sending(tmp_path), world, EVALUATE, judge="judge", workers=2, engine="ray")
    assert done.complete
    assert {KEY, None} == Shown.keys


async def test_a_key_is_found_nowhere_in_ray(world: Path, tmp_path: Path, finished: Finished, ray: Cluster) -> None:
    """After a run by processes that were sent a key, it is in no file below Ray's folder and not in its object store."""
    if ray.address is not None or ray._folder is None:
        pytest.skip("the files of a cluster elsewhere cannot be looked through")
    with running_server() as url:
        settings = sending(tmp_path, SERVED.format(url=url))
        done = await make(settings, world, EVALUATE, judge="judge", workers=2, engine="ray")
    assert done.complete
    assert any(ray._folder.path.rglob("logs/*.log"))
    assert not holding(ray._folder.path, KEY)
    stores = list(shared_memory(ray._folder.path))
    assert stores
    assert not any(KEY.encode() in store for store in stores)
    assert orjson.loads(orjson.dumps(done.summary))["models"]


def test_a_seal_opens_for_one_side() -> None:
    """What is sealed opens with the pair that it was sealed for; with another, or changed on the way, it is refused."""
    pair = key_pair()
    box = seal({"judge": KEY}, bytes(pair.public_key))
    assert KEY.encode() not in box
    assert unseal(box, pair) == {"judge": KEY}
    assert seal({"judge": KEY}, bytes(pair.public_key)) != box
    for other, what in ((key_pair(), box), (pair, bytes([*box[:-1], box[-1] ^ 1]))):
        with pytest.raises(ConfigError, match="not those that left"):
            unseal(what, other)


def test_without_the_library_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyNaCl is missing, what sends keys says how to have it."""
    monkeypatch.setitem(sys.modules, "nacl", None)
    with pytest.raises(ConfigError, match=r"PyNaCl: install it with `pip install 'dokimasia\[ray\]'`"):
        seal({"judge": KEY}, b"")


def test_where_keys_come_from_is_one_of_two(tmp_path: Path) -> None:
    """Another word than the two is refused with both."""
    path = tmp_path / "dokimasia.toml"
    path.write_text('worker_keys = "ray"\n')
    with pytest.raises(ConfigError, match="'environment' or 'sent'"):
        load_settings(config=path, env={})
