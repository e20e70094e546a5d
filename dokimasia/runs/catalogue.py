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
    """A method's module, and its command-line verb: the group in `--help`, the name and the line of help.

    `adds` states whether the method adds to the page of another method's run.
    """

    module: str
    group: str
    verb: str
    help: str
    adds: bool = False


OWN: dict[str, CatalogueEntry] = {
    "evaluate": CatalogueEntry(
        "evaluation", "everyday", "evaluate", "Evaluate models on a data set by atomic criteria."
    ),
    "filter": CatalogueEntry(
        "density", "perception", "filter", "Keep images that are complex enough to test perception."
    ),
    "review": CatalogueEntry(
        "review", "perception", "review", "Have a panel of models agree on descriptions of images."
    ),
    "rubrics": CatalogueEntry("rubrics", "perception", "rubrics", "Write gated rubrics from agreed descriptions."),
    "audit": CatalogueEntry("audit", "perception", "audit", "Score models' descriptions of images by gated rubrics."),
    "duel": CatalogueEntry("duel", "comparing", "duel", "Compare models with a baseline, in both presentation orders."),
    "judging": CatalogueEntry(
        "judging", "judges", "compare-judging", "Find the way of judging that ranks responses as people do."
    ),
    "probe": CatalogueEntry("probe", "judges", "probe", "Measure which errors judges miss."),
    "arena": CatalogueEntry("arena", "comparing", "arena", "Compare many models with each other and rate them."),
    "refine": CatalogueEntry("refinement", "comparing", "refine", "Have models correct their own wrong answers."),
    "tree": CatalogueEntry("tree", "comparing", "tree grow", "Grow a capability tree from criteria.", adds=True),
    "modes": CatalogueEntry(
        "modes", "comparing", "modes", "Name the failure modes of a run's models and count them.", adds=True
    ),
    "quality": CatalogueEntry(
        "quality", "comparing", "criteria quality", "Have criteria rated: accuracy and necessity."
    ),
    "diagnosis": CatalogueEntry("diagnosis", "comparing", "diagnose --write", "Write a diagnosis in words.", adds=True),
    "fingerprint": CatalogueEntry(
        "fingerprints", "comparing", "diagnose --fingerprint", "Match reports without names to responses.", adds=True
    ),
    "perturb": CatalogueEntry(
        "perturb", "judges", "perturb", "Insert known errors into correct answers, for testing judges."
    ),
    "graph": CatalogueEntry("graph", "extending", "graph", "Run a plug-in's graph over a data set."),
}
"""The package's methods by name, in the order of use."""


def plugin_methods() -> list[str]:
    """Return the names of methods from plug-ins, without loading any."""
    return [name for name in entry_points_of("methods") if name not in OWN]


def adding_methods() -> list[str]:
    """Return the names of the methods that may add to the page of another method's run, without loading any."""
    return [*(name for name, entry in OWN.items() if entry.adds), *plugin_methods()]


@cache
def own_method(name: str) -> "AnyMethod":
    """Return a method of the package."""
    return importlib.import_module(f"dokimasia.methods.{OWN[name].module}").METHOD


def method_named(name: str) -> "AnyMethod":
    """Return a method by name.

    Raises:
        ConfigError: there is no method of that name, or its plug-in cannot be used.
    """
    if name in OWN:
        return own_method(name)
    return load("methods", name)


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
