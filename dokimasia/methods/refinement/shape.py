"""The figures of a refinement, typed: what `--json` prints."""

from typing import Annotated, Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Answered, AnswerRule
from dokimasia.domain.options import Protocol
from dokimasia.domain.refinement import Arm, Fallback, Stopped, Unused
from dokimasia.report.fields import (
    Bounds,
    Cost,
    Count,
    CountedRate,
    Counts,
    Coverage,
    Failures,
    Fraction,
    Interval,
    NoInterval,
    Rate,
    Share,
)
from dokimasia.runs.figure_models import Heading, Judge, Seed

PValue = Annotated[Fraction | None, Field(description="two-sided, by sign flips of whole images; null without a pair")]
Adjusted = Annotated[
    Fraction | None,
    Field(
        description="the p-value after Benjamini and Hochberg, over all gains of one measure, in parts over all parts"
    ),
]


class AtomScores(Value):
    """Scores of an answer's atoms, 1 to 5: each answer counts by the mean over its atoms."""

    n: Count = Field(description="answers that have such atoms")
    n_scored: Count = Field(description="answers whose atoms were scored after the arm")
    before: Interval | None = Field(description="mean by the judgement that the answers were chosen by, 1 to 5")
    after: Interval | None = Field(
        description="mean after the arm, 1 to 5; of the arm `original` the judge's second look at the same answer"
    )
    gained: Interval | None = Field(
        description="`after` less `before` on the scored answers, in points; since they were chosen by `before`, it holds luck, "
        "too: that of the arm `original` is luck and the judge's unsteadiness alone"
    )
    bounds: Bounds | None = Field(description="of `after` over all n, 1 to 5")
    solved: Share = Field(description="of the atoms that had failed those that are solved now")


class ArmOfPart(Value):
    """What an arm came to, over the last rounds of the answers that it took up."""

    n: Count = Field(description="answers")
    n_known: Count = Field(description="answers with a verdict")
    coverage: Coverage
    accuracy: Rate | None = Field(description="of the known answers those that are right; null without a verdict")
    bounds: Bounds | None = Field(description="of the accuracy over all n, 0 to 1")
    spoken: AtomScores = Field(description="over the atoms that the answer spoke of before and after")
    atoms: AtomScores = Field(description="over all atoms")
    shown: AtomScores = Field(description="over the failed atoms that a feedback may name")
    withheld: AtomScores = Field(description="over the failed atoms that are kept from it by chance")


class PerRepaired(Value):
    """What each repaired answer used; the limits are those of the accuracy."""

    mean: float = Field(ge=0)
    low: float | None = Field(ge=0)
    high: float | None = Field(ge=0, description="null: no limit, since the accuracy may be 0")


class Repaired(Value):
    """Calls and US dollars for each repaired answer; null where none was repaired or it is unknown."""

    calls: PerRepaired | None
    cost: PerRepaired | None


class ArmFigures(ArmOfPart):
    """What an arm came to as a whole, and what it used."""

    right: Count = Field(description="right answers")
    spoilt: Share = Field(description="of the atoms that were solved before those that fail now")
    failures: Failures
    stopped: dict[Stopped, Count] = Field(description="answers by why the arm stopped")
    calls: Count = Field(default=0, description="calls of the arm; absent where there are none, and in `apart`")
    cost: Cost = Field(default=None, description="in US dollars, null where any price is unknown; absent as calls are")
    per_repaired: Repaired | None = Field(default=None, description="absent as calls are")


class Gain(Value):
    """What an arm gains over a control on the same answers; above 0: the arm is better."""

    n: Count = Field(description="answers that the measure is about")
    n_paired: Count = Field(description="answers that are known in both arms")
    coverage: Coverage = Field(description="n_paired of n, 0 to 1; null where n is 0")
    difference: Interval | None = Field(description="in shares, or in points of 1 to 5; clustered by image")
    bounds: Bounds | None = Field(description="of the difference over all n")
    p_value: PValue
    adjusted: Adjusted


class GainsOfPart(Value):
    """An arm's gains over a control by three measures."""

    accuracy: Gain = Field(description="in shares of right answers")
    spoken: Gain = Field(
        description="in points of 1 to 5, over the atoms that the answer spoke of before and in both arms"
    )
    atoms: Gain = Field(description="in points of 1 to 5, over all atoms")


class Gains(GainsOfPart):
    """An arm's gains over a control by all measures."""

    shown: Gain = Field(description="in points, over the failed atoms that a feedback may name")
    withheld: Gain = Field(description="in points, over the failed atoms that are kept from it by chance")


class PartFigures(Value):
    """The answers of one category, or with a failed atom at one capability."""

    n: Count = Field(description="answers")
    arms: dict[Arm, ArmOfPart]
    gains: dict[str, GainsOfPart] = Field(description="by `ARM over CONTROL`; empty with fewer than five answers")


class FewOptions(PartFigures):
    """Questions with two to five possible answers, or all others."""

    guessing: Fraction | None = Field(
        default=None,
        description="how often one would be right who knows that an answer is wrong and picks one of the others; absent "
        "where there are more than five",
    )


class LeftOut(Value):
    """What of the answers that failed cannot be fed back."""

    answers: Count = Field(description="answers without a failed atom that can be; they are in no arm")
    atoms: dict[Unused, Count] = Field(description="failed atoms by why they cannot be, of all answers that failed")


class TakenUp(Value):
    """Answers that were taken up, and what every arm made of them."""

    failed: Count = Field(
        description="answers that were taken up, without those that were right before unless it says so"
    )
    arms: dict[Arm, ArmFigures]
    gains: dict[str, Gains] = Field(description="by `ARM over CONTROL`")


