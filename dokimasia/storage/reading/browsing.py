"""Browsing of a run's samples: filtered, sorted, counted and paged by the database."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import orjson

from dokimasia.domain.judgement import EMPTY_REPLY
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of

Order = Literal["data", "low", "high", "apart", "name", "name-down", "most-failures", "fewest-failures"]
"""The order of samples: as in the data, by mean score (lowest or highest first; without scores by the share of right
answers), by the range of scores (widest first), by name, or by the number of failures."""

ReplyKind = Literal["refused", "truncated", "empty"]
"""The fault of a reply: a refusal, truncation at the token limit, or no text; also if it was scored nevertheless."""

ANY = "any"
"""Every kind of failure but `waiting`: an item that waits for a person has not failed."""

_ORDERS: dict[Order, str] = {
    "data": "p.position",
    "low": "o.mean IS NULL, o.mean, o.correct IS NULL, o.correct, p.position",
    "high": "o.mean IS NULL, o.mean DESC, o.correct IS NULL, o.correct DESC, p.position",
    "apart": "o.apart IS NULL, o.apart DESC, p.position",
    "name": "p.sample_id, p.position",
    "name-down": "p.sample_id DESC, p.position",
    "most-failures": "coalesce(f.failed, 0) DESC, p.position",
    "fewest-failures": "coalesce(f.failed, 0), p.position",
}
_BY_SCORE: tuple[Order, ...] = ("low", "high", "apart")
_BY_FAILURES: tuple[Order, ...] = ("most-failures", "fewest-failures")

_REPLIES: dict[ReplyKind, str] = {
    "refused": "(r.failure = 'refused' OR instr(t.flags, '\"refused\"'))",
    "truncated": "(r.failure = 'truncated' OR instr(t.flags, '\"truncated\"'))",
    "empty": "(r.failure = 'unparsable' AND r.reason = '"
    + EMPTY_REPLY
    + "' OR r.failure = 'truncated' AND r.response_id IS NULL)",
}

_SEARCHED = " || ' ' || ".join(
    ("s.sample_id", "coalesce(s.category, '')", "unpack(s.prompt)", "coalesce(s.reference_answer, '')")
)


class SampleQuery(NamedTuple):
    """The conditions on samples of a run, and their order; an empty field is not a condition.

    `search` has words, all of which occur in the sample's name, category, question or reference, or with `answers` in
    one of its answers. `model` and `arm` restrict scores, failures and verdicts to those of a model. `low` and `high`
    bound the mean of the sample's scores. `failure` is a kind, or `ANY`, and `reply` the fault of a reply. `among`
    restricts the samples to these names. `by` is the model, with its arm, whose scores determine the order; None is
    `model`, or every model. `similarities` restrict the samples to their keys, and replace the order of the data,
    highest first.
    """

    search: str = ""
    answers: bool = False
    model: str = ""
    arm: str = ""
    low: float | None = None
    high: float | None = None
    failure: str = ""
    verdict: str = ""
    category: str = ""
    among: Collection[str] | None = None
    order: Order = "data"
    by: tuple[str, str] | None = None
    reply: ReplyKind | None = None
    similarities: Mapping[str, float] | None = None


class Facets(NamedTuple):
    """The values by which a run's samples can be filtered: models with arms, kinds of failure, verdicts, categories."""

    models: Sequence[tuple[str, str]]
    failures: Sequence[str]
    verdicts: Sequence[str]
    categories: Sequence[str]


class SamplePage(NamedTuple):
    """A page of matching samples in order, each with its place from 1, and the number of all."""

    samples: Sequence[tuple[int, str]]
    total: int


class Around(NamedTuple):
    """A sample's place from 1 among the matching ones, their number, and the names of the previous and next samples."""

    place: int
    total: int
    before: str | None
    after: str | None


def facets(home: Home, run_id: str, kind: str) -> Facets:
    """Return the filter values of a run's samples, each in alphabetical order; models are those of rows of a kind.

    Verdicts include the judge's and those corrected by people.
    """
    verdicts = (answer.now.verdict for answer in corrections_of(home, run_id).answers.values())
    sql = "SELECT DISTINCT kind = ?, model, arm, failure, verdict FROM results WHERE run_id = ?"
    rows = home.all(sql, (kind, run_id))
    categories = home.all(
        "SELECT DISTINCT s.category FROM run_samples p JOIN samples s ON s.id = p.sample WHERE p.run_id = ?", (run_id,)
    )
    return Facets(
        sorted({(model, arm) for of_kind, model, arm, _, _ in rows if of_kind and model}),
        sorted({failure for *_, failure, _ in rows if failure}),
        sorted({verdict for verdict in (*(verdict for *_, verdict in rows), *verdicts) if verdict}),
        sorted({category for (category,) in categories if category}),
    )


