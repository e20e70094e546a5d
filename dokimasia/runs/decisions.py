"""A run's yes-or-no decisions on answers, as `Method.decisions` returns them: the rates that can be corrected."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from dokimasia.algorithms.correction import DecidedLabel
from dokimasia.domain.annotation import AnnotationUnit
from dokimasia.domain.blindspots import Evaluator
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Correctness


class DecidedAnswer(NamedTuple):
    """The decision on one answer of a model, or on one rubric of an answer; None if the decision failed.

    An `undecided` answer, which no rule could settle and no judge was asked about, counts as not right.
    `unit` is what people label. `place` distinguishes the answer from others of its model: its sample, the number of
    the rubric from 1 (0 for the whole answer), and the repeat.
    """

    unit: AnnotationUnit
    repeat: int
    cluster: str
    decision: DecidedLabel | None
    undecided: bool = False

    @property
    def known(self) -> bool:
        """Whether a rule settled the decision, so that nobody needs to review it."""
        return self.decision is not None and not self.decision.by_judge and not self.undecided

    @property
    def correctness(self) -> Correctness:
        """The decision as strict accuracy counts it."""
        if self.undecided or self.decision is None:
            if self.undecided:
                return "undecided"
            return "failed"
        if self.decision.right:
            return "right"
        return "wrong"

    @property
    def place(self) -> tuple[str, int, int]:
        """The key that pairs it with another model's answer."""
        return self.unit.id, self.unit.criterion, self.repeat


class AnswerScore(NamedTuple):
    """The judge's score of one answer of a model, 1 to 5."""

    unit: AnnotationUnit
    repeat: int
    cluster: str
    score: float


class Measure(NamedTuple):
    """A yes-or-no decision that a run made on all of its answers.

    Attributes:
        name: its key in the figures.
        what: the measured share, in words.
        evaluator: the name of the decision in a passport; None if no passport measures it.
        without: why no passport measures it; empty if one may.
        caveat: a note for readers of the corrected rate; empty if none is needed.
        models: each model's answers, in the run's order.
    """

    name: str
    what: str
    evaluator: Evaluator | None
    without: str
    caveat: str
    models: Mapping[str, list[DecidedAnswer]]


class DecidedRun(NamedTuple):
    """The decisions of a run.

    `judge` is the model that decided, None if only rules did. `prompts` are those of the run; `categories` and
    `clusters` are keyed by sample. `scores` are the judge's scores of each model's answers, without failed ones.
    """

    measures: tuple[Measure, ...]
    judge: ModelSpec | None
    prompts: Mapping[str, str]
    tools: bool
    simulated: tuple[str, ...]
    categories: Mapping[str, str]
    scores: Mapping[str, list[AnswerScore]] = MappingProxyType({})
