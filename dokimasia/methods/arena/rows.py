"""An arena's stored rows: the rounds as they were drawn, which half of the cases is which, and who won."""

from collections.abc import Iterator
from random import Random

from dokimasia.domain.duel import ArenaRound
from dokimasia.methods.arena.request import ArenaPlan
from dokimasia.methods.duel import complete, judgements
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, run_samples

DRAW = "arena_draw"


def draws(home: Home, run_id: str) -> list[ArenaRound]:
    """Return the rounds that were drawn, in order."""
    ids = [row.value_ids[0] for row in results(home, run_id) if row.kind == DRAW]
    return sorted(find_values(home, ArenaRound, ids).values(), key=lambda one: one.number)


def halves(home: Home, run_id: str, seed: int) -> dict[str, int]:
    """Return which half, 0 or 1, each case belongs to; cases that share an image belong to the same one."""
    places = run_samples(home, run_id)
    clusters = sorted({place.cluster for place in places})
    Random(seed).shuffle(clusters)
    half = {cluster: at % 2 for at, cluster in enumerate(clusters)}
    return {place.sample_id: half[place.cluster] for place in places}


def outcomes(home: Home, run: Run, plan: ArenaPlan) -> Iterator[tuple[str, str, str, int]]:
    """Yield of each verdict of meetings judged in both orders the case, both models, and 1, 0 or -1 for the first."""
    rows = [row for row in results(home, run.id) if row.kind == plan.KIND]
    judged = judgements(home, rows)
    for row in rows:
        other = plan.held_against(row)
        for verdict in complete(one.verdict for one in judged[row.item]):
            yield row.sample_id, row.model, other, (verdict > 0) - (verdict < 0)
