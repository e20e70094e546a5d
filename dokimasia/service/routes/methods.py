"""Which methods there are, and what each takes and gives, as JSON schemas."""

import inspect
from typing import Any

from pydantic import BaseModel, Field

from dokimasia.errors import ConfigError, NotFound
from dokimasia.runs.catalogue import OWN, method_named, plugin_methods
from dokimasia.runs.figure_models import published
from dokimasia.runs.method import Method
from dokimasia.service.describing import request_schema
from dokimasia.service.routes.answering import json_router
from dokimasia.service.state import Reader

router = json_router("methods")


class MethodShown(BaseModel):
    """A method: its name, what one of its runs is called, the command that asks for one, and what it takes."""

    name: str
    title: str
    command: str = Field(description="its verb on the command line")
    about: str
    request: dict[str, Any] = Field(description="JSON schema of what POST /api/runs/{name} takes")
    example: dict[str, Any]
    forms: list[str] = Field(description="forms of other programs in which its runs are exported")
    scale: list[float] | None = Field(description="lowest and highest score of a row")
    no_fork: str | None = Field(description="what to do instead where its runs are not forked")
    no_diff: str | None = Field(description="what to do instead where two of its runs are not compared")
    no_retry: str | None = Field(description="what to do instead where its failures cannot be asked anew")


class MethodDetail(MethodShown):
    """A method with the shape of its figures."""

    figures: dict[str, Any] | None = Field(description="JSON schema of a run's figures; null where none is published")


class Methods(BaseModel):
    """The methods in the order of use, then those of plug-ins."""

    methods: list[MethodShown]
    unusable: dict[str, str] = Field(description="plug-ins that cannot be used, and why")


@router.get("/methods")
def methods(person: Reader) -> Methods:
    """List the methods, those of plug-ins among them, with what each takes."""
    found: list[MethodShown] = []
    unusable: dict[str, str] = {}
    for name in (*OWN, *plugin_methods()):
        try:
            found.append(_shown(method_named(name)))
        except ConfigError as problem:
            unusable[name] = str(problem)
    return Methods(methods=found, unusable=unusable)


@router.get("/methods/{name}")
def one_method(person: Reader, name: str) -> MethodDetail:
    """Show a method with the shape of its figures."""
    method = known_method(name)
    return MethodDetail(**_shown(method).model_dump(), figures=None if method.shape is None else published(method))


def known_method(name: str) -> Method[Any, Any]:
    """Return a method by name.

    Raises:
        NotFound: there is none of that name, or the plug-in that brings it cannot be used.
    """
    try:
        return method_named(name)
    except ConfigError as problem:
        names = ", ".join((*OWN, *plugin_methods()))
        raise NotFound(
            str(problem) if name in plugin_methods() else f"no method {name[:80]!r}; there are {names}"
        ) from None


def _shown(method: Method[Any, Any]) -> MethodShown:
    asked = request_schema(method)
    return MethodShown(
        name=method.name,
        title=method.title,
        command=method.request.VERB,
        about=inspect.cleandoc(method.request.__doc__ or ""),
        request=asked,
        example=asked["examples"][0],
        forms=list(method.forms),
        scale=None if method.scale is None else list(method.scale),
        no_fork=method.fork if isinstance(method.fork, str) else None,
        no_diff=method.diff,
        no_retry=method.retry,
    )
