"""Duels: verdicts counted, rewards, what the places do to them, ratings of many models, and how far a judge is from people."""

from dokimasia.algorithms.pairwise.people import CLOSE, consistency, mae
from dokimasia.algorithms.pairwise.places import (
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
)
from dokimasia.algorithms.pairwise.verdicts import (
    RewardBounds,
    VerdictCounts,
    WinRateBounds,
    count_verdicts,
    reward_interval,
    win_rate_interval,
)

__all__ = [
    "CLOSE",
    "RewardBounds",
    "VerdictCounts",
    "WinRateBounds",
    "consistency",
    "count_verdicts",
    "mae",
    "position_bias",
    "position_bias_interval",
    "position_consistency",
    "position_consistency_interval",
    "reward_interval",
    "win_rate_interval",
]
