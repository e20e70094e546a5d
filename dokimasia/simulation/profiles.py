"""The simulated models and what is planted in them: skills and habits of candidates, powers and faults of judges."""

from collections.abc import Mapping
from functools import cache

from pydantic import Field, model_validator

from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.simulation import capabilities
from dokimasia.simulation.scene import Domain

Rate = Field(default=0.0, ge=0, le=1)


class CandidateProfile(Value):
    """A candidate's planted parameters; all rates are probabilities.

    `base` is the probability that a step which is stated is stated right; `overrides` replace it for a capability path
    or for every path that begins so (the longest match counts), `domain_shift` is added for a domain, and the result is
    clipped to 0..1. `omission` is the probability that a step is left out, independent of the rest; `hedging` that a
    right statement is hedged. A reply is a refusal, malformed (without any step), or truncated (after half of its
    steps, rounded down, and before its answer) with the rates of these names, which exclude each other.
    """

    name: str = Field(pattern=r"^sim/[a-z0-9-]+$")
    base: float = Field(ge=0, le=1)
    overrides: dict[str, float] = Field(default_factory=dict)
    domain_shift: dict[Domain, float] = Field(default_factory=dict)
    hedging: float = Rate
    omission: float = Rate
    refusal: float = Rate
    malformed: float = Rate
    truncated: float = Rate

    @model_validator(mode="after")
    def _rates_fit(self) -> "CandidateProfile":
        if self.refusal + self.malformed + self.truncated > 1:
            raise ValueError("refusal, malformed and truncated together are at most 1")
        if any(not 0 <= skill <= 1 for skill in self.overrides.values()):
            raise ValueError("a skill lies between 0 and 1")
        return self

    def skill(self, capability: str, domain: Domain) -> float:
        """Return the probability that a stated step of this capability in this domain is stated right."""
        matching = [prefix for prefix in self.overrides if capability.startswith(prefix)]
        skill = self.overrides[max(matching, key=len)] if matching else self.base
        return min(1.0, max(0.0, skill + self.domain_shift.get(domain, 0.0)))


class JudgeProfile(Value):
    """A judge's planted parameters; all rates are probabilities, drawn anew for every criterion or every reply.

    Of each criterion: `detects_missing` is the rate at which a wrong or omitted step is scored 1 (else 5),
    `detects_hedged` the rate at which a hedged one is scored 3 (else 5), `false_alarm` the rate at which a right one is
    scored 1, and `jitter` the rate at which a 5 then becomes a 4, or a 1 a 2. Of each reply: `format_noise` is the rate
    of unusable form, `refusal` of refusals, `contradiction` of model solutions whose answer contradicts the truth. A
    `gullible` judge obeys an instruction that stands outside a fence; inside a fence no judge does.

    `sight` is the smallest share of an image's area at which it makes out what lies in a region; 0 makes out
    everything. In a model solution it states a step wrong whose region it cannot make out, and its criteria follow the
    solution. When it scores and is shown the image it goes by what it sees: what it cannot make out it cannot verify,
    and takes for right. Where it is offered a tool that enlarges, it first looks closer at every such region.
    """

    name: str = Field(pattern=r"^sim/[a-z0-9-]+$")
    detects_missing: float = Field(default=1.0, ge=0, le=1)
    detects_hedged: float = Field(default=1.0, ge=0, le=1)
    false_alarm: float = Rate
    jitter: float = Rate
    format_noise: float = Rate
    refusal: float = Rate
    contradiction: float = Rate
    gullible: bool = False
    sight: float = Field(default=0.0, ge=0, lt=1)


Profile = CandidateProfile | JudgeProfile

_CANDIDATES = (
    CandidateProfile(
        name="sim/strong",
        base=0.93,
        overrides={"<Reasoning><Numerical Reasoning>": 0.82, capabilities.GAUGE: 0.7},
        hedging=0.03,
        omission=0.02,
    ),
    CandidateProfile(
        name="sim/steady",
        base=0.8,
        overrides={"<Knowledge>": 0.6, capabilities.CONTINUATION: 0.5},
        domain_shift={"stem": -0.08},
        hedging=0.08,
        omission=0.04,
        refusal=0.01,
    ),
    CandidateProfile(
        name="sim/nearsighted",
        base=0.78,
        overrides={"<Perception><Character Perception>": 0.35, "<Perception><Measurement Perception>": 0.3},
        domain_shift={"document": -0.05, "interface": -0.05},
        hedging=0.12,
        omission=0.05,
    ),
    CandidateProfile(
        name="sim/hasty",
        base=0.76,
        overrides={"<Perception><Enumeration>": 0.3, "<Reasoning>": 0.4},
        domain_shift={"logic": -0.1},
        hedging=0.01,
        omission=0.12,
        truncated=0.02,
    ),
    CandidateProfile(
        name="sim/weak",
        base=0.42,
        overrides={"<Reasoning>": 0.25, capabilities.OBJECT: 0.65, capabilities.COLOUR: 0.6},
        domain_shift={"natural": 0.05, "stem": -0.1},
        hedging=0.15,
        omission=0.1,
        refusal=0.02,
        malformed=0.01,
        truncated=0.02,
    ),
)

_JUDGES = (
    JudgeProfile(name="sim/judge"),
    JudgeProfile(
        name="sim/judge-noisy",
        detects_missing=0.92,
        detects_hedged=0.8,
        false_alarm=0.04,
        jitter=0.2,
        format_noise=0.02,
    ),
    JudgeProfile(name="sim/judge-lenient", detects_missing=0.65, detects_hedged=0.3, false_alarm=0.01, jitter=0.1),
    JudgeProfile(
        name="sim/judge-careless",
        detects_missing=0.75,
        detects_hedged=0.5,
        false_alarm=0.12,
        jitter=0.15,
        format_noise=0.04,
        refusal=0.01,
        contradiction=0.04,
        gullible=True,
    ),
    JudgeProfile(name="sim/judge-nearsighted", sight=0.02),
)


@cache
def profiles() -> Mapping[str, Profile]:
    """Return every simulated model that ships, by name: judges first, then candidates from strong to weak."""
    return {profile.name: profile for profile in (*_JUDGES, *_CANDIDATES)}


def find_profile(name: str, *, known: Mapping[str, Profile] | None = None) -> Profile:
    """Return the profile of a simulated model.

    Raises:
        NotFound: there is no model of that name; the message lists those there are.
    """
    among = profiles() if known is None else known
    if name not in among:
        raise NotFound(f"no simulated model is called {name!r}; there are: {', '.join(among)}")
    return among[name]


def as_candidate(profile: Profile) -> CandidateProfile:
    """Return how a model answers questions: a judge that is asked one answers it without a fault."""
    return profile if isinstance(profile, CandidateProfile) else CandidateProfile(name=profile.name, base=1.0)


def as_judge(profile: Profile) -> JudgeProfile:
    """Return how a model judges: a candidate that is asked to judge detects faults at the rate of its base skill."""
    if isinstance(profile, JudgeProfile):
        return profile
    return JudgeProfile(
        name=profile.name,
        detects_missing=profile.base,
        detects_hedged=profile.base,
        false_alarm=(1 - profile.base) / 2,
        jitter=0.1,
    )
