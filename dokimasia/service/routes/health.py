"""Whether the service is there."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from dokimasia import __version__

router = APIRouter(tags=["service"])


class Health(BaseModel):
    """The service is there, and which version of it."""

    status: Literal["ok"] = "ok"
    version: str = __version__


@router.get("/health")
async def health() -> Health:
    """Say that the service is there; needs no token."""
    return Health()
