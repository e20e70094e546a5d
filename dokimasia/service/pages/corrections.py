"""A sample's page takes what a person corrects by hand: a verdict, scores, or that the sample is left out."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import ValidationError

from dokimasia.errors import DecidedMeanwhile, InputError, NotFound
from dokimasia.methods.evaluation.correcting import CorrectionTarget, check_correctable, correct_now
from dokimasia.service.filtering import filter_of, sorted_by
from dokimasia.service.pages.samples import link, one_sample
from dokimasia.service.pages.unsaved import LONGEST, keep_unsaved, read_unsaved, saved, unsaved
from dokimasia.service.state import Reviewer, TheService
from dokimasia.storage.excerpts import samples_of

router = APIRouter()


@router.post("/runs/{run_id}/corrections")
def correct(
    request: Request,
    service: TheService,
    person: Reviewer,
    run_id: str,
    sample: Annotated[str, Form()],
    action: Annotated[str, Form(max_length=40)],
    model: Annotated[str, Form()] = "",
    repeat: Annotated[int, Form(ge=0, lt=2**31)] = 0,
    answer: Annotated[str, Form()] = "",
    criterion: Annotated[list[str] | None, Form()] = None,
    reason: Annotated[str, Form()] = "",
    seen: Annotated[int | None, Form(ge=0, lt=2**31)] = None,
) -> Response:
    """Keep a correction and show the sample with it; where it cannot be kept, say why, with all that was written still there."""
    run = service.run(run_id)
    given = {"model": model, "repeat": repeat, "answer": answer, "criteria": criterion or [], "reason": reason}
    try:
        scores = {str(number): score for number, score in enumerate(criterion or (), 1) if score}
        wanted: dict[str, Any] = {"sample": sample, "model": model, "repeat": repeat, "reason": reason, "seen": seen}
        if action in ("leave_out", "keep"):
            wanted |= {"leave_out": True, "undo": action == "keep"}
        elif action == "undo":
            wanted["undo"] = True
        else:
            wanted |= {"answer": answer or None, "criteria": scores}
        correct_now(service.home, run, _wanted(wanted), who=person.name)
    except DecidedMeanwhile as problem:
        told = DecidedMeanwhile(f"{problem}. What stands now is below; save once more to write yours over it")
        return one_sample(request, service, run, sample, fault=told, given=given)
    except InputError as problem:
        return one_sample(request, service, run, sample, fault=problem, given=given)
    saved(service.home, run, sample, person.name, model, repeat)
    asked = filter_of(request.query_params, sorted_by(service.home, run))
    return RedirectResponse(f"{link(run, sample, asked)}#by-hand", 303)


@router.get("/runs/{run_id}/corrections/draft")
def drafts(service: TheService, person: Reviewer, run_id: str, sample: str) -> Response:
    """Return what a person has not saved yet of their corrections of a sample, a form each."""
    forms = unsaved(service.home, service.run(run_id), sample, person.name)
    return JSONResponse({"forms": [one.model_dump(mode="json") for one in forms]})


@router.post("/runs/{run_id}/corrections/draft")
def draft(
    service: TheService,
    person: Reviewer,
    run_id: str,
    sample: Annotated[str, Form(max_length=4000)],
    text: Annotated[str, Form(max_length=LONGEST)] = "[]",
) -> Response:
    """Keep what is chosen and written in the forms of a sample's page, in the place of what was kept before."""
    run = service.run(run_id)
    check_correctable(run)
    if sample not in samples_of(service.home, run.id, [sample]):
        raise NotFound(f"run {run.id} has no sample {sample[:80]!r}")
    keep_unsaved(service.home, run, sample, person.name, read_unsaved(text))
    return JSONResponse({"kept": True})


def _wanted(said: dict[str, Any]) -> CorrectionTarget:
    try:
        return CorrectionTarget.model_validate(said)
    except ValidationError as error:
        found = (
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ").removeprefix("Value error, ")
            for one in error.errors()
        )
        raise InputError("; ".join(found)) from None
