"""How a peer review ends: what its state holds, the record, and the golden caption with the origin of each sentence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from langgraph.runtime import Runtime

from dokimasia.algorithms.text.descent import Text, trace_sentences
from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.domain.review import (
    NOT_HEARD,
    Candidate,
    GoldenCaption,
    LostTurn,
    Origin,
    ReviewOptions,
    ReviewRecord,
    Rule,
    Verdict,
)
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, own_options


class Seat(TypedDict, total=False):
    """One member's part in the present cycle: ids of its candidate, its comparison, what stands for it after that, its vote.

    `standing` is the candidate that it wrote or kept, or still its own where its turn was lost; `choice` is the id of
    the candidate that it voted for, `equal` are those of others that it takes for as good, `lost` is that of a turn
    that came to nothing; `failed` says that no reply came.
    """

    member: str
    candidate: str
    review: str
    standing: str
    vote: str
    choice: str
    equal: list[str]
    lost: str
    failed: FailureKind
    calls: list[str]


class State(TypedDict, total=False):
    """Ids of all that was written so far, in order; `verdict` is empty while the review goes on.

    `settled` says that a cycle left nothing to vote on: one text, or the candidates of the last vote.
    """

    sample: str
    cycle: int
    seats: list[Seat]
    candidates: list[str]
    reviews: list[str]
    votes: list[str]
    lost: list[str]
    settled: bool
    chosen: str
    agreement: Rule | Literal[""]
    verdict: Verdict | Literal[""]
    result: list[str]
    calls: list[str]
    failed: str
    reason: str


def not_heard(state: State) -> bool:
    """Whether a member was not heard to whom a reply may still come."""
    return any("failed" in seat for seat in state["seats"])


async def conclude(state: State, runtime: Runtime[Context]) -> State:
    """Write the record and, where the panel agreed, the golden caption with the origin of each of its sentences."""
    context = runtime.context
    options = own_options(context, ReviewOptions, "a peer review")
    sample = await context.store.get(Sample, state["sample"])
    candidates = {id: await context.store.get(Candidate, id) for id in state.get("candidates", [])}
    lost = [await context.store.get(LostTurn, id) for id in state.get("lost", [])]
    verdict = state.get("verdict") or "incomplete"
    choices = [seat["choice"] for seat in state["seats"] if "choice" in seat]
    golden: str | None = None
    if verdict == "accepted":
        golden = await context.store.put(_golden(state, options, sample, candidates))
    missing = _missing(lost) if verdict == "incomplete" else []
    record = ReviewRecord(
        sample=sample.digest,
        panel=options.panel,
        rule=options.accept,
        verdict=verdict,
        cycles=state["cycle"] if state.get("reviews") else 0,
        reason=_reason(state, verdict, missing),
        candidates=tuple(state.get("candidates", [])),
        reviews=tuple(state.get("reviews", [])),
        votes=tuple(state.get("votes", [])),
        lost=tuple(state.get("lost", [])),
        tally=dict(sorted(Counter(choices).items())),
        golden=golden,
        failed_member=missing[0].member if missing else None,
        failure=missing[0].failure if missing else None,
    )
    made = [golden] if golden else []
    ids = [await context.store.put(record), *made, *record.candidates, *record.reviews, *record.votes, *record.lost]
    ended: State = {"result": ids, "calls": [key for seat in state["seats"] for key in seat.get("calls", [])]}
    if missing:
        return {**ended, "failed": missing[0].failure, "reason": record.reason}
    return ended


def _missing(lost: Sequence[LostTurn]) -> list[LostTurn]:
    """Return the turns for want of which a review is incomplete: those that were lost last, first open and then unheard ones."""
    last = [one for one in lost if (one.cycle, one.part) == (lost[-1].cycle, lost[-1].part)]
    return sorted(last, key=lambda one: (one.failure not in OPEN_KINDS, one.failure not in NOT_HEARD))


def _supporters(state: State) -> int:
    """Return how many members take the chosen text for the best, alone or among others."""
    chosen = state.get("chosen", "")
    return sum(chosen in (seat["choice"], *seat.get("equal", ())) for seat in state["seats"] if "choice" in seat)


def _reason(state: State, verdict: Verdict, missing: Sequence[LostTurn]) -> str:
    if missing:
        said = (one.reason if one.failure in OPEN_KINDS else f"{one.member} failed: {one.reason}" for one in missing)
        return "; ".join(said)[:500]
    choices = [seat["choice"] for seat in state["seats"] if "choice" in seat]
    after = f"after cycle {state['cycle']}"
    if not choices:
        return f"one text {after}: nothing was left to vote on"
    votes = ", ".join(str(count) for _, count in Counter(choices).most_common())
    lost = len(state["seats"]) - len(choices)
    text = f"still divided {after}: votes {votes}"
    if verdict == "accepted":
        others = _supporters(state) - choices.count(state["chosen"])
        text = f"votes {votes} {after}" + (f", {others} more find it equally good" if others else "")
    return f"{text}, {lost} lost" if lost else text


def _golden(
    state: State,
    options: ReviewOptions,
    sample: Sample,
    candidates: Mapping[str, Candidate],
) -> GoldenCaption:
    chosen = candidates[state["chosen"]]
    voted = sum("choice" in seat for seat in state["seats"])
    texts = {id: Text(one.text, one.sources) for id, one in candidates.items()}
    origins = [
        Origin(
            sentence=one.sentence,
            candidate=one.text,
            author=candidates[one.text].author,
            cycle=candidates[one.text].cycle,
            likeness=round(one.likeness, 4),
            also=tuple(candidates[id].author for id in one.also),
        )
        for one in trace_sentences(state["chosen"], texts)
    ]
    return GoldenCaption(
        sample=sample.digest,
        sample_id=sample.id,
        text=chosen.text,
        candidate=state["chosen"],
        author=chosen.author,
        cycle=state["cycle"],
        agreement=state.get("agreement") or "unanimous",
        panel=options.panel,
        votes=_supporters(state),
        lost=len(options.panel) - voted if voted else 0,
        origins=tuple(origins),
    )
