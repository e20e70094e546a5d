"""Usage, scored answers and progress of runs, computed by the database to save memory."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dokimasia.domain.call import MOST_TOKENS
from dokimasia.domain.judgement import FailureKind
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of

PAGE = 5_000
NANO = 1_000_000_000
MOST_COST = 1e6
"""The maximum US dollars counted for one call."""


class LedgerUsage(NamedTuple):
    """The usage of a set of ledger entries: entries, reported tokens, entries without reported tokens, US dollars.

    `input_tokens` and `output_tokens` are None if no entry reported them, as is `cached_tokens`, the part of the input
    that came from providers' caches. `cost` is None if the cost of any entry is unknown; `known` is then the sum of the
    others.
    """

    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    unknown: int = 0
    cost: float | None = 0.0
    known: float = 0.0
    cached_tokens: int | None = None


class RunUsage(NamedTuple):
    """The usage of a run's items, by (kind, model, arm), and of all together; a call counts once in each."""

    by_work: dict[tuple[str, str, str], LedgerUsage]
    together: LedgerUsage


class ScoredAnswer(NamedTuple):
    """A scored or failed answer, as figures need it.

    `model` is the displayed name with the arm, as of `runs.figures.shown_name`. `referenced` states whether the sample
    has a reference answer. The other fields are as in `storage.results.ResultRow`.
    """

    sample_id: str
    cluster: str
    category: str | None
    model: str
    repeat: int
    score: float | None
    failure: FailureKind | None
    referenced: bool = False
    verdict: str | None = None
    stated: float | None = None
    stated_score: float | None = None
    length: int | None = None
    criteria_id: str | None = None
    judgement_id: str | None = None
    final_id: str | None = None
    item: str = ""


_SUMS = f"""
    count(*), sum(min(c.input_tokens, {MOST_TOKENS})), sum(min(c.output_tokens, {MOST_TOKENS})),
    sum(c.input_tokens IS NULL OR c.output_tokens IS NULL),
    sum(CAST(round(min(c.cost, {MOST_COST}) * {NANO}) AS INTEGER)), sum(c.cost IS NULL),
    sum(min(c.cached_tokens, {MOST_TOKENS}))
"""


_CALLS_OF = "FROM results r, json_each(r.calls) listed JOIN calls c ON c.key = listed.value WHERE r.run_id = ?"
"""The calls of a run; their row numbers are deduplicated much faster than their keys."""


def usage_of(home: Home, run_id: str) -> RunUsage:
    """Return the usage of a run's items.

    Costs are summed in integer billionths of a dollar, so that the order of rows cannot change a sum. Impossible counts,
    which older versions stored, are capped, so that no sum exceeds 64 bits.
    """
    sql = f"""
        WITH used AS (SELECT DISTINCT c.rowid AS call, r.kind, r.model, r.arm {_CALLS_OF})
        SELECT used.kind, used.model, used.arm, {_SUMS} FROM used JOIN calls c ON c.rowid = used.call
        GROUP BY used.kind, used.model, used.arm
        UNION ALL
        SELECT NULL, NULL, NULL, {_SUMS} FROM (SELECT DISTINCT call FROM used) JOIN calls c ON c.rowid = call
    """
    *by_work, (_, _, _, *together) = home.all(sql, (run_id,))
    return RunUsage({(kind, model, arm): _usage(*sums) for kind, model, arm, *sums in by_work}, _usage(*together))


def has_calls_since(home: Home, run_id: str, moment: str) -> bool:
    """Return whether a run's results rest on a call of this moment or later, in UTC and ISO format."""
    return bool(home.all(f"SELECT 1 {_CALLS_OF} AND c.created_at >= ? LIMIT 1", (run_id, moment)))


def total_usage(home: Home, run_id: str) -> LedgerUsage:
    """Return the usage of all of a run's items together, each call counted once."""
    sql = f"SELECT {_SUMS} FROM calls c WHERE c.rowid IN (SELECT c.rowid {_CALLS_OF})"
    [sums] = home.all(sql, (run_id,))
    return _usage(*sums)


def usage_by_model(home: Home) -> dict[str, LedgerUsage]:
    """Return the usage of everything in the ledger, by the model's name at the time of the call."""
    rows = home.all(f"SELECT c.model_name, {_SUMS} FROM calls c GROUP BY c.model_name")
    return {model: _usage(*sums) for model, *sums in rows}


def has_unpriced(home: Home, run_id: str) -> bool:
    """Return whether a run's results rest on a call whose cost is unknown."""
    sql = """
        SELECT 1 FROM results r, json_each(r.calls) call JOIN calls c ON c.key = call.value
        WHERE r.run_id = ? AND c.cost IS NULL LIMIT 1
    """
    return bool(home.all(sql, (run_id,)))


