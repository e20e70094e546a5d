"""What several routes answer with: a run as lists show it, and where to go from it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from dokimasia.runs.estimate import Estimate
from dokimasia.runs.reading.inspection import described, described_now
from dokimasia.service.routes.answering import Listed
from dokimasia.service.state import Service
from dokimasia.storage.naming import Label
from dokimasia.storage.runs import Run, RunStatus
from dokimasia.storage.spending import spent_by


class Forked(BaseModel):
    """The run that another was forked from, and the step where it has one."""

    run: str
    node: str | None = None


class SpendingLimits(BaseModel):
    """What a run may spend in all, over every resume and retry; null is no limit."""

    max_cost: float | None = Field(description="US dollars")
    max_calls: int | None = Field(description="requests")
    max_tokens: int | None


class RunSpent(BaseModel):
    """What a run has spent of its limits so far."""

    cost: float = Field(description="US dollars")
    calls: int = Field(description="requests")
    tokens: int


class RunShown(BaseModel):
    """A run as lists show it; `dokimasia runs --json` prints the same."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "2e235f0474c474b7",
                    "method": "evaluate",
                    "command": "evaluate questions.jsonl --judge judge --models strong,weak",
                    "data_name": "questions.jsonl",
                    "seed": 0,
                    "fresh": 0,
                    "status": "done",
                    "created_at": "2026-11-23T08:00:00+00:00",
                    "updated_at": "2026-11-23T08:10:00+00:00",
                    "forked_from": None,
                    "open_questions": 0,
                    "why": "",
                    "limits": {"max_cost": 5.0, "max_calls": None, "max_tokens": None},
                    "name": "first",
                    "tags": ["colours"],
                }
            ]
        }
    )

    id: str
    method: str
    command: str = Field(description="the command that asks for the same")
    data_name: str
    seed: int
    fresh: int = Field(description="how often the same was asked to begin anew")
    status: RunStatus
    created_at: str
    updated_at: str
    forked_from: Forked | None
    open_questions: int = Field(ge=0, description="questions of it that wait for people")
    why: str = Field(description="why it was interrupted or failed, where that is known; else empty")
    limits: SpendingLimits
    name: str = Field(description="what the run is called; empty without a name")
    tags: list[str]


class RunsListed(Listed):
    """A page of the list of runs, the newest first."""

    runs: list[RunShown]


class Links(BaseModel):
    """Where what belongs to a run is found."""

    self: str
    page: str = Field(description="for people")
    items: str
    samples: str
    report: str
    export: str
    events: str = Field(description="server-sent events")
    cancel: str


class RunBegun(RunShown):
    """A run that was asked for, resumed or forked, with what it is expected to take."""

    spent: RunSpent
    estimate: dict[str, Any] = Field(description="calls, tokens and cost by model, as `--dry-run` prints them")
    links: Links


def shown_run(run: Run, label: Label, **more: Any) -> RunShown:
    """Return a run as lists show it; `more` as `described` takes it."""
    return RunShown.model_validate(described(run, label, **more))


def run_now(service: Service, run: Run) -> RunShown:
    """Return a run as lists show it, with what it is called."""
    return RunShown.model_validate(described_now(service.home, run))


def begun(service: Service, run: Run) -> RunBegun:
    """Return a run with its estimate and links."""
    shown = run_now(service, run).model_dump()
    return RunBegun(**shown, spent=spent_of(service, run), estimate=estimate_of(run), links=links_of(run.id))


def spent_of(service: Service, run: Run) -> RunSpent:
    """Return what a run has spent."""
    return RunSpent.model_validate(spent_by(service.home, run.id)._asdict())


def estimate_of(run: Run) -> dict[str, Any]:
    """Return what a run was expected to ask and cost when it was accepted."""
    kept = Estimate.model_validate(run.options["estimate"])
    return {**kept.model_dump(mode="json", exclude={"answered"}), "calls": kept.calls, "cost": kept.cost}


def links_of(run: str) -> Links:
    """Return where what belongs to a run is found."""
    at = f"/api/runs/{run}"
    parts = {name: f"{at}/{name}" for name in ("items", "samples", "report", "export", "events", "cancel")}
    return Links(self=at, page=f"/runs/{run}", **parts)
