"""Circular peer review: a panel describes, compares, ranks, rewrites and votes until it agrees (PerceptionRubrics, 3.3.1).

    describe ─► compare ─► vote ─► tally ─► conclude ─► end
                 ▲  └ nothing to ─► │
                 │      vote on     │ divided, and a cycle is left
                 └──────────────────┘

In every node the members work at once. What a member writes in a cycle, or keeps of what it was shown, is its
candidate from then on. A unanimous vote ends the review, and so do votes that are still divided after the last cycle: the
sample is discarded, and kept with all that was written. Where the candidates of all are one text there is nothing to vote
on, and it is accepted; where they are those of the last vote, that vote stands.
A reply that cannot be used costs its member the turn: its candidate stays as it is, or its vote is missing. A review is
incomplete, which is no divergence, where a reply did not come at all, nobody has a candidate, or the last cycle brings
fewer than two votes.
Each member sees the candidates without names, in an order drawn from seed, image, member, cycle and step. Every step is
checkpointed; the state holds ids.
"""

from collections.abc import Sequence
from typing import Any, Literal, cast

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import AskResult
from dokimasia.agents.candidate import describe_image
from dokimasia.agents.review import review_candidates, vote_for_best
from dokimasia.algorithms.text.similarity import substance
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.review import (
    MIN_VOTES,
    NOT_HEARD,
    Candidate,
    CandidateComparison,
    LostTurn,
    Part,
    PeerReview,
    PeerVote,
    ReviewOptions,
    agreed,
)
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, own_options
from dokimasia.graphs.reasking import gathered
from dokimasia.graphs.review.concluding import Seat, State, conclude, not_heard
from dokimasia.graphs.versions import VERSIONS

NAME = "peer_review"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True
NEEDS_PROMPT = False


async def describe(state: State, runtime: Runtime[Context]) -> State:
    """Have every member write its draft."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])

    async def one(member: str) -> Seat:
        what = describe_image(sample, options.request, repeat=_draw_of(options, member))
        asked = await context.ask(what, model=member)
        seat = await _heard(Seat(member=member), asked, sample, context, cycle=0, part="describe")
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
    return {
        "seats": seats,
        "cycle": 1,
        "candidates": [seat["candidate"] for seat in seats if "candidate" in seat],
        "lost": _of("lost", seats),
    }


async def compare(state: State, runtime: Runtime[Context]) -> State:
    """Have every member compare all candidates with the image, rank them, and keep one or write a better one."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])
    pool = await _pool(state["seats"], context, "candidate")

    async def one(seat: Seat) -> Seat:
        shown = _ordered(pool, state, seat, context, sample, "compare")
        texts = [pool[id].text for id in shown]
        what = review_candidates(sample, texts, request=options.request, published=options.published)
        asked = await context.ask(what, model=seat["member"])
        seat = await _heard(seat, asked, sample, context, cycle=state["cycle"], part="compare")
        if asked.value is None or asked.provenance is None:
            return {**seat, "standing": seat["candidate"]} if "candidate" in seat else seat
        common = {"sample": sample.digest, "cycle": state["cycle"], "provenance": asked.provenance}
        standing = None if options.published else _kept(asked.value, shown, pool)
        kept = standing is not None
        if standing is None:
            # in the panel's order, so that no draw decides between equals later
            written = Candidate(author=seat["member"], text=asked.value.rewrite, sources=tuple(pool), **common)
            standing = await context.store.put(written)
        review = PeerReview(
            reviewer=seat["member"],
            shown=shown,
            critiques=asked.value.critiques,
            ranking=tuple(shown[number - 1] for number in asked.value.ranking),
            rewrite=standing,
            kept=kept,
            **common,
        )
        return {**seat, "standing": standing, "review": await context.store.put(review)}

    seats = await gathered(map(one, state["seats"]))
    left = await _pool(seats, context, "standing")
    all_voted = len(_of("choice", seats)) == len(seats)
    votes_stand = all_voted and not _of("lost", seats) and _substances(left) == _substances(pool)
    if not votes_stand:
        seats = [_without(seat, "choice") for seat in seats]
    return {
        "seats": seats,
        "candidates": _added(state.get("candidates", []), _of("standing", seats)),
        "reviews": _added(state.get("reviews", []), _of("review", seats)),
        "lost": _added(state.get("lost", []), _of("lost", seats)),
        "settled": not options.published and (votes_stand or len(left) < 2),
    }


