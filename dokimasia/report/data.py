"""The data of a report: one frozen value with a run's figures and chosen samples; drawing reads no store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from pydantic import AliasPath, BaseModel, Field, JsonValue

from dokimasia.domain.call import STORED
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.ports import Spending
from dokimasia.domain.wording import is_or_are
from dokimasia.report.blocks import Block, Cell, Section
from dokimasia.report.fields import ForkedFrom, PassportUsed
from dokimasia.report.figures import several

SIMULATED_NOTE = "Simulated models: these figures say something about the instrument, nothing about any real model."

M = TypeVar("M", bound=BaseModel)

Role = Literal["candidate", "baseline", "judge", "member", "peer", "pool", "model", "embedding"]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """How a model was used: role, displayed name, model name at its endpoint, and sampling settings.

    `steps` are the steps that a judge serves if it serves only some; empty for a judge of all steps.
    """

    role: Role
    name: str
    model: str
    endpoint: str
    sampling: JsonObject
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """A prompt that the run was accepted with."""

    name: str
    version: str
    hash: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Identity and settings of a run, with all versions.

    `accepted_by` is the version of the package that accepted the run (empty if it was not recorded), `written_by` the
    version that writes the report. `graphs` has the version of each graph; None if they differ from this program's.
    `settings` are the other options of the run in words, `open_questions` the number of questions waiting for people, `unseen`
    the note that simulated models saw nothing in the pictures; empty without one.
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
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image in the report: hash, size in pixels when upright, and a small copy as a data URI.

    If it cannot be drawn, `uri` is empty and `problem` says why.
    """

    sha256: str
    width: int
    height: int
    uri: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection of displayed samples: numbers of samples with a failure and of others, in total and displayed."""

    failed: int
    failed_shown: int
    others: int
    others_shown: int
    seed: int

    @property
    def total(self) -> int:
        """Number of samples of the run."""
        return self.failed + self.others

    @property
    def text(self) -> str:
        """One or two sentences on the displayed samples and those left out."""
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
        omitted = self.total - self.shown
        draw = f": {' and '.join(parts)}" if parts else f", drawn by seed {self.seed}"
        displayed = f"{self.shown} of {several(self.total, 'sample')}{draw}"
        return f"{displayed}. {omitted} {is_or_are(omitted)} left out here; every figure above counts all of them."

    @property
    def shown(self) -> int:
        """Number of displayed samples."""
        return self.failed_shown + self.others_shown


class CommonFigures(BaseModel):
    """The figures that a report shows of runs of any kind; what a kind of run does not have is empty."""

    simulated: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    passports: tuple[PassportUsed, ...] = ()
    forked_from: ForkedFrom | None = None
    open_items: int = 0
    samples: int | None = None
    n: int | None = None


class ModelRank(BaseModel):
    """What a model is ranked by; None where it has no such figure."""

    accuracy: float | None = Field(default=None, validation_alias=AliasPath("strict_accuracy", "share"))
    score: float | None = Field(default=None, validation_alias=AliasPath("score", "mean"))


class RankedFigures(BaseModel):
    """The figures by which the models of an evaluation are ranked; `judge` is empty if only rules decided."""

    judge: str = ""
    models: dict[str, ModelRank] = {}
    blind: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class ReportData:
    """All data of a report.

    Fields that a kind of run does not need are empty; a terminal view needs only the first three.

    Attributes:
        drawing: how to draw this kind of run.
        facts: identity and settings of the run, with versions.
        summary: the figures as plain JSON, as in `show --json`.
        opening: the paragraphs with which the report begins, before the conclusion.
        figures: the figures as a model, which sections read with `figures_as`; None if the method computes JSON.
        paid: what the run itself spent, without replies that the ledger had; None if that is not known.
        planted: values expected from planted parameters: scores by model or, for a refinement, accuracies by model and
            arm; None if nothing is known to be planted.
        differences: the method's paired differences of all pairs of models.
        repeats: each model's mean by repeat, from the method.
        reasons: an example of a failure's reason, by kind of failure.
        selection: the selection of displayed samples.
        samples: the displayed samples, failures first, each as in `show --sample ID --json`; for a refinement, those
            with a failed answer; for runs with an item per sample, the items of `show --json`.
        pictures: images of these samples, by hash.
        added: additions of other methods to the page, such as the capability tree or the diagnosis of the run.
        samples_page: the address of the run's samples in a service; empty for a report in a file.
    """

    drawing: "Drawing"
    facts: RunFacts
    summary: JsonObject
    figures: BaseModel | None = None
    opening: Sequence[Cell] = ()
    paid: Spending | None = None
    planted: JsonObject | None = None
    differences: Sequence[BaseModel | JsonObject] = ()
    repeats: Mapping[str, Sequence[BaseModel | JsonObject]] = field(
        default_factory=dict[str, Sequence[BaseModel | JsonObject]]
    )
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    selection: Selection = Selection(failed=0, failed_shown=0, others=0, others_shown=0, seed=0)
    samples: "Views" = ()
    pictures: Mapping[str, Picture] = field(default_factory=dict[str, Picture])
    added: Mapping[str, "Added"] = field(default_factory=dict[str, "Added"])
    samples_page: str = ""

    def link_to_samples(self, **filter: str) -> str:
        """Return the address of the samples that a filter matches; empty if the report has no page of samples.

        Examples:
            >>> data.link_to_samples(failure="refused", model="sim/weak")  # doctest: +SKIP
            '/runs/2e235f0474c474b7/samples?failure=refused&model=sim%2Fweak'
        """
        chosen = {name.replace("_", "-"): value for name, value in filter.items() if value}
        if self.samples_page:
            return f"{self.samples_page}?{urlencode(chosen)}"
        return ""

    def link_to_sample(self, sample: str) -> str:
        """Return the address of the page of one sample; empty if the report has no page of samples."""
        if self.samples_page:
            return f"{self.samples_page}/{quote(sample, safe='')}"
        return ""

    def figures_as(self, model: type[M]) -> M:
        """Return the figures as their model; plain JSON is validated."""
        if isinstance(self.figures, model):
            return self.figures
        return model.model_validate(self.summary)

    @property
    def common(self) -> CommonFigures:
        """The figures that are shown of runs of any kind."""
        return CommonFigures.model_validate(self.summary)

    @property
    def simulated(self) -> Sequence[str]:
        """Names of the simulated models, for the notice at the top of the report."""
        by_model = {model.name for model in self.facts.models if "sim" in model.model.split("/")[:-1]}
        return sorted({*self.common.simulated, *by_model})

    @property
    def stored(self) -> frozenset[str]:
        """Names of the models whose answers were stored, in a run that asked other models; empty in any other run."""
        answering = [model for model in self.facts.models if model.role in ("candidate", "model", "baseline")]
        stored = frozenset(model.name for model in answering if model.endpoint == STORED)
        if any(model.endpoint != STORED for model in answering):
            return stored
        return frozenset()

    def addition(self, name: str) -> Any:
        """Return the data that a method adds to the page; None without any."""
        added = self.added.get(name)
        if added is None:
            return None
        return added.value

    @property
    def _ranked(self) -> RankedFigures:
        return RankedFigures.model_validate(self.summary)

    def ranked(self) -> list[str]:
        """Return the models by strict accuracy, best first; ties and unknown values are ordered by mean score."""
        models = self._ranked.models.items()
        ranks = sorted((-(model.accuracy or 0), -(model.score or 0), name) for name, model in models)
        return [name for _, _, name in ranks]

    def by_score(self) -> list[str]:
        """Return the models by mean score, best first; those without a score come last, by strict accuracy."""
        models = self._ranked.models.items()
        ranks = sorted((-(model.score or 0), -(model.accuracy or 0), name) for name, model in models)
        return [name for _, _, name in ranks]

    @property
    def judged(self) -> bool:
        """Whether a judge scored; without one, only rules decided whether answers are right."""
        return bool(self._ranked.judge)

    @property
    def blind_arms(self) -> frozenset[str]:
        """Displayed names of the arms without the image."""
        return frozenset(f"{name}#blind" for name in self._ranked.blind)


SectionMaker = Callable[[ReportData], Section | None]
"""Makes a section from a report's data; None leaves it out."""


