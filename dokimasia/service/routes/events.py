"""What happens in a run, as server-sent events."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.concurrency import run_in_threadpool

from dokimasia.service.events.stream import MEDIA_TYPE, EventStream
from dokimasia.service.problems import Refused
from dokimasia.service.state import Reader, TheService

router = APIRouter(tags=["runs"])

EXAMPLE = """retry: 2000

id: 1795341600000
event: snapshot
data: {"reason": "what is known so far", "picture": {"status": {"status": "running"}, "progress": null}}

id: 1795341600412
event: progress
data: {"items": 120, "done": 31, "rate": 12.5, "left": 7.1, "cost": 0.0123, "in_flight": {"vendor": 8}}

id: 1795341607901
event: ended
data: {"status": "done", "end": "complete", "why": "", "at": "2026-11-23T08:00:07Z"}

"""
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The events, each with an increasing id; see the documentation of the service for their data.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": EXAMPLE}},
    },
    503: {"description": "As many streams are open as may be, or the service is about to end."},
}


@router.get("/runs/{run}/events", status_code=200, response_class=EventStream, responses=ANSWERS)
async def run_events(
    run: str,
    service: TheService,
    person: Reader,
    after: Annotated[
        int | None, Query(ge=0, lt=2**63, description="Send what came after the event of this id; default: a snapshot.")
    ] = None,
    last_event_id: Annotated[
        str | None, Header(max_length=40, description="As a browser sends it when it comes again; goes before `after`.")
    ] = None,
) -> EventStream:
    """Follow a run: a snapshot of what is known so far, then every event, until the run has ended.

    Whoever comes again with the id of the last event that it had gets everything after it; where some of that is not kept
    one by one, a `snapshot` comes first. A comment is sent where nothing happens for 15 seconds.
    """
    events = service.events
    if events.draining:
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the service is about to end", headers={"retry-after": "5"})
    if events.streams >= service.limits.streams:
        raise Refused(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"{service.limits.streams:,} event streams are open, and no more are taken: close one, or come again later",
            headers={"retry-after": "10"},
        )
    row = await run_in_threadpool(service.run, run)
    known = last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit()
    return EventStream(events, row.id, await events.log(row), int(last_event_id or 0) if known else after)
