"""The service as an ASGI application: its routes and pages behind the guard."""

import importlib
import pkgutil
from importlib import resources

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from dokimasia.service import pages, routes
from dokimasia.service.drawing import error_page, refusal_page
from dokimasia.service.guarding.answers import Answers
from dokimasia.service.guarding.requests import Guard
from dokimasia.service.metrics import Measured, Metrics
from dokimasia.service.problems import PROBLEMS, handle_problems
from dokimasia.service.state import Service
from dokimasia.version import __version__

DESCRIPTION = """Runs of every method over HTTP: begin, watch, stop, resume, fork, show, export, report; uploads, trees,
and decisions of people. Errors are `application/problem+json` with the sentence that the command line prints."""


def create_app(service: Service) -> FastAPI:
    """Return the application of a service; each module of `routes` and `pages` that has a `router` is part of it."""
    metrics = Metrics(service)
    app = FastAPI(
        title="Dokimasia",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        middleware=[
            Middleware(Measured, metrics=metrics),
            Middleware(
                Guard,
                error_page=refusal_page,
                hosts=tuple(service.hosts),
                tokens=service.tokens,
                limits=service.limits,
            ),
            Middleware(Answers, service=service),
        ],
    )
    app.state.service, app.state.metrics = service, metrics
    handle_problems(app, service.redact, error_page=error_page)
    for router in _routers(routes.__name__, list(routes.__path__)):
        app.include_router(router, prefix="/api")
    for router in _routers(pages.__name__, list(pages.__path__)):
        for route in router.routes:
            if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
                route.methods.add("HEAD")
        app.include_router(router, include_in_schema=False)
    static = str(resources.files("dokimasia.service").joinpath("static"))
    app.mount("/static", StaticFiles(directory=static), name="static")
    return app


def _routers(package: str, path: list[str]) -> list[APIRouter]:
    """Return the routers of a package's modules, in the order of their names; a module may make its own anew each time."""
    found: list[APIRouter] = []
    for one in sorted(pkgutil.iter_modules(path), key=lambda one: one.name):
        module = importlib.import_module(f"{package}.{one.name}")
        make = getattr(module, "make_router", None)
        router = getattr(module, "router", None) if make is None else make()
        if router is not None:
            found.append(router)
    return found
