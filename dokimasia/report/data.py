"""What a report is made from: one frozen value that holds a run's figures and chosen samples, read from no store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue

from dokimasia.report.blocks import Block, Section
from dokimasia.report.figures import several

SIMULATED_NOTE = "Simulated models: these figures say something about the instrument, nothing about any real model."

M = TypeVar("M", bound=BaseModel)

Role = Literal["candidate", "baseline", "judge", "member", "peer", "pool", "model", "embedding"]


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
    `settings` are the run's other options, in words, and `open_questions` those that wait for people.
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
    open_questions: int = 0


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
    def text(self) -> str:
        """What of the run's samples is shown and what was left out, in a sentence or two."""
        if self.shown == self.total:
            failing = f", the {self.failed} with a failure first" if self.failed else ""
            return f"{'The only sample' if self.total == 1 else f'All {self.total} samples'}{failing}."
        parts = []
        if self.failed:
            failed_text = (
                "all" if self.failed_shown == self.failed else f"{self.failed_shown}, drawn by seed {self.seed},"
            )
            parts.append(f"{failed_text} of the {several(self.failed, 'sample')} with a failure")
        if self.failed and self.others_shown:
            parts.append(f"{self.others_shown} of the other {self.others}, drawn by seed {self.seed}")
        left = self.total - self.shown
        how = f": {' and '.join(parts)}" if parts else f", drawn by seed {self.seed}"
        shown = f"{self.shown} of {several(self.total, 'sample')}{how}"
        return f"{shown}. {left} {'is' if left == 1 else 'are'} left out here; every figure above counts all of them."

    @property
    def shown(self) -> int:
        """How many samples the browser holds."""
        return self.failed_shown + self.others_shown


@dataclass(frozen=True, slots=True)
class ReportData:
    """Everything that a report says.

    What a kind of run has no use for is left empty; a view on a terminal needs the first three alone.

    Attributes:
        drawing: how this kind of run is drawn.
        facts: what ran, and with which versions.
        summary: the figures as plain JSON, the very ones of `show --json`.
        figures: the figures as their model, which sections read by `figures_as`; None where the method computes JSON.
        planted: what planted parameters make expected: scores by model, of a refinement accuracies by model and arm; None
            where nothing is known to be planted.
        differences: the paired differences of every two models, from the method.
        repeats: each model's mean by repeat, from the method.
        reasons: an example of what was said, by kind of failure.
        selection: which samples are shown.
        samples: the shown samples, each as `show --sample ID --json` gives it, failures first; of a refinement those with
            a failed answer; of runs that make an item a sample, the items of `show --json`.
        pictures: their images by hash.
        added: what other methods add to the page of a run that they rest on, such as its capability tree or its diagnosis.
    """

    drawing: "Drawing"
    facts: RunFacts
    summary: Mapping[str, Any]
    figures: BaseModel | None = None
    planted: Mapping[str, Any] | None = None
    differences: Sequence[BaseModel | Mapping[str, Any]] = ()
    repeats: Mapping[str, Sequence[BaseModel | Mapping[str, Any]]] = field(
        default_factory=dict[str, Sequence[BaseModel | Mapping[str, Any]]]
    )
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    selection: Selection = Selection(failed=0, failed_shown=0, others=0, others_shown=0, seed=0)
    samples: Sequence[Mapping[str, Any]] = ()
    pictures: Mapping[str, Picture] = field(default_factory=dict[str, Picture])
    added: Mapping[str, "Added"] = field(default_factory=dict[str, "Added"])

    def figures_as(self, model: type[M]) -> M:
        """Return the figures as their model; what is there as plain JSON alone is validated."""
        return self.figures if isinstance(self.figures, model) else model.model_validate(self.summary)

    @property
    def simulated(self) -> Sequence[str]:
        """The names of the simulated models, of which the report's first line speaks."""
        names: Sequence[str] = self.summary.get("simulated", ())
        by_model = {model.name for model in self.facts.models if "sim" in model.model.split("/")[:-1]}
        return sorted({*names, *by_model})

    def addition(self, name: str) -> Any:
        """What the method of that name adds to the page; None where it adds nothing."""
        added = self.added.get(name)
        return None if added is None else added.value

    def ranked(self) -> list[str]:
        """The models' shown names, best mean score first, those without a score last by strict accuracy."""
        models: Mapping[str, Any] = self.summary["models"]

        def worth(name: str) -> tuple[float, float]:
            accuracy: Mapping[str, Any] = models[name].get("strict_accuracy") or {}
            return (models[name]["score"] or {"mean": 0})["mean"], accuracy.get("share") or 0

        return sorted(models, key=lambda name: (*(-value for value in worth(name)), name))

    @property
    def judged(self) -> bool:
        """Whether a judge scored; without one, rules alone said whether answers are right."""
        return bool(self.summary.get("judge"))

    @property
    def blind_arms(self) -> frozenset[str]:
        """The shown names of the arms without the image."""
        return frozenset(f"{name}#blind" for name in self.summary.get("blind", {}))


SectionMaker = Callable[[ReportData], Section | None]
"""Makes one section from a report's data, or leaves it out."""


Views = Sequence[Mapping[str, Any]]

Cut = Callable[[str], str]
"""Shortens a long text, and says so."""


class Clip(NamedTuple):
    """How many characters of a sample's text are shown, and where the rest is to be had."""

    run: str
    sample: str
    most: int

    def cut(self, text: str) -> tuple[str, str]:
        """Return the beginning of a text, and what to say of the rest, "" where all of it is shown."""
        left = len(text) - self.most
        if left <= 0:
            return text, ""
        return text[: self.most], f"… {left:,} more characters: dokimasia show {self.run} --sample {self.sample}"


class Added(NamedTuple):
    """What another method adds to a page: its figures, and the section that draws them."""

    value: Any
    section: SectionMaker


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a kind of run is drawn: what it is called (empty: as its method is), its sections, and those of a terminal.

    Sections of a terminal are named where they are others than the page's. `sample` draws one sample whole from what
    `show RUN --sample ID --json` gives, long texts cut; None where there is none to show. What other methods add stands
    after the section `added_after`. `asks` says that `sample` begins with what was asked; without it a page of one sample
    says that itself. `card` draws on such a page in the place of `sample`: HTML from the view, its pictures by hash, and what
    cuts long texts. `counts` is what the figures' `samples`, or `n`, is a number of: one, and several.
    `figures` is the model of the figures that its sections read; None where they read plain JSON.
    """

    name: str
    sections: tuple[SectionMaker, ...]
    terminal: tuple[SectionMaker, ...] | None = None
    sample: "Callable[[Views, Cut], Iterator[Block]] | None" = None
    asks: bool = False
    card: Callable[[Mapping[str, JsonValue], Mapping[str, Picture], Clip], str] | None = None
    added_after: SectionMaker | None = None
    counts: tuple[str, str] = ("sample", "samples")
    figures: type[BaseModel] | None = None
