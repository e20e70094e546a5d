"""Fetching of images from the web: only HTTPS, public and pinned addresses, bounded in size and time."""

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from urllib.parse import urljoin, urlsplit

from dokimasia.datasets.lines import RowError
from dokimasia.errors import DataError

MAX_BYTES = 32 * 2**20
MAX_SECONDS = 30.0
MAX_REDIRECTS = 5

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHUNK = 64 * 1024
_TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))

Resolve = Callable[[str, int], Sequence[str]]
Connect = Callable[[str, str, int, float], socket.socket]


def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, as resolved by the system."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def connect_tls(host: str, address: str, port: int, seconds: float) -> socket.socket:
    """Return a TLS connection to exactly this address, with the certificate checked against the host name."""
    plain = socket.create_connection((address, port), timeout=seconds)
    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


def is_public(address: str) -> bool:
    """Return whether an address is on the public internet: not this machine, a private network, or a tunnel into either."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return is_public(str(parsed.ipv4_mapped))
        tunnel = parsed.sixtofour is not None or parsed.teredo is not None
        if tunnel or parsed.is_site_local or any(parsed in net for net in _TRANSLATED):
            return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


def fetch_image(
    url: str,
    where: str,
    *,
    resolve: Resolve = resolve,
    connect: Connect = connect_tls,
    max_bytes: int = MAX_BYTES,
    max_seconds: float = MAX_SECONDS,
) -> bytes:
    """Return the bytes of an HTTPS URL.

    Every address that the host resolves to must be public, the connection goes to the checked address, and each redirect
    must satisfy the same rules.

    Args:
        url: the URL.
        where: file and line, for messages.
        resolve: returns the addresses of a host and port.
        connect: returns a connected socket for host, address, port and a timeout in seconds.
        max_bytes: size of the body, at most.
        max_seconds: time for one request, from connecting to the last byte.

    Raises:
        DataError: the address is not allowed, or the response is not complete within the limits.
    """
    target = url
    for _ in range(MAX_REDIRECTS + 1):
        try:
            body, location = _one_hop(target, resolve, connect, max_bytes, max_seconds)
            target = urljoin(target, location or "")
        except DataError as error:
            raise RowError("image-url", f"{where}: image {_without_query(url)}: {error}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise RowError(
                "image-url", f"{where}: image {_without_query(url)} cannot be fetched: {reason[:200]}"
            ) from error
        if location is None:
            return body
    raise RowError("image-url", f"{where}: image {_without_query(url)} is redirected more than {MAX_REDIRECTS} times")


def _one_hop(
    url: str, resolve: Resolve, connect: Connect, max_bytes: int, max_seconds: float
) -> tuple[bytes, str | None]:
    """Return the body of one request, or the target of its redirect."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise DataError(f"{_without_query(url)} is not HTTPS")
    if parts.username is not None or parts.password is not None:
        raise DataError("an address with a user name or a password is not fetched")
    port = parts.port or 443
    addresses = resolve(parts.hostname, port)
    if not addresses or not all(is_public(address) for address in addresses):
        raise DataError(f"the host {parts.hostname} is not on the public internet")
    connection = connect(parts.hostname, addresses[0], port, max_seconds)
    timed_out = threading.Event()

    def cut() -> None:
        timed_out.set()
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # already closed

    watchdog = threading.Timer(max_seconds, cut)
    watchdog.daemon = True
    watchdog.start()
    client = http.client.HTTPConnection(parts.hostname, port, timeout=max_seconds)
    client.sock = connection
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        client.request("GET", target, headers={"Accept": "image/*", "Accept-Encoding": "identity"})
        result = _read(client.getresponse(), max_bytes)
    except (OSError, ValueError, http.client.HTTPException, DataError) as error:
        if timed_out.is_set():
            raise DataError(f"not there after {max_seconds:g} seconds") from error
        raise
    finally:
        watchdog.cancel()
        client.close()
    if timed_out.is_set():
        raise DataError(f"not there after {max_seconds:g} seconds")
    return result


def _read(response: http.client.HTTPResponse, max_bytes: int) -> tuple[bytes, str | None]:
    if response.status in _REDIRECTS:
        location = response.getheader("Location")
        if not location:
            raise DataError(f"the server redirects (status {response.status}) to nowhere")
        return b"", location
    if response.status != 200:
        raise DataError(f"the server answers with status {response.status}")
    body = bytearray()
    while chunk := response.read1(_CHUNK):
        body += chunk
        if len(body) > max_bytes:
            raise DataError(f"more than {max_bytes:,} bytes")
    if response.length:
        raise DataError(f"cut off: {response.length:,} bytes are missing")
    return bytes(body), None


def _without_query(url: str) -> str:
    """Return an address without its query, which may contain a key, for messages."""
    plain = url.partition("?")[0]
    if "@" in plain:
        plain = plain.partition("//")[0] + "//\u2026@" + plain.rpartition("@")[2]
    return repr(plain if len(plain) <= 100 else plain[:99] + "\u2026")
