"""Operations on comments, which people write on the samples of a run, and on named views of these samples."""

from typing import Annotated
from urllib.parse import parse_qsl, urlencode

from pydantic import BaseModel, Field, StringConstraints

from dokimasia.operations.operation import (
    After,
    Body,
    Limit,
    ListPage,
    OperationContext,
    Parameter,
    counted_page,
    operation,
)
from dokimasia.storage.people.comments import (
    Comment,
    NamedView,
    comments_on,
    keep_comment,
    keep_view,
    remove_comment,
    remove_view,
    views_of,
)

TAG = "comments"

CommentText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
ViewName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=80, pattern=r"^[^\x00-\x1f]*[^/.\x00-\x1f][^\x00-\x1f]*$"
    ),
]
ViewQuery = Annotated[str, StringConstraints(max_length=8000)]


class CommentShown(BaseModel):
    """A comment on a sample of a run."""

    id: int = Field(ge=1, description="its number in the home")
    sample: str
    who: str
    at: str = Field(description="when, in UTC")
    text: str


class CommentsShown(ListPage):
    """A page of the comments on a run's samples, in the order of writing."""

    comments: list[CommentShown]


class CommentSent(Body):
    """A comment on a sample of a run."""

    sample: str = Field(min_length=1, max_length=4000, examples=["photo-17"])
    text: CommentText = Field(examples=["The reference answer counts the reflection, too."])


class ViewShown(BaseModel):
    """A named view of a run's samples: the query string of the page that shows it."""

    name: str
    query: str
    who: str
    at: str = Field(description="when, in UTC")


class ViewsShown(ListPage):
    """A page of the named views of a run's samples, by name."""

    views: list[ViewShown]


class ViewSent(Body):
    """A name for a view of a run's samples: filter, order and models as in the query string of the samples' page."""

    name: ViewName = Field(examples=["refusals of the weak models"])
    query: ViewQuery = Field(examples=["reply=refused&order=low"])


@operation("GET", "/runs/{run}/comments", tag=TAG)
def comments(
    context: OperationContext,
    run: str,
    sample: Annotated[str | None, Parameter(max_length=4000, description="Only those on this sample.")] = None,
    limit: Limit = 50,
    after: After = None,
) -> CommentsShown:
    """List the comments on the samples of a run."""
    entries = comments_on(context.home, context.run(run).id, sample)
    page, next_key = counted_page(entries, limit=limit, after=after)
    return CommentsShown(total=len(entries), next=next_key, comments=[_shown(comment) for comment in page])


@operation("POST", "/runs/{run}/comments", tag=TAG, status=201)
async def comment(context: OperationContext, run: str, body: CommentSent) -> CommentShown:
    """Write a comment on a sample of a run; everybody who may read the run can."""
    stored = await keep_comment(context.home, context.run(run).id, body.sample, body.text, who=context.person)
    return _shown(stored)


@operation("DELETE", "/runs/{run}/comments/{id}", tag=TAG, conflict=True)
async def delete_comment(
    context: OperationContext, run: str, id: Annotated[int, Parameter(ge=1, lt=2**63)]
) -> CommentShown:
    """Delete a comment and return it; its author and whoever runs the service can."""
    return _shown(await remove_comment(context.home, context.run(run).id, id, who=_owner(context)))


@operation("GET", "/runs/{run}/views", tag=TAG)
def views(context: OperationContext, run: str, limit: Limit = 50, after: After = None) -> ViewsShown:
    """List the named views of a run's samples."""
    entries = views_of(context.home, context.run(run).id)
    page, next_key = counted_page(entries, limit=limit, after=after)
    return ViewsShown(total=len(entries), next=next_key, views=[_view_shown(view) for view in page])


@operation("POST", "/runs/{run}/views", tag=TAG, status=201, conflict=True)
async def name_view(context: OperationContext, run: str, body: ViewSent) -> ViewShown:
    """Name a view of a run's samples, for everybody who reads the run."""
    query = urlencode([pair for pair in parse_qsl(body.query.removeprefix("?")) if pair[0] != "page"])
    return _view_shown(await keep_view(context.home, context.run(run).id, body.name, query, who=context.person))


@operation("DELETE", "/runs/{run}/views/{name:path}", tag=TAG, conflict=True)
async def delete_view(context: OperationContext, run: str, name: Annotated[str, Parameter(max_length=80)]) -> ViewShown:
    """Delete a named view and return it; its author and whoever runs the service can."""
    return _view_shown(await remove_view(context.home, context.run(run).id, name, who=_owner(context)))


def _owner(context: OperationContext) -> str | None:
    """Return whose entries the caller can delete; None means everybody's."""
    if context.self_named:
        return None
    return context.person


def _shown(comment: Comment) -> CommentShown:
    return CommentShown(id=comment.id, sample=comment.sample, who=comment.who, at=comment.at, text=comment.text)


def _view_shown(view: NamedView) -> ViewShown:
    return ViewShown(name=view.name, query=view.query, who=view.who, at=view.at)