def find_samples(home: Home, run_id: str, kind: str, query: SampleQuery, *, limit: int, offset: int = 0) -> SamplePage:
    """Return a page of a run's matching samples; scores are those of results of a kind."""
    query_start, values = _matching_samples(home, run_id, kind, query)
    sql = f"{query_start} SELECT place, id, total FROM ordered WHERE place > ? ORDER BY place LIMIT ?"
    rows = home.all(sql, (*values, offset, limit))
    if not rows and offset:
        return SamplePage((), home.all(f"{query_start} SELECT count(*) FROM ordered", values)[0][0])
    if not rows:
        return SamplePage((), 0)
    return SamplePage([(place, id) for place, id, _ in rows], rows[0][2])


def sample_around(home: Home, run_id: str, kind: str, query: SampleQuery, sample_id: str) -> Around | None:
    """Return a sample's position among the matching ones; None if it does not match."""
    query_start, values = _matching_samples(home, run_id, kind, query)
    sql = f"{query_start} SELECT place, total, before, after FROM ordered WHERE id = ?"
    row = home.one(sql, (*values, sample_id))
    return None if row is None else Around(*row)


def question_texts(home: Home, run_id: str) -> Iterator[tuple[str, str]]:
    """Yield the name, and the question with its reference answer, of each sample of a run, in order."""
    sql = (
        "SELECT p.sample_id, trim(unpack(s.prompt) || char(10) || coalesce(s.reference_answer, '')) "
        "FROM run_samples p JOIN samples s ON s.id = p.sample WHERE p.run_id = ? ORDER BY p.position"
    )
    yield from home.all(sql, (run_id,))


def answer_texts(home: Home, run_id: str) -> Iterator[tuple[str, str]]:
    """Yield the name of the sample, and the text, of each answer of a run, in the order of the samples."""
    sql = (
        "SELECT p.sample_id, trim(t.text) FROM run_samples p "
        "JOIN results r ON r.run_id = p.run_id AND r.sample_id = p.sample_id JOIN responses t ON t.id = r.response_id "
        "WHERE p.run_id = ? ORDER BY p.position, r.item"
    )
    yield from home.all(sql, (run_id,))


def count_results(home: Home, run_ids: Collection[str]) -> int:
    """Return the number of results of runs."""
    marks = ", ".join("?" * len(run_ids))
    return home.all(f"SELECT count(*) FROM results WHERE run_id IN ({marks})", tuple(run_ids))[0][0]


def _matching_samples(home: Home, run_id: str, kind: str, query: SampleQuery) -> tuple[str, list[object]]:
    """Return the beginning of a query, with the matching samples as the table `ordered` (id, place, total), and its
    parameters.
    """
    of_model, model = "", []
    if query.model:
        of_model, model = " AND {0}model = ? AND {0}arm = ?", [query.model, query.arm]
    by = query.by or ((query.model, query.arm) if query.model else None)
    tables, join, values = "", "", []
    if query.low is not None or query.high is not None:
        only, of = (of_model.format(""), model) if query.model else _plain(run_id, kind)
        tables += f"of_sample AS ({_SCORES}{only} GROUP BY sample_id), "
        join, values = "LEFT JOIN of_sample m ON m.sample_id = p.sample_id ", [run_id, kind, *of]
    if query.order in _BY_SCORE:
        only, of = _plain(run_id, kind) if by is None else (" AND model = ? AND arm = ?", [*by])
        tables += f"ordering AS ({_SCORES}{only} GROUP BY sample_id), "
        join += "LEFT JOIN ordering o ON o.sample_id = p.sample_id "
        values += [run_id, kind, *of]
    if query.order in _BY_FAILURES:
        tables += (
            "failures AS (SELECT sample_id, count(*) AS failed FROM results WHERE run_id = ? "
            f"AND coalesce(failure, 'waiting') != 'waiting'{of_model.format('')} GROUP BY sample_id), "
        )
        join += "LEFT JOIN failures f ON f.sample_id = p.sample_id "
        values += [run_id, *model]
    order = _ORDERS[query.order]
    if query.similarities is not None:
        tables += "nearest AS MATERIALIZED (SELECT key, value FROM json_each(?)), "
        join += "JOIN nearest n ON n.key = p.sample_id "
        values.append(orjson.dumps(query.similarities).decode())
        if query.order == "data":
            order = "n.value DESC, p.position"
    conditions, parameters = _conditions(run_id, query, of_model, model)
    results, among = _corrected_results(home, run_id)
    if query.category or (query.search.strip() and not query.answers):
        join += "JOIN samples s ON s.id = p.sample "
    sql = (
        f"WITH {results}{tables}ordered AS "
        "(SELECT p.sample_id AS id, row_number() OVER byorder AS place, count(*) OVER () AS total, "
        f"lag(p.sample_id) OVER byorder AS before, lead(p.sample_id) OVER byorder AS after FROM run_samples p {join}"
        f"WHERE {' AND '.join(['p.run_id = ?', *conditions])} WINDOW byorder AS (ORDER BY {order}))"
    )
    return sql, [*among, *values, run_id, *parameters]


