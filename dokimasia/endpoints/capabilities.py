"""A model's capabilities in a run: as configured, otherwise as measured at its endpoint."""

from pathlib import Path

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.profile import EndpointProfile
from dokimasia.errors import NotFound
from dokimasia.storage.home import Home
from dokimasia.storage.profiles import load_profile


def with_capabilities(spec: ModelSpec, home: Path) -> ModelSpec:
    """Return the specification with the model's known capabilities.

    Configured capabilities take precedence, then the measured profile of the model at its endpoint. Without either, the
    model counts as having none and is asked in plain text only.

    Args:
        spec: the model's configuration.
        home: the home folder with the profiles; it need not exist.
    """
    if spec.capabilities:
        return spec
    try:
        with Home.open(home, write=False) as opened:
            return settled(spec, load_profile(opened, spec.ref))
    except NotFound:
        return spec


def settled(spec: ModelSpec, profile: EndpointProfile | None) -> ModelSpec:
    """Return the spec with the capabilities of its profile, unless it configures its own or there is no profile."""
    if spec.capabilities or profile is None:
        return spec
    return spec.model_copy(update={"capabilities": profile.capabilities})
