"""What the report's pages are drawn with, for the service's: styles, scripts, charts."""

from http import HTTPStatus
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from dokimasia import report

router = APIRouter()


@router.get("/static/report/{name}")
def asset(request: Request, name: Literal["page.css", "page.js", "plotly.js"]) -> Response:
    """Return a file of the report; a browser that has it is told that it has not changed."""
    path = Path(report.__path__[0]) / name
    reply = FileResponse(path, stat_result=path.stat())
    if request.headers.get("if-none-match") == reply.headers["etag"]:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"etag": reply.headers["etag"]})
    return reply
