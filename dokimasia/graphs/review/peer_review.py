"""Circular peer review: a panel describes, compares, ranks, rewrites and votes until it agrees (PerceptionRubrics, 3.3.1).

    describe ─► compare ─► vote ─► tally ─► conclude ─► end
                 ▲  └ nothing to ─► │
                 │      vote on     │ divided, and a cycle is left
                 └──────────────────┘

In every node, the members work concurrently. The text that a member writes or keeps in a cycle becomes its candidate. A
unanimous vote ends the review. If votes are still divided after the last cycle, the sample is discarded, and the record
keeps all texts. If all candidates are the same text, it is accepted without a vote; if they are those of the last vote,
that vote stands. A member with an unusable reply loses its turn: its candidate stays the same, or its vote is missing.
A review is incomplete, which does not count as disagreement, if a reply did not arrive, no member has a candidate, or
the last cycle has fewer than two votes. Each member sees the candidates without names, in a random order derived from
seed, image, member, cycle and step. Every step is checkpointed; the state holds ids.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypedDict, cast

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import AskResult
from dokimasia.agents.candidate import describe_image
from dokimasia.agents.review import review_candidates, vote_for_best
from dokimasia.algorithms.text.descent import Text, trace_sentences
from dokimasia.algorithms.text.similarity import substance
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.judgement import OPEN_KINDS, FailureKind
from dokimasia.domain.review import (
    MIN_VOTES,
    NOT_HEARD,
    Candidate,
    CandidateComparison,
    GoldenCaption,
    LostTurn,
    Origin,
    Part,
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
from dokimasia.graphs.reasking import gather_all
from dokimasia.graphs.versions import VERSIONS

NAME = "peer_review"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True
NEEDS_PROMPT = False

SeatKey = Literal["candidate", "standing", "review", "vote", "choice", "lost"]


class Seat(TypedDict, total=False):
    """One member's part in the current cycle: ids of its candidate, its comparison, its new candidate and its vote.

    `standing` is the candidate that it wrote or kept, or its earlier one if it lost its turn. `choice` is the id of the
    candidate that it voted for, `equal` has those it finds equally good, and `lost` is the id of a lost turn; `failed`
    is the kind of failure if no reply arrived.
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
    """Ids of all texts, reviews and votes so far, in order; `verdict` is empty while the review goes on.

    `settled`: a cycle left nothing to vote on (one text, or the candidates of the last vote).
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


async def describe(state: State, runtime: Runtime[Context]) -> State:
    """Have every member write its draft."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])

    async def write_draft(member: str) -> Seat:
        ask = describe_image(sample, options.request, repeat=_draw_of(options, member))
        reply = await context.ask(ask, model=member)
        seat = await _with_reply(Seat(member=member), reply, sample, context, cycle=0, part="describe")
        if reply.value is None:
            return seat
        draft = Candidate(
            sample=sample.digest,
            author=member,
            cycle=0,
            text=reply.value.text,
            flags=reply.value.flags,
            provenance=reply.provenance,
        )
        return {**seat, "candidate": await context.store.put(draft)}

    seats = await gather_all(map(write_draft, options.panel))
    return {"seats": seats, "cycle": 1, "candidates": _ids("candidate", seats), "lost": _ids("lost", seats)}


