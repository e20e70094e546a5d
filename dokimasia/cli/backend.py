"""The backend of a command, chosen by the options of the verb: the home of this process, or a service."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from urllib.parse import urlsplit

import click

from dokimasia.cli.shared import FILE, prepared, redacting, remember_target_flags, shared
from dokimasia.errors import ConfigError

if TYPE_CHECKING:
    from dokimasia.cli.local_backend import LocalBackend
    from dokimasia.cli.remote_backend import RemoteBackend
    from dokimasia.settings import Settings

R = TypeVar("R")

Backend: TypeAlias = "LocalBackend | RemoteBackend"
"""Where a verb does its work; verbs use both kinds in the same way."""


def with_backend(function: Callable[..., R]) -> Callable[..., R]:
    """Add the options of `common` and those that name a service to a verb, which receives its `backend`."""

    def choose_backend(
        settings: "Settings", given: bool, server: str | None, server_token_file: Path | None
    ) -> dict[str, Backend]:
        if given and server:
            raise click.UsageError("--home and --server are two places: name one")
        settings = replace(settings, server="") if given else server_settings(settings, server or "", server_token_file)
        target_flags = f" --server {settings.server}" if settings.server else ""
        if target_flags and server_token_file:
            target_flags += f" --server-token-file {shlex.quote(str(server_token_file))}"
        if server:
            remember_target_flags(target_flags)
        if settings.server:
            redacting(settings)
        return {"backend": backend_of(settings, where=target_flags)}

    url_help = "Have the service at this address do it (DOKIMASIA_SERVER)."
    file_help = "The service's token, in a file (or DOKIMASIA_SERVER_TOKEN)."
    verb = prepared(function, choose_backend, "settings", "given", "server", "server_token_file")
    verb = click.option("--server-token-file", type=FILE, help=file_help)(verb)
    return shared(click.option("--server", metavar="URL", help=url_help)(verb))


def detachable(function: Callable[..., R]) -> Callable[..., R]:
    """Add --detach to a verb that has a backend and starts a run."""

    def detach_backend(backend: Backend, detach: bool) -> dict[str, Backend]:
        if detach:
            backend.detach()
        return {"backend": backend}

    help = "With a service: print the run's id, and leave the run to it."
    return click.option("--detach", is_flag=True, help=help)(prepared(function, detach_backend, "backend", "detach"))


def backend_of(settings: "Settings", *, where: str = "") -> Backend:
    """Return the backend of the service in the settings, with the options `where` that name it, or else of the home."""
    if settings.server:
        from dokimasia.cli.remote_backend import RemoteBackend

        return RemoteBackend(settings, where=where)
    from dokimasia.cli.local_backend import LocalBackend

    return LocalBackend(settings)


def server_settings(settings: "Settings", server: str, token_file: Path | None) -> "Settings":
    """Return settings with another service, and its token from a file that others may not read.

    Raises:
        ConfigError: the address is invalid, the file cannot be read, or others may read it; no message contains a token.
    """
    server = (server or settings.server).rstrip("/")
    parts = urlsplit(server)
    if server and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None):
        raise ConfigError("--server is an address such as http://127.0.0.1:8181, without a user's name and password")
    if token_file is None:
        return replace(settings, server=server)
    try:
        token = token_file.read_text(encoding="utf-8").strip()
        others_rights = token_file.stat().st_mode & 0o077
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", "no UTF-8 text")
        raise ConfigError(f"--server-token-file {token_file} cannot be read: {reason}") from None
    if others_rights:
        raise ConfigError(
            f"--server-token-file {token_file}: other users of this machine may read it; run chmod 600 {token_file}"
        )
    if len(token.split()) != 1:
        raise ConfigError(f"--server-token-file {token_file} holds the token alone, on one line")
    return replace(settings, server=server, server_token=token, secrets=(*settings.secrets, token))