def _usage(
    calls: int,
    input_tokens: int | None,
    output_tokens: int | None,
    unknown: int,
    nano: int | None,
    n_unpriced: int,
    cached_tokens: int | None,
) -> LedgerUsage:
    """Return the usage for the values of `_SUMS`, which may be of no call."""
    if not calls:
        return LedgerUsage()
    cost = (nano or 0) / NANO
    usage = LedgerUsage(calls, input_tokens, output_tokens, unknown, cost, cached_tokens=cached_tokens)
    if n_unpriced:
        return usage._replace(cost=None, known=cost)
    return usage


def scored_answers(home: Home, run_id: str, *, as_judged: bool = False) -> Iterator[ScoredAnswer]:
    """Yield a run's answers with results by sample, model, arm and repeat, read page by page.

    Corrections by people apply, and samples they excluded are left out, unless `as_judged` is set.
    """
    sql = """
        SELECT r.sample_id, s.cluster, v.category, CASE r.arm WHEN '' THEN r.model ELSE r.model || '#' || r.arm END, r.repeat,
               r.score, r.failure,
               v.reference_answer IS NOT NULL OR json_extract(v.body, '$.reference_answers[0]') IS NOT NULL,
               r.verdict, r.stated, r.stated_score, r.length, r.criteria_id, r.judgement_id, r.final_id, r.item
        FROM run_samples s
        JOIN results r ON r.run_id = s.run_id AND r.sample_id = s.sample_id
        JOIN samples v ON v.id = s.sample
        WHERE s.run_id = ? AND s.position >= ? AND s.position < ? AND r.kind = 'score'
        ORDER BY s.position, r.model, r.arm, r.repeat
    """
    corrections = None if as_judged else corrections_of(home, run_id)
    [(end,)] = home.all("SELECT coalesce(max(position) + 1, 0) FROM run_samples WHERE run_id = ?", (run_id,))
    for start in range(0, end, PAGE):
        answers = map(ScoredAnswer._make, home.all(sql, (run_id, start, start + PAGE)))
        if not corrections:
            yield from answers
            continue
        for answer in answers:
            if answer.sample_id in corrections.left_out:
                continue
            correction = corrections.of(answer.item, answer.judgement_id, answer.final_id)
            yield answer if correction is None else answer._replace(**correction.now._asdict())


def count_calls(home: Home, run_id: str) -> int:
    """Return the number of distinct model calls behind a run's results; replies of people do not count."""
    sql = (
        "SELECT count(DISTINCT call.value) FROM results r, json_each(r.calls) call WHERE r.run_id = ? "
        "AND call.value NOT IN (SELECT call_key FROM questions)"
    )
    [(calls,)] = home.all(sql, (run_id,))
    return calls


class ReachedCounts(NamedTuple):
    """Progress counts of a run: samples, samples with a result, results, and failed results.

    Items that wait for people have no result yet and are counted as `waiting`. Neither they nor items beyond the budget
    count as failed.
    """

    samples: int = 0
    begun: int = 0
    results: int = 0
    failed: int = 0
    waiting: int = 0


def reached_counts(home: Home, run_ids: Iterable[str]) -> dict[str, ReachedCounts]:
    """Return the progress counts of runs, by id."""
    ids = list(run_ids)
    samples = dict(
        home.all_among("SELECT run_id, count(*) FROM run_samples WHERE run_id IN ({marks}) GROUP BY run_id", ids)
    )
    rows = home.all_among(
        "SELECT run_id, count(DISTINCT sample_id) FILTER (WHERE failure IS NOT 'waiting'), "
        "sum(failure IS NOT 'waiting'), sum(coalesce(failure, 'waiting') NOT IN ('waiting', 'budget')), "
        "sum(failure IS 'waiting') FROM results WHERE run_id IN ({marks}) GROUP BY run_id",
        ids,
    )
    by_run = {run_id: ReachedCounts(count) for run_id, count in samples.items()}
    by_run |= {run_id: ReachedCounts(samples.get(run_id, 0), *counts) for run_id, *counts in rows}
    return by_run


def count_items(home: Home, run_id: str) -> tuple[int, int]:
    """Return the number of a run's samples, and the number of items with a result."""
    sql = "SELECT count(*) FROM {} WHERE run_id = ?"
    [(samples,)], [(rows,)] = (home.all(sql.format(table), (run_id,)) for table in ("run_samples", "results"))
    return samples, rows
