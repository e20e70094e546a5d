"""An arena's stored rows as figures: what `arena` and `show` print."""

from typing import Any

from dokimasia.methods.arena.figures import Meeting, arena_figures
from dokimasia.methods.arena.request import ArenaPlan
from dokimasia.methods.arena.rows import draws, halves
from dokimasia.methods.duel import duel_rows
from dokimasia.runs.figures import heading, paid
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run


def arena_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of an arena, ready for JSON; the same stored rows give the same bytes."""
    plan = ArenaPlan.model_validate(run.options["plan"])
    rows = [row for row in results(home, run.id) if row.kind == plan.KIND]
    rounds = draws(home, run.id)
    half_of = halves(home, run.id, plan.seed)
    drawn = sum(len(one.halves[half]) for one in rounds for half in half_of.values())
    to_come = 0 if run.status == "done" else (plan.rounds - len(rounds)) * plan.pairs_a_round * len(half_of)
    meetings = [Meeting(one, plan.held_against(row)) for row, one in zip(rows, duel_rows(home, run), strict=True)]
    return {
        **heading(run, plan),
        "samples": len(half_of),
        "open_items": (drawn + to_come) * plan.repeats - len(rows),
        "draw": plan.draw,
        "rounds": [one.model_dump(mode="json")["halves"] for one in rounds],
        "repeats": plan.repeats,
        "judge_sees": plan.judge_sees,
        **arena_figures(meetings, plan.names, parts=plan.parts, scores=plan.scores, seed=run.seed),
        **paid(home, rows),
    }
