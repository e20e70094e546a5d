"""Results of self-correction: an arm's feedback, each round's outcome, and the row that figures are computed from."""

from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Answered, AnswerRule, FailureKind, FinalAnswer, Response

Arm = Literal["original", "again", "retry", "self", "peer"]
"""`original`: the answer that failed · `again`: asked once more, told nothing · `retry`: told whether it was right ·
`self`: told also the questions of failed atoms · `peer`: and hints of peers that solved them (ATOM, section 3.5).
"""

ARMS: tuple[Arm, ...] = get_args(Arm)


SOLVED = 4
"""The score from which an atom is solved; below it, it failed."""

Unused = Literal["final answer", "restates the question", "leak"]
"""Why a failed atom is not fed back: it is the final answer, repeats the question, or gives something away."""

Fallback = Literal["", "no peer", "no hint", "leak"]
"""Why a point of the arm `peer` has no hint: no peer solved it, the peer gave none, or the hint
gave the answer away.
"""

Stopped = Literal["", "all solved", "nothing improved", "rounds", "nothing to say", "failed"]
"""Why an arm stopped after a round (empty: it continued). Stop rules consider only the shown atoms."""

AtomNumber = Annotated[int, Field(ge=1)]


HOW_IT_LEAKS: dict[str, str] = {
    "letter": "it says which option it is, by its letter or its place",
    "number": "it states a value that is to be found out",
    "verbatim": "it says in the same words what is to be found out",
    "said": "it says outright what is to be found out",
    "reworded": "it says in other words what is to be found out",
    "described": "only one thing fits what it describes",
    "left over": "it rules out all but what is to be found out",
    "worked out": "what is to be found out can be worked out from it alone",
    "spelt out": "it spells out or hides in other letters what is to be found out",
    "judge": "the text as a whole gives away what is to be found out",
}
"""The reason why a passage is a leak, by its form, in words that reveal nothing themselves."""


class FoundLeak(Value):
    """Something in a text that gives a secret away: in which form, the very passage, and who found it."""

    form: str
    excerpt: str
    found_by: Literal["rules", "judge"] = "rules"

    @property
    def reason(self) -> str:
        """The reason why the passage is a leak."""
        return HOW_IT_LEAKS.get(self.form, "it gives away what is to be found out")


class HintWording(Value):
    """One wording of a peer's hint on a point: the text, what it was found to give away, and the call that wrote it."""

    stored_as: ClassVar[str] = "Wording"

    text: str
    leaks: tuple[FoundLeak, ...] = ()
    call: str = ""


class FeedbackPoint(Value):
    """One failed atom in a feedback: its question, and in the arm `peer` the hint and who gave it.

    `stated` says whether the earlier answer spoke of it at all, None where the judgement does not say. `wordings` are
    those of the hint, in order: one that leaks is rewritten once, and left out where it leaks again; `answer` is the id of
    the peer's own answer. `unjudged` counts the looks at the feedback in which the judge gave no verdict that could be read.
    """

    stored_as: ClassVar[str] = "Point"

    atom: AtomNumber
    question: str
    stated: bool | None = None
    hint: str = ""
    peer: str = ""
    answer: str = ""
    fallback: Fallback = ""
    asked: int = Field(default=0, ge=0, description="hints asked of a peer, rewritings included")
    unjudged: int = Field(default=0, ge=0)
    wordings: tuple[HintWording, ...] = ()

    @property
    def leaks(self) -> tuple[FoundLeak, ...]:
        """The leaks in all wordings of the hint."""
        return tuple(leak for wording in self.wordings for leak in wording.leaks)

    @property
    def rewritten(self) -> bool:
        """Whether the hint was rewritten."""
        return len(self.wordings) > 1


class Feedback(Value):
    """What an arm told a model before it answered again: whether its last answer was right, and points to work on.

    Without points it is told no more than `retry` is; the arm `again` is told nothing at all.
    """

    sample: str
    model: str
    arm: Arm
    round: int = Field(ge=1)
    answered: Answered = "wrong"
    points: tuple[FeedbackPoint, ...] = ()


class UnusedAtom(Value):
    """A failed atom that no feedback names, why, and what was found in its question."""

    atom: AtomNumber
    why: Unused
    leaks: tuple[FoundLeak, ...] = ()


