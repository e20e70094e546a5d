"""Rates of right answers corrected for a judge's errors: by its sensitivity and specificity, or by human labels."""

from dokimasia.algorithms.correction.judged import LEAST_APART, corrected_difference, corrected_rate
from dokimasia.algorithms.correction.kinds import (
    Mixes,
    as_shares,
    mixed_sensitivity,
    rates_over_mixes,
    same_kinds,
    unlike,
)
from dokimasia.algorithms.correction.labelled import (
    FEWEST_CLUSTERS,
    FEWEST_LABELS,
    LabelledAnswers,
    Powered,
    powered_difference,
    powered_rate,
)
from dokimasia.algorithms.correction.strata import (
    FEWEST_OF_STRATUM,
    RatedAnswers,
    labels_needed,
    stratified_difference,
    stratified_mean,
)
from dokimasia.algorithms.correction.tipping import (
    JudgeRate,
    Side,
    Tipping,
    interval_tipping,
    order_tipping,
    rate_tipping,
)
from dokimasia.algorithms.correction.values import Corrected, DecidedLabel, ShareEstimate

__all__ = [
    "FEWEST_CLUSTERS",
    "FEWEST_LABELS",
    "FEWEST_OF_STRATUM",
    "LEAST_APART",
    "Corrected",
    "DecidedLabel",
    "JudgeRate",
    "LabelledAnswers",
    "Mixes",
    "Powered",
    "RatedAnswers",
    "ShareEstimate",
    "Side",
    "Tipping",
    "as_shares",
    "corrected_difference",
    "corrected_rate",
    "interval_tipping",
    "labels_needed",
    "mixed_sensitivity",
    "order_tipping",
    "powered_difference",
    "powered_rate",
    "rate_tipping",
    "rates_over_mixes",
    "same_kinds",
    "stratified_difference",
    "stratified_mean",
    "unlike",
]
