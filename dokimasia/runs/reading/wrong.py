"""The answers of a run that were judged wrong or, in a run without verdicts, those with the lowest scores."""

from collections.abc import Collection, Mapping, Sequence

from dokimasia.domain.judgement import correctness_of
from dokimasia.errors import InputError
from dokimasia.report.figures import in_words
from dokimasia.report.sections import check_models
from dokimasia.report.wrong import WrongAnswer, WrongAnswers
from dokimasia.runs.catalogue import OWN, method_of, own_method
from dokimasia.runs.figures import shown_name, simulated_names
from dokimasia.runs.method import AnyMethod
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run

LISTED = 20
"""The number of listed answers by default."""

BEGINNING = 300
"""The maximum number of characters of an answer in the list."""


def judges_answers(method: AnyMethod) -> bool:
    """Return whether a method's results are answers of models with a score or a verdict."""
    return method.scores.scale is not None and "response" in method.export.columns


async def wrong_answers(home: Home, run: Run, *, models: Collection[str] = (), limit: int = LISTED) -> WrongAnswers:
    """Return the answers of a run that were judged wrong, in the order of its data.

    In a run whose method or data gives no verdict, these are the answers with the lowest scores, the lowest first.

    Args:
        home: the home of the run.
        run: the run, finished or not.
        models: only answers of these models, by their shown names; empty: of all.
        limit: the number of listed answers, at most.

    Raises:
        InputError: the run's results are not judged answers, there is none yet, or it has no such model.
    """
    method = method_of(run)
    if not judges_answers(method) or method.scores.scale is None:
        names = [entry.verb for name, entry in OWN.items() if judges_answers(own_method(name))]
        raise InputError(
            f"run {run.id} is {method.title}: its {method.results.name} are not answers that are right or wrong, or have a "
            f"score; those of {in_words(names)} are"
        )
    all_rows = results(home, run.id, kind=method.row_kind)
    if not all_rows:
        raise InputError(f"run {run.id} has no result yet; it is {run.status}")
    check_models(models, list(dict.fromkeys(shown_name(row.model, row.arm) for row in all_rows)), run.id)
    rows = [row for row in all_rows if not models or shown_name(row.model, row.arm) in models]
    if any(row.verdict in ("right", "wrong") for row in all_rows):
        known = [correctness_of(row.verdict, row.failure) for row in rows]
        chosen = [row for row, correctness in zip(rows, known, strict=True) if correctness == "wrong"][:limit]
        number, undecided = known.count("wrong"), known.count("undecided")
        n = len(known) - known.count("failed")
    else:
        scored = [(row.score, row) for row in rows if row.score is not None]
        scored.sort(key=lambda pair: pair[0])
        chosen = [row for _, row in scored[:limit]]
        n, number, undecided = len(scored), None, 0
    low, high = method.scores.scale
    factor = method.scores.factor
    return WrongAnswers(
        run=run.id,
        by="score" if number is None else "verdict",
        wrong=number,
        n=n,
        undecided=undecided,
        failed=len(rows) - n,
        measure=method.scores.name,
        scale=(low * factor, high * factor),
        simulated=tuple(simulated_names(method.read(run)[0].models.values())),
        answers=await _listed(home, run, method, all_rows, chosen),
    )


async def _listed(
    home: Home, run: Run, method: AnyMethod, rows: Sequence[ResultRow], chosen: Sequence[ResultRow]
) -> tuple[WrongAnswer, ...]:
    """Return the entries of the chosen ones of a run's rows, with the texts of their answers."""
    samples = samples_of(home, run.id, [row.sample_id for row in chosen])
    cells_by_item: dict[str, Mapping[str, object]] = {}
    if method.export.cells is not None and chosen:
        needed = chosen if method.export.paged else rows
        cells = await method.export.cells(home, run, needed)
        cells_by_item = {row.item: values for row, values in zip(needed, cells, strict=True)}
    entries: list[WrongAnswer] = []
    for row in chosen:
        cells_of_row = cells_by_item.get(row.item, {})
        reason = None
        if method.export.reason is not None:
            reason = method.export.reason(cells_of_row)
        sample = samples.get(row.sample_id)
        entries.append(
            WrongAnswer(
                sample=row.sample_id,
                model=shown_name(row.model, row.arm),
                repeat=row.repeat,
                score=None if row.score is None else row.score * method.scores.factor,
                answer=" ".join(str(cells_of_row.get("response") or "").split())[:BEGINNING],
                expected=None if sample is None else sample.reference_text,
                reason=reason or None,
            )
        )
    return tuple(entries)
