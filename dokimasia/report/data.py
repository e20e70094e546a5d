"""What a report is made from: one frozen value that holds a run's figures and chosen samples, read from no store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

SIMULATED_NOTE = "Simulated models: these figures say something about the instrument, nothing about any real model."

Role = Literal["candidate", "judge", "member", "peer"]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """How a model was asked: what for, its shown name, what it is called at its endpoint, and how it was sampled.

    `steps` are those of a judge that serves only some, empty for a judge of all.
    """

    role: Role
    name: str
    model: str
    endpoint: str
    sampling: Mapping[str, Any]
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """A prompt that the run was accepted with."""

    name: str
    version: str
    hash: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What ran, and with which versions.

    `accepted_by` is the version of the package that accepted the run ("" where it was not recorded), `written_by` the
    one that writes the report. `graphs` has each graph's version, None where this program's are not those of the run.
    `settings` are the run's other options, in words.
    """

    run: str
    status: str
    command: str
    data_name: str
    data_hash: str
    seed: int
    accepted_by: str
    written_by: str
    models: tuple[ModelFacts, ...]
    prompts: tuple[PromptFacts, ...]
    graphs: Mapping[str, int] | None
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as the report shows it: its hash, its size in pixels when it is upright, and a small copy as a data URI.

    `uri` is "" where it cannot be drawn; then `problem` says why.
    """

    sha256: str
    width: int
    height: int
    uri: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which samples the browser holds: counts of those with a failure and of the rest, each whole and shown."""

    failed: int
    failed_shown: int
    others: int
    others_shown: int
    seed: int

    @property
    def total(self) -> int:
        """How many samples the run has."""
        return self.failed + self.others

    @property
    def shown(self) -> int:
        """How many samples the browser holds."""
        return self.failed_shown + self.others_shown


@dataclass(frozen=True, slots=True)
class ReportData:
    """Everything that a report says.

    Attributes:
        facts: what ran, and with which versions.
        summary: the figures, the very ones of `show --json`.
        differences: the paired differences of every two models, from `dokimasia.methods.evaluation.rivals.rival_differences`.
        repeats: each model's mean by repeat, from `dokimasia.methods.evaluation.repeats.means_by_repeat`.
        reasons: an example of what was said, by kind of failure.
        selection: which samples are shown.
        samples: the shown samples, each as `show --sample ID --json` gives it, failures first; of a refinement those with
            a failed answer.
        pictures: their images by hash.
        tree: the capability tree that the run's criteria are mapped to, with its figures; None without one. It has what
            `dokimasia.methods.tree.reading.view.tree_view` returns, and `tree` and `version` (what it is called), `unplaced` {kind:
            n}, `findings` {model: what `dokimasia.methods.tree.reading.weaknesses.model_findings` returns}, and `examples` {node: a
            few of its criteria's questions}.
        diagnosis: the diagnosis that was kept with the run, as `dokimasia.methods.diagnosis.report.report_diagnosis` gives
            it; None where the run was not diagnosed.
        fingerprints: what the newest test of the run's fingerprints came to, as
            `dokimasia.methods.fingerprints.results.fingerprint_summary` gives it; None where there was none.
    """

    facts: RunFacts
    summary: Mapping[str, Any]
    differences: Sequence[Mapping[str, Any]]
    repeats: Mapping[str, Sequence[Mapping[str, Any]]]
    reasons: Mapping[str, str]
    selection: Selection
    samples: Sequence[Mapping[str, Any]]
    pictures: Mapping[str, Picture]
    tree: Mapping[str, Any] | None = None
    diagnosis: Mapping[str, Any] | None = None
    fingerprints: Mapping[str, Any] | None = None

    @property
    def simulated(self) -> Sequence[str]:
        """The names of the simulated models, of which the report's first line speaks."""
        return self.summary["simulated"]

    def ranked(self) -> list[str]:
        """The models' shown names, best mean score first, those without a score last."""
        models: Mapping[str, Any] = self.summary["models"]
        return sorted(models, key=lambda name: (-(models[name]["score"] or {"mean": 0})["mean"], name))

    @property
    def blind_arms(self) -> frozenset[str]:
        """The shown names of the arms without the image."""
        return frozenset(f"{name}#blind" for name in self.summary.get("blind", {}))
