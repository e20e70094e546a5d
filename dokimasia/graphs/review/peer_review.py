"""Circular peer review: a panel describes, compares, ranks, rewrites and votes until it agrees (PerceptionRubrics, 3.3.1).

::

    describe ─► compare ─► vote ─► tally ─► conclude ─► end
                 ▲                   │ divided, and a cycle is left
                 └───────────────────┘

In every node the members work at once. The rewrites of a cycle replace the candidates; a unanimous vote ends the review,
and so do votes that are still divided after the last cycle: the sample is discarded, and kept with all that was written.
Where a member fails the review is incomplete, which is no divergence.
Each member sees the candidates without names, in an order drawn from seed, image, member, cycle and step. Every step is
checkpointed; the state holds ids.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import Asked
from dokimasia.agents.candidate import describe_image
from dokimasia.agents.review import review_candidates, vote_for_best
from dokimasia.algorithms.text.descent import Text, trace_sentences
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.review import (
    Candidate,
    GoldenCaption,
    Origin,
    PeerReview,
    PeerVote,
    ReviewOptions,
    ReviewRecord,
    Rule,
    Verdict,
    agreed,
)
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, own_options
from dokimasia.graphs.reasking import gathered
from dokimasia.graphs.versions import VERSIONS

NAME = "peer_review"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True
NEEDS_PROMPT = False


class Seat(TypedDict, total=False):
    """One member's part in the present cycle: ids of its candidate, its comparison, its rewrite and its vote.

    `choice` is the id of the candidate that it voted for; `failed` and `reason` say that it failed.
    """

    member: str
    candidate: str
    review: str
    rewrite: str
    vote: str
    choice: str
    failed: FailureKind
    reason: str
    calls: list[str]


class State(TypedDict, total=False):
    """Ids of all that was written so far, in order; `verdict` is empty while the review goes on."""

    sample: str
    cycle: int
    seats: list[Seat]
    candidates: list[str]
    reviews: list[str]
    votes: list[str]
    chosen: str
    agreement: Rule | Literal[""]
    verdict: Verdict | Literal[""]
    result: list[str]
    calls: list[str]
    failed: str
    reason: str


async def describe(state: State, runtime: Runtime[Context]) -> State:
    """Have every member write its draft."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])

    async def one(member: str) -> Seat:
        what = describe_image(sample, options.request, repeat=_draw_of(options, member))
        asked = await context.ask(what, model=member)
        seat = _heard(Seat(member=member), asked)
        if asked.value is None or asked.provenance is None:
            return seat
        draft = Candidate(
            sample=sample.digest,
            author=member,
            cycle=0,
            text=asked.value.text,
            flags=asked.value.flags,
            provenance=asked.provenance,
        )
        return {**seat, "candidate": await context.store.put(draft)}

    seats = await gathered(map(one, options.panel))
    return {"seats": seats, "cycle": 1, "candidates": [seat["candidate"] for seat in seats if "candidate" in seat]}


async def compare(state: State, runtime: Runtime[Context]) -> State:
    """Have every member compare all candidates with the image, rank them, and write a better one."""
    context = runtime.context

    async def one(seat: Seat) -> Seat:
        shown, texts, sample = await _shown(state, seat, context, "compare", "candidate")
        what = review_candidates(sample, texts, request=_options(context).request)
        asked = await context.ask(what, model=seat["member"])
        seat = _heard(seat, asked)
        if asked.value is None or asked.provenance is None:
            return seat
        common = {"sample": sample.digest, "cycle": state["cycle"], "provenance": asked.provenance}
        # in the panel's order, so that no draw decides between equals later
        sources = tuple(other["candidate"] for other in state["seats"] if other["candidate"] in shown)
        rewrite = Candidate(author=seat["member"], text=asked.value.rewrite, sources=sources, **common)
        rewrite_id = await context.store.put(rewrite)
        review = PeerReview(
            reviewer=seat["member"],
            shown=shown,
            critiques=asked.value.critiques,
            ranking=tuple(shown[number - 1] for number in asked.value.ranking),
            rewrite=rewrite_id,
            **common,
        )
        return {**seat, "rewrite": rewrite_id, "review": await context.store.put(review)}

    seats = await gathered(map(one, state["seats"]))
    return {
        "seats": seats,
        "candidates": _added(state.get("candidates", []), [seat["rewrite"] for seat in seats if "rewrite" in seat]),
        "reviews": _added(state.get("reviews", []), [seat["review"] for seat in seats if "review" in seat]),
    }


async def vote(state: State, runtime: Runtime[Context]) -> State:
    """Have every member vote for the best of the rewrites."""
    context = runtime.context

    async def one(seat: Seat) -> Seat:
        shown, texts, sample = await _shown(state, seat, context, "vote", "rewrite")
        what = vote_for_best(sample, texts, request=_options(context).request)
        asked = await context.ask(what, model=seat["member"])
        seat = _heard(seat, asked)
        if asked.value is None or asked.provenance is None:
            return seat
        given = PeerVote(
            sample=sample.digest,
            voter=seat["member"],
            cycle=state["cycle"],
            shown=shown,
            critiques=asked.value.critiques,
            place=asked.value.best,
            choice=shown[asked.value.best - 1],
            rationale=asked.value.rationale,
            provenance=asked.provenance,
        )
        return {**seat, "choice": given.choice, "vote": await context.store.put(given)}

    seats = await gathered(map(one, state["seats"]))
    given = [seat["vote"] for seat in seats if "vote" in seat]
    return {"seats": seats, "votes": _added(state.get("votes", []), given)}


