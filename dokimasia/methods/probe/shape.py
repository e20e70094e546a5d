"""The figures of a probe of judges, typed: what `--json` prints; shares are 0 to 1, intervals are clustered by image."""

from pydantic import Field

from dokimasia.domain.blindspots import Evaluator, Paradigm, Task
from dokimasia.domain.identity import Value
from dokimasia.report.fields import Bounds, Count, Coverage, Failures, Fraction, Interval, Rate, Used
from dokimasia.runs.figure_models import DataFigures


class ProbeShare(Rate):
    """A share of items, over those with a judgement."""

    n: Count = Field(description="items")
    n_scored: Count = Field(description="items with a judgement")
    coverage: Coverage
    bounds: Bounds | None = Field(
        description="of the share over all n, if none or all of the failed ones counted; null without an item"
    )


class BlindSpot(Value):
    """Whether errors of a dimension are missed more often than the judge's other errors on the same images."""

    p_value: Fraction = Field(description="one-sided, by exchanges of outcomes within images")
    adjusted: Fraction = Field(description="over all dimensions and evaluators of the judge, Benjamini and Hochberg")
    blind: bool = Field(
        description="whether the dimension is called a blind spot: the adjusted p-value is at most 0.05"
    )
    images: Count = Field(description="images that hold judged errors of this dimension and of another one: the test's")
    alone: Count = Field(
        description="images that hold judged errors of this dimension alone, which the test leaves out"
    )


class ProbedKind(Value):
    """What a judge made of errors of some kind under one evaluator; lower is better but for `named`."""

    undetected: ProbeShare = Field(
        description="errors that went undetected, as published; of pairs the mean of both orders"
    )
    strict: ProbeShare = Field(
        description="the strict form: no relevant axis is lower; of pairs, not detected in both orders"
    )
    either: ProbeShare | None = Field(description="of pairs: undetected in at least one order; null for others")
    both: ProbeShare | None = Field(description="of pairs: undetected in both orders; null for others")
    overall: ProbeShare | None = Field(
        description="undetected by the axis overall alone; null for evaluators that ask for no axes beside it"
    )
    worse: ProbeShare = Field(description="errors with which the answer was judged better than the gold one")
    named: ProbeShare = Field(
        description="undetected errors that the justification names, of those whose justification was read"
    )
    unnoticed: ProbeShare = Field(
        description="errors that neither the scores nor the justification show, of those whose justification was read"
    )
    spot: BlindSpot | None = Field(
        description="of a dimension; null where no image holds judged errors of it and of another one"
    )


class PairPlaces(Value):
    """What the order of places does to pairwise judgements, over pairs judged in both orders."""

    n: Count = Field(description="pairs")
    consistency: Interval = Field(description="share that both orders decide alike, 0 to 1, higher is better")
    bias: Interval = Field(
        description="how much more often the first place is chosen than the second, -1 to 1; 0 is no bias"
    )
    p_value: Fraction = Field(description="of a bias as large by chance, sign flips of whole images")
    adjusted: Fraction = Field(description="over all judges and evaluators of the task, Benjamini and Hochberg")


class ProbedEvaluator(ProbedKind):
    """A judge under one evaluator: all errors together, by group and by dimension, and changes that do no harm."""

    equal: ProbeShare = Field(description="score-invariant: harmless changes judged equal; higher is better")
    preferred: ProbeShare = Field(description="harmless changes judged better than the gold answer")
    flickers: ProbeShare = Field(
        description="unchanged answers not judged as before, of pairs one of two same answers preferred: the noise floor"
    )
    false_alarms: ProbeShare = Field(
        description="justifications of gold answers and harmless changes in which the reader finds an error; lower is better"
    )
    places: PairPlaces | None = Field(description="of pairs judged in both orders; null for others")
    groups: dict[str, ProbedKind]
    dimensions: dict[str, ProbedKind]
    failures: Failures = Field(description="items without a judgement, by kind of failure")


