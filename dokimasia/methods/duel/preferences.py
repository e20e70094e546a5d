"""Pairs of answers that a judge decided in both orders for the same one, as data to train models by preferences."""

from collections import Counter
from collections.abc import Iterator, Mapping

from dokimasia.domain.duel import PLACES
from dokimasia.errors import ConfigError
from dokimasia.methods.duel.results import DuelItem, plan_of, read_items
from dokimasia.runs.reading.preferences import AnswerOf, PreferencePair, preference_files
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, samples_by_id


def files(home: Home, run: Run) -> Mapping[str, bytes]:
    """Return the files of `preference_files`: a pair for each duel, or meeting, that both orders decide for the same answer.

    Ties, duels whose orders disagree or of which an order failed, and answers of an arm are left out.

    Raises:
        ConfigError: the run has only one order.
    """
    if set(plan_of(run).places) != set(PLACES):
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
    """Return whether the model's answer is the better one, and why the duel decides nothing; empty if it does."""
    if "#" in item.model:
        return False, f"in the arm {item.model.partition('#')[2]}"
    verdicts = [judgement.verdict for judgement in item.judgements if judgement.asked == "verdict"]
    known = [verdict for verdict in verdicts if verdict is not None]
    if len(known) < len(PLACES):
        return False, "failed"
    if not any(known):
        return False, "tie"
    better = all(verdict > 0 for verdict in known)
    return better, "" if better or all(verdict < 0 for verdict in known) else "orders disagree"
