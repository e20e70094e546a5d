"""Begin a service, ask it from Python, and stop it; simulated models, offline.

Run it with a folder of its own: python examples/ask_a_service.py FOLDER
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dokimasia import Client
from dokimasia.simulation.world import write_world


@contextmanager
def service(home: Path) -> Iterator[str]:
    """Serve a home on a free port of this machine, and give the address that `dokimasia serve` prints."""
    command = [sys.executable, "-m", "dokimasia", "serve", "--home", str(home), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)  # what is in flight is answered and committed
            process.wait()


def main(folder: Path) -> None:
    """Evaluate two candidates through the service, score them again by another judge, and print both."""
    data = folder / "world.jsonl"
    write_world(data, 12, 0)
    with service(folder / "home") as url, Client(url) as client:
        run = client.run("evaluate", data=data, judge="sim/judge", models=["sim/strong", "sim/weak"])
        ended = run.wait(lambda event: print(f"  {event.kind}") if event.kind in ("planned", "ended") else None)
        print(f"run {run.id}: {ended.end}")
        again = run.fork(node="score", judge="sim/judge-noisy")
        again.wait()
        for one, judge in ((run, "sim/judge"), (again, "sim/judge-noisy")):
            for name, model in one.figures()["models"].items():
                print(f"{name} by {judge}: {model['score']['mean']:.2f}")
        difference = client.diff(run.id, again.id, top=1)["pairs"][0]["difference"]
        print(f"the second judge gives {difference['mean']:+.2f} on the average")
        rows = run.export("jsonl").splitlines()
        print(f"{len(rows)} rows; a sample whole: {run.sample(next(run.samples())['sample'])['id']}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".dokimasia/example"))
