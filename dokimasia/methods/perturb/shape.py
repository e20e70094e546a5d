"""The figures of a perturbing, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.blindspots import Task
from dokimasia.domain.identity import Value
from dokimasia.methods.checks import LabelFigures
from dokimasia.report.fields import Count, Coverage, Failures, Share, Used
from dokimasia.runs.figure_models import DataFigures, Judge


class Doubts(Value):
    """How many changes a checker has something against; one may be counted under several."""

    kind: Count = Field(description="taken for a change of another dimension than it was meant as")
    also: Count = Field(description="something else is worse beside, or was changed in the image beside")
    worse: Count = Field(description="not worse, though meant as an error; or worse, though meant as harmless")


class Perturbing(Value):
    """What came of asking for perturbations; intervals clustered by image."""

    asked: Count = Field(description="samples that the perturber was asked about, or is still to be asked about")
    made: Count = Field(description="items that were made")
    not_applicable: Count = Field(description="where the perturber says that the dimension does not apply")
    too_short: Count = Field(description="not asked about: the gold answer has too few words for the dimension")
    failed: Count
    failures: Failures
    changed_nothing: Count = Field(description="of the failed: also the second reply changed nothing")
    changed_all: Count = Field(description="of the failed: also the second reply changed nearly everything")
    coverage: Coverage
    applies: Share = Field(description="made, of those that were made or do not apply")
    checked: Count = Field(description="items that a checker said something of")
    agreed: Share = Field(description="of the checked: those that the checker has nothing against")
    doubts: Doubts


class PerturbingGroup(Perturbing):
    """The same of one group of dimensions."""

    title: str = Field(description="its published name")


class PerturbingDimension(PerturbingGroup):
    """The same of one dimension."""

    group: str | None = Field(description="its group's short name; null for score_neutral")


class Golds(Value):
    """Where gold answers are from, and what a checker said of those that a model wrote."""

    given: Count = Field(description="in the data")
    written: Count = Field(description="written and found right")
    wrong: Count = Field(description="written and found wrong: nothing is made from them")
    failed: Count = Field(description="not written, or not checked")
    open: Count = Field(description="without a result yet")


class PerturbFigures(Perturbing, Used, DataFigures):
    """The figures of a perturbing."""

    judge: Judge = Field(default="", description="the perturber's name; absent where the items are brought")
    task: Task
    perturber: str | None
    checker: str | None = Field(description="who checked; null for nobody")
    own_work: bool = Field(description="whether the checker is the model that perturbed")
    gold_writer: str | None
    editor: str | None = Field(description="the image model")
    brought: bool = Field(description="whether the images were edited elsewhere")
    per: Count | None = Field(description="samples that each dimension was asked of at most; null for all")
    n: Count = Field(description="samples")
    golds: Golds
    groups: dict[str, PerturbingGroup] = Field(description="by short name; score_neutral among them")
    dimensions: dict[str, PerturbingDimension] = Field(description="by name")
    labels: LabelFigures = Field(description="what people said of the items")
