"""Self-correction's products: what an arm was told, what came of each round, and the row that figures are made from."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Answered, AnswerRule, FailureKind, FinalAnswer, Response

Arm = Literal["original", "again", "retry", "self", "peer"]
"""`original`: the answer that failed · `again`: the same prompt sampled anew · `retry`: told only that it was wrong ·
`self`: told the questions of failed atoms · `peer`: told them with hints of peers that solved them (ATOM, section 3.5)."""

ARMS: tuple[Arm, ...] = get_args(Arm)

SOLVED = 4
"""An atom is solved at this score or above, failed below it."""

Fallback = Literal["", "no peer", "no hint", "leak"]
"""Why a point of the arm `peer` carries no hint: none solved it, none could be had of the peer, or it gave it away."""

Stopped = Literal["", "all solved", "nothing improved", "rounds", "nothing to say", "failed"]
"""Why an arm stopped after a round (empty: it went on). Stop rules look at the atoms that were shown only."""

AtomNumber = Annotated[int, Field(ge=1)]


class FoundLeak(Value):
    """Something in a text that gives a secret away: in which form, whereabouts, and who found it."""

    form: str
    excerpt: str
    found_by: Literal["rules", "judge"] = "rules"


class Hint(Value):
    """A peer's guiding hint on one atom, and what it was found to give away; `rewritten` is its second wording."""

    sample: str
    atom: AtomNumber
    peer: str
    text: str
    rewritten: bool = False
    leaks: tuple[FoundLeak, ...] = ()
    call: str = ""


class Point(Value):
    """One failed atom in a feedback: its question, and in the arm `peer` the hint and who gave it.

    `leaks` are what was found in the question itself, in the hint and in its rewriting, in this order; a question that
    leaks is left out of the feedback altogether (`dropped`), a hint that still leaks is left out of its point.
    `unjudged` texts of it passed on the word of the rules alone: the judge gave no verdict that could be read.
    """

    atom: AtomNumber
    question: str
    hint: str = ""
    peer: str = ""
    fallback: Fallback = ""
    asked: int = Field(default=0, ge=0, description="hints asked of a peer, rewritings included")
    rewritten: bool = False
    dropped: bool = False
    unjudged: int = Field(default=0, ge=0)
    leaks: tuple[FoundLeak, ...] = ()
    hints: tuple[str, ...] = Field(default=(), description="ids of the hints that were given, in order")


class Feedback(Value):
    """What an arm told a model before it answered again; without points it is told no more than `retry` is."""

    sample: str
    model: str
    arm: Arm
    round: int = Field(ge=1)
    points: tuple[Point, ...] = ()

    @property
    def said(self) -> tuple[Point, ...]:
        """The points that were passed on."""
        return tuple(point for point in self.points if not point.dropped)


class RefinementStep(Value):
    """One round of one arm on one answer of one model, by ids; round 0 is the arm `original`.

    `shown` and `withheld` are the numbers (from 1) of the atoms that failed before the round: those that the feedback
    may name, and those that are kept from it. `judgements` are the ids of all judgements of the response, independent
    draws of the judge; of the original response the first is the source run's and the second is drawn for comparison.
    """

    arm: Arm
    round: int = Field(ge=0)
    response: str | None = None
    final: str | None = None
    judgements: tuple[str, ...] = ()
    feedback: str | None = None
    shown: tuple[AtomNumber, ...] = ()
    withheld: tuple[AtomNumber, ...] = ()
    stopped: Stopped = ""
    failure: FailureKind | None = None
    reason: str = ""
    calls: tuple[str, ...] = ()


class RefinementRow(Value):
    """One round of one arm, joined with everything that figures need; the unit of `refinement_rows`.

    Scores are 1 to 5, higher is better, in the order of the criteria. `before` and `after` are the atoms' scores in the
    source run's judgement and in this round's (the mean over `draws`, one tuple a judgement); `after` is empty and
    `failure` is set where the round brought none. `shown` and `withheld` split the atoms that failed in the source run
    (at s <= 3) by the same seeded draw in every arm, `told` are those that this round's feedback really named. `last`
    marks an arm's last round, by which the arm is judged. `selected` is false for an original answer that did not fail:
    it has a row of the arm `original` only. `calls` are ledger keys; `cost` is in US dollars, None where unknown.
    """

    run: str
    source: str
    sample_id: str
    cluster: str
    category: str | None
    model: str
    repeat: int
    arm: Arm
    round: int
    last: bool
    selected: bool
    stopped: Stopped
    failure: FailureKind | None
    reason: str
    answered: Answered
    rule: AnswerRule
    answered_before: Answered
    weights: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    draws: tuple[tuple[int, ...], ...]
    score_before: float | None
    score: float | None
    shown: tuple[AtomNumber, ...]
    withheld: tuple[AtomNumber, ...]
    told: tuple[AtomNumber, ...]
    points: tuple[Point, ...]
    flags: tuple[str, ...]
    criteria_id: str
    response_id: str | None
    judgement_ids: tuple[str, ...]
    feedback_id: str | None
    final_id: str | None
    calls: tuple[str, ...]
    cost: float | None

    @property
    def failed_atoms(self) -> tuple[int, ...]:
        """Numbers of the atoms that failed in the source run, in order."""
        return tuple(sorted((*self.shown, *self.withheld)))


class Refined(Value):
    """What came of refining one answer in one arm, with the values themselves.

    `response` is the last answer, None where none could be had (`failure` says why); `final` says whether it is right,
    which is unknown without a reference answer. `before` and `after` are the atoms' scores, 1 to 5, in the order of the
    criteria; `feedback` is what the model was told, a round each.
    """

    arm: Arm
    response: Response | None
    final: FinalAnswer | None
    before: tuple[float, ...]
    after: tuple[float, ...]
    feedback: tuple[Feedback, ...]
    steps: tuple[RefinementStep, ...]
    stopped: Stopped
    failure: FailureKind | None = None
    reason: str = ""

    @property
    def calls(self) -> tuple[str, ...]:
        """The ledger keys of all calls, in order."""
        return tuple(key for step in self.steps for key in step.calls)
