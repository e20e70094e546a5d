"""Blind spots of judges: when an error goes undetected, how often that happens, and which kinds are missed most."""

from dokimasia.algorithms.blindspots.rates import ControlRates, FailureRate, failure_rates
from dokimasia.algorithms.blindspots.rules import (
    AxisRule,
    equal_pair,
    equal_single,
    full_score,
    pair_verdict,
    undetected_gated,
    undetected_pair,
    undetected_score,
    undetected_single,
    worse_pair,
    worse_single,
)
from dokimasia.algorithms.blindspots.shares import ItemShare, item_share
from dokimasia.algorithms.blindspots.spots import SpotTest, blind_spots, images_of

__all__ = [
    "AxisRule",
    "ControlRates",
    "FailureRate",
    "ItemShare",
    "SpotTest",
    "blind_spots",
    "equal_pair",
    "equal_single",
    "failure_rates",
    "full_score",
    "images_of",
    "item_share",
    "pair_verdict",
    "undetected_gated",
    "undetected_pair",
    "undetected_score",
    "undetected_single",
    "worse_pair",
    "worse_single",
]
