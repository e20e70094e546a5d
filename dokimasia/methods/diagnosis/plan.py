"""What a diagnosis in words, and a test of its fingerprints, is: tables, judge, prompts and choices, hashed into its id."""

from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.options import GraphOptions
from dokimasia.gateway.budget import Budget
from dokimasia.graphs.diagnosis import diagnosis as diagnosis_graph
from dokimasia.graphs.diagnosis import fingerprinting
from dokimasia.methods.evaluation.plan import RUN_ID_LENGTH, model_identity
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.estimate import Asking, Estimate, added_up
from dokimasia.runs.lifecycle import LIMITS, run_row
from dokimasia.storage.runs import Run

WORDS = "diagnosis"
"""What a run's options say of a diagnosis in words."""

FINGERPRINT = "fingerprint"
"""What a run's options say of a test of fingerprints."""

WRITING = ("diagnosis_across", "diagnosis_report", "diagnosis_salient", "repair")
MATCHING = ("fingerprint_match",)
TABLE_TOKENS, REPORT_TOKENS, PICK_TOKENS = 4_000, 700, 120
ANSWER_TOKENS = 350


class WordsRequest(Value):
    """What the user asks: a run (by the beginning of its id), who writes, and under which tree and seed."""

    run: str
    judge: str
    tree: str | None = None
    seed: int | None = Field(default=None, ge=0)
    prompts: tuple[Path, ...] = ()
    fresh: bool = False
    max_cost: float | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)

    FLAG: ClassVar[str] = "--write"

    @property
    def budget(self) -> Budget:
        """The limits on what this sitting may spend; no part of the identity."""
        return Budget(max_cost=self.max_cost, max_calls=self.max_calls, max_tokens=self.max_tokens)

    @property
    def command(self) -> str:
        """The command as a person would repeat it."""
        words = ["diagnose", self.run, self.FLAG, "--judge", self.judge]
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in {"run", "judge", "prompts", *LIMITS} or value == field.default:
                continue
            option = f"--{name.replace('_', '-')}"
            words += [option] if value is True else [option, str(value)]
        return " ".join(words)


class FingerprintRequest(WordsRequest):
    """What the user asks of a test of fingerprints.

    `responses` is how many of each model are shown in a trial, `trials` how many trials a pair has at most; they share no
    sample, so that there are fewer where the data are few.
    """

    responses: int = Field(default=30, ge=2, le=50)
    trials: int = Field(default=10, ge=1, le=100)

    FLAG: ClassVar[str] = "--fingerprint"


class WordsPlan(Value):
    """A diagnosis in words by its content: the tables (an id), who writes, by which prompts.

    `samples` is how many the run has, for those who read an estimate.
    """

    source: str
    diagnosis: str
    models: int
    samples: int = 0
    judge: ModelSpec
    prompts: dict[str, str]
    seed: int
    fresh: int = 0

    @property
    def specs(self) -> dict[str, ModelSpec]:
        """The model that is asked, by name."""
        return {self.judge.ref.name: self.judge}

    @property
    def options(self) -> GraphOptions:
        """The plan as a graph needs it."""
        return GraphOptions(judge=self.judge.ref.name, models=self.specs)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that decides the result."""
        return {
            "command": "diagnose --write",
            "diagnosis": self.diagnosis,
            "judge": model_identity(self.judge),
            "prompts": dict(self.prompts),
            "graph": diagnosis_graph.VERSION,
            "fresh": self.fresh,
        }

    @property
    def run_id(self) -> str:
        """The run's id: 16 hexadecimal digits over its identity."""
        return digest("run", self.identity)[:RUN_ID_LENGTH]

    def estimate(self) -> Estimate:
        """Return what will be asked at most, without re-asks, by rule of thumb."""
        return added_up(self.askings(), self.samples or self.models)

    def askings(self) -> list[Asking]:
        """Return the calls of the reports."""
        reports = self.models + (self.models > 1)
        return [
            Asking(self.judge, reports, TABLE_TOKENS, PICK_TOKENS),
            Asking(self.judge, reports, TABLE_TOKENS // 2, REPORT_TOKENS),
        ]


class FingerprintPlan(WordsPlan):
    """A test of fingerprints by its content: also the half that reports are written from, and the trials (ids of tasks)."""

    responses: int
    tasks: int
    drawn: str

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that decides the result."""
        return {
            **super().identity,
            "command": "diagnose --fingerprint",
            "matching": fingerprinting.VERSION,
            "responses": self.responses,
            "drawn": self.drawn,
        }

    def estimate(self) -> Estimate:
        """Return what will be asked at most, without re-asks, by rule of thumb; its samples are the trials."""
        return added_up(self.askings(), self.tasks)

    def askings(self) -> list[Asking]:
        """Return the calls of the reports and of the trials."""
        sent = 2 * self.responses * ANSWER_TOKENS + 2 * REPORT_TOKENS
        return [*super().askings(), Asking(self.judge, self.tasks, sent, PICK_TOKENS)]


def words_row(plan: WordsPlan, request: WordsRequest, source: Run, *, kind: str, **more: Any) -> Run:
    """Return the row of an accepted diagnosis in words, or of a test of fingerprints."""
    return run_row(
        plan,
        request,
        graph=kind,
        command=request.command,
        data_name=source.data_name,
        data_hash=plan.diagnosis,
        seed=plan.seed,
        kind=kind,
        **more,
    )


def prompts_for(library: PromptLibrary, names: tuple[str, ...]) -> dict[str, str]:
    """Return version and hash of prompts by name."""
    known = library.identity()
    return {name: known[name] for name in names}
