"""What the driver puts into Ray's object store for its workers."""

import ctypes
import importlib
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dokimasia.distribution.cluster import Cluster, Folder
from dokimasia.domain.ports import BlobStore
from dokimasia.errors import ConfigError
from tests.processes import PATIENCE


def test_an_image_that_two_workers_want_at_once_is_put_there_once() -> None:
    """Two threads that come for the same image at the same time are given one place."""
    cluster, both, read = Cluster(None), Barrier(2), list[str]()
    cluster._ray = SimpleNamespace(put=lambda data: object())

    class Blobs:
        """Gives an image slowly."""

        def get(self, sha256: str) -> bytes:
            """Return it."""
            read.append(sha256)
            time.sleep(0.05)
            return b"image"

    def asked() -> Any:
        both.wait(PATIENCE)
        return cluster.image("one", cast("BlobStore", Blobs()))

    with ThreadPoolExecutor(2) as threads:
        first, second = (threads.submit(asked) for _ in range(2))
        assert first.result() is second.result()
    assert read == ["one"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("somewhere", "--address somewhere: an address of Ray is auto, ray://HOST:PORT or HOST:PORT"),
        ("ray://head:port", "--address ray://head:port: an address of Ray is auto"),
        ("ray://127.0.0.1:{closed}", "there is no Ray at ray://127.0.0.1:{closed}: "),
        ("127.0.0.1:{closed}", "there is no Ray at 127.0.0.1:{closed}: "),
    ],
)
def test_where_nothing_listens_nobody_waits(address: str, said: str) -> None:
    """An address that is none, or at which nobody listens, is refused at once: Ray itself looks for it for minutes."""
    pytest.importorskip("ray")
    with socket.socket() as taken:  # bound and not listening: nobody else can, either
        taken.bind(("127.0.0.1", 0))
        closed = taken.getsockname()[1]
        with pytest.raises(ConfigError) as refused:
            Cluster(address.format(closed=closed)).check()
    assert str(refused.value).startswith(said.format(closed=closed))


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ("127.0.0.1:{closed}", "there is no Ray at auto (here 127.0.0.1:{closed}): "),
        ("", "there is no Ray at auto: none runs on this machine"),
    ],
)
def test_a_cluster_that_is_gone_is_not_looked_for(
    left: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where `auto` means a cluster that has left its address behind, or none, that is refused at once and in a sentence."""
    pytest.importorskip("ray")
    services = importlib.import_module("ray._private.services")
    monkeypatch.setattr(services, "find_gcs_addresses", frozenset[str])  # those of this machine are somebody else's
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with socket.socket() as taken:  # bound and not listening: nobody else can, either
        taken.bind(("127.0.0.1", 0))
        closed = taken.getsockname()[1]
        if left:
            (tmp_path / "ray").mkdir()
            (tmp_path / "ray" / "ray_current_cluster").write_text(left.format(closed=closed))
        with pytest.raises(ConfigError) as refused:
            Cluster("auto").check()
    assert str(refused.value).startswith(said.format(closed=closed))


def test_what_was_just_starting_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A process that was started for a Ray that has ended is ended with it, and none of another Ray, or of nobody's."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ours, other = Folder(), Folder()
    program = [sys.executable, "-c", "import time; time.sleep(600)"]
    said = (f"--session-dir={ours.path}/session", f"--session-dir={other.path}/session", f"{ours.path}/logs")
    started = [subprocess.Popen([*program, one]) for one in said]
    try:
        ours.remove()
        assert started[0].wait(PATIENCE) == -signal.SIGKILL
        assert [one.poll() for one in started[1:]] == [None, None]
    finally:
        for one in started:
            one.kill()
            one.wait()
        other.remove()
    assert not list(tmp_path.iterdir())


async def test_a_handler_that_ray_puts_before_ours_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once Ray has begun, SIGTERM comes to this program first, which Ray had put a handler of its own before."""
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        cluster = Cluster(None)
        # what Ray does from C: Python does not know of it
        monkeypatch.setattr(cluster, "start", lambda: ctypes.CDLL(None).signal(int(signal.SIGTERM), signal.SIG_IGN))
        await cluster.begin()
        os.kill(os.getpid(), signal.SIGTERM)
        assert came == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
