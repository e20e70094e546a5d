"""What a model can do, as a run takes it: what its configuration says, else what its endpoint was measured to do."""

from pathlib import Path

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.profile import EndpointProfile
from dokimasia.errors import NotFound
from dokimasia.storage.home import Home
from dokimasia.storage.profiles import load_profile


def with_capabilities(spec: ModelSpec, home: Path) -> ModelSpec:
    """Return the spec with its capabilities settled.

    What the configuration lists is the last word. Where it lists nothing, the measured profile of the model at its
    endpoint speaks; without either the model is taken to have none, and is asked in plain text only.

    Args:
        spec: how the model is reached.
        home: the folder that holds the profiles; it need not exist.
    """
    if spec.capabilities:
        return spec
    try:
        with Home.open(home, write=False) as opened:
            return settled(spec, load_profile(opened, spec.ref))
    except NotFound:
        return spec


def settled(spec: ModelSpec, profile: EndpointProfile | None) -> ModelSpec:
    """Return the spec with the capabilities of its profile, unless it has its own or there is no profile."""
    if spec.capabilities or profile is None:
        return spec
    return spec.model_copy(update={"capabilities": profile.capabilities})