async def compare(state: State, runtime: Runtime[Context]) -> State:
    """Have every member compare all candidates with the image, rank them, and keep one or write a better one."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])
    pool = await _pool(state["seats"], context, "candidate")

    async def compare_candidates(seat: Seat) -> Seat:
        order = _shown_order(pool, state, seat, context, sample, "compare")
        texts = [pool[id].text for id in order]
        ask = review_candidates(sample, texts, request=options.request, published=options.published)
        reply = await context.ask(ask, model=seat["member"])
        seat = await _with_reply(seat, reply, sample, context, cycle=state["cycle"], part="compare")
        if reply.value is None:
            if "candidate" in seat:
                return {**seat, "standing": seat["candidate"]}
            return seat
        common = {"sample": sample.digest, "cycle": state["cycle"], "provenance": reply.provenance}
        standing = None if options.published else _kept_candidate(reply.value, order, pool)
        unchanged = standing is not None
        if standing is None:
            # in the panel's order, so that later no draw decides between equal candidates
            rewrite = Candidate(author=seat["member"], text=reply.value.rewrite, sources=tuple(pool), **common)
            standing = await context.store.put(rewrite)
        review = PeerReview(
            reviewer=seat["member"],
            shown=order,
            critiques=reply.value.critiques,
            ranking=tuple(order[number - 1] for number in reply.value.ranking),
            rewrite=standing,
            kept=unchanged,
            **common,
        )
        return {**seat, "standing": standing, "review": await context.store.put(review)}

    seats = await gather_all(map(compare_candidates, state["seats"]))
    new_pool = await _pool(seats, context, "standing")
    all_voted = len(_ids("choice", seats)) == len(seats)
    votes_stand = all_voted and not _ids("lost", seats) and _substances(new_pool) == _substances(pool)
    if not votes_stand:
        seats = [_without_fields(seat, "choice") for seat in seats]
    return {
        "seats": seats,
        "candidates": _merged_ids(state.get("candidates", []), _ids("standing", seats)),
        "reviews": _merged_ids(state.get("reviews", []), _ids("review", seats)),
        "lost": _merged_ids(state.get("lost", []), _ids("lost", seats)),
        "settled": not options.published and (votes_stand or len(new_pool) < 2),
    }


async def vote(state: State, runtime: Runtime[Context]) -> State:
    """Have every member vote for the best candidate, and name others that are as good."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])
    pool = await _pool(state["seats"], context, "standing")

    async def cast_vote(seat: Seat) -> Seat:
        order = _shown_order(pool, state, seat, context, sample, "vote")
        texts = [pool[id].text for id in order]
        ask = vote_for_best(sample, texts, request=options.request, published=options.published)
        reply = await context.ask(ask, model=seat["member"])
        seat = await _with_reply(seat, reply, sample, context, cycle=state["cycle"], part="vote")
        if reply.value is None:
            return seat
        ballot = PeerVote(
            sample=sample.digest,
            voter=seat["member"],
            cycle=state["cycle"],
            shown=order,
            critiques=reply.value.critiques,
            place=reply.value.best,
            choice=order[reply.value.best - 1],
            equal=() if options.published else tuple(order[number - 1] for number in reply.value.equal),
            rationale=reply.value.rationale,
            provenance=reply.provenance,
        )
        id = await context.store.put(ballot)
        return {**seat, "choice": ballot.choice, "equal": list(ballot.equal), "vote": id}

    seats = await gather_all(map(cast_vote, state["seats"]))
    return {
        "seats": seats,
        "votes": _merged_ids(state.get("votes", []), _ids("vote", seats)),
        "lost": _merged_ids(state.get("lost", []), _ids("lost", seats)),
    }


async def tally(state: State, runtime: Runtime[Context]) -> State:
    """Count the votes by text; accept a text, start the next cycle with the members' new candidates, or end divided."""
    options = _options(runtime.context)
    choices = {seat["member"]: (seat["choice"], *seat.get("equal", ())) for seat in state["seats"] if "choice" in seat}
    standing = _ids("standing", state["seats"])
    if state["settled"] and not choices and len(standing) >= MIN_VOTES:
        return {"verdict": "accepted", "chosen": standing[0], "agreement": "unanimous"}
    last = state["cycle"] >= options.cycles or (state["settled"] and len(choices) >= MIN_VOTES)
    agreement = agreed(choices, options.accept, last=last)
    if agreement is not None:
        choice, rule = agreement
        return {"verdict": "accepted", "chosen": choice, "agreement": rule}
    if last:
        return {"verdict": "discarded" if len(choices) >= MIN_VOTES else "incomplete"}
    return {"cycle": state["cycle"] + 1, "seats": [_next(seat) for seat in state["seats"]]}


