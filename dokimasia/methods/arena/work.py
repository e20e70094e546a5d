"""The work of an arena: round by round, each drawn from the rows of those before, and in it case by case."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from random import Random

from dokimasia.algorithms.pairwise import all_pairs, swiss_round
from dokimasia.domain.duel import ArenaRound
from dokimasia.domain.sample import Sample
from dokimasia.methods.arena.request import ArenaPlan, Pair
from dokimasia.methods.arena.rows import DRAW, draws, halves, outcomes
from dokimasia.methods.duel import hold_against
from dokimasia.runs.work import Job, Stage
from dokimasia.storage.results import record_results


async def stages(job: Job[ArenaPlan]) -> AsyncIterator[Stage[Sample]]:
    """Yield a stage a round; where the budget ends before a round is done, a resume goes on with it."""
    half_of = halves(job.home, job.run.id, job.plan.seed)
    for number in range(1, job.plan.rounds + 1):
        drawn = await _draw(job, number, half_of)
        if not any(drawn.halves):
            return
        yield await asyncio.to_thread(_round, job, drawn, half_of)
        if job.left_open:
            return


def _round(job: Job[ArenaPlan], drawn: ArenaRound, half_of: Mapping[str, int]) -> Stage[Sample]:
    meetings = [sorted(half, key=itemgetter(1)) for half in drawn.halves]

    async def do(sample: Sample) -> None:
        for against, pairs in groupby(meetings[half_of[sample.id]], key=itemgetter(1)):
            items = (item for pair in pairs for item in job.plan.meeting(sample.id, pair))
            await hold_against(job, sample, items, against=against)
        job.progress.samples_done += 1

    count = sum(len(drawn.halves[half]) for half in half_of.values())
    return Stage(job.samples(), do, items=count * job.plan.repeats)


async def _draw(job: Job[ArenaPlan], number: int, half_of: Mapping[str, int]) -> ArenaRound:
    """Return a round as it was drawn; one that is drawn stays, also where failed items of those before are asked anew."""
    earlier = draws(job.home, job.run.id)
    if number <= len(earlier):
        return earlier[number - 1]
    names, seed = job.plan.names, job.plan.seed
    if job.plan.draw == "all":
        pairs = await asyncio.to_thread(lambda: tuple(all_pairs(names)))
        drawn = ArenaRound(number=number, halves=(pairs, pairs))
    else:
        first, second = [await asyncio.to_thread(_swiss, job, earlier, half, half_of, names, seed) for half in (0, 1)]
        drawn = ArenaRound(number=number, halves=(first, second))
    id = await job.services.store.put(drawn)
    await record_results(job.home, [job.row(None, f"{DRAW}/{number}", kind=DRAW, value_ids=(id,), outcome="made")])
    return drawn


def _swiss(
    job: Job[ArenaPlan],
    earlier: Sequence[ArenaRound],
    half: int,
    half_of: Mapping[str, int],
    names: Sequence[str],
    seed: int,
) -> tuple[Pair, ...]:
    """Draw the pairs of one half of the cases from the points on the other half.

    Were a half drawn by its own results, luck would decide who meets whom and count again in the rating: intervals would
    be too narrow.
    """
    points: dict[str, list[float]] = {}
    for sample_id, one, other, outcome in outcomes(job.home, job.run, job.plan):
        if half_of[sample_id] != half:
            points.setdefault(one, []).append((1 + outcome) / 2)
            points.setdefault(other, []).append((1 - outcome) / 2)
    means = {name: sum(values) / len(values) for name, values in points.items()}
    met = [pair for one in earlier for pair in one.halves[half]]
    return tuple(swiss_round(names, means, met, seed=Random(f"{seed}/{len(earlier)}/{half}").getrandbits(32)))