Views = Sequence[Mapping[str, Any]]

Cut = Callable[[str], str]
"""Shortens a long text, and marks the cut."""


def cut_text(text: str, most: int) -> str:
    """Return the beginning of a text, with the number of characters left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most:,} characters more)"


class Clip(NamedTuple):
    """The maximum length of a sample's texts, and the run and sample to name at a cut."""

    run: str
    sample: str
    most: int

    def cut(self, text: str) -> tuple[str, str]:
        """Return the beginning of a text, and a hint where to read the remainder; the hint is empty if nothing is cut."""
        n_omitted = len(text) - self.most
        if n_omitted <= 0:
            return text, ""
        return text[: self.most], f"… {n_omitted:,} more characters: dokimasia show {self.run} --sample {self.sample}"


class Added(NamedTuple):
    """An addition of another method to a page: its data, and the section that draws them."""

    value: object
    section: SectionMaker


@dataclass(frozen=True, slots=True)
class Drawing:
    """How to draw a kind of run: its name (empty for the method's), its sections, and those of a terminal.

    Attributes:
        name: displayed name of the kind of run.
        sections: sections of the page.
        terminal: sections of a terminal, if they differ from those of the page.
        sample: draws one sample whole from the views of `show RUN --sample ID --json`, with long texts cut; None if the
            method shows no samples.
        asks: whether `sample` begins with the question; otherwise a page of one sample adds it.
        card: draws the sample's page in place of `sample`: HTML from the view, its pictures by hash, and the clip.
        added_after: the section after which additions of other methods are placed.
        conclusion: at most five sentences that a reader can quote, with which every report begins: who is better, by how
            much, how sure that is, what is undecided, and how many samples would decide it.
        counts: singular and plural of what the figures' `samples`, or `n`, counts.
        figures: the model of the figures that the sections read; None if they read plain JSON.
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
    conclusion: Callable[[ReportData], Sequence[Cell]] | None = None
