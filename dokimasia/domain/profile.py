"""Measured capabilities of a model at an endpoint, as opposed to configured ones."""

from typing import ClassVar, Literal

from pydantic import Field

from dokimasia.domain.call import Capability, ModelRef
from dokimasia.domain.identity import Value


class CapabilityFinding(Value):
    """Whether a model has a capability at an endpoint, and what was seen, in a few words.

    `unknown` means that the request brought nothing to tell by: it failed in passing, was refused or cut off.
    """

    stored_as: ClassVar[str] = "Finding"

    verdict: Literal["yes", "no", "unknown"]
    note: str = Field(default="", max_length=500)


class EndpointFindings(Value):
    """What was seen of a model at an endpoint.

    `name` and `transport` say how the model was called and reached when it was checked. `usage` tells whether the
    replies reported their tokens, `finish_reasons` how they ended, in the endpoint's own words where it has some.
    `latency` is the mean time of an answered request in seconds, `checked_at` the UTC time in ISO form. `image_edit` is None
    of a model that was asked to chat; an image model is asked for an edit, and of the rest nothing is known.
    """

    name: str
    transport: str
    vision: CapabilityFinding
    json_schema: CapabilityFinding
    tools: CapabilityFinding
    image_edit: CapabilityFinding | None = None
    usage: bool
    finish_reasons: tuple[str, ...] = ()
    latency: float | None = Field(default=None, ge=0)
    checked_at: str

    @property
    def findings(self) -> dict[Capability, CapabilityFinding]:
        """The findings by capability."""
        if self.image_edit is not None:
            return {"image_edit": self.image_edit}
        return {"vision": self.vision, "json_schema": self.json_schema, "tools": self.tools}

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """The capabilities that the model has shown."""
        return tuple(name for name, finding in self.findings.items() if finding.verdict == "yes")


class EndpointProfile(EndpointFindings):
    """The findings on one model at one endpoint, which together are the profile's key."""

    model: str
    endpoint: str

    def belongs_to(self, ref: ModelRef) -> bool:
        """Return whether the profile is that of the model: the same model at the same endpoint, regardless
        of its name.
        """
        return (self.model, self.endpoint) == (ref.model, ref.endpoint)
