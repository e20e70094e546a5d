"""Passports of judges: the judges asked by finished probes, and their measured error rates."""

from typing import Annotated

from pydantic import BaseModel

from dokimasia.domain.identity import JsonObject
from dokimasia.methods.probe.passports import check_of, judges_probed, material_of
from dokimasia.operations.operation import OperationContext, Parameter, operation
from dokimasia.people.passports import JudgeCheck, passport_of


class JudgeProbed(BaseModel):
    """A judge by its name in finished probes, and the probes that asked it, the newest first."""

    judge: str
    runs: list[str]


class Passports(BaseModel):
    """The judges for which a passport can be made."""

    judges: list[JudgeProbed]


@operation("GET", "/passports", tag="passports")
def passports(context: OperationContext) -> Passports:
    """List the judges for which a passport can be made from finished probes of the home."""
    runs_by_judge = judges_probed(context.home)
    return Passports(judges=[JudgeProbed(judge=judge, runs=runs) for judge, runs in runs_by_judge.items()])


@operation("GET", "/passports/{judge:path}", tag="passports")
def one_passport(
    context: OperationContext,
    judge: str,
    run: Annotated[
        list[str] | None, Parameter(max_length=50, description="Probes to make it from; by default all.")
    ] = None,
    seed: Annotated[int, Parameter(ge=0, lt=2**63, description="Of the halves and intervals.")] = 0,
) -> JsonObject:
    """Make the passport of a judge; `dokimasia passport JUDGE --json` prints the same."""
    return passport_of(material_of(context.home, judge, tuple(run or ()), seed=seed)).model_dump(mode="json")


@operation("GET", "/judge-checks/{judge:path}", tag="passports")
def one_judge_check(
    context: OperationContext,
    judge: str,
    run: Annotated[list[str] | None, Parameter(max_length=50, description="Probes to go by; by default all.")] = None,
    reference: Annotated[
        str, Parameter(max_length=200, description="A judge of the same probes to compare with.")
    ] = "",
    seed: Annotated[int, Parameter(ge=0, lt=2**63, description="Of the halves and intervals.")] = 0,
) -> JudgeCheck:
    """Return whether a judge is good enough by finished probes; `dokimasia judges check JUDGE --json` prints the same."""
    return check_of(context.home, judge, tuple(run or ()), reference=reference, seed=seed)[0]
