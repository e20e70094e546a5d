"""Names, verbs and help of all methods, and the methods themselves, loaded by name."""

import importlib
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dokimasia.errors import ConfigError, NotFound
from dokimasia.plugins import entry_points_of, load

if TYPE_CHECKING:
    from dokimasia.runs.method import AnyMethod
    from dokimasia.storage.runs import Run


class CatalogueEntry(NamedTuple):
    """A method's module, the command-line verb that runs it, and its line of help, which is shown before it is loaded."""

    module: str
    verb: str
    help: str


OWN: dict[str, CatalogueEntry] = {
    "evaluate": CatalogueEntry("evaluation", "evaluate", "Evaluate models on a data set by atomic criteria."),
    "filter": CatalogueEntry("density", "filter", "Keep the images that hold enough to be perceived."),
    "review": CatalogueEntry("review", "review", "Have a panel of models agree on descriptions of images."),
    "rubrics": CatalogueEntry("rubrics", "rubrics", "Make gated rubrics from agreed descriptions."),
    "audit": CatalogueEntry("audit", "audit", "Score models' descriptions of images by gated rubrics."),
    "duel": CatalogueEntry("duel", "duel", "Compare models with a baseline, in both orders of places."),
    "judging": CatalogueEntry("judging", "compare-judging", "Find which way of judging ranks responses as people do."),
    "probe": CatalogueEntry("probe", "probe", "Measure which errors judges do not see."),
    "arena": CatalogueEntry("arena", "arena", "Have many models meet each other, and rate them."),
    "refine": CatalogueEntry("refinement", "refine", "Let the models of a run mend what they got wrong."),
    "tree": CatalogueEntry("tree", "tree grow", "Grow a capability tree from criteria."),
    "modes": CatalogueEntry("modes", "modes", "Find failure modes: what goes wrong, and how often."),
    "quality": CatalogueEntry("quality", "criteria quality", "Have criteria rated: accuracy and necessity."),
    "diagnosis": CatalogueEntry("diagnosis", "diagnose --write", "Write a diagnosis in words."),
    "fingerprint": CatalogueEntry(
        "fingerprints", "diagnose --fingerprint", "Match reports without names to responses."
    ),
    "perturb": CatalogueEntry(
        "perturb", "perturb", "Make right answers worse in named ways, to probe judges with them."
    ),
    "graph": CatalogueEntry("graph", "run", "Walk a data set through a graph that a plug-in brings."),
}
"""By name, in the order of use."""


def plugin_methods() -> list[str]:
    """Return the names of the methods of plug-ins, without loading any."""
    return [name for name in entry_points_of("methods") if name not in OWN]


@cache
def own_method(name: str) -> "AnyMethod":
    """Return a method of the package."""
    return importlib.import_module(f"dokimasia.methods.{OWN[name].module}").METHOD


def method_named(name: str) -> "AnyMethod":
    """Return a method by name.

    Raises:
        ConfigError: there is no method of that name, or its plug-in cannot be used.
    """
    return own_method(name) if name in OWN else load("methods", name)


def method_of(run: "Run") -> "AnyMethod":
    """Return the method of a run.

    Raises:
        NotFound: its method is not installed.
    """
    try:
        return method_named(run.method)
    except ConfigError as error:
        raise NotFound(
            f"run {run.id} was made by the method {run.method!r}, which cannot be used here: {error}"
        ) from error
