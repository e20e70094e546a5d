"""What the service works with: models, prompts, home, limits, and who you are; no key is ever shown."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.endpoints.models import chosen_models, list_models
from dokimasia.errors import ConfigError
from dokimasia.prompts import default_library
from dokimasia.service.drawing import page
from dokimasia.service.state import WHO_COOKIE, Reader, TheService

router = APIRouter()

LONGEST = 60
"""Characters of a person's name."""

_REVIEW = re.compile(r"/review(/[0-9A-Za-z]+){0,2}")
"""Pages that a name is asked for on, and led back to."""

A_YEAR = 365 * 24 * 3600


@router.get("/settings")
def settings(request: Request, service: TheService, person: Reader) -> Response:
    """Show the configuration as it was read when the service began."""
    specs = chosen_models(service.settings, simulated=True)
    listed = list_models(service.settings, specs)
    library = default_library()
    files, size = _size(service.home.path)
    return page(
        request,
        "settings.html",
        reached=[one for one in listed if "about" not in one],
        simulated=[one for one in listed if "about" in one],
        prompts=[library.get(name) for name in library.names()],
        home=service.home.path,
        size=size,
        files=files,
        config=service.settings.config_path,
        data_root=service.data_root,
        limits=service.limits,
        scopes=sorted(person.scopes),
        known=[holder.name for _, holder in service.tokens.known] if "run" in person.scopes else [],
    )


@router.post("/settings/name")
def call_yourself(
    service: TheService, person: Reader, name: Annotated[str, Form()] = "", back: Annotated[str, Form()] = ""
) -> Response:
    """Remember at this browser who decides here, where no token says it."""
    wanted = " ".join(name.split())
    if service.tokens.needed:
        raise ConfigError("the token says who you are")
    if len(wanted) > LONGEST or not wanted.isprintable():
        raise ConfigError(f"name: write at most {LONGEST} characters, all of which can be printed")
    reply = RedirectResponse(back if _REVIEW.fullmatch(back) else "/settings", 303)
    if wanted:
        reply.set_cookie(WHO_COOKIE, quote(wanted), httponly=True, samesite="strict", max_age=A_YEAR)
    else:
        reply.delete_cookie(WHO_COOKIE)
    return reply


def _size(folder: Path) -> tuple[int, int]:
    """Return how many files a home has, and their bytes."""
    sizes = list(_sizes(folder))
    return len(sizes), sum(sizes)


def _sizes(folder: Path) -> Iterator[int]:
    for inside, _, files in os.walk(folder):
        for name in files:
            try:
                yield (Path(inside) / name).stat().st_size
            except OSError:  # a temporary file that has gone
                continue
