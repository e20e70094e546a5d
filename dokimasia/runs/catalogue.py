"""Which methods there are, without loading any: the package's own, a line each, and those of other distributions."""

from typing import NamedTuple

from dokimasia.plugins import found


class Entry(NamedTuple):
    """Where a method of the package lies, the verb that runs it, and the line of help that is shown before it is loaded."""

    module: str
    verb: str
    help: str


OWN: dict[str, Entry] = {
    "evaluate": Entry("evaluation", "evaluate", "Evaluate models on a data set by atomic criteria."),
    "filter": Entry("density", "filter", "Keep the images that hold enough to be perceived."),
    "review": Entry("review", "review", "Have a panel of models agree on descriptions of images."),
    "rubrics": Entry("rubrics", "rubrics", "Make gated rubrics from agreed descriptions."),
    "audit": Entry("audit", "audit", "Score models' descriptions of images by gated rubrics."),
    "duel": Entry("duel", "duel", "Compare models with a baseline, in both orders of places."),
    "judging": Entry("judging", "compare-judging", "Find which way of judging ranks responses as people do."),
    "probe": Entry("probe", "probe", "Measure which errors judges do not see."),
    "arena": Entry("arena", "arena", "Have many models meet each other, and rate them."),
    "refine": Entry("refinement", "refine", "Let the models of a run mend what they got wrong."),
    "tree": Entry("tree", "tree grow", "Grow a capability tree from criteria."),
    "modes": Entry("modes", "modes", "Find failure modes: what goes wrong, and how often."),
    "quality": Entry("quality", "criteria quality", "Have criteria rated: accuracy and necessity."),
    "diagnosis": Entry("diagnosis", "diagnose --write", "Write a diagnosis in words."),
    "fingerprint": Entry("fingerprints", "diagnose --fingerprint", "Match reports without names to responses."),
    "perturb": Entry("perturb", "perturb", "Make right answers worse in named ways, to probe judges with them."),
    "graph": Entry("graph", "run", "Walk a data set through a graph that a plug-in brings."),
}
"""By name, in the order of use."""


def plugin_methods() -> list[str]:
    """Return the names of the methods that other distributions bring; none of them is loaded."""
    return [name for name in found("methods") if name not in OWN]
