"""The included simulated models: their planted parameters, and each model in every role."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.simulation.data_files import read_data
from dokimasia.simulation.scene import Domain

Rate = Field(default=0.0, ge=0, le=1)
Share = Annotated[float, Field(ge=0, le=1)]

Slip = Literal["refuses", "unparsable", "out_of_range", "one_short", "partially", "wrong_group"]
"""Unusable replies: a refusal; chatter; candidate 7 of 3 (or a rating of 11); one result too few; the word `partially`
for true or false; a result in the wrong group of rubrics. A prompt to which a slip does not apply gets chatter.
"""


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
        """The probability that a reply is neither refused nor malformed nor truncated."""
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
    "planted_in",
    "profiles",
]

_ROLES: Mapping[str, type[Profile]] = {
    "candidate": CandidateProfile,
    "judge": JudgeProfile,
    "member": PanelProfile,
}


class _IncludedModel(BaseModel):
    """A model as the list of included ones has it: its role, what it is, and its planted parameters."""

    role: str
    about: str
    planted: dict[str, object] = Field(default_factory=dict)


@cache
def _included_models() -> Mapping[str, _IncludedModel]:
    return read_data("models.yaml", dict[str, _IncludedModel])


@cache
def profiles() -> Mapping[str, Profile]:
    """Return all included simulated models except the image models, by name.

    In order: judges, candidates from strong to weak, a terse and a talkative one, learners and tutors, panel members,
    and judges and writers with special faults.
    """
    return {
        name: _ROLES[model.role].model_validate({"name": name, **model.planted})
        for name, model in _included_models().items()
        if model.role in _ROLES
    }


@cache
def planted_in() -> Mapping[str, str]:
    """Return a description of each simulated model, including image models, by name; `profiles` has the exact rates."""
    return {name: model.about for name, model in _included_models().items()}


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

    A candidate states what it does not omit, wrong at the rate of its lack of skill, and detects faults at the rate of
    its base skill; a judge describes without a fault and detects at its own rate. Adjacent models in the list of
    included ones have different readings of disputed facts.
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
