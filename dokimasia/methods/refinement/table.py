"""The table of a refinement in the form of ATOM's Table 4: strategies by category, accuracy above, atom score below."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.domain.refinement import Arm

CONTROL: Arm = "retry"
"""Gains of the table are over this arm, as in the paper; the gains over `again` stand beside them in the figures."""


def table_of(
    models: Mapping[str, Mapping[str, Any]], arms: Sequence[Arm], branches: Sequence[str] | None
) -> dict[str, Any]:
    """Return the table.

    Args:
        models: each model's figures.
        arms: in order.
        branches: the tree's categories in order, where the criteria are mapped to a tree; None takes the data's own.

    Returns:
        What `shape.RefinementTable` describes: two rows for each model and strategy.
    """
    kind = "by_category" if branches is None else "by_branch"
    named = {name for model in models.values() for name in model.get(kind, {})}
    columns = [*(branches or ()), *sorted(named - set(branches or ()))]
    rows = [
        {
            "model": name,
            "strategy": arm,
            "measure": measure,
            "cells": {
                column: _cell(model[kind][column]["arms"][arm], arm, measure) if column in model[kind] else None
                for column in columns
            },
            "average": _cell(model["arms"][arm], arm, measure),
            "gain": _gain(model["gains"].get(f"{arm} over {CONTROL}"), measure),
        }
        for name, model in models.items()
        for arm in arms
        for measure in ("accuracy", "atom score")
    ]
    return {"by": kind.removeprefix("by_").replace("branch", "capability"), "columns": columns, "rows": rows}


def _cell(figures: Mapping[str, Any], arm: Arm, measure: str) -> dict[str, Any] | None:
    if measure == "accuracy":
        found, known = figures["accuracy"], figures["n_known"]
        value = None if found is None else found["share"]
    else:
        atoms = figures["atoms"]
        found, known = (atoms["before"], atoms["n"]) if arm == "original" else (atoms["after"], atoms["n_scored"])
        value = None if found is None else found["mean"]
    if not figures["n"]:
        return None
    limits = {"low": None, "high": None}
    if found is not None:
        limits = {name: found[name] for name in ("low", "high", "no_interval") if name in found}
    return {"n": figures["n"], "n_known": known, "value": value, **limits}


def _gain(gain: Mapping[str, Any] | None, measure: str) -> dict[str, Any] | None:
    if gain is None:
        return None
    one = gain["accuracy" if measure == "accuracy" else "atoms"]
    if one["difference"] is None:
        return None
    return {**one["difference"], "p_value": one["p_value"], "adjusted": one["adjusted"]}
