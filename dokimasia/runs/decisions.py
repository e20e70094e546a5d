"""What a run decided about answers with yes or no, as `Method.decisions` returns it: the rates that can be corrected."""

from collections.abc import Mapping
from typing import NamedTuple

from dokimasia.algorithms.correction import DecidedLabel
from dokimasia.domain.annotation import AnnotationUnit
from dokimasia.domain.blindspots import Evaluator
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Correctness


class DecidedAnswer(NamedTuple):
    """One answer of a model, or one rubric of one, and what was decided of it; None where the decision failed.

    An `undecided` answer, of which no rule says whether it is right and no judge was asked, counts as decided not to be right.
    `unit` is what people label; `place` tells the answer from others of its model: its sample, the number of the rubric from 1
    (0 for the answer as a whole), and the repeat.
    """

    unit: AnnotationUnit
    repeat: int
    cluster: str
    decision: DecidedLabel | None
    undecided: bool = False

    @property
    def correctness(self) -> Correctness:
        """What is known of it, as strict accuracy counts it."""
        if self.undecided or self.decision is None:
            return "undecided" if self.undecided else "failed"
        return "right" if self.decision.right else "wrong"

    @property
    def place(self) -> tuple[str, int, int]:
        """What it is compared with another model's by."""
        return self.unit.id, self.unit.criterion, self.repeat


class Measure(NamedTuple):
    """One thing that was decided of all answers of a run.

    Attributes:
        name: its key in the figures.
        what: a share of what, in words.
        evaluator: what stands for the decision in a passport; None where no passport measures it.
        without: why no passport speaks of it; empty where one may.
        caveat: what is to be known where a passport corrects it; empty where nothing is.
        models: each model's answers, in the run's order.
    """

    name: str
    what: str
    evaluator: Evaluator | None
    without: str
    caveat: str
    models: Mapping[str, list[DecidedAnswer]]


class DecidedRun(NamedTuple):
    """A run by what was decided in it.

    `judge` is who decided, None where rules alone did; `prompts` are the run's, `categories` each sample's, `clusters` what
    shares an image with it.
    """

    measures: tuple[Measure, ...]
    judge: ModelSpec | None
    prompts: Mapping[str, str]
    tools: bool
    simulated: tuple[str, ...]
    categories: Mapping[str, str]