class PlacedCriteria(Value):
    """How many failed atoms have a place in the tree; the others are at no node."""

    failed_atoms: Count
    on_the_tree: Count


class RefinedModel(TakenUp):
    """One model's answers, and those that were taken up."""

    answers: Count = Field(description="answers that were looked at")
    answered: dict[Answered, Count] = Field(description="answers by whether they were right before")
    rules: dict[AnswerRule, Count] = Field(description="answers by what settled whether they were right")
    left_out: LeftOut
    withheld_from: Count = Field(
        description="answers with two failed atoms or more that can be fed back, of which some are withheld"
    )
    by_options: dict[Literal["two to five", "more"], FewOptions] = Field(description="by how many answers are possible")
    by_category: dict[str, PartFigures]
    by_capability: dict[str, PartFigures] = Field(default_factory=dict, description="by node; only with a tree")
    placed: PlacedCriteria | None = Field(default=None, description="only with a tree")
    apart: dict[Answered, TakenUp] = Field(
        default_factory=dict,
        description="by whether the answer was right before; what was right is here alone; only with a threshold",
    )


class RefinementCell(Value):
    """A figure of the table."""

    n: Count = Field(description="answers")
    n_known: Count = Field(description="answers with a figure")
    value: float | None
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None


class TableGain(Interval):
    """The gain of an arm over another; over `original` there is no test, since answers were chosen by their scores there."""

    p_value: PValue
    adjusted: Adjusted


class TableGains(Value):
    """The gains of an arm over another, by column and on average."""

    cells: dict[str, TableGain | None] = Field(description="by column; null with fewer than five answers there")
    average: TableGain | None


class TableRow(Value):
    """One line of the table: a strategy of a model by one measure."""

    model: str
    strategy: Arm
    measure: Literal["accuracy", "atom score"] = Field(
        description="accuracy 0 to 1, atom score 1 to 5; that of the original answer is by the judgement it was chosen by"
    )
    cells: dict[str, RefinementCell | None] = Field(description="by column; null where nothing failed there")
    average: RefinementCell | None
    gain: TableGain | None = Field(
        description="over `retry`, as in the paper; null for arms that are no correction, and without a pair"
    )
    gains: dict[Literal["retry", "again", "original"], TableGains] = Field(
        description="by control; over `original` of atom scores alone, since there every accuracy is one over 0"
    )


class RefinementTable(Value):
    """The table of the refinement in the form of ATOM's Table 4."""

    by: Literal["capability", "category"] = Field(description="what the columns are")
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


class PeerHints(Value):
    """The hints of one peer."""

    points: Count = Field(description="points that it was asked about")
    hinted: Count = Field(description="points with a hint that was passed on")


class HintFigures(Value):
    """What became of the points that an arm had to make, over all rounds."""

    points: Count
    hinted: Count = Field(description="points with a hint that was passed on")
    leaking: Count = Field(description="points in which a leak was found")
    rewritten: Count = Field(description="points whose hint was written a second time")
    asked: Count = Field(description="hints that were asked of peers")
    fallbacks: dict[Fallback, Count] = Field(description="points by why they carry no hint")
    peers: dict[str, PeerHints]


class LeakFigures(Value):
    """How much of what was to be said was found to leak, every text counted once; 95 % intervals by Clopper and Pearson.

    It speaks of what was found: what the check misses no count of its own findings can say.
    """

    questions: CountedRate = Field(description="questions of failed atoms that would be fed back")
    hints: CountedRate = Field(description="first wordings of hints")
    rewritings: CountedRate = Field(description="second wordings of those that leaked")
    dropped: Count = Field(description="hints that were dropped in the end")
    passed_on: Count = Field(description="hints that were passed on")
    forms: Counts = Field(description="what was found, by form")
    found_by: dict[Literal["rules", "judge"], Count] = Field(description="what was found, by who found it")
    judge: bool = Field(description="whether a judge looked at what the rules let pass")
    not_looked_for: tuple[str, ...] = Field(description="forms that were not looked for, where no judge did")
    unjudged: Count = Field(
        description="texts that passed on the word of the rules alone, since the judge gave no verdict that could be read"
    )


class Steadiness(Value):
    """How often the judge, asked again about the same answer, solves an atom that it failed, or the reverse."""

    n: Count = Field(description="atoms of answers with two judgements or more")
    turned: Count = Field(description="atoms on which it changed its mind")
    share: Rate | None = Field(description="turned of n; clustered by image; null where n is 0")
    answers: Count = Field(description="answers with two judgements or more")
    spread: float | None = Field(
        ge=0, description="mean difference between an atom's highest and lowest score, in points; null where n is 0"
    )


class RefinementFigures(Heading):
    """The figures of a refinement."""

    source: str = Field(description="the id of the run whose failures were taken up")
    arms: tuple[Arm, ...] = Field(description="in order")
    rounds: int = Field(ge=1, description="rounds at most")
    selected_by: Literal["wrong answer", "score"] = Field(description="why answers were taken up")
    protocol: Protocol = Field(description="whose form the feedback has")
    hide_answer: bool = Field(description="whether models were kept from seeing their earlier answers")
    threshold: float | None = Field(description="the score below which answers were taken up; null: wrong answers were")
    withhold: Fraction = Field(description="the share of failed atoms that no feedback names")
    judge: Judge
    seed: Seed
    failed: Count = Field(
        description="answers that were taken up, of all models, those that were right before included"
    )
    models: dict[str, RefinedModel]
    table: RefinementTable
    tree: str | None = Field(description="the tree that capabilities are of, NAME@POSITION; null without one")
    hints: dict[Arm, HintFigures] = Field(description="of the arms that name points")
    leaks: LeakFigures
    judge_steadiness: Steadiness
    calls: Count = Field(description="calls that all rounds rest on, each counted once")
