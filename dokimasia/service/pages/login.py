"""A browser gives its token and keeps it in a cookie that no script reads; it takes it back by logging out."""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.service.drawing import page
from dokimasia.service.guarding.tokens import COOKIE
from dokimasia.service.state import TheService

router = APIRouter()


@router.get("/login")
def login(request: Request, next: str = "/") -> Response:
    """Ask for a token."""
    return page(request, "login.html", next=local(next), fault="")


@router.post("/login")
def log_in(
    request: Request, service: TheService, token: Annotated[str, Form()] = "", next: Annotated[str, Form()] = "/"
) -> Response:
    """Take a token that is known, and lead back to what was opened."""
    given = token.strip()
    if service.tokens.needed and service.tokens.holder(given) is None:
        fault = "this token is not known" if given else "a token is needed"
        return page(request, "login.html", status=HTTPStatus.UNAUTHORIZED, next=local(next), fault=fault)
    reply = RedirectResponse(local(next), HTTPStatus.SEE_OTHER)
    if service.tokens.needed:
        secure = request.headers.get("origin", "").startswith(
            "https:"
        )  # as the browser has it, whatever stands between
        reply.set_cookie(COOKIE, given, httponly=True, samesite="strict", secure=secure)
    return reply


@router.post("/logout")
def log_out() -> Response:
    """Forget the token."""
    reply = RedirectResponse("/login", HTTPStatus.SEE_OTHER)
    reply.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return reply


def local(target: str) -> str:
    """Return a path of this service, `/` where it was none: an address elsewhere is not followed."""
    plain = target.isprintable() and "\\" not in target and target.startswith("/") and not target.startswith("//")
    try:
        parts = urlsplit(target)
    except ValueError:
        return "/"
    return target if plain and not parts.scheme and not parts.netloc else "/"
