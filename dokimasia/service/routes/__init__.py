"""The routes under `/api`, in the order of the OpenAPI description."""

from collections.abc import Iterator
from functools import cache

from fastapi import APIRouter

from dokimasia.operations import comments, finished, knowledge, passports, results, reviews, runs, trees
from dokimasia.operations.operation import operations_in
from dokimasia.service.routes import checking, lookups, starting, uploads
from dokimasia.service.routing import add_operation, json_router


def api_routers() -> Iterator[APIRouter]:
    """Yield the routers; the one that starts runs is built on each call, since the methods of plug-ins may have changed."""
    yield _operations(comments.__name__)
    yield _operations(finished.__name__)
    yield from (lookups.events_router, lookups.health_router, lookups.spending_router, lookups.images_router)
    yield _operations(knowledge.__name__)
    yield starting.methods_router
    yield _operations(passports.__name__)
    yield checking.checks_router()
    router = json_router()
    add_operation(router, results.items)
    router.include_router(lookups.samples_router)
    for function in (results.one_sample, results.search, results.report, results.export):
        add_operation(router, function)
    yield router
    yield _operations(reviews.__name__)
    yield _operations(runs.__name__)
    yield starting.runs_router()
    yield _operations(trees.__name__)
    yield uploads.router


@cache
def _operations(module: str) -> APIRouter:
    """Return a router with the operations of a module, except `runs.cancel`, which belongs to the router of runs."""
    router = json_router()
    for operation in operations_in(module):
        if operation.function is not runs.cancel:
            add_operation(router, operation.function)
    return router
