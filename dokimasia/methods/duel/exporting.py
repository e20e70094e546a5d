"""Export of duels in other formats: VLMEvalKit files, and pairs of answers for preference training."""

from collections import Counter
from collections.abc import Iterator, Mapping
from urllib.parse import quote

import orjson

from dokimasia.datasets.vlmevalkit import ENDINGS, JudgedCase, ratings, scores_table
from dokimasia.domain.duel import PLACES, task_of
from dokimasia.errors import ConfigError
from dokimasia.methods.duel.results import DuelItem, duel_rows, plan_of, read_items
from dokimasia.runs.reading.exporting import csv_text
from dokimasia.runs.reading.preferences import AnswerOf, PreferencePair, preference_files
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, samples_by_id

DATASET = "Creation_MMBench"


def vlmevalkit_files(home: Home, run: Run) -> Mapping[str, bytes]:
    """Return the files by name, such as `MODEL_Creation_MMBench_merged_rating.json`; equal runs give equal bytes.

    Raises:
        ConfigError: the run has only one order, several answers per case, or cases without a task.
    """
    plan = plan_of(run)
    if plan.single:
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


def decided_pairs(home: Home, run: Run) -> Mapping[str, bytes]:
    """Return the files of `preference_files`: a pair for each duel or meeting that both orders decide alike.

    Ties, duels with disagreeing orders or a failed one, and answers of an arm are left out.

    Raises:
        ConfigError: the run has only one order.
    """
    if plan_of(run).single:
        raise ConfigError(
            f"run {run.id} has one order of places, which does not tell a better answer from a favoured place; "
            "run it without --single"
        )
    samples = samples_by_id(home, run.id)
    left_out: Counter[str] = Counter()

    def pairs() -> Iterator[PreferencePair]:
        for item in read_items(home, run):
            better, reason = _better(item)
            if reason or item.response is None or item.baseline_response is None:
                left_out[reason or "failed"] += 1
                continue
            own, other = AnswerOf(item.model, item.response), AnswerOf(item.baseline, item.baseline_response)
            yield PreferencePair(samples[item.sample], *((own, other) if better else (other, own)))

    return preference_files(home, list(pairs()), left_out, "comparisons")


def _better(item: DuelItem) -> tuple[bool, str]:
    """Return whether the model's answer is better, and the reason if the duel is undecided (else empty)."""
    if "#" in item.model:
        return False, f"in the arm {item.model.partition('#')[2]}"
    verdicts = [judgement.verdict for judgement in item.judgements if judgement.asked == "verdict"]
    valid_verdicts = [verdict for verdict in verdicts if verdict is not None]
    if len(valid_verdicts) < len(PLACES):
        return False, "failed"
    if not any(valid_verdicts):
        return False, "tie"
    better = all(verdict > 0 for verdict in valid_verdicts)
    return better, "" if better or all(verdict < 0 for verdict in valid_verdicts) else "orders disagree"
