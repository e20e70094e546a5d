"""What machines look at: whether the service is well, and what it measures of itself."""

import asyncio
import os
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from dokimasia.errors import StorageError
from dokimasia.service.metrics import Metrics
from dokimasia.service.state import Reader, TheService
from dokimasia.version import __version__

router = APIRouter()

PATIENCE = 2.0
"""Seconds within which a home that is well takes a write."""


@router.get("/healthz")
async def healthz(service: TheService) -> JSONResponse:
    """Say whether the service takes requests and its home takes writes; needs no token, and says nothing of what is in it."""
    home = service.home
    in_place = await run_in_threadpool(lambda: home.in_place and os.access(home.path, os.W_OK))
    writable = in_place and home.is_writing
    if writable:
        try:
            async with asyncio.timeout(PATIENCE):
                await home.write(lambda connection: connection.execute("PRAGMA user_version").fetchone(), steady=True)
        except (StorageError, TimeoutError):
            writable = False
    status = "draining" if service.events.draining else "ok" if writable else "failing"
    told = {
        "status": status,
        "home": "writable" if writable else "in place" if in_place else "gone",
        "version": __version__,
    }
    return JSONResponse(told, HTTPStatus.OK if status == "ok" else HTTPStatus.SERVICE_UNAVAILABLE)


@router.get("/metrics")
def metrics(request: Request, person: Reader) -> Response:
    """Return the metrics in Prometheus' text form."""
    measured: Metrics = request.app.state.metrics
    return Response(measured.text(), media_type=CONTENT_TYPE_LATEST)
