"""Three nodes of a Ray cluster on this machine, in a process of their own that ends with whoever started it.

It prints the cluster's address; for each line that it reads it kills a node other than the head, without a word to it, has
another take its place, and prints a line.
"""

import logging
import os
import random
import sys
from typing import Any

NODES = 3
CPUS = 4
"""Workers that find room on a node."""


def main() -> None:
    """Serve until standard input is closed."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
    logging.disable(logging.WARNING)
    from ray.cluster_utils import Cluster

    randomness = random.Random(int(sys.argv[1]))
    node: dict[str, Any] = {"num_cpus": CPUS, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    others = [cluster.add_node(**node) for _ in range(NODES - 1)]
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


if __name__ == "__main__":
    main()
