"""Pages of judges' passports, made from the probes of this home; passport files from elsewhere are verified and shown."""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, UploadFile
from fastapi.responses import RedirectResponse, Response

from dokimasia.domain.passport import ErrorRates, MeasuredShare, Passport
from dokimasia.errors import InputError
from dokimasia.methods.probe.passports import judges_probed, material_of, probes_of_home
from dokimasia.people.passports import BLIND_BELOW, encoded, passport_in, passport_of
from dokimasia.people.passports.blindness import is_blind
from dokimasia.people.passports.blocks import blocks_of
from dokimasia.prompts.dimensions import error_groups
from dokimasia.report.drawing import Charts
from dokimasia.report.figures import rate_text
from dokimasia.service.drawing import drawn, page
from dokimasia.service.pages.samples import name_of
from dokimasia.service.state import Reader, Service, TheService
from dokimasia.storage.people.counts import count_decisions

router = APIRouter()

Runs = Annotated[list[str] | None, Query(alias="run", max_length=100)]
Name = Annotated[str, Query(max_length=500)]


@router.get("/passports")
def passports(request: Request, person: Reader, service: TheService) -> Response:
    """List the judges measured by finished probes of this home."""
    return _list(request, service)


@router.get("/passports/card")
def card(request: Request, service: TheService, person: Reader, name: Name, run: Runs = None) -> Response:
    """Return a summary of a judge's passport, or why there is none."""
    try:
        passport = _passport_of_judge(service, name, run or ())
    except InputError as problem:
        return page(
            request, "passport_card.html", name=name, passport=None, fault=str(problem), rates=[], blind=[], seldom=[]
        )
    return page(
        request,
        "passport_card.html",
        name=name,
        passport=passport,
        fault="",
        rates=[_rate(passport, error) for error in passport.errors if error.level == "all"],
        blind=_blind_spots(passport),
        seldom=_seldom(passport),
    )


@router.get("/passports/judge")
def passport(request: Request, service: TheService, person: Reader, name: Name, run: Runs = None) -> Response:
    """Show the passport of a judge."""
    passport = _passport_of_judge(service, name, run or ())
    query = urlencode([("name", name), *(("run", run_name) for run_name in run or ())])
    return _passport_page(request, passport, source="", download=f"/passports/judge.json?{query}")


@router.get("/passports/judge.json")
def download(service: TheService, person: Reader, name: Name, run: Runs = None) -> Response:
    """Return the passport of a judge as a file, for --passport."""
    passport = _passport_of_judge(service, name, run or ())
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name)[:80]
    headers = {"content-disposition": f'attachment; filename="{plain.encode("ascii", "replace").decode()}.json"'}
    return Response(encoded(passport), media_type="application/json", headers=headers)


@router.get("/passports/{judge:path}")
def by_path(person: Reader, judge: str) -> Response:
    """Redirect from the address of the JSON route to the page of a judge."""
    return RedirectResponse(f"/passports/judge?{urlencode({'name': judge})}", HTTPStatus.SEE_OTHER)


@router.post("/passports")
def verify(request: Request, service: TheService, person: Reader, file: UploadFile) -> Response:
    """Show the passport in a file without storing it; refuse a modified one."""
    name = Path((file.filename or "").replace("\\", "/")).name or "the file"
    try:
        passport = passport_in(file.file.read(), Path(name))
    except InputError as problem:
        return _list(request, service, fault=str(problem))
    return _passport_page(request, passport, source=name, download="")


def _list(request: Request, service: Service, *, fault: str = "") -> Response:
    status = HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK
    judges = {
        judge: [(run, name_of(service.home, run)) for run in map(service.run, probes)]
        for judge, probes in judges_probed(service.home).items()
    }
    return page(request, "passports.html", status=status, judges=judges, fault=fault)


def _passport_page(request: Request, passport: Passport, *, source: str, download: str) -> Response:
    charts = Charts()
    return page(
        request,
        "passport.html",
        charts=charts,
        passport=passport,
        source=source,
        download=download,
        blind=_blind_spots(passport),
        seldom=_seldom(passport),
        blocks=drawn([*blocks_of(passport)], charts),
    )


def _passport_of_judge(service: Service, judge: str, runs: Sequence[str]) -> Passport:
    """Return the passport of a judge, cached for the existing probes and people's decisions."""
    state = tuple((probe.id, probe.updated_at) for probe in probes_of_home(service.home))
    key = ("passport", judge, tuple(runs), state, count_decisions(service.home))
    return service.cache.get(key, lambda: passport_of(material_of(service.home, judge, runs)))


def _blind_spots(passport: Passport) -> list[tuple[str, str]]:
    """Return the blind spots of a judge, as its check counts them, with its rates."""
    return _kinds(error for error in passport.errors if error.level != "all" and error.blind_spot)


def _seldom(passport: Passport) -> list[tuple[str, str]]:
    """Return the other kinds of error whose detection by a judge is surely below `BLIND_BELOW`, with its rates."""
    return _kinds(
        error
        for error in passport.errors
        if error.level != "all" and not error.blind_spot and is_blind(error.detection, BLIND_BELOW)
    )


def _kinds(errors: Iterable[ErrorRates]) -> list[tuple[str, str]]:
    """Return kinds of error by their title, each with its rates by evaluator."""
    kinds: dict[str, list[str]] = {}
    for error in errors:
        title = error_groups(error.task).get(error.name, error.name).replace("_", " ")
        kinds.setdefault(title, []).append(f"{error.evaluator} {_share(error.detection)}")
    return [(kind, "; ".join(rates)) for kind, rates in kinds.items()]


def _rate(passport: Passport, error: ErrorRates) -> dict[str, object]:
    alarms = next(
        (
            neutral.false_alarms
            for neutral in passport.neutral
            if (neutral.task, neutral.evaluator) == (error.task, error.evaluator)
        ),
        None,
    )
    return {
        "what": error.evaluator
        if len({probed.task for probed in passport.errors}) == 1
        else f"{error.evaluator}, {error.task}",
        "n": error.n_scored,
        "images": error.images,
        "detection": _share(error.detection),
        "alarms": _share(alarms),
    }


def _share(rate: MeasuredShare | None) -> str:
    if rate is None or rate.share is None:
        return "–"
    return rate_text(rate.share, rate)