async def vote(state: State, runtime: Runtime[Context]) -> State:
    """Have every member vote for the best of the candidates, and say which others are as good."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])
    pool = await _pool(state["seats"], context, "standing")

    async def one(seat: Seat) -> Seat:
        shown = _ordered(pool, state, seat, context, sample, "vote")
        texts = [pool[id].text for id in shown]
        what = vote_for_best(sample, texts, request=options.request, published=options.published)
        asked = await context.ask(what, model=seat["member"])
        seat = await _heard(seat, asked, sample, context, cycle=state["cycle"], part="vote")
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
            equal=() if options.published else tuple(shown[number - 1] for number in asked.value.equal),
            rationale=asked.value.rationale,
            provenance=asked.provenance,
        )
        vote = await context.store.put(given)
        return {**seat, "choice": given.choice, "equal": list(given.equal), "vote": vote}

    seats = await gathered(map(one, state["seats"]))
    return {
        "seats": seats,
        "votes": _added(state.get("votes", []), _of("vote", seats)),
        "lost": _added(state.get("lost", []), _of("lost", seats)),
    }


async def tally(state: State, runtime: Runtime[Context]) -> State:
    """Count the votes by text: accept, go into the next cycle with what each member wrote or kept, or end divided."""
    options = _options(runtime.context)
    choices = {seat["member"]: (seat["choice"], *seat.get("equal", ())) for seat in state["seats"] if "choice" in seat}
    held = _of("standing", state["seats"])
    if state["settled"] and not choices and len(held) >= MIN_VOTES:
        return {"verdict": "accepted", "chosen": held[0], "agreement": "unanimous"}
    last = state["cycle"] >= options.cycles or (state["settled"] and len(choices) >= MIN_VOTES)
    found = agreed(choices, options.accept, last=last)
    if found is not None:
        return {"verdict": "accepted", "chosen": found[0], "agreement": found[1]}
    if last:
        return {"verdict": "discarded" if len(choices) >= MIN_VOTES else "incomplete"}
    return {"cycle": state["cycle"] + 1, "seats": [_next(seat) for seat in state["seats"]]}


async def after_describing(state: State) -> Literal["compare", "conclude"]:
    """Go on, or conclude as incomplete where a reply did not come or nobody has a draft."""
    return "conclude" if not_heard(state) or not _of("candidate", state["seats"]) else "compare"


async def after_comparing(state: State) -> Literal["vote", "tally", "conclude"]:
    """Have the panel vote, if there is something to vote on, or conclude as incomplete."""
    if not_heard(state):
        return "conclude"
    return "tally" if state["settled"] else "vote"


async def after_voting(state: State) -> Literal["tally", "conclude"]:
    """Count the votes, or conclude as incomplete."""
    return "conclude" if not_heard(state) else "tally"


async def after_tally(state: State) -> Literal["compare", "conclude"]:
    """Conclude, or go into the next cycle."""
    return "conclude" if state.get("verdict") else "compare"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    for node in (describe, compare, vote, tally, conclude):
        graph.add_node(node)
    graph.add_edge(START, "describe")
    graph.add_conditional_edges("describe", after_describing)
    graph.add_conditional_edges("compare", after_comparing)
    graph.add_conditional_edges("vote", after_voting)
    graph.add_conditional_edges("tally", after_tally)
    return graph


def _options(context: Context) -> ReviewOptions:
    return own_options(context, ReviewOptions, "a peer review")


def _draw_of(options: ReviewOptions, member: str) -> int:
    """Return which draw a member's draft is: members that are one model under several names write several drafts."""
    places = [(ref.model, ref.endpoint) for ref in map(options.ref, options.panel)]
    seat = options.panel.index(member)
    return places[:seat].count(places[seat])


async def _pool(
    seats: Sequence[Seat], context: Context, which: Literal["candidate", "standing"]
) -> dict[str, Candidate]:
    """Return the members' candidates by id, in the panel's order; of those that are one text the first."""
    found: dict[str, tuple[str, Candidate]] = {}
    for id in dict.fromkeys(_of(which, seats)):
        one = await context.store.get(Candidate, id)
        found.setdefault(substance(one.text), (id, one))
    return dict(found.values())


def _ordered(
    pool: dict[str, Candidate], state: State, seat: Seat, context: Context, sample: Sample, step: str
) -> tuple[str, ...]:
    """Return the candidates in the order in which a member sees them."""
    place = ("shown", context.seed, sample.cluster, seat["member"], state["cycle"], step)
    drawn = {id: unit_interval(*place, number) for number, id in enumerate(pool)}
    return tuple(sorted(drawn, key=lambda id: drawn[id]))


def _kept(said: CandidateComparison, shown: Sequence[str], pool: dict[str, Candidate]) -> str | None:
    """Return the candidate that a reviewer keeps, or writes down once more; None where its rewrite is a text of its own."""
    if said.keep is not None:
        return shown[said.keep - 1]
    return next((id for id, one in pool.items() if substance(one.text) == substance(said.rewrite)), None)


def _substances(pool: dict[str, Candidate]) -> set[str]:
    return {substance(one.text) for one in pool.values()}


async def _heard(
    seat: Seat, asked: AskResult[Any], sample: Sample, context: Context, *, cycle: int, part: Part
) -> Seat:
    """Return the seat with the calls of what its member was asked and, where that came to nothing, the lost turn."""
    heard: Seat = {**seat, "calls": [*seat.get("calls", []), *asked.calls]}
    if asked.failed is None:
        return heard
    lost = LostTurn(
        sample=sample.digest,
        member=seat["member"],
        cycle=cycle,
        part=part,
        failure=asked.failed.kind,
        reason=asked.failed.reason,
        call=asked.call or "",
    )
    heard["lost"] = await context.store.put(lost)
    if asked.failed.kind in NOT_HEARD or _options(context).published:
        heard["failed"] = asked.failed.kind
    return heard


def _next(seat: Seat) -> Seat:
    """Return the seat as it goes into the next cycle, with its candidate as it stands and what it voted for."""
    following = _without(seat, "candidate", "standing", "review", "vote", "lost")
    return {**following, "candidate": seat["standing"]} if "standing" in seat else following


def _without(seat: Seat, *names: str) -> Seat:
    return cast("Seat", {name: value for name, value in seat.items() if name not in names})


def _of(name: Literal["candidate", "standing", "review", "vote", "choice", "lost"], seats: Sequence[Seat]) -> list[str]:
    """Return what the members have of one kind, in the panel's order."""
    return [seat[name] for seat in seats if name in seat]


def _added(known: Sequence[str], more: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*known, *more]))
