"""Passports of judges: which judges finished probes asked, and what these measured of one."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel

from dokimasia.methods.passports import passport_of
from dokimasia.methods.passports.probed import judges_probed, material_of
from dokimasia.service.routes.answering import json_router
from dokimasia.service.state import Reader, TheService

router = json_router("passports")


class JudgeProbed(BaseModel):
    """A judge that finished probes asked, by the name that it bears there, and these probes, the newest first."""

    judge: str
    runs: list[str]


class Passports(BaseModel):
    """The judges of which a passport can be made."""

    judges: list[JudgeProbed]


@router.get("/passports")
def passports(service: TheService, person: Reader) -> Passports:
    """List the judges of which finished probes of the home can make a passport."""
    found = judges_probed(service.home)
    return Passports(judges=[JudgeProbed(judge=judge, runs=runs) for judge, runs in found.items()])


@router.get("/passports/{judge:path}")
def one_passport(
    service: TheService,
    person: Reader,
    judge: str,
    run: Annotated[
        list[str] | None, Query(max_length=50, description="Probes to make it from; by default all.")
    ] = None,
    seed: Annotated[int, Query(ge=0, lt=2**63, description="Of the halves and intervals.")] = 0,
) -> dict[str, Any]:
    """Make the passport of a judge; `dokimasia passport JUDGE --json` prints the same."""
    return passport_of(material_of(service.home, judge, tuple(run or ()), seed=seed)).model_dump(mode="json")
