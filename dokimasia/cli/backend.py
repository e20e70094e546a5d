"""The backend of a command: the home of this process, or a service; chosen by the options of the verb."""

import functools
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar
from urllib.parse import urlsplit

import click

from dokimasia.cli.shared import FILE, redacting, remember_target_flags, shared
from dokimasia.errors import ConfigError

if TYPE_CHECKING:
    from dokimasia.cli.local_backend import LocalBackend
    from dokimasia.cli.remote_backend import RemoteBackend
    from dokimasia.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")

Backend: TypeAlias = "LocalBackend | RemoteBackend"
"""Where a verb does its work; verbs know of neither."""


def with_backend(function: Callable[..., R]) -> Callable[..., R]:
    """Add the options of `common` and those that name a service to a verb, which receives its `backend`."""

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
            remember_target_flags(where)
        if settings.server:
            redacting(settings)
        return function(*arguments, backend=backend_of(settings, where=where), **options)

    return wrapped


def detachable(function: Callable[..., R]) -> Callable[..., R]:
    """Add --detach to a verb that has a backend and begins a run."""

    @click.option("--detach", is_flag=True, help="With a service: print the run's id, and leave the run to it.")
    @functools.wraps(function)
    def wrapped(*arguments: Any, detach: bool, backend: Any, **options: Any) -> R:
        if detach:
            backend.detach()
        return function(*arguments, backend=backend, **options)

    return wrapped


def backend_of(settings: "Settings", *, where: str = "") -> Backend:
    """Return the service that the settings name, which `where` finds again, or else the home."""
    if settings.server:
        from dokimasia.cli.remote_backend import RemoteBackend

        return RemoteBackend(settings, where=where)
    from dokimasia.cli.local_backend import LocalBackend

    return LocalBackend(settings)


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
