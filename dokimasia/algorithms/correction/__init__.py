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
from dokimasia.algorithms.correction.values import Corrected, DecidedLabel, ShareEstimate

__all__ = [
    "FEWEST_CLUSTERS",
    "FEWEST_LABELS",
    "LEAST_APART",
    "Corrected",
    "DecidedLabel",
    "LabelledAnswers",
    "Mixes",
    "Powered",
    "ShareEstimate",
    "as_shares",
    "corrected_difference",
    "corrected_rate",
    "mixed_sensitivity",
    "powered_difference",
    "powered_rate",
    "rates_over_mixes",
    "same_kinds",
    "unlike",
]
