"""Whether the service is there."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from dokimasia.service.state import TheService
from dokimasia.version import __version__

router = APIRouter(tags=["service"])


class Health(BaseModel):
    """The service is there, which version of it, and who walks its runs."""

    status: Literal["ok"] = "ok"
    version: str = __version__
    workers: int = Field(default=0, description="processes that walk the graphs of a run; 0: the service's own alone")


@router.get("/health")
async def health(service: TheService) -> Health:
    """Say that the service is there; needs no token."""
    return Health(workers=service.workers)
