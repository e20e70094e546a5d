"""How other methods sort the samples of a run: by capability, by failure mode, and by what plug-ins find."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.runs.catalogue import OWN, plugin_methods
from dokimasia.runs.method import SampleGroup
from dokimasia.runs.registry import method_named
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


class SampleGrouping(NamedTuple):
    """One way to sort samples: the method's name, what a group is called, and the groups by their ids."""

    name: str
    called: str
    groups: Mapping[str, SampleGroup]


def groupings(home: Home, run: Run) -> Sequence[SampleGrouping]:
    """Return every way in which the samples of a run are sorted, those of plug-ins too."""
    found: list[SampleGrouping] = []
    for name in (*OWN, *plugin_methods()):
        adds = method_named(name).adds
        if adds is not None and adds.groups is not None and (groups := adds.groups(home, run)):
            found.append(SampleGrouping(name, adds.grouping, groups))
    return found