async def conclude(state: State, runtime: Runtime[Context]) -> State:
    """Store the record and, if the panel agreed, the golden caption with the origin of each of its sentences."""
    context = runtime.context
    options = _options(context)
    sample = await context.store.get(Sample, state["sample"])
    candidates = {id: await context.store.get(Candidate, id) for id in state.get("candidates", [])}
    lost = [await context.store.get(LostTurn, id) for id in state.get("lost", [])]
    verdict = state.get("verdict") or "incomplete"
    golden: str | None = None
    if verdict == "accepted":
        golden = await context.store.put(_golden_caption(state, options, sample, candidates))
    missing_turns = _missing_turns(lost) if verdict == "incomplete" else []
    record = ReviewRecord(
        sample=sample.digest,
        panel=options.panel,
        rule=options.accept,
        verdict=verdict,
        cycles=state["cycle"] if state.get("reviews") else 0,
        reason=_reason(state, verdict, missing_turns),
        candidates=tuple(state.get("candidates", [])),
        reviews=tuple(state.get("reviews", [])),
        votes=tuple(state.get("votes", [])),
        lost=tuple(state.get("lost", [])),
        tally=dict(sorted(Counter(_ids("choice", state["seats"])).items())),
        golden=golden,
        failed_member=missing_turns[0].member if missing_turns else None,
        failure=missing_turns[0].failure if missing_turns else None,
    )
    ids = [await context.store.put(record)]
    if golden is not None:
        ids.append(golden)
    ids += [*record.candidates, *record.reviews, *record.votes, *record.lost]
    end: State = {"result": ids, "calls": [key for seat in state["seats"] for key in seat.get("calls", [])]}
    if missing_turns:
        return {**end, "failed": missing_turns[0].failure, "reason": record.reason}
    return end


def _missing_turns(lost: Sequence[LostTurn]) -> list[LostTurn]:
    """Return the lost turns that leave a review incomplete: the last step's, open ones first, then unanswered ones."""
    last = [turn for turn in lost if (turn.cycle, turn.part) == (lost[-1].cycle, lost[-1].part)]
    return sorted(last, key=lambda turn: (turn.failure not in OPEN_KINDS, turn.failure not in NOT_HEARD))


def _supporters(state: State) -> int:
    """Return how many members consider the chosen text the best, alone or among others."""
    choice = state.get("chosen", "")
    return sum(choice in (seat["choice"], *seat.get("equal", ())) for seat in state["seats"] if "choice" in seat)


def _reason(state: State, verdict: Verdict, missing: Sequence[LostTurn]) -> str:
    if missing:
        reasons: list[str] = []
        for turn in missing:
            reasons.append(turn.reason if turn.failure in OPEN_KINDS else f"{turn.member} failed: {turn.reason}")
        return "; ".join(reasons)[:500]
    choices = _ids("choice", state["seats"])
    after = f"after cycle {state['cycle']}"
    if not choices:
        return f"one text {after}: nothing was left to vote on"
    votes = ", ".join(str(count) for _, count in Counter(choices).most_common())
    text = f"still divided {after}: votes {votes}"
    if verdict == "accepted":
        text = f"votes {votes} {after}"
        n_others = _supporters(state) - choices.count(state["chosen"])
        if n_others:
            text += f", {n_others} more find it equally good"
    lost = len(state["seats"]) - len(choices)
    return f"{text}, {lost} lost" if lost else text


def _golden_caption(
    state: State, options: ReviewOptions, sample: Sample, candidates: Mapping[str, Candidate]
) -> GoldenCaption:
    winner = candidates[state["chosen"]]
    voters = len(_ids("choice", state["seats"]))
    texts = {id: Text(candidate.text, candidate.sources) for id, candidate in candidates.items()}
    origins: list[Origin] = []
    for traced in trace_sentences(state["chosen"], texts):
        source = candidates[traced.text]
        origins.append(
            Origin(
                sentence=traced.sentence,
                candidate=traced.text,
                author=source.author,
                cycle=source.cycle,
                likeness=round(traced.likeness, 4),
                also=tuple(candidates[id].author for id in traced.also),
            )
        )
    return GoldenCaption(
        sample=sample.digest,
        sample_id=sample.id,
        text=winner.text,
        candidate=state["chosen"],
        author=winner.author,
        cycle=state["cycle"],
        agreement=state.get("agreement") or "unanimous",
        panel=options.panel,
        votes=_supporters(state),
        lost=len(options.panel) - voters if voters else 0,
        origins=tuple(origins),
    )


async def after_describing(state: State) -> Literal["compare", "conclude"]:
    """Return `compare`, or `conclude` (as incomplete) if a reply did not arrive or no member has a draft."""
    if _not_heard(state) or not _ids("candidate", state["seats"]):
        return "conclude"
    return "compare"


