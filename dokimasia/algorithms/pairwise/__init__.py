"""Duels: verdict counts, rewards, position bias, ratings of many models, and a judge's agreement with people."""

from dokimasia.algorithms.pairwise.draws import all_pairs, most_rounds, swiss_round
from dokimasia.algorithms.pairwise.people import CLOSE, consistency, mae, to_category
from dokimasia.algorithms.pairwise.places import (
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
)
from dokimasia.algorithms.pairwise.ratings import ConnectedModels, RatingDifference, rate_models
from dokimasia.algorithms.pairwise.strengths import PairOutcome
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
    "ConnectedModels",
    "PairOutcome",
    "RatingDifference",
    "RewardBounds",
    "VerdictCounts",
    "WinRateBounds",
    "all_pairs",
    "consistency",
    "count_verdicts",
    "mae",
    "most_rounds",
    "position_bias",
    "position_bias_interval",
    "position_consistency",
    "position_consistency_interval",
    "rate_models",
    "reward_interval",
    "swiss_round",
    "to_category",
    "win_rate_interval",
]