class ProbedJudge(Value):
    """A judge as it was asked."""

    model: str = Field(description="its name without what it was asked with")
    budget: str = Field(description="reasoning effort; empty where it is the default")
    tools: bool = Field(description="whether it had tools to look closer with")
    evaluators: dict[Evaluator, ProbedEvaluator]


class ProbeComparison(Value):
    """How much more often errors go undetected with the second than with the first, over the same items."""

    of: str = Field(description="what is the same on both sides: an evaluator, a judge, or a judge and a paradigm")
    first: str
    second: str
    n: Count = Field(description="items that both judged")
    shares: tuple[Fraction, Fraction] | None = Field(
        description="undetected on the first side and on the second, over these items; null without an item"
    )
    difference: Interval | None = Field(description="second less first, -1 to 1, paired by item; null without an item")
    p_value: Fraction | None = Field(
        description="two-sided, sign flips of whole images, or exchanges of evaluators within images where one side has "
        "more of them; null without an item"
    )
    adjusted: Fraction | None = Field(description="over all comparisons of the list, Benjamini and Hochberg")


class ProbedArm(Value):
    """What one way of asking a judge came to."""

    undetected: ProbeShare
    equal: ProbeShare = Field(description="score-invariant; higher is better")


class ArmsBeside(Value):
    """Ways of asking one judge beside each other, under one evaluator."""

    model: str
    evaluator: Evaluator
    arms: dict[str, ProbedArm]
    differences: tuple[ProbeComparison, ...] = Field(description="adjusted over all of the list that this stands in")
    dimensions: dict[str, ProbeComparison] = Field(
        description="by dimension, where there are two ways; adjusted over dimensions, judges and evaluators"
    )


class ProbeComparisons(Value):
    """What the tables invite to compare."""

    judges: tuple[ProbeComparison, ...] = Field(description="under the same evaluator")
    paradigms: tuple[ProbeComparison, ...] = Field(
        description="of the same judge; an item's value is the mean over the paradigm's evaluators"
    )
    strategies: tuple[ProbeComparison, ...] = Field(description="of the same judge and paradigm")


class ProbedTask(Value):
    """All that was found for one task."""

    dimensions: dict[str, str] = Field(description="the group of each dimension")
    shown: tuple[str, ...] = Field(
        description="the judges of the main table: of each model the way of asking without tools, at the highest effort named"
    )
    judges: dict[str, ProbedJudge]
    groups: dict[str, dict[Paradigm, Interval | None]] = Field(
        description="undetected by group and paradigm, mean over the shown judges and the paradigm's evaluators"
    )
    comparisons: ProbeComparisons
    budgets: tuple[ArmsBeside, ...] = Field(description="reasoning efforts beside each other")
    tools: tuple[ArmsBeside, ...] = Field(description="without tools and with them")
    references: tuple[ArmsBeside, ...] = Field(description="the original reference and a new one")


class ProbeItems(Value):
    """What was put to the judges."""

    errors: Count = Field(description="answers with an error")
    neutral: Count = Field(description="answers with a harmless change")
    checked: Count = Field(description="of both, those that a person decided on")


class ProbeFigures(Used, DataFigures):
    """The figures of a probe."""

    judge: str | None = Field(default=None, description="absent where there are several")
    samples: Count = Field(description="samples of the run")
    judges: tuple[str, ...] = Field(description="by name, each once however many ways it is asked in")
    evaluators: tuple[Evaluator, ...]
    budgets: tuple[str, ...] = Field(description="reasoning efforts that were named")
    tools: tuple[str, ...] = Field(description="tools that judges were offered beside being asked without")
    retests: Count = Field(description="further judgements of every gold answer")
    reader: str | None = Field(description="who read the justifications; null where nobody did")
    writer: str | None = Field(description="who made new references; null where nobody did")
    probes: ProbeItems
    failures: Failures = Field(description="judgements, readings and what they rest on that failed, by kind of failure")
    tasks: dict[Task, ProbedTask]
