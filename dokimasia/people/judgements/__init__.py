"""Read files of existing judgements (verdicts, scores and rankings), and measure how judges and people agree."""

from dokimasia.people.judgements.blocks import CeilingRow, ceiling_rows, ceiling_tables
from dokimasia.people.judgements.ceiling import BesidePeople, beside_people
from dokimasia.people.judgements.figures import (
    coefficients_of_people,
    compare_values,
    judgement_figures,
    kappa_of_pairs,
)
from dokimasia.people.judgements.reading import FIELDS, read_judgements
from dokimasia.people.judgements.shape import HumanCeiling, JudgementFigures, ReplacementTest, ValuesCompared

__all__ = [
    "FIELDS",
    "BesidePeople",
    "CeilingRow",
    "HumanCeiling",
    "JudgementFigures",
    "ReplacementTest",
    "ValuesCompared",
    "beside_people",
    "ceiling_rows",
    "ceiling_tables",
    "coefficients_of_people",
    "compare_values",
    "judgement_figures",
    "kappa_of_pairs",
    "read_judgements",
]
