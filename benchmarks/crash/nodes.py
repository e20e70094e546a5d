"""Three nodes of a Ray cluster on this machine, in a process of their own that ends with whoever started it.

`... nodes SEED [NODES [PORT]]`: with a port the cluster is also reached by Ray's client there. It prints the cluster's
address; for each line that it reads it kills a node other than the head, without a word to it, has another take its place,
and prints a line after either.
"""

import logging
import os
import random
import shutil
import socket
import sys
import tempfile
import time
from typing import Any

NODES = 3
CPUS = 4
"""Workers that find room on a node."""


def main() -> None:
    """Serve until standard input is closed."""
    seed, count, port = (*map(int, sys.argv[1:]), *(NODES, 0)[len(sys.argv) - 2 :])
    folder = tempfile.mkdtemp(prefix="nodes-")  # short: sockets lie in it
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0", "RAY_TMPDIR": folder}
    logging.disable(logging.WARNING)
    from ray.cluster_utils import Cluster

    randomness = random.Random(seed)
    node: dict[str, Any] = {"num_cpus": CPUS, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    head = {**node, "ray_client_server_port": port} if port else node
    try:
        cluster = Cluster(initialize_head=True, head_node_args=head)
        others = [cluster.add_node(**node) for _ in range(count - 1)]
        while port and not _served(port):  # Ray's client waits longer and longer for what is not there yet
            time.sleep(0.1)
        print(cluster.address, flush=True)
        try:
            for _ in sys.stdin:
                lost = others.pop(randomness.randrange(len(others)))
                cluster.remove_node(lost, allow_graceful=False)
                print("killed", flush=True)
                others.append(cluster.add_node(**node))
                print("replaced", flush=True)
        finally:
            cluster.shutdown()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _served(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main()
