"""The work of an arena: rounds of cases, each drawn from the results of earlier rounds."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from random import Random

from dokimasia.algorithms.pairwise import all_pairs, swiss_round
from dokimasia.domain.duel import ArenaRound
from dokimasia.domain.sample import Sample
from dokimasia.methods.arena.figures import DRAW, drawn_rounds, halves, meetings_of, outcomes
from dokimasia.methods.arena.request import ArenaPlan, Pair
from dokimasia.methods.duel import compare_with
from dokimasia.runs.work import Job, Stage
from dokimasia.storage.results import record_results


async def stages(job: Job[ArenaPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield a stage per round; if the budget runs out during a round, a resume continues it."""
    half_of = halves(job.home, job.run.id, job.plan.seed)
    for number in range(1, job.plan.rounds + 1):
        arena_round = await _round(job, number, half_of)
        if not any(arena_round.halves):
            return
        yield await asyncio.to_thread(_stage, job, arena_round, half_of)
        if job.left_open:
            return


def _stage(job: Job[ArenaPlan], arena_round: ArenaRound, half_of: Mapping[str, int]) -> Stage[Sample]:
    pairs_by_half = [sorted(half, key=itemgetter(1)) for half in arena_round.halves]

    async def meet(sample: Sample) -> None:
        for opponent, pairs in groupby(pairs_by_half[half_of[sample.id]], key=itemgetter(1)):
            items = [item for pair in pairs for item in job.plan.meeting(sample.id, pair)]
            if items:
                await compare_with(job, sample, items, opponent=opponent)
        job.progress.samples_done += 1

    count = meetings_of([arena_round], half_of, job.plan)
    return Stage(job.samples(), meet, items=count * job.plan.repeats)


async def _round(job: Job[ArenaPlan], number: int, half_of: Mapping[str, int]) -> ArenaRound:
    """Return the pairs of a round, which stay as drawn even if failed items of earlier rounds are retried."""
    earlier = drawn_rounds(job.home, job.run.id)
    if number <= len(earlier):
        return earlier[number - 1]
    if job.plan.draw == "all":
        pairs = await asyncio.to_thread(lambda: tuple(all_pairs(job.plan.names)))
        arena_round = ArenaRound(number=number, halves=(pairs, pairs))
    else:
        first = await asyncio.to_thread(_swiss_pairs, job, earlier, 0, half_of)
        second = await asyncio.to_thread(_swiss_pairs, job, earlier, 1, half_of)
        arena_round = ArenaRound(number=number, halves=(first, second))
    id = await job.services.store.put(arena_round)
    await record_results(job.home, [job.row(None, f"{DRAW}/{number}", kind=DRAW, value_ids=(id,), outcome="made")])
    return arena_round


def _swiss_pairs(
    job: Job[ArenaPlan], earlier: Sequence[ArenaRound], half: int, half_of: Mapping[str, int]
) -> tuple[Pair, ...]:
    """Draw the pairs for one half of the cases from the points on the other half.

    If a half's own results decided its pairs, luck would affect both the draw and the rating, and intervals would be
    too narrow.
    """
    points: dict[str, list[float]] = {}
    for sample_id, first, second, outcome in outcomes(job.home, job.run, job.plan):
        if half_of[sample_id] != half:
            points.setdefault(first, []).append((1 + outcome) / 2)
            points.setdefault(second, []).append((1 - outcome) / 2)
    means = {name: sum(values) / len(values) for name, values in points.items()}
    pairs = [pair for arena_round in earlier for pair in arena_round.halves[half]]
    seed = Random(f"{job.plan.seed}/{len(earlier)}/{half}").getrandbits(32)
    return tuple(swiss_round(job.plan.names, means, pairs, seed=seed))
