"""`dokimasia serve`: serve a home over HTTP until stopped: runs, pages, and questions to people."""

import asyncio
import secrets
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dokimasia.cli.requests import DOLLARS
from dokimasia.cli.shared import FILE, configured, say, stopping_signals
from dokimasia.errors import ConfigError
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.runs.requests import Invocation
    from dokimasia.service.allowances import Allowances
    from dokimasia.settings import Settings

PORT = 8181
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Wildcard addresses, each with the loopback address at which this machine reaches such a service."""


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address; one that others reach needs tokens.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one.")
@click.option(
    "--token-file", type=FILE, help="Who may do what: lines of name, scopes (read,run,review,operate) and token."
)
@click.option(
    "--data-root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Requests may name files below this folder, beside what is uploaded.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A host name by which the service is reached; can be repeated.",
)
@click.option(
    "--width", type=click.IntRange(1), default=4, show_default=True, help="Maximum number of concurrent runs."
)
@click.option("--workers", type=click.IntRange(1, 4096), default=1, help="Number of worker processes of each run.")
@click.option("--engine", type=click.Choice(["process", "ray"]), help="Where graphs run (by Ray with several).")
@click.option(
    "--address", metavar="auto|ray://HOST:PORT", help="The Ray cluster of the workers (default: one started here)."
)
@click.option("--max-cost", type=DOLLARS, help="US dollars that all its runs may spend, over restarts.")
@click.option("--max-cost-per-token", type=DOLLARS, help="US dollars that the runs of each token may spend.")
@click.option("--models-only", is_flag=True, help="Runs may ask only configured models, and simulated ones.")
@configured
def command(
    settings: "Settings",
    host: str,
    port: int,
    token_file: Path | None,
    data_root: Path | None,
    hosts: tuple[str, ...],
    width: int,
    workers: int,
    engine: Literal["process", "ray"] | None,
    address: str | None,
    max_cost: float | None,
    max_cost_per_token: float | None,
    models_only: bool,
) -> None:
    """Serve the home: runs of every method over HTTP, pages to look at, and what waits for people.

    It holds the home: writing commands of the same user on this machine go through it by themselves. Ctrl-C, SIGTERM or SIGHUP
    answers and commits the calls in flight and leaves every run so that it goes on when the service is back; a second one
    stops at once.
    """
    from dokimasia.runs.requests import Invocation
    from dokimasia.service.allowances import Allowances
    from dokimasia.service.app import check_address
    from dokimasia.service.guard import AccessTokens, read_tokens

    remote_workers = Invocation(workers=workers, engine=engine, address=address)
    tokens = AccessTokens() if token_file is None else read_tokens(token_file)
    check_address(host, tokens=tokens.needed)
    if max_cost_per_token is not None and token_file is None:
        raise ConfigError("--max-cost-per-token limits the holders of tokens: name a file of tokens with --token-file")
    allowances = Allowances(max_cost, max_cost_per_token, models_only)
    asyncio.run(_serve(settings, host, port, tokens, data_root, hosts, width, remote_workers, allowances, token_file))


async def _serve(
    settings: "Settings",
    host: str,
    port: int,
    tokens: "object",
    data_root: Path | None,
    hosts: tuple[str, ...],
    width: int,
    remote_workers: "Invocation",
    allowances: "Allowances",
    token_file: Path | None,
) -> None:
    from dokimasia.log import Redactor
    from dokimasia.service.app import serve
    from dokimasia.service.engine import RunEngine
    from dokimasia.service.guard import AccessTokens, follow_tokens
    from dokimasia.service.run_events import Events
    from dokimasia.service.state import Service
    from dokimasia.storage.home import Home
    from dokimasia.storage.lock import Access, published_access

    assert isinstance(tokens, AccessTokens)
    own_token = secrets.token_urlsafe(32)
    stopping, hurrying = _signals(remote_workers.remote_workers)
    with Home.open(settings.home, write=True) as home, ExitStack() as stack:
        redact = Redactor((*settings.secrets, own_token))
        events = Events(home, redact)
        engine = RunEngine(
            settings,
            home,
            width=width,
            observers=events.observer_of,
            remote_workers=remote_workers,
            allowances=allowances,
        )
        service = Service(
            settings=settings,
            home=home,
            runner=engine,
            tokens=tokens.with_own(own_token),
            data_root=data_root,
            workers=remote_workers.remote_workers,
            hosts=_names(host, hosts),
            allowances=allowances,
            redact=redact,
            events=events,
        )

        def ready(url: str) -> None:
            local_url = url.replace(f"//{host}:", f"//{EVERYWHERE.get(host, host)}:")
            home.announce(local_url)
            stack.enter_context(published_access(home.path, Access(local_url, own_token)))
            click.echo(local_url)
            say(_hint(local_url, host, hosts))

        await engine.start()
        watching = asyncio.create_task(follow_tokens(token_file, service.tokens))
        try:
            await serve(service, host=host, port=port, ready=ready, stop=stopping)
        finally:
            watching.cancel()
            remaining = len(engine.queue.at_work) + len(engine.queue.queued)
            await _drain(engine, hurrying)
    verb = "goes on" if remaining == 1 else "go on"
    say(f"stopped; {several(remaining, 'run')} {verb} when the service is back" if remaining else "stopped")


def _signals(workers: int) -> tuple[asyncio.Event, asyncio.Event]:
    """Return two events: the first signal to stop sets one, the second signal the other."""
    exception = " (a Ray that is just starting is waited for)" if workers else ""
    stopping, hurrying = asyncio.Event(), asyncio.Event()

    def handle_signal() -> None:
        if stopping.is_set():
            hurrying.set()
            return
        stopping.set()
        say(f"\nanswering and committing the calls in flight; Ctrl-C again stops at once{exception}")

    loop = asyncio.get_running_loop()
    for signal_number in stopping_signals():
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal_number, handle_signal)
    return stopping, hurrying


async def _drain(engine: "object", hurrying: asyncio.Event) -> None:
    """Close the engine once the calls in flight are committed; abandon them once `hurrying` is set."""
    from dokimasia.service.engine import RunEngine

    assert isinstance(engine, RunEngine)
    closing, hurry = asyncio.ensure_future(engine.close()), asyncio.ensure_future(hurrying.wait())
    await asyncio.wait({closing, hurry}, return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if not closing.done():
        closing.cancel()
        await asyncio.wait({closing})
        await engine.close(patience=0)
    else:
        closing.result()


def _names(host: str, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the service other than those this machine uses for itself."""
    own_names = () if host in EVERYWHERE else (host.lower(),)
    return (*own_names, *(name.lower() for name in hosts))


def _hint(url: str, host: str, hosts: tuple[str, ...]) -> str:
    """Return a sentence on how to reach the service from elsewhere."""
    from dokimasia.service.guard import loopback

    port = url.rpartition(":")[2]
    name = socket.gethostname()
    if loopback(host):
        return (
            f"serving on this machine alone; from another one: ssh -L {port}:{host}:{port} {name}, or serve with "
            f"--host 0.0.0.0 --token-file FILE --allow-host {name}. Ctrl-C ends it"
        )
    reachable = hosts or (() if host in EVERYWHERE else (host,))
    if reachable:
        return (
            f"from elsewhere: {', '.join(f'http://{name}:{port}' for name in reachable)} with a token. Ctrl-C ends it"
        )
    return f"no name is allowed yet: add --allow-host {name}, or the address that others use. Ctrl-C ends it"
