"""Routes that are not operations: health, event streams, images, and samples filtered as on their page."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from dokimasia.datasets.images import image_format
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import InputError
from dokimasia.operations.operation import ListPage, RequestRefused
from dokimasia.service.filtering import filter_of, filterable_run
from dokimasia.service.response_cache import keep
from dokimasia.service.routing import NEVER_RUN, After, Limit, json_router
from dokimasia.service.run_events import MEDIA_TYPE, EventStream
from dokimasia.service.spending import ServiceSpending, spending_of
from dokimasia.service.state import IN_TURN, Reader, TheService
from dokimasia.storage.reading.browsing import ANY, Order, find_samples, sample_around
from dokimasia.storage.results import counts_by_sample
from dokimasia.version import __version__

events_router = APIRouter(tags=["runs"])
health_router = APIRouter(tags=["service"])
spending_router = json_router("service")
images_router = json_router("images")
samples_router = json_router("results")

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
ANSWERS: dict[int | str, JsonObject] = {
    200: {
        "description": "The events, each with an increasing id; see the documentation of the service for their data.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": EXAMPLE}},
    },
    503: {"description": "As many streams are open as may be, or the service is about to end."},
}


@events_router.get("/runs/{run}/events", status_code=200, response_class=EventStream, responses=ANSWERS)
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

    A client that reconnects with the id of its last event gets everything after it; if some of these events are no
    longer stored individually, a `snapshot` comes first. A comment is sent after 15 seconds without an event.
    """
    events = service.events
    if events.draining:
        raise RequestRefused(
            HTTPStatus.SERVICE_UNAVAILABLE, "the service is about to end", headers={"retry-after": "5"}
        )
    if events.streams >= service.limits.streams:
        raise RequestRefused(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"{service.limits.streams:,} event streams are open, and no more are taken: close one, or come again later",
            headers={"retry-after": "10"},
        )
    row = await run_in_threadpool(service.run, run)
    resumes = last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit()
    return EventStream(events, row.id, await events.log(row), int(last_event_id or 0) if resumes else after)


class Health(BaseModel):
    """The state of the service: its version, and the processes that walk the graphs of runs."""

    status: Literal["ok"] = "ok"
    version: str = __version__
    workers: int = Field(default=0, description="processes that walk the graphs of a run; 0: the service's own alone")


@health_router.get("/health")
async def health(service: TheService) -> Health:
    """Return the state of the service; needs no token."""
    return Health(workers=service.workers)


@spending_router.get("/spending", dependencies=[IN_TURN])
def spending(service: TheService, person: Reader) -> ServiceSpending:
    """Show what all runs have spent together, by run, model and token, and what is left of the limits of the service."""
    return spending_of(service)


TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
SHA256 = r"^[0-9a-f]{64}$"


@images_router.get(
    "/images/{sha256}",
    response_class=Response,
    responses={
        200: {"description": "the image", "content": {media_type: {} for media_type in TYPES.values()}},
        304: {"description": "the image is known already"},
    },
)
def image(
    service: TheService,
    person: Reader,
    request: Request,
    sha256: Annotated[str, Path(pattern=SHA256, description="The SHA-256 of its bytes.")],
) -> Response:
    """Return an image of the home."""
    blobs = service.home.blobs
    if not blobs.file(sha256).is_file():
        raise RequestRefused(HTTPStatus.NOT_FOUND, f"the home has no image {sha256}")
    tag = f'"{sha256}"'
    headers = {**NEVER_RUN, "cache-control": "private, max-age=31536000, immutable", "etag": tag}
    if tag in {part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")}:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    data = blobs.get(sha256)
    return Response(data, media_type=TYPES[image_format(data) or "PNG"], headers=headers)


class SampleShown(BaseModel):
    """A sample of a run: its name, its numbers of results and of failed ones, and the number of items that wait for people."""

    sample: str
    results: int
    failed: int
    waiting: int
    similarity: float | None = Field(default=None, description="to the text of `meaning`: a cosine, from -1 to 1")


class Samples(ListPage):
    """A page of a run's samples, in the requested order."""

    samples: list[SampleShown]


Word = Annotated[str, Query(max_length=500)]


@samples_router.get("/runs/{run}/samples")
def samples(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    failed: Annotated[bool, Query(description="Only samples of which something failed.")] = False,
    q: Annotated[
        Word, Query(description="Only those with all these words in the name, category, question or reference.")
    ] = "",
    answers: Annotated[
        bool, Query(description="The words of `q`, or the meaning, stand in an answer instead.")
    ] = False,
    meaning: Annotated[
        str,
        Query(
            max_length=2000,
            description="Those nearest to this text by meaning first, once `POST /api/runs/{run}/search` has embedded it.",
        ),
    ] = "",
    model: Annotated[
        Word, Query(description="Scores, failures, verdicts and groups are those of this model alone.")
    ] = "",
    answer: Annotated[Word, Query(description="Only those with such a final answer, as `right` or `wrong`.")] = "",
    failure: Annotated[Word, Query(description="Only those with a failure of this kind; `any`: of every kind.")] = "",
    category: Annotated[Word, Query(description="Only those of this category.")] = "",
    low: Annotated[Word, Query(description="Only those whose mean score is at least this number.")] = "",
    high: Annotated[Word, Query(description="Only those whose mean score is at most this number.")] = "",
    reply: Annotated[
        Word, Query(description="Only those with a reply that is `refused`, `empty` or `truncated`.")
    ] = "",
    comments: Annotated[Word, Query(description="`yes`: only those with comments.")] = "",
    order: Annotated[
        Order,
        Query(
            description="As in the data; lowest or highest score first; farthest apart first; by name, or number of failures."
        ),
    ] = "data",
    by: Annotated[Word, Query(description="The model whose scores the order is by; by default all models.")] = "",
    limit: Limit = 50,
    after: After = None,
) -> Samples:
    """List the samples of a run that match all filters, with the number of results of each.

    The filters are those of the page `/runs/RUN/samples`, including its groups: `group-METHOD=ID`, such as `group-tree`
    with the id of a node of the capability tree.
    """
    home, row = service.home, service.run(run)
    filterable = filterable_run(home, row, service.settings)
    parameters = {name: value for name, value in request.query_params.items() if name != "answers" or answers}
    filter = filter_of({**parameters, **({"failure": failure or ANY} if failed else {})}, filterable)
    query = filter.sample_query
    if filter.search is None:
        keep(request, row)
    elif filter.search.similarities is None:
        raise RequestRefused(
            HTTPStatus.CONFLICT,
            f"meaning: {filter.search.price.texts:,} texts are not embedded yet: POST /api/runs/{row.id}/search embeds them",
        )
    offset = 0
    if after is not None:
        around = sample_around(home, row.id, filterable.kind, query, after)
        if around is None:
            raise InputError(f"after: the list has no entry {after[:80]!r} (any more): begin again without `after`")
        offset = around.place
    sample_page = find_samples(home, row.id, filterable.kind, query, limit=limit, offset=offset)
    counts = counts_by_sample(home, row.id, [id for _, id in sample_page.samples])
    entries = [
        SampleShown(
            sample=id,
            results=results,
            failed=failures,
            waiting=waiting,
            similarity=(query.similarities or {}).get(id),
        )
        for _, id in sample_page.samples
        for results, failures, waiting in (counts.get(id, (0, 0, 0)),)
    ]
    next_key = entries[-1].sample if entries and offset + len(entries) < sample_page.total else None
    return Samples(total=sample_page.total, next=next_key, samples=entries)
