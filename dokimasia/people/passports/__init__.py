"""Passports of judges: creating them from finished probes, writing, reading, and comparing with a run's judges."""

from dokimasia.people.passports.files import encoded, passport_in, read_passport, schema, write_passport
from dokimasia.people.passports.holding import DroppedJudge, each_has_one, held, passport_for
from dokimasia.people.passports.measuring import PassportMaterial, passport_of
from dokimasia.people.passports.options import (
    BLIND_BELOW,
    EVALUATION_USES,
    PAIRWISE,
    BlindBelow,
    JudgeChoice,
    JudgeUse,
    Passports,
)
from dokimasia.people.passports.picking import ChosenJudge, chosen_judge, weights_of, without_blind
from dokimasia.people.passports.shares import alarmed, changed_by_length, detected, length_bias, marked, measured
from dokimasia.people.passports.suitability import (
    Disagreement,
    JudgeCheck,
    check_blocks,
    images_needed,
    judge_check,
    material_note,
    verdict_on,
)

__all__ = [
    "BLIND_BELOW",
    "EVALUATION_USES",
    "PAIRWISE",
    "BlindBelow",
    "ChosenJudge",
    "Disagreement",
    "DroppedJudge",
    "JudgeCheck",
    "JudgeChoice",
    "JudgeUse",
    "PassportMaterial",
    "Passports",
    "alarmed",
    "changed_by_length",
    "check_blocks",
    "chosen_judge",
    "detected",
    "each_has_one",
    "encoded",
    "held",
    "images_needed",
    "judge_check",
    "length_bias",
    "marked",
    "material_note",
    "measured",
    "passport_for",
    "passport_in",
    "passport_of",
    "read_passport",
    "schema",
    "verdict_on",
    "weights_of",
    "without_blind",
    "write_passport",
]
