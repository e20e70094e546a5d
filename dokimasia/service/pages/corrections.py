"""Corrections that people make on a sample's page, and their unsaved drafts."""

from collections.abc import Iterable
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import Field, TypeAdapter, ValidationError

from dokimasia.domain.identity import Value, digest
from dokimasia.errors import DecidedMeanwhile, InputError, NotFound, faults_of, list_faults
from dokimasia.methods.evaluation.correcting import CorrectionTarget, check_correctable, correct_now
from dokimasia.people.checks import keep_draft
from dokimasia.service.filtering import filter_of, filterable_run
from dokimasia.service.pages.samples import correction_anchor, one_sample, part_of, sample_link
from dokimasia.service.state import Reviewer, TheService
from dokimasia.storage.decisions import clear_draft, draft_file
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

LONGEST = 200_000
"""The maximum number of characters of all forms for one sample."""


class Unsaved(Value):
    """An unsaved form of a sample's page, for one model's answer, or without a model for leaving the sample out."""

    model: str = Field(default="", max_length=400)
    repeat: int = Field(default=0, ge=0, lt=2**31)
    answer: Literal["", "right", "wrong"] = ""
    criteria: tuple[Annotated[str, Field(max_length=1)], ...] = Field(default=(), max_length=10_000)
    reason: str = Field(default="", max_length=500)

    @property
    def is_filled(self) -> bool:
        """Whether anything was chosen or typed."""
        return bool(self.answer or self.reason or any(self.criteria))


_ALL = TypeAdapter(tuple[Unsaved, ...])


def unsaved(home: Home, run: Run, sample: str, who: str) -> tuple[Unsaved, ...]:
    """Return a person's unsaved corrections of a sample."""
    path = draft_file(home.path, _item(run, sample), who)
    try:
        if path.is_file():
            return _ALL.validate_json(path.read_bytes())
        return ()
    except (FileNotFoundError, ValidationError):  # saved in the meantime, or damaged
        return ()


def read_unsaved(text: str) -> tuple[Unsaved, ...]:
    """Return the forms sent by a page.

    Raises:
        InputError: the text is invalid.
    """
    try:
        return _ALL.validate_json(text)
    except ValidationError as error:
        raise InputError(f"text: {list_faults(error)[0]}") from None


def keep_unsaved(home: Home, run: Run, sample: str, who: str, forms: Iterable[Unsaved]) -> None:
    """Store the unsaved corrections of a sample, replacing earlier ones."""
    filled_forms = tuple(form for form in forms if form.is_filled)
    if filled_forms:
        keep_draft(home, _item(run, sample), who, _ALL.dump_json(filled_forms).decode())
    else:
        clear_draft(home.path, _item(run, sample), who)


def drop_draft(home: Home, run: Run, sample: str, who: str, model: str, repeat: int) -> None:
    """Delete the draft for one answer, or without a model for the sample, once it is saved."""
    forms = unsaved(home, run, sample, who)
    if forms:
        keep_unsaved(home, run, sample, who, (form for form in forms if (form.model, form.repeat) != (model, repeat)))


def _item(run: Run, sample: str) -> str:
    return f"correction-{run.id}-{digest('sample', sample)[:16]}"


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
    at: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    """Save a correction and show the sample with it; if it is refused, show why, with the form still filled in."""
    run = service.run(run_id)
    form = {"model": model, "repeat": repeat, "answer": answer, "criteria": criterion or [], "reason": reason}
    try:
        scores = {str(number): score for number, score in enumerate(criterion or (), 1) if score}
        if action in ("leave_out", "keep"):
            change = {"leave_out": True, "undo": action == "keep"}
        elif action == "undo":
            change = {"undo": True}
        else:
            change = {"answer": answer or None, "criteria": scores}
        place = {"sample": sample, "model": model, "repeat": repeat}
        target = _correction_target({**place, "reason": reason, "seen": seen, **change})
        correct_now(service.home, run, target, person=person.name)
    except DecidedMeanwhile as problem:
        conflict = DecidedMeanwhile(f"{problem}. What stands now is below; save once more to write yours over it")
        return one_sample(request, service, run, sample, part=part_of(repeat), fault=conflict, given=form)
    except InputError as problem:
        return one_sample(request, service, run, sample, part=part_of(repeat), fault=problem, given=form)
    drop_draft(service.home, run, sample, person.name, model, repeat)
    filterable = filterable_run(service.home, run, service.settings)
    filter = filter_of(request.query_params, filterable, show=request.query_params.getlist("show"))
    anchor = quote(correction_anchor(model, repeat), safe="") if model else "by-hand"
    return RedirectResponse(
        f"{sample_link(run, sample, filter, at=at, saved=action, part=part_of(repeat))}#{anchor}", 303
    )


@router.get("/runs/{run_id}/corrections/draft")
def drafts(service: TheService, person: Reviewer, run_id: str, sample: str) -> Response:
    """Return a person's unsaved corrections of a sample, one form for each."""
    forms = unsaved(service.home, service.run(run_id), sample, person.name)
    return JSONResponse({"forms": [form.model_dump(mode="json") for form in forms]})


@router.post("/runs/{run_id}/corrections/draft")
def draft(
    service: TheService,
    person: Reviewer,
    run_id: str,
    sample: Annotated[str, Form(max_length=4000)],
    text: Annotated[str, Form(max_length=LONGEST)] = "[]",
) -> Response:
    """Store the forms of a sample's page as a draft in place of the earlier one."""
    run = service.run(run_id)
    check_correctable(run)
    if sample not in samples_of(service.home, run.id, [sample]):
        raise NotFound(f"run {run.id} has no sample {sample[:80]!r}")
    keep_unsaved(service.home, run, sample, person.name, read_unsaved(text))
    return JSONResponse({"kept": True})


def _correction_target(fields: dict[str, object]) -> CorrectionTarget:
    try:
        return CorrectionTarget.model_validate(fields)
    except ValidationError as error:
        raise InputError(faults_of(error)) from None
