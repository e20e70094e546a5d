"""Export of duels as VLMEvalKit files: for each model a table of scores per order, and the ratings."""

from collections.abc import Mapping
from urllib.parse import quote

import orjson

from dokimasia.datasets.vlmevalkit import ENDINGS, JudgedCase, ratings, scores_table
from dokimasia.domain.duel import PLACES, task_of
from dokimasia.errors import ConfigError
from dokimasia.methods.duel.request import DuelPlan
from dokimasia.methods.duel.results import duel_rows, read_items
from dokimasia.runs.reading.exporting import csv_text
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, samples_by_id

DATASET = "Creation_MMBench"


def files(home: Home, run: Run) -> Mapping[str, bytes]:
    """Return the files by name, such as `MODEL_Creation_MMBench_merged_rating.json`; the same run gives the same bytes.

    Raises:
        ConfigError: the run has only one order, several answers per case, or cases without a task.
    """
    plan = run.plan_as(DuelPlan)
    if set(plan.places) != set(PLACES):
        raise ConfigError(
            f"run {run.id} has one order of places, and VLMEvalKit's rating merges two; run it without --single"
        )
    if plan.repeats > 1:
        raise ConfigError(f"run {run.id} has {plan.repeats} answers a case, and that form has one; use --repeats 1")
    samples = samples_by_id(home, run.id)
    items = {(item.model, item.sample): item for item in read_items(home, run)}
    cases: dict[str, list[JudgedCase]] = {}
    for row in duel_rows(home, run):
        item = items[row.model, row.sample_id]
        task = task_of(samples[row.sample_id])
        if not task:
            raise ConfigError(
                f"sample {row.sample_id!r} has no meta.task_name, by which VLMEvalKit's rating is grouped; add it to the data"
            )
        case = JudgedCase(
            id=row.sample_id,
            task=task,
            verdicts=row.verdicts,
            factuality=row.factuality or None,
            answer=item.response or "",
            baseline=item.baseline_response or "",
        )
        cases.setdefault(row.model, []).append(case)
    exports: dict[str, bytes] = {}
    for model, of_model in cases.items():
        stem = f"{quote(model, safe=' ()+,@#')}_{DATASET}"
        for place, ending in ENDINGS.items():
            exports[f"{stem}{ending}_score.csv"] = csv_text(scores_table(of_model, place))
        for ending, rating in ratings(of_model).items():
            exports[f"{stem}{ending}"] = orjson.dumps(rating, option=orjson.OPT_INDENT_2)
    return exports
