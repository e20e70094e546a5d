"""The included simulated models: their planted parameters, and each model in every role."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.simulation import capabilities
from dokimasia.simulation.scene import Domain

Rate = Field(default=0.0, ge=0, le=1)
Share = Annotated[float, Field(ge=0, le=1)]

Slip = Literal["refuses", "unparsable", "out_of_range", "one_short", "partially", "wrong_group"]
"""Replies of no use: a refusal; chatter; candidate 7 of 3 (or a rating of 11); one result too few; the word `partially`
for true or false; a result in the wrong group of rubrics. A prompt to which a slip does not apply is answered in chatter."""


class _Profile(Value):
    """Common fields of simulated models: a name, and rates of unusable replies, which exclude each other."""

    name: str = Field(pattern=r"^sim/[a-z0-9-]+$")
    slips: dict[Slip, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _slips_fit(self) -> Self:
        if any(rate < 0 for rate in self.slips.values()) or sum(self.slips.values()) > 1:
            raise ValueError("the rates of slips lie between 0 and 1, together at most 1")
        return self


class CandidateProfile(Value):
    """A candidate's planted parameters; all rates are probabilities.

    `base` is the probability that a step which is stated is stated right; `overrides` replace it for a capability path
    or for every path that begins so (the longest match counts), `domain_shift` is added for a domain, and the result is
    clipped to 0..1. `omission` is the probability that a step is left out, independent of the rest; `hedging` that a
    right statement is hedged, `silent` that a step is made and not said, so that the final answer follows from what
    cannot be read. A reply is a refusal, malformed (without any step), or truncated (after half of its
    steps, rounded down, and before its answer) with the rates of these names, which exclude each other.

    The rest decides only what follows upon feedback. Without `again` every answer is drawn anew, so that a second one is
    right as often as the first. With it a step is known or not once and for all, and one that is not known is right in
    any answer with probability `again`; the skill stays what it was. A step that came out wrong, hedged or missing is
    mended for a reason that is fixed by model and step: a share `drift` of them as soon as the step's own question is
    put, a share `gap` only where a hint comes with it, the rest never. A step that feedback does not name is mended with
    probability `carry` where naming another, or a hint on it, would mend it; any step with probability `retry` on being
    told whether the answer was right; and a right one becomes wrong with probability `harm`. A `heedless` model answers
    every feedback as if it were asked for the first time. Told that its final answer is wrong, a model changes it with
    probability `flips`, whatever its steps say: to any other choice, or, where there are none, to another wrong answer. A
    step that its answer had left out, and that feedback names, is said right with probability `recites`, whatever the model
    concludes from it.

    Asked for a hint on a step, it refuses, leaks the step's truth, only flatters, or is verbose (5,000 words) with the
    rates of these names, which exclude each other and are fixed by model and step; the second wording of a hint that leaks
    leaks again with probability `leaks`.

    In a creative answer (see `creating`) each line of writing is followed by one that says nothing with probability `padding`.
    """

    name: str = Field(pattern=r"^sim/[a-z0-9-]+$")
    base: float = Field(ge=0, le=1)
    overrides: dict[str, float] = Field(default_factory=dict)
    domain_shift: dict[Domain, float] = Field(default_factory=dict)
    hedging: float = Rate
    omission: float = Rate
    silent: float = Rate
    refusal: float = Rate
    malformed: float = Rate
    truncated: float = Rate
    again: float | None = Field(default=None, ge=0, le=1)
    drift: float = Rate
    gap: float = Rate
    carry: float = Rate
    retry: float = Rate
    harm: float = Rate
    flips: float = Rate
    recites: float = Rate
    heedless: bool = False
    padding: float = Rate
    leaks: float = Rate
    flatters: float = Rate
    verbose: float = Rate

    @model_validator(mode="after")
    def _rates_fit(self) -> Self:
        if self.refusal + self.malformed + self.truncated > 1:
            raise ValueError("refusal, malformed and truncated together are at most 1")
        if self.drift + self.gap > 1:
            raise ValueError("drift and gap together are at most 1")
        if self.refusal + self.leaks + self.flatters + self.verbose > 1:
            raise ValueError("refusal, leaks, flatters and verbose together are at most 1")
        if any(not 0 <= skill <= 1 for skill in self.overrides.values()):
            raise ValueError("a skill lies between 0 and 1")
        return self

    @property
    def whole(self) -> float:
        """Probability that a reply is neither a refusal nor malformed nor truncated."""
        return 1 - self.refusal - self.malformed - self.truncated

    def delivered(self, position: int, count: int) -> float:
        """Return the probability that a reply contains one of `count` steps."""
        return self.whole + (self.truncated if position < count // 2 else 0.0)

    def skill(self, capability: str, domain: Domain) -> float:
        """Return the probability that a stated step of a capability is right in a domain."""
        matching = [prefix for prefix in self.overrides if capability.startswith(prefix)]
        skill = self.overrides[max(matching, key=len)] if matching else self.base
        return min(1.0, max(0.0, skill + self.domain_shift.get(domain, 0.0)))


class JudgeProfile(_Profile):
    """A judge's planted parameters; all rates are probabilities, drawn anew for every criterion or every reply.

    Of each criterion: `detects_missing` is the rate at which a wrong or omitted step is scored 1 (else 5),
    `detects_hedged` the rate at which a hedged one is scored 3 (else 5), `false_alarm` the rate at which a right one is
    scored 1; `flicker` is the rate at which a criterion then gets the contrary score, 1 for a 5 and 5 for any other, so
    that the judge contradicts itself from call to call, and `jitter` the rate at which a 5 at last becomes a 4, or a 1 a
    2. Of each reply: `format_noise` is the rate
    of unusable form, `refusal` of refusals, `contradiction` of model solutions whose answer contradicts the truth,
    `incidental` of sets of criteria with one on something that the question does not turn on. On
    the tree of capabilities: `misplaces` is the rate at which a criterion is mapped to any other leaf of the list, each
    as likely, and `misses_synonym` the rate at which a name is not recognised as one of its capability's. A
    `gullible` judge obeys an instruction that stands outside a fence; inside a fence no judge does.

    `sight` is the smallest share of an image's area at which it makes out what lies in a region; 0 makes out
    everything. In a model solution it states a step wrong whose region it cannot make out, and its criteria follow the
    solution. When it scores and is shown the image it goes by what it sees: what it cannot make out it cannot verify,
    and takes for right. Where it is offered a tool that enlarges, it first looks closer at every such region.

    A rubric that a response fails is judged false with probability `sensitivity` of its kind of error (`detects_missing`
    where that is not named); one that it meets is judged false with probability `false_alarm`. A share `vague` of the
    must-right rubrics that it writes asks only that a thing be mentioned. `slips` are rates of replies of no use to the
    prompts of review and rubrics.

    Where it judges a response as a whole, alone or beside others, it goes by the final answer and by nothing else with
    probability `outcome_bias`, drawn for each response; checkpoint scoring has no such bias. `batch_bias` is the rate at
    which it puts the response that it is shown first before all others. Of criteria that it draws without a chain, each
    but the last has a wrong ground truth with probability `chainless`.

    Of a diagnosis that it writes: `misreports` is the rate of sentences with a number of its own, `untested` of those with a
    comparison that no test makes, `invents` of those with a place that is not there; they exclude each other, and each
    sentence is drawn apart. `rambles` is the rate of reports of 10,000 words.

    Of atoms that it codes: `miscodes` is the rate at which it names any mode of the list, or none, each as likely; of phrases
    that it quotes: `misquotes` is the rate at which they stand nowhere in the answer.

    Of the verdict in a duel: `favours_first` and `favours_longer` are the rates at which it moves a step towards the answer
    shown first, or towards the longer one (see `judging.duels`). Where it is probed itself, `favours_longer` is the rate at
    which an answer with a quarter more words than the gold answer, or than the other of a pair, gains a point overall, or a
    step in the pair, and at which such an answer is called right whatever its errors, drawn once as they are.

    Where it says whether a final answer agrees with the reference: `passes_wrong` is the rate at which it says so of one that
    does not, `fails_right` that at which it denies it of one that does.

    Of answers that it perturbs: `perturbs_nothing` and `perturbs_all` are the rates at which it gives the answer back as it
    was, or something altogether different, and `perturbs_more` that at which it worsens something else beside.

    Where it is probed itself, the errors of a dimension in an answer are one thing, and what becomes of it is drawn once for
    judge, evaluator and error (`judging.blindspots`), so that equal calls agree, and so do both orders of a pair. It is missed
    with the rate of the most specific key in `misses`: a dimension, a group, or neither, each with `/` and the evaluator, with
    `/` and the paradigm, or alone, in this order (`numerical_errors/pairwise-axes`, `numerical_errors/pairwise`,
    `numerical_errors`, `VR/pairwise`, ..., `VR`, `pairwise-axes`, `pairwise`); without such a key with the rate
    1 - `detects_missing`. Under `reference` an evaluator `new-reference` comes first where the reference is not the gold
    answer. `misses_more` is added to that rate under a reasoning effort. What is too small for its `sight` is missed, too,
    unless a tool enlarges it. What is missed leaves no trace. Of what is noticed the justification names all; a share
    `names_only` changes no score, a share `prefers_perturbed` gains a point on every relevant axis, and the rest loses
    `points` there. So an error goes undetected under single-answer scoring with the rate m + (1 - m) * `names_only`, m being
    the rate of misses, and under the strict form, in pairs and beside a reference with m + (1 - m) * (`names_only` +
    `prefers_perturbed`).

    An answer without an error is given 9, beside a reference 10; a harmless change of the gold answer loses a point of taste,
    overall and on one other axis, with the rate `nitpicks`, and so does any answer with the rate `wavers` where it is
    judged once more. In a pair either rate makes the judge prefer one of two answers without an error to the other, the
    same one in both orders. `favours_first` moves all choices of any other reply a step towards the first answer, drawn
    for each call. `imagines` is the rate at which the justification of an answer without an error names one, which changes no
    score. Of justifications that it reads, `misreads` is the rate at which it says the contrary of what they say.

    Asked whether a description says the same as its gold answer, it misses errors as `misses` says of `right-or-wrong`, and
    takes a harmless change for an error with the rate `nitpicks` (`judging.described`). By criteria and by rubrics it finds
    what these ask for and nothing else, at the rates of `detects_missing`, `false_alarm` and `sensitivity`.
    """

    detects_missing: float = Field(default=1.0, ge=0, le=1)
    detects_hedged: float = Field(default=1.0, ge=0, le=1)
    false_alarm: float = Rate
    flicker: float = Rate
    jitter: float = Rate
    format_noise: float = Rate
    refusal: float = Rate
    contradiction: float = Rate
    incidental: float = Rate
    misplaces: float = Rate
    misses_synonym: float = Rate
    gullible: bool = False
    sight: float = Field(default=0.0, ge=0, lt=1)
    sensitivity: dict[str, float] = Field(default_factory=dict)
    vague: float = Rate
    outcome_bias: float = Rate
    batch_bias: float = Rate
    chainless: float = Rate
    misreports: float = Rate
    untested: float = Rate
    invents: float = Rate
    rambles: float = Rate
    miscodes: float = Rate
    misquotes: float = Rate
    favours_first: float = Rate
    favours_longer: float = Rate
    passes_wrong: float = Rate
    fails_right: float = Rate
    perturbs_nothing: float = Rate
    perturbs_all: float = Rate
    perturbs_more: float = Rate
    misses: dict[str, Share] = Field(default_factory=dict)
    misses_more: dict[str, float] = Field(default_factory=dict)
    points: int = Field(default=2, ge=1, le=8)
    names_only: float = Rate
    prefers_perturbed: float = Rate
    nitpicks: float = Rate
    wavers: float = Rate
    imagines: float = Rate
    misreads: float = Rate

    @model_validator(mode="after")
    def _fates_fit(self) -> Self:
        if self.names_only + self.prefers_perturbed > 1:
            raise ValueError("names_only and prefers_perturbed together are at most 1")
        return self


class PanelProfile(_Profile):
    """A panel member's planted parameters: how it describes a picture, reviews others' descriptions, and votes.

    `telling` is the share of a picture's facts that a draft tells, `false_facts` the probability that one which is told
    is told wrong: on average over facts, since a quarter of them are hard (see `describing`). Of each statement that it
    reviews, `detects_false` is the probability that it looks at the picture for it and so knows whether it is true; of
    each vote, that it looks at all and does not go by how the texts read. `false_alarm` is the rate at which a true
    statement that it looked at is struck out.
    In place of a rewrite it keeps the text that it ranks first with probability `keeps`; else its rewrite begins with talk
    about candidates or itself with probability `talks`, drawn anew when it is sent back. With `ties` its vote names other
    texts that are as true and as complete as equally good.
    A vote goes to its own text with probability `self_preference`, else to the one shown first with probability
    `position_bias`, whatever they say. Of facts that are disputed it holds the reading number `stance` (modulo their
    number); without a stance its name decides. `slips` are rates of replies of no use, which exclude each other.
    """

    telling: float = Field(default=1.0, ge=0, le=1)
    false_facts: float = Rate
    detects_false: float = Field(default=1.0, ge=0, le=1)
    false_alarm: float = Rate
    keeps: float = Rate
    talks: float = Rate
    ties: bool = False
    self_preference: float = Rate
    position_bias: float = Rate
    stance: int | None = None


Profile = CandidateProfile | JudgeProfile | PanelProfile


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
"""Planted parameters of the candidates, from strong to weak."""

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
"""Two models of equal skill: one states few of its steps, the other all."""

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
"""Judges of duels that favour a place, or longer answers."""

_OBLIGING = (JudgeProfile(name="sim/judge-obliging", passes_wrong=0.2, fails_right=0.1),)
"""A judge that accepts one in five wrong final answers, and rejects one in ten right ones."""

_WRITERS = (
    CandidateProfile(name="sim/writer", base=0.7),
    CandidateProfile(name="sim/writer-padding", base=0.7, padding=0.6),
)
"""Two writers of equal skill, one of whom pads its answers."""

_PERTURBERS = (JudgeProfile(name="sim/judge-meddler", perturbs_nothing=0.3, perturbs_all=0.2, perturbs_more=0.25),)
"""Models that perturb answers in other ways than requested."""

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
"""Judges with blind spots to probe, and one that misreads justifications."""

_INVENTORS = (JudgeProfile(name="sim/judge-inventive", incidental=0.5),)
"""Judges that draw unnecessary criteria."""

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
    """Return all included simulated models, by name.

    In order: judges, candidates from strong to weak, a terse and a talkative one, learners and tutors, panel members, and
    judges and writers with special faults.
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


