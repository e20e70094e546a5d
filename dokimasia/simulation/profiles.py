"""The simulated models that ship, with what is planted in each, and each of them as what it is asked to be."""

from collections.abc import Mapping
from functools import cache

from dokimasia.errors import NotFound
from dokimasia.simulation import capabilities
from dokimasia.simulation.planting import CandidateProfile, JudgeProfile, PanelProfile, Profile, Slip
from dokimasia.simulation.scene import Domain

__all__ = [
    "CandidateProfile",
    "JudgeProfile",
    "PanelProfile",
    "Profile",
    "Slip",
    "as_candidate",
    "as_judge",
    "as_member",
    "find_profile",
    "profiles",
]

_RATES = """
name            base hedging omission refusal malformed truncated drift gap  carry retry harm leaks flatters verbose
sim/strong      0.93 0.03    0.02     0       0         0         0.5   0.3  0.3   0.05  0.01 0.04  0        0
sim/steady      0.8  0.08    0.04     0.01    0         0         0.45  0.35 0.25  0.04  0.02 0.1   0.04     0
sim/nearsighted 0.78 0.12    0.05     0       0         0         0.3   0.4  0.2   0.03  0.02 0.08  0        0
sim/hasty       0.76 0.01    0.12     0       0         0.02      0.6   0.15 0.2   0.08  0.05 0.15  0        0.05
sim/weak        0.42 0.15    0.1      0.02    0.01      0.02      0.25  0.35 0.1   0.02  0.05 0.12  0.15     0.05
"""
"""What is planted in the candidates, from strong to weak."""

_OVERRIDES: dict[str, dict[str, float]] = {
    "sim/strong": {"<Reasoning><Numerical Reasoning>": 0.82, capabilities.GAUGE: 0.7},
    "sim/steady": {"<Knowledge>": 0.6, capabilities.CONTINUATION: 0.5},
    "sim/nearsighted": {"<Perception><Character Perception>": 0.35, "<Perception><Measurement Perception>": 0.3},
    "sim/hasty": {"<Perception><Enumeration>": 0.3, "<Reasoning>": 0.4},
    "sim/weak": {"<Reasoning>": 0.25, capabilities.OBJECT: 0.65, capabilities.COLOUR: 0.6},
}
_SHIFTS: dict[str, dict[Domain, float]] = {
    "sim/steady": {"stem": -0.08},
    "sim/nearsighted": {"document": -0.05, "interface": -0.05},
    "sim/hasty": {"logic": -0.1},
    "sim/weak": {"natural": 0.05, "stem": -0.1},
}

_TERSE = (
    CandidateProfile(name="sim/terse", base=0.85, silent=0.9),
    CandidateProfile(name="sim/talkative", base=0.85),
)
"""Two models of equal skill: one says little of what its answer rests on, the other all."""

_LEARNERS = (
    CandidateProfile(
        name="sim/learner", base=0.55, again=0.08, drift=0.4, gap=0.35, carry=0.5, retry=0.05, harm=0.02, leaks=0.1
    ),
    CandidateProfile(name="sim/learner-heedless", base=0.55, again=0.2, drift=0.4, gap=0.35, carry=0.5, heedless=True),
    CandidateProfile(name="sim/tutor", base=1.0),
    CandidateProfile(name="sim/tutor-leaky", base=1.0, leaks=0.6),
    CandidateProfile(name="sim/tutor-vain", base=1.0, refusal=0.1, flatters=0.4, verbose=0.3),
    CandidateProfile(name="sim/learner-flipper", base=0.55, again=0.08, flips=0.9),
    CandidateProfile(name="sim/learner-reciter", base=0.55, again=0.08, omission=0.2, recites=0.8),
)
"""Models for the closed loop: what they fail at they fail at again; one that changes what is called wrong, one that says
what it is asked for and concludes nothing from it; and peers that help, tell, flatter or ramble."""

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
    JudgeProfile(name="sim/judge-fickle", flicker=0.2),
    JudgeProfile(name="sim/judge-fabulist", misreports=0.1, untested=0.05, invents=0.05),
    JudgeProfile(name="sim/judge-rambler", rambles=1.0),
    JudgeProfile(name="sim/judge-random", miscodes=1.0),
    JudgeProfile(name="sim/judge-misquoting", misquotes=0.3),
    JudgeProfile(name="sim/judge-vague", vague=0.8),
    JudgeProfile(name="sim/judge-outcome", outcome_bias=0.7, batch_bias=0.2, chainless=0.2),
)

_PARTIAL = (
    JudgeProfile(name="sim/judge-first-place", favours_first=0.4),
    JudgeProfile(name="sim/judge-longer", favours_longer=0.4),
)
"""Judges of duels that favour a place, or length."""

_OBLIGING = (JudgeProfile(name="sim/judge-obliging", passes_wrong=0.2, fails_right=0.1),)
"""A judge that takes one wrong final answer in five for right, and one right one in ten for wrong."""

_WRITERS = (
    CandidateProfile(name="sim/writer", base=0.7),
    CandidateProfile(name="sim/writer-padding", base=0.7, padding=0.6),
)
"""Two writers of equal skill, of whom one is long-winded."""

_PERTURBERS = (JudgeProfile(name="sim/judge-meddler", perturbs_nothing=0.3, perturbs_all=0.2, perturbs_more=0.25),)
"""Models that perturb answers otherwise than they are told to."""

