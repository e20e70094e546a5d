"""Images are fetched only from public addresses, pinned, whole, within size and time."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from dokimasia.datasets.fetch import connect_tls, fetch_image, is_public
from dokimasia.datasets.images import ImageSource
from dokimasia.errors import DataError

from .conftest import encoded

PUBLIC = "93.184.215.14"


@contextlib.contextmanager
def server(*replies: bytes, hang: threading.Event | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """Serve one reply a connection on loopback; yield the port and the requests that came."""
    requests: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for reply in replies:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    requests.append(connection.recv(65536))
                    with contextlib.suppress(OSError):
                        connection.sendall(reply)
                        if hang is not None:
                            hang.wait(10)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1], requests
        finally:
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def reply(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Return an HTTP reply."""
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


class Net:
    """A resolver and a connector: names resolve as told, and every public address leads to the loopback server."""

    def __init__(self, port: int = 0, **names: str) -> None:
        self.port = port
        self.names = names
        self.connected: list[tuple[str, str]] = []

    def resolve(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host."""
        return self.names.get(host.partition(".")[0], PUBLIC).split()

    def connect(self, host: str, address: str, port: int, seconds: float) -> socket.socket:
        """Note whom the connection is for and connect to the server."""
        self.connected.append((host, address))
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def fetch(self, url: str, *, max_bytes: int = 1000, max_seconds: float = 5.0) -> bytes:
        """Fetch through this net."""
        return fetch_image(
            url, "line 1", resolve=self.resolve, connect=self.connect, max_bytes=max_bytes, max_seconds=max_seconds
        )


def test_a_body_is_fetched_from_the_address_that_was_checked() -> None:
    """The connection goes to the resolved address under the host's name, and the query is sent."""
    with server(reply(b"pixels")) as (port, requests):
        net = Net(port)
        assert net.fetch("https://images.example/a.png?v=1") == b"pixels"
    assert net.connected == [("images.example", PUBLIC)]
    assert requests[0].startswith(b"GET /a.png?v=1 HTTP/1.1\r\n")
    assert b"Host: images.example" in requests[0]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://images.example/a.png", "not HTTPS"),
        ("https://user:word@images.example/", "user name or a password"),
        ("https://local.example/", "not on the public internet"),
        ("https://mixed.example/", "not on the public internet"),
        ("https://metadata.example/", "not on the public internet"),
        ("https://images.example:99999/", "cannot be fetched"),
        ("https://images.example/a b", "cannot be fetched"),
    ],
)
def test_forbidden_addresses_are_refused_unconnected(url: str, reason: str) -> None:
    """Without HTTPS, with credentials, or with any address that is not public, nothing is connected."""
    net = Net(local="127.0.0.1", mixed=f"{PUBLIC} 10.0.0.1", metadata="169.254.169.254")
    with pytest.raises(DataError, match=rf"^line 1: image .*{reason}") as caught:
        net.fetch(url)
    assert "word" not in str(caught.value).replace("password", "")
    assert len(net.connected) <= 1


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::1", "fe80::1",
     "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "x", "ff02::1",
     "fec0::1", "feff::1"],
)  # fmt: skip
def test_private_addresses_are_not_public(address: str) -> None:
    """Loopback, private, link-local, shared, multicast, mapped and translated addresses are not public."""
    assert not is_public(address)


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_public(address: str) -> None:
    """Addresses of the public internet pass."""
    assert is_public(address)


def test_redirects_are_followed_and_checked() -> None:
    """A relative redirect is followed; one to a private host is refused before a connection."""
    with server(reply(b"", "302 Found", "Location: /b.png"), reply(b"pixels")) as (port, requests):
        assert Net(port).fetch("https://images.example/a.png") == b"pixels"
    assert requests[1].startswith(b"GET /b.png ")
    for target, reason in (("https://local.example/", "public internet"), ("http://images.example/", "not HTTPS")):
        with server(reply(b"", "301 Moved", f"Location: {target}")) as (port, _):
            net = Net(port, local="127.0.0.1")
            with pytest.raises(DataError, match=reason):
                net.fetch("https://images.example/a.png")
        assert len(net.connected) == 1


def test_endless_redirects_end() -> None:
    """After five redirects the fetch is given up."""
    endless = [reply(b"", "302 Found", "Location: /")] * 6
    with server(*endless) as (port, _), pytest.raises(DataError, match="redirected more than 5 times"):
        Net(port).fetch("https://images.example/")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply(b"gone", "404 Not Found"), "status 404"),
        (reply(b"x" * 101), "more than 100 bytes"),
        (reply(b"pixels").replace(b"Length: 6", b"Length: 9"), "cut off: 3 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\npix", "cannot be fetched"),
        (b"no http\r\n\r\n", "cannot be fetched"),
        (b"", "cannot be fetched"),
        (reply(b"", "302 Found"), "to nowhere"),
    ],
)
def test_bad_replies_are_named(answer: bytes, reason: str) -> None:
    """Errors, oversize, bodies cut off and what is no HTTP are reported."""
    with server(answer) as (port, _), pytest.raises(DataError, match=reason):
        Net(port).fetch("https://images.example/", max_bytes=100)


def test_a_server_that_hangs_is_cut_off() -> None:
    """A body that never ends is given up after the time limit."""
    hang = threading.Event()
    with server(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npix", hang=hang) as (port, _):
        with pytest.raises(DataError, match=r"not there after|timed out"):
            Net(port).fetch("https://images.example/", max_seconds=0.2)
        hang.set()


def test_a_server_without_tls_is_refused() -> None:
    """The connection is TLS with a certificate for the host, or there is none."""
    with server(b"plain text\r\n\r\n") as (port, _), pytest.raises(OSError, match="SSL"):
        connect_tls("images.example", "127.0.0.1", port, 5)


def test_fetched_images_are_read_once(tmp_path, blobs) -> None:
    """With permission a URL becomes an image; the same URL again is not fetched again."""
    asked: list[str] = []

    def fetch(url: str, where: str) -> bytes:
        asked.append(url)
        return encoded("WEBP")

    source = ImageSource(tmp_path, blobs=blobs, allow_fetch=True, fetch=fetch)
    first, second = (source.read("https://images.example/a.jpg", f"line {number}") for number in (1, 2))
    assert first == second
    assert first.media_type == "image/webp"
    assert asked == ["https://images.example/a.jpg"]
    assert list(blobs.kept) == [first.sha256]
