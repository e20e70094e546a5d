"""Plug-ins by entry point: methods, graphs, prompts, data readers, transports and chat models of other distributions.

Plug-ins are found and loaded only when requested by name: a broken plug-in breaks only what uses it, with an error that
names its distribution.
"""

import difflib
import logging
import sys
import traceback
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, cast

from dokimasia.errors import ConfigError, faults_of

Kind = Literal["methods", "graphs", "prompts", "datasets", "transports", "chat_models"]

GROUPS: dict[Kind, str] = {
    "methods": "dokimasia.methods",
    "graphs": "dokimasia.graphs",
    "prompts": "dokimasia.prompts",
    "datasets": "dokimasia.datasets",
    "transports": "dokimasia.transports",
    "chat_models": "dokimasia.chat_models",
}
"""The group of entry points for each kind of plug-in."""


class Plugin(NamedTuple):
    """A plug-in as discovered: `value` is the target of its entry point, `problem` why it cannot be used, if so."""

    kind: Kind
    name: str
    value: str
    distribution: str
    version: str
    problem: str | None = None


@lru_cache(maxsize=32)
def _points(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group on an import path; cached, since that reads a file of each distribution."""
    return tuple(entry_points(group=group))


def entry_points_of(kind: Kind) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a kind by name, without loading any; using a name with several is an error."""
    by_name: dict[str, list[EntryPoint]] = {}
    for point in sorted(
        _points(GROUPS[kind], tuple(sys.path)), key=lambda point: (point.name, point.value, _distribution(point))
    ):
        others = by_name.setdefault(point.name, [])
        if not any((other.value, _distribution(other)) == (point.value, _distribution(point)) for other in others):
            others.append(point)
    return by_name


def load(kind: Kind, name: str) -> Any:
    """Return the object of a plug-in's entry point, loaded and checked to be of its kind.

    Raises:
        ConfigError: there is none of that name, there are two, it cannot be loaded, or it is of the wrong kind;
            the message names distribution and entry point.
    """
    points_by_name = entry_points_of(kind)
    if name not in points_by_name:
        near = difflib.get_close_matches(name, points_by_name, n=1)
        hint = ""
        if near:
            hint = f"; did you mean {near[0]!r}?"
        elif points_by_name:
            hint = f"; there are: {', '.join(points_by_name)}"
        raise ConfigError(f"no plug-in of group {GROUPS[kind]} is called {name!r}{hint} (dokimasia plugins lists them)")
    points = points_by_name[name]
    if len(points) > 1:
        owners = " and ".join(_distribution(point) for point in points)
        raise ConfigError(f"the plug-in {name!r} of group {GROUPS[kind]} is brought by {owners}; uninstall one of them")
    point = points[0]
    try:
        loaded = point.load()
    except Exception as error:  # whatever the module raises on import, the message names its distribution
        raise ConfigError(f"{_place(kind, point)} cannot be loaded: {describe_error(error)}") from _safe_cause(error)
    problem = _CHECKS[kind](point.name, loaded)
    if problem:
        raise ConfigError(f"{_place(kind, point)}: {problem}")
    return loaded


def prompt_folder(name: str) -> Path:
    """Return the folder of prompts of a plug-in.

    Raises:
        ConfigError: there is neither such a plug-in nor, for `--prompts`, such a folder.
    """
    if name not in entry_points_of("prompts"):
        raise ConfigError(f"--prompts {name}: there is no such folder, and no plug-in brings prompts of that name")
    return _folder(load("prompts", name)).absolute()


def transports_for(names: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield the plug-ins' transports among the names, each created by its factory; other names are ignored.

    Raises:
        ConfigError: one of these transports cannot be loaded or created.
    """
    points_by_name = entry_points_of("transports") if names else {}
    for name in sorted(set(names) & set(points_by_name)):
        yield name, _call_factory("transports", name)


def make_chat_model(name: str) -> Any:
    """Return the chat model created by a plug-in's factory.

    Raises:
        ConfigError: there is no such plug-in, or it cannot be loaded, or its factory failed.
    """
    return _call_factory("chat_models", name)


def _call_factory(kind: Kind, name: str) -> Any:
    factory = load(kind, name)
    try:
        return factory()
    except Exception as error:  # a plug-in's factory may raise anything
        place = _place(kind, entry_points_of(kind)[name][0])
        raise ConfigError(f"{place}: the factory failed: {describe_error(error)}") from _safe_cause(error)


def _safe_cause(error: BaseException) -> BaseException | None:
    """Return an error as the cause of another; None for one whose message may contain a key.

    A `ValidationError` prints its input.
    """
    from pydantic import ValidationError  # imported late: `--help` does not need it

    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    if any(isinstance(cause, ValidationError) for cause in causes):
        return None
    return error


def listing() -> list[Plugin]:
    """Return all plug-ins by kind and name; each is loaded to check whether it can be used."""
    plugins: list[Plugin] = []
    for kind in GROUPS:
        for name, points in entry_points_of(kind).items():
            problem = None
            try:
                load(kind, name)
            except ConfigError as error:
                problem = str(error)
            for point in points:
                owner = (point.dist.name, point.dist.version) if point.dist else ("", "")
                plugins.append(Plugin(kind, name, point.value, *owner, problem))
    return plugins


def _check_method(name: str, loaded: Any) -> str | None:
    for attribute in ("name", "request", "plan", "accept", "stages", "figures"):
        if getattr(loaded, attribute, None) is None:
            return f"a method is a value of dokimasia.runs.method.Method; {attribute} is missing"
    return _alike(name, "method", loaded.name) or _alike(name, "verb of its request", loaded.request.VERB)


def _check_graph(name: str, loaded: Any) -> str | None:
    for attribute, type_ in (("NAME", str), ("VERSION", int), ("State", type)):
        if not isinstance(getattr(loaded, attribute, None), type_):
            return f"a graph is a module with NAME, VERSION, State and build(); {attribute} is missing or no {type_.__name__}"
    if not callable(getattr(loaded, "build", None)):
        return "a graph is a module with NAME, VERSION, State and build(); build is missing"
    return _alike(name, "graph", loaded.NAME)


def _alike(name: str, noun: str, own_name: str) -> str | None:
    if name == own_name:
        return None
    return f"the entry point is called {name!r} and the {noun} {own_name!r}; call both alike"


def _check_prompts(name: str, loaded: Any) -> str | None:
    if not isinstance(loaded, str | Path | ModuleType):
        return "prompts are a package with *.md files in it, or the path of a folder"
    if isinstance(loaded, ModuleType) and not getattr(loaded, "__path__", None):
        return "prompts are a package with *.md files in it; this is a single module"
    folder = _folder(loaded)
    if any(folder.glob("*.md")):
        return None
    return f"there is no *.md file in {folder}"


def _check_callable(name: str, loaded: Any) -> str | None:
    if callable(loaded):
        return None
    return "this has to be callable"


_CHECKS = {
    "methods": _check_method,
    "graphs": _check_graph,
    "prompts": _check_prompts,
    "datasets": _check_callable,
    "transports": _check_callable,
    "chat_models": _check_callable,
}


def _folder(loaded: Any) -> Path:
    if isinstance(loaded, ModuleType):
        return Path(next(iter(cast("Any", loaded).__path__)))
    return Path(loaded)


def _distribution(point: EntryPoint) -> str:
    if point.dist:
        return f"{point.dist.name} {point.dist.version}"
    return "an unnamed distribution"


def broken_plugin(error: BaseException) -> str | None:
    """Return the message about an error that passed through a plug-in's code, or None for any other error.

    The message names the plug-in, its distribution, and the line of its code.
    """
    files = {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
    for kind in GROUPS:
        for points in entry_points_of(kind).values():
            for point in points:
                folder = _package_folder(point)
                if folder is not None and any(Path(file).is_relative_to(folder) for file in files):
                    return f"{_place(kind, point)} broke: {describe_error(error, folder)}"
    return None


def _package_folder(point: EntryPoint) -> Path | None:
    """Return the folder of the package with a plug-in's code, or its module; None if not loaded, or if it is this
    package.
    """
    name = point.module.partition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or name == "dokimasia":
        return None
    path = Path(file)
    if path.name == "__init__.py":
        return path.parent
    return path


def describe_error(error: BaseException, folder: Path | None = None) -> str:
    """Return an error of a plug-in's code, with its file and line, the last in `folder` if given; the log has the traceback.

    Of a `ValidationError` neither shows the values, which may be keys.
    """
    from pydantic import ValidationError

    shown = _safe_cause(error)
    logging.getLogger("dokimasia.plugins").info("a plug-in broke", exc_info=shown)
    message = faults_of(error) if isinstance(error, ValidationError) else str(error)
    text = f"{type(error).__name__}: {' '.join(message.split())[:300]}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{text} [{error.filename}, line {error.lineno}]"
    frames = traceback.extract_tb(error.__traceback__)
    own_frames = [frame for frame in frames if frame.filename != __file__ and not frame.filename.startswith("<frozen ")]
    own_frames = [frame for frame in own_frames if Path(frame.filename).parent.name != "importlib"]
    if folder is not None:
        own_frames = [frame for frame in own_frames if Path(frame.filename).is_relative_to(folder)]
    if not own_frames:
        return text
    hint = "; -v shows the traceback" if shown is not None else ""
    return f"{text} [{own_frames[-1].filename}, line {own_frames[-1].lineno}{hint}]"


def _place(kind: Kind, point: EntryPoint) -> str:
    return f"the plug-in {point.name!r} ({GROUPS[kind]}, {point.value}) of {_distribution(point)}"