_SCORES = (
    "SELECT sample_id, avg(score) AS mean, max(score) - min(score) AS apart, "
    "avg(CASE verdict WHEN 'right' THEN 1.0 WHEN 'wrong' THEN 0.0 END) AS correct FROM results WHERE run_id = ? AND kind = ?"
)


def _plain(run_id: str, kind: str) -> tuple[str, list[object]]:
    """Return a condition on results with its parameters: if a model has plain answers, those of its
    arms do not count.
    """
    exists = "EXISTS (SELECT 1 FROM results WHERE run_id = ? AND kind = ? AND arm = '')"
    return f" AND (arm = '' OR NOT {exists})", [run_id, kind]


def _corrected_results(home: Home, run_id: str) -> tuple[str, list[object]]:
    """Return a subquery that replaces the table `results` by corrected results, and its parameters; empty without corrections."""
    columns_by_item = {item: answer.now._asdict() for item, answer in corrections_of(home, run_id).answers.items()}
    if not columns_by_item:
        return "", []
    columns = ", ".join(
        f"CASE WHEN c.key IS NULL THEN r.{name} ELSE json_extract(c.value, '$.{name}') END AS {name}"
        for name in ("score", "verdict")
    )
    plain = ", ".join(
        f"r.{name}" for name in ("run_id", "kind", "sample_id", "model", "arm", "failure", "reason", "response_id")
    )
    return (
        f"results AS (SELECT {plain}, {columns} FROM main.results r LEFT JOIN json_each(?) c ON c.key = r.item "
        "WHERE r.run_id = ?), ",
        [orjson.dumps(columns_by_item).decode(), run_id],
    )


def _conditions(run_id: str, query: SampleQuery, of_model: str, model: Sequence[str]) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []

    def having(condition: str, *arguments: object, source: str = "results r") -> None:
        conditions.append(f"p.sample_id IN (SELECT r.sample_id FROM {source} WHERE r.run_id = ? AND {condition})")
        values.extend((run_id, *arguments))

    words = query.search.lower().split()
    if query.answers and words:
        contains = " AND ".join(["instr(lower(t.text), ?)"] * len(words)) + of_model.format("r.")
        having(contains, *words, *model, source="results r JOIN responses t ON t.id = r.response_id")
    elif words:
        conditions += [f"instr(lower({_SEARCHED}), ?)"] * len(words)
        values += words
    for sign, bound in ((">=", query.low), ("<=", query.high)):
        if bound is not None:
            conditions.append(f"round(m.mean, 6) {sign} ?")
            values.append(bound)
    if query.failure:
        kind, value = (
            ("coalesce(r.failure, 'waiting') != 'waiting'", [])
            if query.failure == ANY
            else ("r.failure = ?", [query.failure])
        )
        # What failed before any model was asked, such as a sample's criteria, failed for each of them.
        of = " AND (r.model = '' OR r.model = ? AND r.arm = ?)" if model else ""
        having(kind + of, *value, *model)
    if query.reply is not None:
        joined = "results r LEFT JOIN responses t ON t.id = r.response_id"
        having(_REPLIES[query.reply] + of_model.format("r."), *model, source=joined)
    if query.verdict:
        having("r.verdict = ?" + of_model.format("r."), query.verdict, *model)
    if query.category:
        conditions.append("s.category = ?")
        values.append(query.category)
    if query.among is not None:
        conditions.append("p.sample_id IN (SELECT value FROM json_each(?))")
        values.append(orjson.dumps(sorted(query.among)).decode())
    return conditions, values
