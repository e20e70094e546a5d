"""A run of duels in the files of VLMEvalKit: for each model a table of scores an order of places, and the ratings."""

from collections.abc import Mapping
from urllib.parse import quote

import orjson

from dokimasia.datasets.vlmevalkit import ENDINGS, JudgedCase, ratings, scores_table
from dokimasia.domain.duel import PLACES, task_of
from dokimasia.errors import ConfigError
from dokimasia.methods.duel.request import DuelPlan
from dokimasia.methods.duel.results import duel_items, duel_rows
from dokimasia.runs.reading.exporting import csv_text
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, load_samples

DATASET = "Creation_MMBench"


def files(home: Home, run: Run) -> Mapping[str, bytes]:
    """Return the files by name, such as `MODEL_Creation_MMBench_merged_rating.json`; the same run gives the same bytes.

    Raises:
        ConfigError: the run has one order of places only, several answers a case, or cases without a task.
    """
    plan = DuelPlan.model_validate(run.options["plan"])
    if set(plan.places) != set(PLACES):
        raise ConfigError(
            f"run {run.id} has one order of places, and VLMEvalKit's rating merges two; run it without --single"
        )
    if plan.repeats > 1:
        raise ConfigError(f"run {run.id} has {plan.repeats} answers a case, and that form has one; use --repeats 1")
    samples = {sample.id: sample for sample in load_samples(home, run.id)}
    texts = {
        (one["model"], one["sample"]): (one["response"], one["baseline_response"]) for one in duel_items(home, run)
    }
    judged: dict[str, list[JudgedCase]] = {}
    for row in duel_rows(home, run):
        sample = samples[row.sample_id]
        answer, baseline = texts[row.model, row.sample_id]
        case = JudgedCase(
            id=row.sample_id,
            task=_task(task_of(sample), row.sample_id),
            verdicts=row.verdicts,
            factuality=row.factuality or None,
            answer=answer or "",
            baseline=baseline or "",
        )
        judged.setdefault(row.model, []).append(case)
    found: dict[str, bytes] = {}
    for model, cases in judged.items():
        stem = f"{quote(model, safe=' ()+,@#')}_{DATASET}"
        found |= {f"{stem}{ending}_score.csv": csv_text(scores_table(cases, at)) for at, ending in ENDINGS.items()}
        found |= {
            f"{stem}{ending}": orjson.dumps(one, option=orjson.OPT_INDENT_2) for ending, one in ratings(cases).items()
        }
    return found


def _task(task: str | None, sample: str) -> str:
    if not task:
        raise ConfigError(
            f"sample {sample!r} has no meta.task_name, by which VLMEvalKit's rating is grouped; add it to the data"
        )
    return task
