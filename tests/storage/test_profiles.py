"""Measured profiles: one for each model and endpoint, the latest check, read back as it was written."""

import pytest

from dokimasia.domain.call import ModelRef
from dokimasia.domain.profile import CapabilityFinding, EndpointProfile
from dokimasia.errors import StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.profiles import list_profiles, load_profile, save_profile

PROFILE = EndpointProfile(
    model="openai/m",
    endpoint="here",
    name="M",
    transport="direct",
    vision=CapabilityFinding(verdict="yes", note="named the bands"),
    json_schema=CapabilityFinding(verdict="no", note="bad_request: no"),
    tools=CapabilityFinding(verdict="unknown"),
    usage=False,
    finish_reasons=("eos", "stop"),
    latency=0.25,
    checked_at="2030-01-01T00:00:00+00:00",
)


async def test_a_profile_is_read_back_and_replaced(home: Home) -> None:
    """The profile of a model at an endpoint comes back whatever the model is called, and the next check replaces it."""
    ref = ModelRef(name="another name", model="openai/m", endpoint="here")
    assert load_profile(home, ref) is None
    await save_profile(home, PROFILE)
    assert load_profile(home, ref) == PROFILE
    assert PROFILE.belongs_to(ref)
    assert PROFILE.capabilities == ("vision",)
    later = PROFILE.model_copy(update={"tools": CapabilityFinding(verdict="yes"), "latency": None})
    elsewhere = PROFILE.model_copy(update={"endpoint": "there"})
    await save_profile(home, later)
    await save_profile(home, elsewhere)
    assert list_profiles(home) == [later, elsewhere]


async def test_a_damaged_profile_is_named(home: Home) -> None:
    """A row that does not read says whose it is and how to replace it."""
    await save_profile(home, PROFILE)
    await home.write(lambda connection: connection.execute("UPDATE profiles SET findings = '{}'").rowcount)
    with pytest.raises(StorageError, match=r"profile of openai/m at here.*models --check"):
        list_profiles(home)