async def after_comparing(state: State) -> Literal["vote", "tally", "conclude"]:
    """Return `vote`, `tally` if there is nothing to vote on, or `conclude` (as incomplete)."""
    if _not_heard(state):
        return "conclude"
    return "tally" if state["settled"] else "vote"


async def after_voting(state: State) -> Literal["tally", "conclude"]:
    """Return `tally`, or `conclude` (as incomplete) if a reply did not arrive."""
    if _not_heard(state):
        return "conclude"
    return "tally"


async def after_tally(state: State) -> Literal["compare", "conclude"]:
    """Return `conclude` if there is a verdict, else `compare` for the next cycle."""
    if state.get("verdict"):
        return "conclude"
    return "compare"


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
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


def _not_heard(state: State) -> bool:
    """Return whether a member's reply is missing and may still arrive on a resume or retry."""
    return any("failed" in seat for seat in state["seats"])


def _draw_of(options: ReviewOptions, member: str) -> int:
    """Return the draw number of a member's draft, which differs between members that are the same model."""
    models = [(ref.model, ref.endpoint) for ref in map(options.ref, options.panel)]
    position = options.panel.index(member)
    return models[:position].count(models[position])


async def _pool(
    seats: Sequence[Seat], context: Context, kind: Literal["candidate", "standing"]
) -> dict[str, Candidate]:
    """Return the members' candidates by id, in the panel's order, without repeated texts."""
    pool: dict[str, tuple[str, Candidate]] = {}
    for id in dict.fromkeys(_ids(kind, seats)):
        candidate = await context.store.get(Candidate, id)
        pool.setdefault(substance(candidate.text), (id, candidate))
    return dict(pool.values())


def _shown_order(
    pool: Collection[str], state: State, seat: Seat, context: Context, sample: Sample, step: str
) -> tuple[str, ...]:
    """Return the candidates in the order in which a member sees them."""
    key = ("shown", context.seed, sample.cluster, seat["member"], state["cycle"], step)
    draws = {id: unit_interval(*key, number) for number, id in enumerate(pool)}
    return tuple(sorted(draws, key=lambda id: draws[id]))


def _kept_candidate(comparison: CandidateComparison, order: Sequence[str], pool: Mapping[str, Candidate]) -> str | None:
    """Return the candidate that a reviewer keeps or repeats word for word; None if its rewrite is a new text."""
    if comparison.keep is not None:
        return order[comparison.keep - 1]
    rewrite = substance(comparison.rewrite)
    return next((id for id, candidate in pool.items() if substance(candidate.text) == rewrite), None)


def _substances(pool: Mapping[str, Candidate]) -> set[str]:
    return {substance(candidate.text) for candidate in pool.values()}


async def _with_reply(
    seat: Seat, reply: AskResult[Any], sample: Sample, context: Context, *, cycle: int, part: Part
) -> Seat:
    """Return the seat with the calls of a reply and, if the reply failed, the lost turn."""
    seat = {**seat, "calls": [*seat.get("calls", []), *reply.calls]}
    if reply.failed is None:
        return seat
    turn = LostTurn(
        sample=sample.digest,
        member=seat["member"],
        cycle=cycle,
        part=part,
        failure=reply.failed.kind,
        reason=reply.failed.reason,
        call=reply.call or "",
    )
    seat["lost"] = await context.store.put(turn)
    if reply.failed.kind in NOT_HEARD or _options(context).published:
        seat["failed"] = reply.failed.kind
    return seat


def _next(seat: Seat) -> Seat:
    """Return the seat for the next cycle, with its current candidate and its last vote."""
    following = _without_fields(seat, "candidate", "standing", "review", "vote", "lost")
    if "standing" in seat:
        return {**following, "candidate": seat["standing"]}
    return following


def _without_fields(seat: Seat, *names: str) -> Seat:
    return cast("Seat", {name: value for name, value in seat.items() if name not in names})


def _ids(name: SeatKey, seats: Sequence[Seat]) -> list[str]:
    """Return the ids of one kind, in the panel's order."""
    return [seat[name] for seat in seats if name in seat]


def _merged_ids(ids: Sequence[str], new_ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*ids, *new_ids]))
