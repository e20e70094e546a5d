"""Where a verb does its work, chosen by its options: `placed` gives it the home, or a service."""

import functools
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

import click

from dokimasia.cli.shared import FILE, carry, redacting, shared
from dokimasia.errors import ConfigError

if TYPE_CHECKING:
    from dokimasia.cli.places import Place
    from dokimasia.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")


def placed(function: Callable[..., R]) -> Callable[..., R]:
    """Add the options of `common` and those that name a service to a verb, which receives them as one `place`."""

    @shared
    @click.option("--server", metavar="URL", help="Have the service at this address do it (DOKIMASIA_SERVER).")
    @click.option("--server-token-file", type=FILE, help="The service's token, in a file (or DOKIMASIA_SERVER_TOKEN).")
    @functools.wraps(function)
    def wrapped(
        *arguments: Any,
        settings: "Settings",
        server: str | None,
        server_token_file: Path | None,
        given: bool,
        **options: Any,
    ) -> R:
        if given and server:
            raise click.UsageError("--home and --server are two places: name one")
        settings = replace(settings, server="") if given else server_settings(settings, server or "", server_token_file)
        where = f" --server {settings.server}" if settings.server else ""
        if where and server_token_file:
            where += f" --server-token-file {shlex.quote(str(server_token_file))}"
        if server:
            carry(where)
        if settings.server:
            redacting(settings)
        return function(*arguments, place=place_of(settings, where=where), **options)

    return wrapped


def detachable(function: Callable[..., R]) -> Callable[..., R]:
    """Add --detach to a `placed` verb that begins a run."""

    @click.option("--detach", is_flag=True, help="With a service: print the run's id, and leave the run to it.")
    @functools.wraps(function)
    def wrapped(*arguments: Any, detach: bool, place: Any, **options: Any) -> R:
        if detach:
            place.detach()
        return function(*arguments, place=place, **options)

    return wrapped


def place_of(settings: "Settings", *, where: str = "") -> "Place":
    """Return the service that the settings name, which `where` finds again, or else the home."""
    if settings.server:
        from dokimasia.cli.places.there import There

        return There(settings, where=where)
    from dokimasia.cli.places.here import Here

    return Here(settings)


def server_settings(settings: "Settings", server: str, token_file: Path | None) -> "Settings":
    """Return settings with another service, and its token from a file that others may not read.

    Raises:
        ConfigError: the address is none, or the file cannot be read, or others may read it; no message holds a token.
    """
    server = (server or settings.server).rstrip("/")
    parts = urlsplit(server)
    if server and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None):
        raise ConfigError("--server is an address such as http://127.0.0.1:8181, without a user's name and password")
    if token_file is None:
        return replace(settings, server=server)
    try:
        token = token_file.read_text(encoding="utf-8").strip()
        open_to = token_file.stat().st_mode & 0o077
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", "no UTF-8 text")
        raise ConfigError(f"--server-token-file {token_file} cannot be read: {reason}") from None
    if open_to:
        raise ConfigError(
            f"--server-token-file {token_file}: other users of this machine may read it; run chmod 600 {token_file}"
        )
    if len(token.split()) != 1:
        raise ConfigError(f"--server-token-file {token_file} holds the token alone, on one line")
    return replace(settings, server=server, server_token=token, secrets=(*settings.secrets, token))