class PointSelection(Value):
    """Which failed atoms of an answer a feedback may name (`shown`), and which are kept from it by chance or for a reason.

    `unjudged` says that the judge looked at their questions and gave no verdict that could be read.
    """

    stored_as: ClassVar[str] = "Selection"

    shown: tuple[AtomNumber, ...] = ()
    withheld: tuple[AtomNumber, ...] = ()
    unused: tuple[UnusedAtom, ...] = ()
    unjudged: bool = False


class RefinementStep(Value):
    """One round of one arm on one answer of one model, by ids; round 0 is the arm `original`.

    `selection` says which atoms feedback may name; round 0 has it. `draw` is the repeat index under which the answer was
    asked for, each arm's and each round's own. `judgements` are the ids of all judgements of the response, independent
    draws of the judge; of the original response the first is the source run's and the second is drawn for comparison.
    `decided` is the id of the one that said whether another round follows, where that is none of these.
    """

    arm: Arm
    round: int = Field(ge=0)
    draw: int | None = None
    response: str | None = None
    final: str | None = None
    judgements: tuple[str, ...] = ()
    decided: str | None = None
    selection: str | None = None
    feedback: str | None = None
    stopped: Stopped = ""
    failure: FailureKind | None = None
    reason: str = ""
    calls: tuple[str, ...] = ()


class RefinementRow(Value):
    """One round of one arm, joined with everything that figures need; the unit of `refinement_rows`.

    Scores are 1 to 5, higher is better, in the order of the criteria. `before` and `after` are the atoms' scores in the
    source run's judgement and in this round's (the mean over `draws`, one tuple a judgement); `after` is empty and
    `failure` is set where the round brought none. `stated_before` and `stated` say of each atom whether the answer spoke
    of it, then and now. `shown` and `withheld` split the atoms that failed in the source run (at s <= 3) and can be fed
    back, by the same seeded draw in every arm; `unused` are the other failed ones; `told` are those that this round's
    feedback really named. `last` marks an arm's last round, by which the arm is judged. `failed` says that the original
    answer is one to take up, `selected` that it was: one without a point to feed back leaves all arms alike, and has a row
    of the arm `original` only, as one that did not fail. `options` is between how many answers the question lets one
    guess, two to five, else None. `draw` is the repeat index of the answer. `calls` are ledger keys; `cost` is in US
    dollars, None where unknown.
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
    failed: bool
    selected: bool
    draw: int | None
    options: int | None
    stopped: Stopped
    failure: FailureKind | None
    reason: str
    answered: Answered
    rule: AnswerRule
    answered_before: Answered
    weights: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    stated_before: tuple[bool, ...]
    stated: tuple[bool, ...]
    draws: tuple[tuple[int, ...], ...]
    score_before: float | None
    score: float | None
    shown: tuple[AtomNumber, ...]
    withheld: tuple[AtomNumber, ...]
    unused: tuple[UnusedAtom, ...]
    told: tuple[AtomNumber, ...]
    points: tuple[FeedbackPoint, ...]
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
        """The numbers of the criteria that failed in the source run, in order."""
        return tuple(number for number, score in enumerate(self.before, start=1) if score < SOLVED)


class Refined(Value):
    """What came of refining one answer in one arm, with the values themselves.

    `response` is the last answer, None where none could be had (`failure` says why); `final` says whether it is right,
    which is unknown without a reference answer, and `answered_before` whether the first answer was. `before` and `after`
    are the atoms' scores, 1 to 5, in the order of the criteria; `selection` says which of them feedback may name;
    `feedback` is what the model was told, a round each; `steps` begin with round 0, the look at the first answer.
    """

    arm: Arm
    response: Response | None
    final: FinalAnswer | None
    answered_before: Answered
    before: tuple[float, ...]
    after: tuple[float, ...]
    selection: PointSelection
    feedback: tuple[Feedback, ...]
    steps: tuple[RefinementStep, ...]
    stopped: Stopped
    failure: FailureKind | None = None
    reason: str = ""

    @property
    def calls(self) -> tuple[str, ...]:
        """The ledger keys of all calls, in order."""
        return tuple(key for step in self.steps for key in step.calls)
