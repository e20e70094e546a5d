"""Passports of judges: made from finished probes, written, read and held against the judges of a run."""

from dokimasia.methods.passports.files import encoded, passport_in, read_passport, schema, write_passport
from dokimasia.methods.passports.holding import Dropped, each_has_one, held, passport_for
from dokimasia.methods.passports.measuring import Material, passport_of
from dokimasia.methods.passports.options import BLIND_BELOW, HELP, PAIRWISE, Passports, Way
from dokimasia.methods.passports.picking import Chosen, chosen_judge, weights_of, without_blind

__all__ = [
    "BLIND_BELOW",
    "HELP",
    "PAIRWISE",
    "Chosen",
    "Dropped",
    "Material",
    "Passports",
    "Way",
    "chosen_judge",
    "each_has_one",
    "encoded",
    "held",
    "passport_for",
    "passport_in",
    "passport_of",
    "read_passport",
    "schema",
    "weights_of",
    "without_blind",
    "write_passport",
]
