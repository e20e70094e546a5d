"""Comments on the page of a sample, and named views on the page of a run's samples."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from dokimasia.operations.comments import CommentSent, ViewSent, comment, delete_comment, delete_view, name_view
from dokimasia.service.filtering import filter_of, filterable_run
from dokimasia.service.pages.samples import sample_link
from dokimasia.service.request_parsing import validate_json
from dokimasia.service.routing import Reading, ServiceContext

router = APIRouter(prefix="/runs/{run_id}")


@router.post("/comments")
async def write(
    context: Reading, run_id: str, sample: Annotated[str, Form()], text: Annotated[str, Form()] = ""
) -> Response:
    """Store a comment on a sample, and show the sample with it."""
    stored = await comment(context, run_id, validate_json(CommentSent, {"sample": sample, "text": text}))
    return _to_sample(context, run_id, stored.sample, f"comment-{stored.id}")


@router.post("/comments/delete")
async def delete(
    context: Reading, run_id: str, sample: Annotated[str, Form()], id: Annotated[int, Form(ge=1, lt=2**63)]
) -> Response:
    """Delete a comment, and show the sample without it."""
    deleted = await delete_comment(context, run_id, id)
    return _to_sample(context, run_id, deleted.sample, "comments")


@router.post("/views")
async def name(
    context: Reading, run_id: str, name: Annotated[str, Form()] = "", query: Annotated[str, Form()] = ""
) -> Response:
    """Name a view of a run's samples, and show it."""
    stored = await name_view(context, run_id, validate_json(ViewSent, {"name": name, "query": query}))
    return RedirectResponse(f"/runs/{context.run(run_id).id}/samples?{stored.query}", 303)


@router.post("/views/delete")
async def delete_named(context: Reading, run_id: str, name: Annotated[str, Form()]) -> Response:
    """Delete a named view, and show all samples."""
    await delete_view(context, run_id, name)
    return RedirectResponse(f"/runs/{context.run(run_id).id}/samples", 303)


def _to_sample(context: ServiceContext, run_id: str, sample: str, anchor: str) -> Response:
    """Return a redirect to the page of a sample, with the filter of the request's address."""
    run = context.run(run_id)
    parameters = context.request.query_params
    filterable = filterable_run(context.home, run, context.settings)
    filter = filter_of(parameters, filterable, show=parameters.getlist("show"))
    return RedirectResponse(f"{sample_link(run, sample, filter)}#{anchor}", 303)
