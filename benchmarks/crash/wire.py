"""A wire between this machine and a network namespace that delays and loses packets: `... wire NAMESPACE HERE THERE SUBNET`.

Each line that it reads says what it does from now on: seconds of delay, seconds by which that varies, and the share that is
lost. It ends when its standard input is closed. It takes root and Linux; `tc netem` is not in every kernel.
"""

import asyncio
import ctypes
import fcntl
import os
import random
import struct
import subprocess
import sys

_TUNSETIFF, _TUN = 0x400454CA, 0x0001 | 0x1000
_NEWNET = 0x40000000


def _device(name: str) -> int:
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TUN))
    return device


def _up(name: str, address: str) -> None:
    for words in (
        ("addr", "add", f"{address}/24", "dev", name),
        ("link", "set", name, "up"),
        ("link", "set", "lo", "up"),
    ):
        subprocess.run(["ip", *words], check=True)


def _enter(namespace: str) -> None:
    with open(f"/run/netns/{namespace}") as inside:
        if ctypes.CDLL(None, use_errno=True).setns(inside.fileno(), _NEWNET):
            raise OSError(ctypes.get_errno(), "setns")


async def carry(namespace: str, here: str, there: str, subnet: str) -> None:
    """Carry packets until standard input is closed."""
    first = _device(here)
    _up(here, f"{subnet}.1")
    _enter(namespace)
    second = _device(there)
    _up(there, f"{subnet}.2")
    loop, randomness, state = asyncio.get_running_loop(), random.Random(5), [0.0, 0.0, 0.0]
    ended = asyncio.Event()

    def passing(source: int, target: int) -> None:
        def ready() -> None:
            packet = os.read(source, 65536)
            delay, jitter, lost = state
            if randomness.random() >= lost:
                loop.call_later(max(0.0, delay + randomness.uniform(-jitter, jitter)), _write, target, packet)

        loop.add_reader(source, ready)

    def told() -> None:
        line = sys.stdin.readline()
        if not line:
            ended.set()
            return
        state[:] = map(float, line.split())
        print("told", flush=True)

    passing(first, second)
    passing(second, first)
    loop.add_reader(sys.stdin, told)
    print("ready", flush=True)
    await ended.wait()


def _write(target: int, packet: bytes) -> None:
    try:
        os.write(target, packet)
    except OSError:  # a queue is full: it is lost
        return


if __name__ == "__main__":
    asyncio.run(carry(*sys.argv[1:5]))
