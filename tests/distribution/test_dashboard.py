"""A cluster whose dashboard is on: no answer of it holds a key, whether workers have keys in their environment or are sent."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest

from dokimasia.simulation.serving.server import running_server
from tests.distribution.conftest import holding
from tests.distribution.test_keys import KEY, SERVED
from tests.killing import committed
from tests.processes import PATIENCE, ROOT, environment

PLACES = (
    "/api/jobs/",
    "/api/version",
    "/api/cluster_status",
    "/api/component_activities",
    "/api/serve/applications/",
    "/nodes?view=summary",
    "/nodes?view=details",
    "/logical/actors",
    "/api/actors/kill",
    *(
        f"/api/v0/{name}?detail=true"
        for name in ("actors", "tasks", "jobs", "workers", "nodes", "objects", "runtime_envs")
    ),
    "/api/v0/tasks/summarize",
    "/api/v0/actors/summarize",
    "/api/v0/tasks/timeline",
    "/events",
)


class Dashboard(NamedTuple):
    """A cluster with its dashboard: where a driver joins it, where it is asked, and what it writes."""

    address: str
    url: str
    folder: Path

    def answers(self, path: str) -> bytes:
        """What it answers, also where that is a refusal."""
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=PATIENCE) as answer:
                return answer.read()
        except urllib.error.HTTPError as refused:
            return refused.read()

    def all(self) -> dict[str, bytes]:
        """What it answers in every place, each log among them."""
        found = {path: self.answers(path) for path in PLACES}
        for node in orjson.loads(found["/nodes?view=summary"])["data"]["summary"]:
            id = node["raylet"]["nodeId"]
            found |= {f"/nodes/{id}": self.answers(f"/nodes/{id}")}
            logs = self.answers(f"/api/v0/logs?node_id={id}")
            names = [name for group in orjson.loads(logs)["data"]["result"].values() for name in group]
            for path in (f"/api/v0/logs/file?node_id={id}&filename={name}&lines=100000" for name in names):
                found[path] = self.answers(path)
        return found


def free_port() -> int:
    """A port that nobody has, and that the system gives nobody who asks for any; those of Ray's workers end before."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def cluster_with_dashboard(variables: dict[str, str]) -> Iterator[Dashboard]:
    """Have a cluster of one node with these variables."""
    folder = Path(tempfile.mkdtemp(prefix="doki-", dir="/tmp"))
    port, shown = free_port(), free_port()
    ports = {"port": port, "dashboard-port": shown, "ray-client-server-port": free_port()}
    ports |= {"dashboard-agent-listen-port": free_port()}
    options = [f"--{name}={number}" for name, number in ports.items()]
    more = ("--num-cpus=2", "--include-dashboard=true", "--disable-usage-stats", f"--temp-dir={folder}")
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--node-ip-address=127.0.0.1"]
    with subprocess.Popen(
        [*command, *options, *more], env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            found = Dashboard(f"127.0.0.1:{port}", f"http://127.0.0.1:{shown}", folder)
            until = time.monotonic() + PATIENCE
            while True:
                with contextlib.suppress(OSError):
                    if found.answers("/nodes?view=summary").find(b"nodeId") >= 0:
                        break
                assert time.monotonic() < until, "the dashboard does not answer"
                time.sleep(0.5)
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("keys", ["sent", "environment"])
def test_no_key_is_on_the_dashboard(keys: str, world: Path, tmp_path: Path) -> None:
    """While workers call with a key, and after it, nothing that the dashboard answers or the cluster writes holds it."""
    pytest.importorskip("ray.dashboard.optional_deps", reason="needs ray[default]", exc_type=ImportError)
    with_key = {**environment(), "PLANTED_KEY": KEY, "PYTHONPATH": os.pathsep.join((str(ROOT), *sys.path))}
    without = {name: value for name, value in with_key.items() if name != "PLANTED_KEY"}
    with running_server(latency=0.3) as url, cluster_with_dashboard(without if keys == "sent" else with_key) as shown:
        config = tmp_path / "dokimasia.toml"
        config.write_text(f'worker_keys = "{keys}"\n{SERVED.format(url=url)}')
        command = [sys.executable, "-m", "dokimasia", "evaluate", world, "--judge", "judge", "--models", "sim/strong"]
        command += ["--home", "home", "--workers", "2", "--address", shown.address]
        with subprocess.Popen(
            list(map(str, command)), cwd=tmp_path, env=with_key, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as driver:
            while committed(tmp_path / "home") < 5 and driver.poll() is None:
                time.sleep(0.05)
            said = [shown.all()]
            assert driver.stderr is not None
            told = driver.stderr.read()
            assert driver.wait() == 0, told.decode()
        said.append(shown.all())
        assert any(b"Worker" in answer for answer in said[0].values())
        assert sum("/logs/file" in path and bool(answer) for path, answer in said[1].items()) >= 3
        found = [path for answers in said for path, answer in answers.items() if KEY.encode() in answer]
        assert (found, holding(shown.folder, KEY)) == ([], [])
