"""The service as an ASGI application: its routes and pages behind the guard."""

import importlib
import pkgutil
from collections.abc import Iterator
from importlib import resources

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from dokimasia import __version__
from dokimasia.service import pages
from dokimasia.service.drawing import error_page, refusal_page
from dokimasia.service.guarding.answers import Answers
from dokimasia.service.guarding.requests import Guard
from dokimasia.service.metrics import Measured, Metrics
from dokimasia.service.problems import PROBLEMS, handle_problems
from dokimasia.service.routes import api_routers
from dokimasia.service.state import Service

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
    for router in api_routers():
        app.include_router(router, prefix="/api")
    for router in page_routers():
        for route in router.routes:
            if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
                route.methods.add("HEAD")
        app.include_router(router, include_in_schema=False)
    static = str(resources.files("dokimasia.service").joinpath("static"))
    app.mount("/static", StaticFiles(directory=static), name="static")
    return app


def page_routers() -> Iterator[APIRouter]:
    """Yield the routers of the modules of `pages` that have one, in the order of their names."""
    for found in sorted(pkgutil.iter_modules(pages.__path__), key=lambda module: module.name):
        module = importlib.import_module(f"{pages.__name__}.{found.name}")
        if hasattr(module, "router"):
            yield module.router