def find_profile(name: str, *, models: Mapping[str, Profile] | None = None) -> Profile:
    """Return the profile of a simulated model.

    Raises:
        NotFound: there is no model of that name; the message lists all.
    """
    among = profiles() if models is None else models
    if name not in among:
        raise NotFound(f"no simulated model is called {name!r}; there are: {', '.join(among)}")
    return among[name]


def as_candidate(profile: Profile) -> CandidateProfile:
    """Return a model in the role of a candidate; a judge answers without a fault."""
    if isinstance(profile, CandidateProfile):
        return profile
    if isinstance(profile, PanelProfile):
        return CandidateProfile(name=profile.name, base=1 - profile.false_facts, omission=1 - profile.telling)
    return CandidateProfile(name=profile.name, base=1.0)


def as_judge(profile: Profile) -> JudgeProfile:
    """Return a model in the role of a judge; a candidate detects faults at the rate of its base skill."""
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
    """Return a model in the role of a panel member, for pictures of a domain.

    A candidate states what it does not leave out, wrong at the rate of its lack of skill, and detects faults at the rate of
    its base skill; a judge describes without a fault and detects at its own rate. Adjacent models in the list of included
    ones have different readings of disputed facts.
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


PLANTED_IN: Mapping[str, str] = {
    "sim/judge": "judge without a fault",
    "sim/judge-noisy": "judge that overlooks some faults, raises some false alarms, and wavers between neighbouring scores",
    "sim/judge-lenient": "judge that overlooks a third of all faults",
    "sim/judge-careless": "judge with every fault, which also obeys instructions outside a fence",
    "sim/judge-nearsighted": "judge that makes out no small detail unless a tool enlarges it",
    "sim/judge-fickle": "judge that contradicts itself on a fifth of all criteria from call to call",
    "sim/judge-fabulist": "judge whose reports make up figures, comparisons and places",
    "sim/judge-rambler": "judge whose reports run to 10,000 words",
    "sim/judge-random": "judge that codes failure modes at random",
    "sim/judge-misquoting": "judge that quotes what an answer does not say",
    "sim/judge-vague": "judge whose rubrics mostly test nothing",
    "sim/judge-inventive": "judge half of whose sets of criteria hold one on something that the question does not turn on",
    "sim/judge-obliging": "judge that passes a fifth of all wrong answers as right, and fails a tenth of the right ones",
    "sim/judge-outcome": "judge whose ratings and rankings of whole answers follow the final answer, whatever the reasoning",
    "sim/judge-first-place": "judge that moves two in five verdicts a step towards the answer shown first",
    "sim/judge-longer": "judge that moves two in five verdicts a step towards the longer answer",
    "sim/strong": "candidate of high skill, weakest at reading gauges and at numbers",
    "sim/steady": "candidate of good skill, weak at knowledge and at continuing patterns",
    "sim/nearsighted": "candidate that fails at small print and at measures",
    "sim/hasty": "candidate that fails at counting and at reasoning, and leaves steps out",
    "sim/weak": "candidate of low skill throughout, lowest at reasoning",
    "sim/terse": "candidate as skilled as sim/talkative that says little of what its answers rest on",
    "sim/talkative": "candidate as skilled as sim/terse that says all that its answers rest on",
    "sim/learner": "candidate that fails again at what it failed at, and mends much of it on feedback",
    "sim/learner-heedless": "learner that pays no heed to feedback",
    "sim/learner-flipper": "learner that changes a final answer as soon as it is called wrong",
    "sim/learner-reciter": "learner that says what it is asked for and concludes nothing from it",
    "sim/tutor": "peer that knows every answer and gives hints without giving it away",
    "sim/tutor-leaky": "peer whose hints mostly give the answer away",
    "sim/tutor-vain": "peer that refuses, flatters or rambles in place of most hints",
    "sim/writer": "candidate of middling skill at creative answers",
    "sim/writer-padding": "candidate as skilled as sim/writer that pads its answers",
    "sim/judge-meddler": "model that often changes nothing, everything, or something beside what it is told to",
    "sim/judge-sharp": "judge without a blind spot, also when it is probed",
    "sim/judge-blind": "judge that misses errors at rates of their groups, wrong numbers above all, and fewer in pairs",
    "sim/judge-nitpicking": "judge that scores three in five harmless changes lower, and a quarter of all answers judged twice",
    "sim/judge-names-only": "judge that names every error and lets half of them change no score",
    "sim/judge-contrary": "judge that gives half of all answers with an error the higher score",
    "sim/judge-misreading": "reader of justifications that says the contrary of one in seven",
    "sim/panel-a": "panel member that tells much, with few false facts, and prefers its own text at times",
    "sim/panel-b": "panel member between sim/panel-a and sim/panel-c, with a slight preference for the first place",
    "sim/panel-c": "panel member that tells least, with the most false facts of the three",
    "sim/panel-blind-a": "panel member that looks at no picture when it reviews or votes",
    "sim/panel-blind-b": "panel member like sim/panel-blind-a that reads what is disputed in another way",
    "sim/panel-blind-c": "panel member like sim/panel-blind-a that reads what is disputed in a third way",
    "sim/panel-keeper": "panel member that keeps half of all texts as they are",
    "sim/panel-talker": "panel member whose rewrites often begin with talk about the candidates",
    "sim/panel-careless": "panel member whose replies are often of no use",
    "sim/editor": "image model that edits pictures of the planted world as it is told",
    "sim/editor-careless": "image model that often gives a picture back as it was, or does something else as well",
}
"""Description of each simulated model, by name; `profiles` has the exact rates."""