_MISSES = (
    {"VG": 0.4, "SI": 0.6, "VR": 0.3, "LG": 0.2, "VF": 0.5, "SC": 0.2, "PP": 0.7, "TR": 0.4, "numerical_errors": 0.9}
    | {"VG/pairwise": 0.15, "SI/pairwise": 0.4, "PP/pairwise": 0.5}
    | {"VG/reference": 0.2, "VG/new-reference": 0.45}
)
_PROBED = (
    JudgeProfile(name="sim/judge-sharp"),
    JudgeProfile(
        name="sim/judge-blind",
        detects_missing=0.7,
        misses=_MISSES,
        misses_more={"low": 0.15, "medium": -0.1},
    ),
    JudgeProfile(name="sim/judge-nitpicking", nitpicks=0.6, wavers=0.25, imagines=0.2),
    JudgeProfile(name="sim/judge-names-only", names_only=0.5),
    JudgeProfile(name="sim/judge-contrary", prefers_perturbed=0.5),
    JudgeProfile(name="sim/judge-misreading", misreads=0.15),
)
"""Judges that are probed for blind spots, and one that reads their justifications badly."""

_INVENTORS = (JudgeProfile(name="sim/judge-inventive", incidental=0.5),)
"""Judges that draw criteria which nobody needs."""

_PANEL = (
    PanelProfile(
        name="sim/panel-a",
        telling=0.85,
        false_facts=0.12,
        detects_false=0.95,
        self_preference=0.2,
        stance=0,
    ),
    PanelProfile(
        name="sim/panel-b",
        telling=0.8,
        false_facts=0.16,
        detects_false=0.94,
        self_preference=0.1,
        position_bias=0.02,
        stance=1,
    ),
    PanelProfile(name="sim/panel-c", telling=0.75, false_facts=0.2, detects_false=0.95, false_alarm=0.01, stance=2),
    *(
        PanelProfile(name=f"sim/panel-blind-{letter}", telling=0.8, false_facts=0.16, detects_false=0.0, stance=stance)
        for stance, letter in enumerate("abc")
    ),
    PanelProfile(name="sim/panel-keeper", telling=0.8, false_facts=0.16, detects_false=0.95, keeps=0.5, stance=0),
    PanelProfile(name="sim/panel-talker", telling=0.8, false_facts=0.16, detects_false=0.95, talks=0.4, stance=1),
    PanelProfile(
        name="sim/panel-careless",
        telling=0.8,
        false_facts=0.16,
        detects_false=0.95,
        stance=2,
        slips={"unparsable": 0.2, "out_of_range": 0.1, "one_short": 0.1},
    ),
)


def _candidates() -> list[CandidateProfile]:
    header, *rows = (line.split() for line in _RATES.strip().splitlines())
    return [
        CandidateProfile.model_validate(
            dict(zip(header, row, strict=True))
            | {"overrides": _OVERRIDES[row[0]], "domain_shift": _SHIFTS.get(row[0], {})}
        )
        for row in rows
    ]


@cache
def profiles() -> Mapping[str, Profile]:
    """Return every simulated model that ships, by name.

    First judges, then candidates from strong to weak, a terse and a talkative one, learners and tutors, members of
    panels, judges that invent criteria.
    """
    return {
        profile.name: profile
        for profile in (
            *_JUDGES,
            *_candidates(),
            *_TERSE,
            *_LEARNERS,
            *_PANEL,
            *_INVENTORS,
            *_PARTIAL,
            *_OBLIGING,
            *_WRITERS,
            *_PERTURBERS,
            *_PROBED,
        )
    }


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
    if isinstance(profile, CandidateProfile):
        return profile
    if isinstance(profile, PanelProfile):
        return CandidateProfile(name=profile.name, base=1 - profile.false_facts, omission=1 - profile.telling)
    return CandidateProfile(name=profile.name, base=1.0)


def as_judge(profile: Profile) -> JudgeProfile:
    """Return how a model judges: a candidate that is asked to judge detects faults at the rate of its base skill."""
    if isinstance(profile, JudgeProfile):
        return profile
    if isinstance(profile, PanelProfile):
        return JudgeProfile(
            name=profile.name,
            detects_missing=profile.detects_false,
            detects_hedged=profile.detects_false,
            false_alarm=profile.false_alarm,
            slips=profile.slips,
        )
    return JudgeProfile(
        name=profile.name,
        detects_missing=profile.base,
        detects_hedged=profile.base,
        false_alarm=(1 - profile.base) / 2,
        jitter=0.1,
    )


def as_member(profile: Profile, domain: Domain) -> PanelProfile:
    """Return how a model works in a panel on a picture of a domain.

    A candidate tells what it does not leave out, wrong where it lacks the base skill, and detects at the rate of that
    skill; a judge describes without a fault and detects at its own rate. Neighbours in the list of models that ship
    hold different readings of what is disputed.
    """
    if isinstance(profile, PanelProfile):
        return profile
    shipped = list(profiles())
    stance = shipped.index(profile.name) if profile.name in shipped else None
    if isinstance(profile, CandidateProfile):
        skill = profile.skill("", domain)
        return PanelProfile(
            name=profile.name,
            telling=1 - profile.omission,
            false_facts=1 - skill,
            detects_false=profile.base,
            stance=stance,
        )
    return PanelProfile(
        name=profile.name,
        detects_false=profile.detects_missing,
        false_alarm=profile.false_alarm,
        slips=profile.slips,
        stance=stance,
    )
