"""A diagnosis in words: request, plan, acceptance, and the tables that a stored one is based on."""

import asyncio
from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.diagnosis.report import EVERYONE
from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.domain.identity import value_id
from dokimasia.domain.options import GraphOptions
from dokimasia.methods.diagnosis.tables import diagnose, store_diagnosis
from dokimasia.methods.tree import evaluation_of
from dokimasia.runs.estimate import ExpectedCalls, total_estimate
from dokimasia.runs.plans import RunPlan, prompts_used
from dokimasia.runs.requests import MOST_SEED, Judge, Option, RunRequest
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.runs import Run, list_runs, run_samples

NAME = "diagnosis"
"""The method's name."""

WRITING = ("diagnosis_across", "diagnosis_report", "diagnosis_salient", "repair")
"""The prompts for writing reports."""

REPORT = "report"
"""The kind of a report's result row; its `model` is the subject, empty for the report across models."""

TABLE_TOKENS, REPORT_TOKENS, PICK_TOKENS = 4_000, 700, 120


class WordsRequest(RunRequest):
    """Have a judge put the tables of RUN (the beginning of its id, or `last`) into words, with every figure printed.

    The same command continues an interrupted writing, or prints the reports.
    """

    VERB: ClassVar[str] = "diagnose --write"

    run: Annotated[str, Option(argument=True, continues="evaluate")]
    judge: Judge = Field(
        description="The model that writes, or matches: a name from dokimasia.toml or any LiteLLM name."
    )
    tree: Annotated[str | None, Option(metavar="TREE")] = Field(
        default=None, description="Another tree or version than the run's own."
    )
    seed: int | None = Field(  # pyright: ignore[reportIncompatibleVariableOverride]
        default=None, ge=0, le=MOST_SEED, description="Seed of intervals and tests (default: that of RUN)."
    )


class WordsPlan(RunPlan):
    """The plan of a diagnosis in words: the evaluation, the id of its tables, and the writer."""

    source: str
    diagnosis: str
    judge: ModelSpec

    @property
    def judge_name(self) -> str:
        """The judge's displayed name."""
        return self.judge.ref.name

    @property
    def options(self) -> GraphOptions:
        """The options of the graph."""
        return GraphOptions(judge=self.judge.ref.name, models=self.models)


async def accept(request: WordsRequest, session: Session) -> Accepted[WordsPlan]:
    """Validate a request, compute the run's tables (a fork uses its parent's), and return plan and estimate.

    Raises:
        InputError: the run is not an evaluation or has no scores, there is no such tree, or the judge is unknown.
    """
    home = session.opened
    if session.source_run is not None:
        origin, diagnosis = session.source_run, written_from(home, session.source_run)
    else:
        origin, own_tree = evaluation_of(home, request.run)
        request = request.model_copy(update={"run": origin.id, "tree": request.tree or own_tree})
        diagnosis = await asyncio.to_thread(diagnose, home, origin, tree=request.tree, seed=request.seed)
    plan = WordsPlan(
        seed=diagnosis.seed,
        prompts=prompts_used(session.library, WRITING),
        source=diagnosis.run,
        diagnosis=value_id(diagnosis),
        judge=session.model(request.judge),
    )
    models = len(diagnosis.models)

    async def store_with_source(home: Home, _: Run) -> None:
        if session.source_run is None:
            await store_diagnosis(home, origin, diagnosis)

    return Accepted(
        plan=plan,
        estimate=total_estimate(report_calls(plan.judge, models), len(run_samples(home, plan.source)) or models),
        data_name=origin.data_name,
        data_hash=plan.diagnosis,
        values=(diagnosis,),
        keep=store_with_source,
        request=request,
    )


def report_calls(judge: ModelSpec, models: int) -> list[ExpectedCalls]:
    """Return the expected calls for the reports of models and across models: picking, writing and one correction each."""
    reports = models + (models > 1)
    return [
        ExpectedCalls(judge, reports, TABLE_TOKENS, PICK_TOKENS),
        ExpectedCalls(judge, reports, TABLE_TOKENS // 2, REPORT_TOKENS),
        ExpectedCalls(judge, reports, TABLE_TOKENS // 2 + REPORT_TOKENS, REPORT_TOKENS),
    ]


def written_from(home: Home, run: Run) -> Diagnosis:
    """Return the tables that a run's reports are based on."""
    id = stored_source(run).diagnosis
    return find_values(home, Diagnosis, [id])[id]


def runs_on(home: Home, source: str, method: str) -> Iterator[Run]:
    """Yield the runs of a method that are based on an evaluation, newest first."""
    for run in list_runs(home):
        if run.method == method and stored_source(run).source == source:
            yield run


class DiagnosisSource(BaseModel):
    """The source in the plans of diagnoses in words and fingerprint tests: the evaluation, and the id of its tables."""

    source: str
    diagnosis: str


def stored_source(run: Run) -> DiagnosisSource:
    """Return the source of a run of words or fingerprints."""
    return run.plan_as(DiagnosisSource)


def subjects_of(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the subjects of a diagnosis's reports: each model and, with several, all models together."""
    models = diagnosis.models
    if len(models) > 1:
        return (*models, EVERYONE)
    return models


def item_of(subject: str) -> str:
    """Return the name of a report's result row."""
    return f"{REPORT}/{subject}"