async def tally(state: State, runtime: Runtime[Context]) -> State:
    """Count the votes by text: accept, go into the next cycle with the rewrites as candidates, or discard."""
    context = runtime.context
    options = _options(context)
    last = state["cycle"] >= options.cycles
    choices = {seat["member"]: (await context.store.get(Candidate, seat["choice"])).text for seat in state["seats"]}
    found = agreed(choices, options.accept, last=last)
    if found is not None:
        chosen = Counter(seat["choice"] for seat in state["seats"] if choices[seat["member"]] == found[0])
        return {"verdict": "accepted", "chosen": chosen.most_common(1)[0][0], "agreement": found[1]}
    if last:
        return {"verdict": "discarded"}
    seats = [
        Seat(member=seat["member"], candidate=seat["rewrite"], calls=seat.get("calls", [])) for seat in state["seats"]
    ]
    return {"cycle": state["cycle"] + 1, "seats": seats}


async def conclude(state: State, runtime: Runtime[Context]) -> State:
    """Write the record and, where the panel agreed, the golden caption with the origin of each of its sentences."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])
    candidates = {id: await context.store.get(Candidate, id) for id in state.get("candidates", [])}
    broken = _broken(state)
    verdict: Verdict = "incomplete" if broken is not None else state.get("verdict") or "discarded"
    counted = Counter(seat["choice"] for seat in state["seats"] if "choice" in seat)
    golden: str | None = None
    if verdict == "accepted":
        golden = await context.store.put(_golden(state, options, sample, candidates))
    record = ReviewRecord(
        sample=sample.digest,
        panel=options.panel,
        rule=options.accept,
        verdict=verdict,
        cycles=state["cycle"] if state.get("reviews") else 0,
        reason=_reason(state, verdict, broken, counted),
        candidates=tuple(state.get("candidates", [])),
        reviews=tuple(state.get("reviews", [])),
        votes=tuple(state.get("votes", [])),
        tally=dict(sorted(counted.items())),
        golden=golden,
        failed_member=broken["member"] if broken else None,
        failure=broken["failed"] if broken else None,
    )
    made = [golden] if golden else []
    ids = [await context.store.put(record), *made, *record.candidates, *record.reviews, *record.votes]
    ended: State = {"result": ids, "calls": [key for seat in state["seats"] for key in seat.get("calls", [])]}
    if broken is not None:
        return {**ended, "failed": broken["failed"], "reason": record.reason}
    return ended


async def unless_broken(state: State) -> Literal["go", "stop"]:
    """Go on, or conclude as incomplete."""
    return "stop" if _broken(state) else "go"


async def after_tally(state: State) -> Literal["compare", "conclude"]:
    """Conclude, or go into the next cycle."""
    return "conclude" if state.get("verdict") else "compare"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    for node in (describe, compare, vote, tally, conclude):
        graph.add_node(node)
    graph.add_edge(START, "describe")
    for before, after in itertools.pairwise(("describe", "compare", "vote", "tally")):
        graph.add_conditional_edges(before, unless_broken, {"go": after, "stop": "conclude"})
    graph.add_conditional_edges("tally", after_tally)
    return graph


def _options(context: Context) -> ReviewOptions:
    return own_options(context, ReviewOptions, "a peer review")


def _broken(state: State) -> Seat | None:
    """Return the first member that failed, in the panel's order."""
    return next((seat for seat in state["seats"] if "failed" in seat), None)


def _draw_of(options: ReviewOptions, member: str) -> int:
    """Return which draw a member's draft is: members that are one model under several names write several drafts."""
    places = [(ref.model, ref.endpoint) for ref in map(options.ref, options.panel)]
    seat = options.panel.index(member)
    return places[:seat].count(places[seat])


async def _shown(
    state: State, seat: Seat, context: Context, step: str, which: Literal["candidate", "rewrite"]
) -> tuple[tuple[str, ...], list[str], Sample]:
    """Return the candidates in the order in which a member sees them, their texts, and the sample."""
    sample = await context.store.get(Sample, state["sample"])
    drawn = {
        other[which]: unit_interval(
            "shown", context.seed, sample.cluster, seat["member"], state["cycle"], step, other["member"]
        )
        for other in state["seats"]
    }
    shown = tuple(sorted(drawn, key=lambda id: drawn[id]))
    return shown, [(await context.store.get(Candidate, id)).text for id in shown], sample


def _heard(seat: Seat, asked: Asked[Any]) -> Seat:
    """Return the seat with the calls of what its member was asked, and the failure where it failed."""
    heard: Seat = {**seat, "calls": [*seat.get("calls", []), *asked.calls]}
    if asked.failed is not None:
        heard |= {"failed": asked.failed.kind, "reason": asked.failed.reason}
    return heard


def _added(known: list[str], more: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*known, *more]))


def _reason(state: State, verdict: Verdict, broken: Seat | None, counted: Counter[str]) -> str:
    if broken is not None:
        return f"{broken['member']} failed: {broken.get('reason', '')}"[:500]
    votes = ", ".join(str(count) for _, count in counted.most_common())
    if verdict == "accepted":
        return f"votes {votes} after cycle {state['cycle']}"
    return f"still divided after cycle {state['cycle']}: votes {votes}"


def _golden(state: State, options: ReviewOptions, sample: Sample, candidates: dict[str, Candidate]) -> GoldenCaption:
    chosen = candidates[state["chosen"]]
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
        cycle=chosen.cycle,
        agreement=state.get("agreement") or "unanimous",
        panel=options.panel,
        votes=sum(candidates[seat["choice"]].text == chosen.text for seat in state["seats"]),
        origins=tuple(origins),
    )
