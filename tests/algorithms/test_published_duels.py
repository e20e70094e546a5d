"""The counts of verdicts that Creation-MMBench prints give the rewards and win rates that it prints."""

from typing import NamedTuple

import pytest

from dokimasia.algorithms.pairwise import VerdictCounts


class Row(NamedTuple):
    """A model in tables 5 and 2: its six counts, its reward and win rate, its rewards in the four categories."""

    counts: tuple[int, int, int, int, int, int]
    reward: float
    win_rate: float
    categories: tuple[float, float, float, float]


TASKS = (8, 18, 19, 6)
"""Tasks of the four categories: literary, common functional, professional functional, creative understanding."""

CASES = 765
CUT_OFF = {"InternVL2.5-78B", "LLaVA-OneVision-7B"}
"""Printed cut off at the second decimal, and not rounded: -16.4379 as -16.43, -43.4967 as -43.49."""

TABLE = {
    "Gemini-2.0-pro-exp": Row((9, 400, 898, 163, 59, 1), 4.48, 26.75, (-1.88, 12.71, 3.33, -8.06)),
    "Gemini-1.5-pro-002": Row((6, 168, 1032, 300, 24, 0), -5.49, 11.37, (-6.04, -2.04, -4.82, -17.22)),
    "GPT-4.5-0227": Row((7, 75, 1186, 255, 7, 0), -5.88, 5.36, (-4.38, -8.33, -5.88, -0.56)),
    "GPT-4o-mini": Row((5, 53, 1022, 422, 28, 0), -13.56, 3.79, (-4.38, -15.28, -16.05, -12.78)),
    "Doubao-VL": Row((4, 137, 850, 500, 38, 1), -14.09, 9.22, (-19.17, -3.33, -18.72, -25.00)),
    "Claude-3.5-Sonnet": Row((4, 188, 843, 321, 174, 0), -15.46, 12.55, (-16.46, -21.57, -11.14, -9.44)),
    "Moonshot-v1-32k-vision": Row((1, 92, 822, 500, 111, 4), -20.58, 6.09, (-21.46, -8.80, -26.50, -36.11)),
    "Qwen2.5-VL-72B-Instruct": Row((6, 196, 984, 302, 42, 0), -5.82, 13.2, (-10.83, 4.44, -11.49, -11.94)),
    "InternVL2.5-78B-MPO": Row((6, 128, 917, 434, 45, 0), -12.55, 8.76, (-9.17, -5.00, -16.32, -27.78)),
    "InternVL2.5-8B-MPO": Row((0, 158, 843, 438, 91, 0), -15.10, 10.33, (-16.25, -3.80, -23.95, -19.44)),
    "InternVL2.5-78B": Row((4, 107, 863, 494, 62, 0), -16.43, 7.25, (-17.50, -7.69, -20.53, -28.33)),
    "Qwen2-VL-72B-instruct": Row((0, 71, 764, 632, 63, 0), -22.45, 4.64, (-24.58, -15.56, -26.84, -26.39)),
    "InternVL2.5-8B": Row((2, 84, 699, 624, 121, 0), -25.42, 5.62, (-23.33, -15.83, -33.95, -30.00)),
    "Qwen2.5-VL-7B-Instruct": Row((0, 65, 620, 713, 132, 0), -29.80, 4.25, (-39.38, -21.67, -33.25, -30.56)),
    "MiniCPM-o-2.6": Row((2, 33, 545, 799, 151, 0), -34.77, 2.29, (-35.42, -27.31, -40.88, -36.94)),
    "DeepSeek-VL2": Row((0, 27, 504, 791, 207, 1), -38.52, 1.77, (-33.75, -32.50, -44.02, -45.56)),
    "LLaVA-OneVision-72B": Row((0, 26, 448, 842, 194, 20), -39.87, 1.72, (-36.32, -30.61, -47.98, -46.37)),
    "LLaVA-OneVision-7B": Row((1, 29, 411, 816, 273, 0), -43.49, 1.96, (-43.54, -31.85, -50.53, -56.11)),
    "Qwen2-VL-7B-instruct": Row((0, 24, 402, 845, 259, 0), -43.76, 1.57, (-55.83, -36.30, -45.26, -45.28)),
}


def _counts(model: str) -> VerdictCounts:
    return VerdictCounts(*TABLE[model].counts)


@pytest.mark.parametrize("model", TABLE)
def test_published_counts_give_the_published_reward_and_win_rate(model: str) -> None:
    """To the printed precision, for all 19 models; of two the reward is printed cut off instead of rounded."""
    counts, row = _counts(model), TABLE[model]
    assert counts.n_valid + counts.failed == 2 * CASES
    assert counts.reward is not None
    assert counts.win_rate is not None
    assert f"{counts.win_rate:.2f}" == f"{row.win_rate:.2f}"
    printed = int(counts.reward * 100) / 100 if model in CUT_OFF else counts.reward
    assert f"{printed:.2f}" == f"{row.reward:.2f}"
    assert (f"{counts.reward:.2f}" != f"{row.reward:.2f}") == (model in CUT_OFF)


def test_overall_rewards_are_those_of_the_categories_by_tasks_but_where_failures_crowd() -> None:
    """Within 0.015 for 18 of 19; LLaVA-OneVision-72B has 20 failed verdicts, which leave the categories unequally."""
    off = {model for model, row in TABLE.items() if abs(_by_tasks(row.categories) - row.reward) > 0.015}
    assert off == {"LLaVA-OneVision-72B"}
    assert max(TABLE, key=lambda model: _counts(model).failed) in off


def test_only_failures_crowding_in_one_category_give_what_is_printed_of_the_model_that_is_off() -> None:
    """Of all ways to share 20 failures out one fits the four printed rewards and the counts: 17 in literary writing."""
    model = "LLaVA-OneVision-72B"
    row, counts = TABLE[model], _counts(model)
    total = 2 * counts.much_better + counts.better - counts.worse - 2 * counts.much_worse
    ways = [((), (), 0)]
    for tasks, reward in zip(TASKS, row.categories, strict=True):
        of_category = 2 * CASES * tasks // sum(TASKS)
        ways = [
            ((*failed, lost), (*sums, value), left)
            for failed, sums, _ in ways
            for lost in range(counts.failed - sum(failed) + 1)
            for value in range(-2 * (of_category - lost), 1)
            if abs(50 * value / (of_category - lost) - reward) <= 0.005 + 1e-9
            for left in (counts.failed - sum(failed) - lost,)
        ]
    fitting = [failed for failed, sums, left in ways if not left and sum(sums) == total]
    assert fitting == [(17, 1, 1, 1)]
    assert 50 * total / (2 * CASES - counts.failed) == pytest.approx(row.reward, abs=0.005)


def _by_tasks(rewards: tuple[float, ...]) -> float:
    return sum(reward * tasks for reward, tasks in zip(rewards, TASKS, strict=True)) / sum(TASKS)
