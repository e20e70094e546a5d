"""People who are asked in the place of models, for tests: each answers as a simulated model would, or as a script says."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dokimasia.domain.call import Chat, Message, ModelRef
from dokimasia.people.checks import answer_all, waiting_questions
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.settings import Settings
from dokimasia.simulation.respond import respond
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

Reply = Callable[[Sequence[Message]], str]


def as_model(settings: Settings, name: str) -> Reply:
    """Return who answers as a simulated model would that is asked the same."""

    def reply(messages: Sequence[Message]) -> str:
        with Home.open(settings.home, write=False) as home:
            images = {ref.sha256: home.blobs.get(ref.sha256) for message in messages for ref in message.images}
        model = ModelRef(name=name, model=name, endpoint="sim")
        return respond(Chat(model=model, messages=tuple(messages)), images).text

    return reply


def status_of(settings: Settings, run: str) -> str:
    """Return how far a run is."""
    with Home.open(settings.home, write=False) as home:
        return get_run(home, run).status


def asked(settings: Settings, run: str) -> list[str]:
    """Return who is waited for in a run, a name a question."""
    with Home.open(settings.home, write=False) as home:
        return [one.person for one in waiting_questions(home, run=run)]


def answered_to_the_end(
    settings: Settings, run: str, people: Mapping[str, Reply], *, most: int = 20, **services: Any
) -> RunResult:
    """Have people answer what waits and go on with the run, until it is done."""
    return asyncio.run(to_the_end(settings, run, people, most=most, **services))


async def to_the_end(
    settings: Settings, run: str, people: Mapping[str, Reply], *, most: int = 20, **services: Any
) -> RunResult:
    """Do the same inside an event loop."""
    for _ in range(most):
        for who, reply in people.items():
            answer_all(settings, run, who, reply)
        with Home.open(settings.home, write=False) as home:
            row = get_run(home, run)
        done = await resume(row, settings=settings, **services)
        if done.end != "waiting":
            return done
    raise AssertionError(f"the run waits still: {done.why}")
